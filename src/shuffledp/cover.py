"""What a randomizer hands to the accountant, so that neither needs the other's code.

A *cover* is the input of the certified upper bound, an *attack* that of the lower bound.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class Cover:
    """What the others hide a victim behind, for her worst pair of values x and x'.

    Everybody of level j sends, with probability `blanket_probabilities[j]` and whatever
    her value, a message from one common distribution omega. omega has three kinds of
    messages: those that speak for x and those that speak for x', equally likely and
    together of mass `telling`, and the rest, which are neutral. The victim's randomizer
    on x has, against omega, density `low + gap`, `low` and `neutral` on those three
    kinds; on x' the first two swap.

    Attributes:
        blanket_probabilities: gamma of each level, in [0, 1]; whoever the victim is, the
            same; shape (levels,).
        telling: omega's mass on messages that tell x from x', in (0, 1].
        low: Density of R(x) on messages that speak for x', >= 0.
        gap: By how much the density is larger on messages that speak for x, >= 0.
        neutral: Density of R(x) on all other messages, >= 0.
    """

    blanket_probabilities: Floats
    telling: float
    low: float
    gap: float
    neutral: float


@dataclass(frozen=True, eq=False)
class TwoCountAttack:
    """All others hold one third value; the adversary counts messages on x and on x'.

    Attributes:
        hit_probabilities: Chance that a person of each level, holding the third value,
            sends x, which is also her chance to send x'; whoever the victim is, the
            same; shape (levels,).
        flip: Chance that the victim, holding x, sends x' (and the reverse).
        gap: By how much she is more likely to send x itself.
    """

    hit_probabilities: Floats
    flip: float
    gap: float


@dataclass(frozen=True, eq=False)
class OneCountAttack:
    """Two categories, all others hold one of them; the adversary counts messages on x.

    Attributes:
        hit_probabilities: Chance that a person of each level, holding x', sends x;
            whoever the victim is, the same; shape (levels,).
        flip: Chance that the victim sends the value she does not hold.
        gap: By how much she is more likely to send hers.
    """

    hit_probabilities: Floats
    flip: float
    gap: float


Attack = TwoCountAttack | OneCountAttack


class Accountable(Protocol):
    """A protocol that the accountant can certify."""

    @property
    def mechanism(self) -> str:
        """The name of the local randomizer."""

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """In plain words, what must hold for the guarantee to hold."""

    @property
    def hides_among(self) -> Literal["everybody", "own level"]:
        """Among whom a person's message cannot be told apart."""

    def cover(self, epsilon_victim: float, epsilons: Floats) -> Cover:
        """The cover that people at `epsilons` give a victim at `epsilon_victim`."""

    def attacks(self, epsilon_victim: float, epsilons: Floats) -> tuple[Attack, ...]:
        """Attacks on that victim; the strongest counts."""
