"""Ways to collect, and what their errors are compared with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.population import Population
from shuffledp.types import Mode


@dataclass(frozen=True, eq=False)
class CollectionDesign:
    """One way to collect.

    Attributes:
        name: Of the mechanism, with what was chosen for it.
        mode: "agnostic" or "stratified".
        people: Levels, and people at each.
        guarantee: What each level is worth after the shuffle.
        standard_error: Predicted, for the mean or share among the people who take part.
        bias_limit: How far off the average estimate can be; 0 if it is unbiased.
        bits: Length of a message.
    """

    name: str
    mode: Mode
    people: Population
    guarantee: Guarantee
    standard_error: float
    bias_limit: float
    bits: float

    @property
    def error(self) -> float:
        """Standard error and bias limit in one number, by which options are compared."""
        return math.hypot(self.standard_error, self.bias_limit)

    @property
    def largest_epsilon(self) -> float:
        """What the people who are protected least get after the shuffle, certified."""
        return self.guarantee.worst.epsilon_central


def recommended(options: Sequence[CollectionDesign]) -> CollectionDesign:
    """Returns the option of the smallest error among those that are unbiased."""
    unbiased = [option for option in options if option.bias_limit == 0.0]
    return min(unbiased or options, key=lambda option: option.error)


@dataclass(frozen=True)
class Yardstick:
    """An error to compare with.

    Attributes:
        name: Whose.
        standard_error: Predicted.
        meaning: In a sentence.
    """

    name: str
    standard_error: float
    meaning: str
