"""Designs of a collection, and the errors they are compared with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.population import Population
from shuffledp.types import Mode


@dataclass(frozen=True, eq=False)
class CollectionDesign:
    """A mechanism, its mode and its levels, with predicted error and guarantee.

    Attributes:
        name: Of the mechanism, with its chosen parameters.
        mode: "agnostic" or "stratified".
        people: Levels, and people at each.
        targets: Central epsilon that was asked for at each level, infinite for none.
        guarantee: Of each level, after the shuffle.
        standard_error: Predicted, for the mean or share among the people who take part.
        bias_limit: Upper bound of the bias; 0 if the estimate is unbiased.
        bits: Length of a message.
        protocol: `Frequency` or `Mean`, by this mechanism in this mode.
        largest_error: The largest predicted `error` among other values that people may
            hold; None where none are compared.
    """

    name: str
    mode: Mode
    people: Population
    targets: tuple[float, ...]
    guarantee: Guarantee
    standard_error: float
    bias_limit: float
    bits: float
    protocol: Any
    largest_error: float | None = None

    @property
    def error(self) -> float:
        """Standard error and bias limit in one number, by which designs are compared."""
        # As in a mean squared error: variance plus squared bias.
        return math.hypot(self.standard_error, self.bias_limit)

    @property
    def largest_epsilon(self) -> float:
        """The certified central epsilon of the least protected level."""
        return self.guarantee.worst.epsilon_central


@dataclass(frozen=True)
class ValueAssumption:
    """Assumption of predicted errors about the values that people hold.

    Attributes:
        values: Assumed numbers by the names of the planner's arguments.
        meaning: The assumption and how to change it, in a sentence.
    """

    values: Mapping[str, float]
    meaning: str


def recommended(options: Sequence[CollectionDesign]) -> CollectionDesign:
    """Returns the unbiased design of smallest error, or of all if none is unbiased."""
    # Exactly 0 where messages are linear in the value; all other limits are above 0.
    unbiased = [design for design in options if design.bias_limit == 0.0]
    return min(unbiased or options, key=lambda design: design.error)


@dataclass(frozen=True)
class Yardstick:
    """Predicted error of another trust model, for comparison.

    Attributes:
        name: Of the model.
        standard_error: Predicted.
        meaning: The model in a sentence.
    """

    name: str
    standard_error: float
    meaning: str
