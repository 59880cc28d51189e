"""Frequencies as a page explores them."""

from shuffledp.parameter import Parameter
from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.randomizers.catalog import build, mechanisms_for
from shuffledp.statistics.exploration import AssumedValue, Terms
from shuffledp.statistics.frequency.frequency_plan import plan_frequency
from shuffledp.statistics.frequency.protocol import WORDS, Frequency
from shuffledp.types import Mode


class FrequencyExploration:
    """See `Exploration`."""

    words = WORDS
    mechanisms = mechanisms_for("categories")
    parameters = (
        Parameter(
            "categories",
            "whole number",
            "Categories",
            least=2,
            most=10_000,
            default=17,
        ),
    )
    value = AssumedValue("Share to estimate", usual=0.2)

    def protocol(
        self, terms: Terms, mode: Mode, mechanism: str, settings: Terms
    ) -> Frequency:
        """See `Exploration`."""
        randomizer = build(mechanism, {**terms, **settings})
        # `Frequency` itself refuses a mechanism of another kind.
        return Frequency(int(terms["categories"]), mode, randomizer)  # type: ignore[arg-type]

    def predict(
        self, protocol: Frequency, people: Population, value: float
    ) -> tuple[float, float]:
        """See `Exploration`."""
        return protocol.predicted_error(people, share=value), 0.0

    def plan(self, wish: Wish, terms: Terms, value: float) -> ProtocolPlan:
        """See `Exploration`."""
        return plan_frequency(
            wish, num_categories=int(terms["categories"]), share=value
        )


EXPLORATION = FrequencyExploration()
