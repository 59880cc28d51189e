"""Means as a page explores them."""

from dataclasses import replace

from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.randomizers.catalog import NUMBER_MECHANISMS, number_randomizer
from shuffledp.statistics.exploration import AssumedValue, Terms
from shuffledp.statistics.mean.mean_labels import HIGH, LOW, WORDS
from shuffledp.statistics.mean.mean_plan import plan_mean
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.types import Mode

_FARTHEST = 1e12


class MeanExploration:
    """See `Exploration`."""

    words = WORDS
    mechanisms = NUMBER_MECHANISMS
    parameters = tuple(
        replace(end, help=label, least=-_FARTHEST, most=_FARTHEST, default=usual)
        for end, label, usual in (
            (LOW, "Lowest value", 0.0),
            (HIGH, "Highest value", 10.0),
        )
    )
    value = AssumedValue("Mean to estimate", between=(LOW.name, HIGH.name))

    def protocol(
        self, terms: Terms, mode: Mode, mechanism: str, settings: Terms
    ) -> Mean:
        """See `Exploration`."""
        low, high = terms["low"], terms["high"]
        randomizer = number_randomizer(mechanism, low, high, dict(settings))
        return Mean(low, high, mode, randomizer)

    def predict(
        self, protocol: Mean, people: Population, value: float
    ) -> tuple[float, float]:
        """See `Exploration`."""
        return (
            protocol.predicted_error(people, mean=value),
            protocol.predicted_bias(people, mean=value),
        )

    def plan(self, wish: Wish, terms: Terms, value: float) -> ProtocolPlan:
        """See `Exploration`."""
        return plan_mean(wish, low=terms["low"], high=terms["high"], mean=value)


EXPLORATION = MeanExploration()
