"""Options of a rehearsed mean, and the protocol that they ask for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.option_text import Argument, option_text, statistic
from shuffledp.population import Population
from shuffledp.randomizers.catalog import number_randomizer
from shuffledp.randomizers.mechanism_text import read_mechanism
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.statistics.mean.mechanism_choice import plan_name, usual_at_levels
from shuffledp.statistics.mean.prediction import check_spread
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.rehearsed_collection import checked_shares
from shuffledp.statistics.request import Request
from shuffledp.types import Floats, Mode

_CHOSEN = (
    "No mechanism was named: the devices ran {}, whose error is by far the smallest at "
    "these levels. Others may have stronger guarantees: shuffledp plan compares them."
)
# Stands for a population of which shares alone are known.
_PEOPLE = 10_000


@dataclass(frozen=True)
class MeanOptions:
    """The options of a mean that was asked for.

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        mode: Of the collection.
        randomizer: Of the devices; None if no mechanism was named.
        spread: Standard deviation of the values, where it was given.
        clip: Whether values outside of the range are moved to its ends.
    """

    low: float
    high: float
    mode: Mode
    randomizer: NumberRandomizer | None
    spread: float | None
    clip: bool

    def protocol(self, levels: Floats | None, spread: float | None) -> Mean:
        """Returns the protocol that is run.

        Args:
            levels: Of the people, shape (n,), or in proportion; None if not known.
            spread: Standard deviation of the values, where it is known.
        """
        randomizer = self.randomizer
        if randomizer is None and levels is not None:
            randomizer = usual_at_levels(
                self.low,
                self.high,
                self.mode,
                Population.from_budgets(levels),
                spread=spread or 0.0,
            )
        return Mean(self.low, self.high, self.mode, randomizer)

    def choice_of(self, protocol: Mean) -> tuple[str, ...]:
        """Returns a sentence about a mechanism that was chosen for its small error."""
        usual = Mean(self.low, self.high, self.mode)
        if self.randomizer is not None or protocol == usual:
            return ()
        return (_CHOSEN.format(plan_name(protocol)),)


def levels_in(shares: Mapping[float, float]) -> Floats:
    """Returns levels of people in these shares, shape (n,)."""
    epsilons, parts = checked_shares(shares)
    return np.repeat(epsilons, np.maximum(np.rint(parts * _PEOPLE), 1).astype(int))


def mean_options(request: Request) -> MeanOptions:
    """Returns the options; bad ones are refused before values are read."""
    low, high = request.option("low"), request.option("high")
    spread, clip = request.option("spread"), bool(request.option("clip"))
    if low is None or high is None:
        raise InvalidInputError(
            option_text(
                "Expected {} and {}, the bounds of the values, with {}.",
                Argument("low", "A"),
                Argument("high", "B"),
                statistic("mean"),
            )
        )
    randomizer = None
    if (named := request.option("mechanism")) is not None:
        mechanism = read_mechanism(named)
        randomizer = number_randomizer(mechanism.name, low, high, mechanism.parameters)
    options = MeanOptions(low, high, request.mode, randomizer, spread, clip)
    # Raises unless the range and the mode are possible.
    options.protocol(None, None)
    check_spread(spread, low, high)
    request.need_columns()
    return options
