"""What a randomizer hands to the accountant, so that neither needs the other's code.

A *cover* is the input of the certified upper bound, an *attack* that of the lower bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from shuffledp.population import Population
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class CellBounds:
    """How far the victim's densities may lie from their means within each cell.

    Attributes:
        low: Smallest R(x) / omega and R(x') / omega in each cell, shape (2, cells).
        high: The largest, shape (2, cells).
        gaps: Smallest and largest difference of the two, shape (2, cells), where it is
            known to vary less than they do.
    """

    low: Floats
    high: Floats
    gaps: Floats | None = None


@dataclass(frozen=True, eq=False)
class TwoMessages:
    """What people send where there are two messages, a 1 and a 0, for one pair x, x'.

    Or two kinds of messages, if within a kind everybody's messages are equally likely.

    Attributes:
        least: The least chance of a 1, and of a 0, over all values a person of each level
            may hold, shape (2, levels). Every chance between is that of some value.
        gap: By how much the victim is more likely to send a 1 if she holds x than if she
            holds x', >= 0.
        stray: Her chance of a 1 if she holds x'.
    """

    least: Floats
    gap: float
    stray: float


@dataclass(frozen=True, eq=False)
class Cover:
    """What the others hide a victim behind, for one pair of her values, x and x'.

    Everybody of level j sends, with probability `blanket_probabilities[j]` and whatever
    her value, a message from one common distribution omega. Messages are put into cells;
    in each, the victim's densities against omega are known: constant, or in the mean and
    between bounds. Messages that omega never produces are `uncovered`.

    Attributes:
        blanket_probabilities: gamma of each level of the crowd, in [0, 1], shape
            (levels,). TargetUsers whose arrays are the same object share the work.
        masses: omega's mass of each cell, shape (cells,).
        differences: Mean of (R(x) - R(x')) / omega over each cell, shape (cells,).
        bases: Mean of R(x') / omega over each cell, shape (cells,).
        cells: Bounds within the cells, or None if the densities are constant there.
        uncovered: Probabilities under x and x' of kinds of messages outside of omega's
            support, shape (2, kinds).
        bits: The same where there are only two messages: what others may send, rather
            than what they send whatever they hold.
        shuffles: Where covers are two, for a pair and for the same pair the other way
            round: in how many of the randomizer's `changes` each of them shows at most,
            half of all. None if any of them may show any pair.
    """

    blanket_probabilities: Floats
    masses: Floats
    differences: Floats
    bases: Floats
    cells: CellBounds | None = None
    uncovered: Floats | None = None
    bits: TwoMessages | None = None
    shuffles: int | None = None

    def beyond(self, epsilon: float) -> float:
        """Returns the divergence that the uncovered messages alone show."""
        if self.uncovered is None:
            return 0.0
        first, second = self.uncovered
        # Less may always be subtracted, and e^700 is the last that fits a double.
        growth = math.exp(min(epsilon, 700.0))
        excess = np.maximum(first - growth * second, 0.0)
        # A hair more than the rounding of the two probabilities could hide.
        return float(excess.sum() + 4e-16 * first.sum())


@dataclass(frozen=True)
class MirroredCover:
    """A cover with three kinds of messages, of which two mirror each other.

    Messages that speak for x and messages that speak for x' are equally likely and
    together of mass `telling`; the rest is neutral. The victim's density on x is
    `low + gap`, `low` and `neutral` on the three kinds; on x' the first two swap.
    """

    telling: float
    low: float
    gap: float
    neutral: float


def mirrored(cover: Cover) -> MirroredCover | None:
    """Returns the cover in the form that can be summed exactly, if it has it."""
    if cover.cells is not None or cover.uncovered is not None or cover.masses.size != 3:
        return None
    gap, against, none = cover.differences.tolist()
    right, left, _ = cover.masses.tolist()
    if against != -gap or none != 0.0 or left != right or gap <= 0.0:
        return None
    low, _, neutral = cover.bases.tolist()
    return MirroredCover(2.0 * right, low, gap, neutral)


@dataclass(frozen=True, eq=False)
class TwoCountAttack:
    """The adversary counts messages of two mirrored kinds, one for x and one for x'.

    Attributes:
        hit_probabilities: Chance that a person of each level, holding the value the
            adversary chose for the others, sends the first kind, which is also her
            chance to send the second; whoever the victim is, the same; shape (levels,).
        flip: Chance that the victim, holding x, sends the second kind (and the reverse).
        gap: By how much she is more likely to send the first.
        stray_probabilities: Chance that a person of each level sends neither of the two
            kinds nor the value she holds, shape (levels,); None if that is not counted.
        stray: Chance that the victim sends such a message.
    """

    hit_probabilities: Floats
    flip: float
    gap: float
    stray_probabilities: Floats | None = None
    stray: float = 0.0


@dataclass(frozen=True, eq=False)
class ScoreAttack:
    """Each message has a score, a whole number from 0; the adversary adds them up.

    Attributes:
        others: Chance of each score for a person of each level, who holds what the
            adversary chose; whoever the victim is, the same; shape (levels, scores).
        second: Chance of each score for the victim holding x', shape (scores,).
        difference: By how much each is larger if she holds x, shape (scores,).
    """

    others: Floats
    second: Floats
    difference: Floats


Attack = TwoCountAttack | ScoreAttack | TwoMessages


@runtime_checkable
class LocalRandomizer(Protocol):
    """What runs on a device at every privacy level, as the accountant sees it."""

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """In plain words, what the guarantee assumes about the randomizer itself."""

    @property
    def changes(self) -> int:
        """In how many messages, each shuffled apart, one changed value shows at most.

        1 for a report that is one message. If it is more, `local_delta` and `covers` speak
        of one of these messages; levels and `attacks` speak of the whole report.
        """

    @property
    def delta_local(self) -> float:
        """The delta that every level promises on the device; 0 for pure privacy."""

    def local_delta(self, level: float, epsilon: float) -> float:
        """The divergence of one message alone, measured from the densities, upward."""

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """The covers of victims at these levels, one for each pair that may be worst.

        Args:
            victims: Their local budgets.
            crowd: The people among whom they hide, themselves included.
            delta: About the size of the divergence that is asked for.
        """

    def attacks(
        self, victims: Sequence[float], crowd: Population
    ) -> list[tuple[Attack, ...]]:
        """Attacks on those victims, of the same kinds for each; the strongest counts."""
