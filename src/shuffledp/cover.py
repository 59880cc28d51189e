"""Interface between randomizers and the accountant; neither imports the other's code.

A *cover* is the input of the certified upper bound, an *attack* that of the lower bound.
A *target user* (`target_users` in signatures) is one whose value differs between two
worlds.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from shuffledp.population import Population
from shuffledp.types import Floats


# eq=False, as in all classes with arrays: a generated == would ask for the truth value
# of an array, which has none.
@dataclass(frozen=True, eq=False)
class CellBounds:
    """Bounds on the target user's densities within each cell of a cover.

    Attributes:
        low: Smallest R(x) / omega and R(x') / omega in each cell, shape (2, cells).
        high: The largest, shape (2, cells).
        gaps: Smallest and largest difference of the two, shape (2, cells), if tighter
            than `low` and `high` imply; else None.
    """

    low: Floats
    high: Floats
    gaps: Floats | None = None


@dataclass(frozen=True, eq=False)
class TwoMessages:
    """Distributions of binary messages, 1 or 0, for one pair of values x, x'.

    Also of two kinds of messages, if all users' messages are equally likely within a kind.

    Attributes:
        least: Least probability of a 1, and of a 0, over all values of a user of each
            level, shape (2, levels). Every probability between is that of some value.
        gap: Increase of the target's probability of a 1 from x' to x, >= 0.
        stray: The target's probability of a 1 at x'.
    """

    least: Floats
    gap: float
    stray: float


@dataclass(frozen=True, eq=False)
class NoiseDensities:
    """Densities of noise around values from -1 to 1, in cells of the messages' sizes.

    Noise is symmetric about the value and the less likely the larger it is. A size is a
    message's distance from 0; the ends are the values -1 and 1.

    Attributes:
        edges: Sizes at which cells end, ascending from 0, one of them 1, shape
            (cells + 1,).
        near: The target's density around the end nearer to the message, at the edges.
        ratio: Their density around the farther end over `near`, at the edges; it never
            rises.
        masses: Probabilities of each cell on one side, around the nearer end and the
            farther one, shape (2, cells).
        least: Returns, for levels of shape (levels,), a density that is not above that of
            any message in a cell, whatever the value, shape (levels, cells); it never
            rises with the size, and between two levels it is nowhere below the smaller
            of both.
        uncovered: Probabilities of kinds of messages beyond the last edge on one side,
            around the nearer end and the farther one, shape (2, kinds).
        imbalance: By how much two values may show more than the ends do in a cell and in
            its mirror image together: less than (e^epsilon - 1) times the first row plus
            the second one, per unit of length, shape (2, cells + 1); of all beyond the
            last edge in the last column. The first cell, sizes below 1, is left out. None
            if the ends are worst everywhere.
        peak: The target's density at the value itself.
        rounding: Of all densities and masses, as a part of themselves.
    """

    edges: Floats
    near: Floats
    ratio: Floats
    masses: Floats
    least: Callable[[Floats], Floats]
    uncovered: Floats
    imbalance: Floats | None
    peak: float
    rounding: float


@dataclass(frozen=True, eq=False)
class Cover:
    """Privacy blanket of the other users, for one pair x, x' of the target's values.

    Each user of level j sends, with probability `blanket_probabilities[j]` and independent
    of their value, a message from one common distribution omega. Messages fall into cells;
    in each, the target's densities against omega are known: constant, or as a mean with
    bounds. Messages outside the support of omega are `uncovered`.

    Attributes:
        blanket_probabilities: gamma of each level of the population, in [0, 1], shape
            (levels,). Targets whose arrays are the same object share the work.
        masses: omega's mass of each cell, shape (cells,).
        differences: Mean of (R(x) - R(x')) / omega over each cell, shape (cells,).
        bases: Mean of R(x') / omega over each cell, shape (cells,).
        cells: Bounds within the cells, or None if the densities are constant there.
        uncovered: Probabilities under x and x' of kinds of messages outside of omega's
            support, shape (2, kinds).
        bits: Exact message distributions of the others if there are only two messages.
        noise: Densities of all people's messages if they are numbers with noise.
        shuffles: If there are two covers, for a pair and its reverse: the most of the
            randomizer's `changes` that show each, half of all. None if any of them may
            show any pair.
    """

    blanket_probabilities: Floats
    masses: Floats
    differences: Floats
    bases: Floats
    cells: CellBounds | None = None
    uncovered: Floats | None = None
    bits: TwoMessages | None = None
    noise: NoiseDensities | None = None
    shuffles: int | None = None

    def beyond(self, epsilon: float) -> float:
        """Returns the divergence due to the uncovered messages alone."""
        return 0.0 if self.uncovered is None else shown_by(self.uncovered, epsilon)


def shown_by(uncovered: Floats, epsilon: float) -> float:
    """Returns the divergence of kinds of messages that no one else sends, upward.

    Args:
        uncovered: Probabilities under x and x' of each kind, shape (2, kinds).
        epsilon: At which it is asked for, >= 0.
    """
    first, second = uncovered
    # Subtracting less keeps an upper bound; e^700 fits a double, e^710 does not.
    growth = math.exp(min(epsilon, 700.0))
    excess = np.maximum(first - growth * second, 0.0)
    # Two machine epsilons more, for the rounding of the two probabilities.
    return float(excess.sum() + 4e-16 * first.sum())


@dataclass(frozen=True)
class MirroredCover:
    """A cover with three kinds of messages, two of them mirror images of each other.

    Messages in favor of x and messages in favor of x' are equally likely and together of
    mass `telling`; all others are neutral. The target's density under x is `low + gap`,
    `low` and `neutral` on the three kinds; under x' the first two swap.
    """

    telling: float
    low: float
    gap: float
    neutral: float


def mirrored(cover: Cover) -> MirroredCover | None:
    """Returns the cover in the form that can be summed exactly, or None."""
    if cover.cells is not None or cover.uncovered is not None or cover.masses.size != 3:
        return None
    gap, against, neither = cover.differences.tolist()
    right, left, _ = cover.masses.tolist()
    # Exact equality: the exact sum is only valid if the two kinds are truly symmetric.
    if against != -gap or neither != 0.0 or left != right or gap <= 0.0:
        return None
    low, _, neutral = cover.bases.tolist()
    # `right` is the mass of one of the two equally likely kinds.
    return MirroredCover(2.0 * right, low, gap, neutral)


@dataclass(frozen=True, eq=False)
class TwoCountAttack:
    """Attack that counts messages of two mirrored kinds, one for x and one for x'.

    Attributes:
        hit_probabilities: Probability that a user of each level, holding the value that
            the adversary chose for the others, sends the first kind, and equally the
            second; the same for every target; shape (levels,).
        flip: Probability that the target, holding x, sends the second kind (and reversed).
        gap: Probability that they send the first, minus `flip`.
        stray_probabilities: Probability that a user of each level sends neither of the
            two kinds nor their own value, shape (levels,); None if that is not counted.
        stray: Probability that the target sends such a message.
    """

    hit_probabilities: Floats
    flip: float
    gap: float
    stray_probabilities: Floats | None = None
    stray: float = 0.0


@dataclass(frozen=True, eq=False)
class ScoreAttack:
    """Attack that adds up a score per message, an integer from 0.

    Attributes:
        others: Probability of each score for a user of each level who holds the value
            that the adversary chose; the same for every target; shape (levels, scores).
        second: Probability of each score for the target holding x', shape (scores,).
        difference: Increase of each probability from x' to x, shape (scores,).
        error: By how much each of `others` may be off, beyond rounding.
    """

    others: Floats
    second: Floats
    difference: Floats
    error: float = 0.0


Attack = TwoCountAttack | ScoreAttack | TwoMessages


@runtime_checkable
class LocalRandomizer(Protocol):
    """Interface of a randomizer to the accountant, at every privacy level."""

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions of the guarantee about the randomizer, as sentences."""

    @property
    def changes(self) -> int:
        """Largest number of messages, each shuffled apart, that one changed value affects.

        1 for a report that is one message. If it is more, `local_delta` and `covers` speak
        of one of these messages; levels and `attacks` speak of the whole report.
        """

    @property
    def delta_local(self) -> float:
        """The delta that every level promises on the device; 0 for pure privacy."""

    def local_delta(self, level: float, epsilon: float) -> float:
        """The divergence of one message alone, measured from the densities, upward."""

    def covers(
        self, target_users: Sequence[float], population: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns covers of targets at these levels, one per pair that may be worst.

        Args:
            target_users: Local budgets of the target users.
            population: Users among whom they hide, themselves included.
            delta: Order of magnitude of the divergence to bound.
        """

    def attacks(
        self, target_users: Sequence[float], population: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns attacks on these targets, of the same kinds for each; the best counts."""


def message_family(randomizer: LocalRandomizer) -> Hashable:
    """Returns what randomizers have in common that are the same to the accountant.

    Those of one family have the same covers, attacks and `local_delta`. A randomizer that
    states no `message_family` is one of its own.
    """
    return getattr(randomizer, "message_family", id(randomizer))
