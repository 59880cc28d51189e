"""A statistic as a page explores it, before anything is collected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from shuffledp.labels import StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.planning.protocol_plan import ProtocolPlan
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.types import Mode

Terms = Mapping[str, float]


@dataclass(frozen=True)
class AssumedValue:
    """The value whose error is predicted.

    Attributes:
        label: Of its field in a form.
        between: The two parameters that bound it; () if it is from 0 to 1.
        usual: Its default; None for the middle between its bounds.
    """

    label: str
    between: tuple[str, str] | tuple[()] = ()
    usual: float | None = None


class Exploration(Protocol):
    """One statistic with a choice of mechanisms."""

    @property
    def words(self) -> StatisticLabels:
        """Its title and labels, as they are displayed."""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that it may run, the usual one first."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its own parameters: numbers with ranges and defaults; their help is a label."""

    @property
    def value(self) -> AssumedValue:
        """The value whose error is predicted."""

    def protocol(
        self, terms: Terms, mode: Mode, mechanism: str, settings: Terms
    ) -> Any:
        """Returns the protocol; its class takes terms, mode and randomizer, in this order.

        Args:
            terms: Values of its own parameters.
            mode: "agnostic" or "stratified".
            mechanism: One of `mechanisms`.
            settings: Values of the settings of the mechanism.

        Raises:
            InvalidInputError: If the mechanism refuses its parameters.
        """

    def predict(
        self, protocol: Any, people: Population, value: float
    ) -> tuple[float, float]:
        """Returns the standard error and the limit of the bias at an assumed value.

        Raises:
            InvalidInputError: If messages of these people carry no information.
        """

    def plan(self, wish: Wish, terms: Terms, value: float) -> ProtocolPlan:
        """Returns the comparison of all protocols."""
