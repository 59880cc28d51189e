"""Surveys of means: every number is sent as one bit, or as one of few numbers."""

from dataclasses import dataclass
from typing import Any, ClassVar

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.labels import UNBIASED_IF, StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.randomizers.catalog import (
    mechanism_class,
    mechanisms_for,
    number_randomizer,
)
from shuffledp.randomizers.message_code import MessageCode
from shuffledp.randomizers.planned_numbers import PlannedNumbers
from shuffledp.statistics.mean.mean_labels import HIGH, LOW, WORDS
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.one_message_run import OneMessageRun, no_targets, only_stage
from shuffledp.statistics.stage_runs import ChoiceRun
from shuffledp.statistics.survey import Form, Offer, terms_of
from shuffledp.types import Mode

# Those whose messages have a code for the wire. A question that names none asks for the
# first, as questions did before there was a choice.
MECHANISM = Parameter(
    "mechanism",
    "text",
    "What the devices run",
    choices=tuple(
        name
        for name in mechanisms_for("numbers")
        if hasattr(mechanism_class(name), "message_code")
    ),
    required=False,
)
VALUES = Parameter(
    "values",
    "whole number",
    "Of a mechanism with a grid, to how many equally spaced numbers answers are rounded",
    least=2,
    most=10_000,
    required=False,
    in_mechanism=True,
)


@dataclass(frozen=True)
class MeanSurvey:
    """A question for a number in a range: see `Survey`.

    Attributes:
        low: Smallest possible number.
        high: Largest possible number.
        mechanism: The mechanism of the devices; None for the usual one.
        values: To how many numbers a mechanism with a grid rounds answers; None of others.
        mode: "agnostic" or "stratified".
    """

    words: ClassVar[StatisticLabels] = WORDS
    asks: ClassVar[str] = "which number from --low to --high"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        LOW,
        HIGH,
        MECHANISM,
        VALUES,
    )
    central: ClassVar[bool] = False
    noise_by_shuffler: ClassVar[bool] = False

    low: float
    high: float
    mechanism: str | None = None
    values: int | None = None
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        terms = terms_of(self)
        for parameter in self.parameters:
            if parameter.name in terms:
                parameter.checked(terms[parameter.name])
        # Building the protocol checks that low < high, the mode, and if there are values.
        sized = isinstance(self.protocol.randomizer, PlannedNumbers)
        # Devices read it in the question, and know no default.
        if sized and self.values is None:
            raise InvalidInputError(f"Expected values with {self.mechanism}.")

    @property
    def protocol(self) -> Mean:
        """The protocol that runs."""
        name = self.mechanism or MECHANISM.choices[0]
        size = {} if self.values is None else {"values": self.values}
        randomizer = number_randomizer(name, self.low, self.high, size)
        return Mean(self.low, self.high, self.mode, randomizer)

    @property
    def form(self) -> Form:
        """See `Survey`."""
        return Form("number")

    @property
    def labels(self) -> tuple[str, ...]:
        """One."""
        return ("mean",)

    @property
    def unbiased_if(self) -> str:
        """See `Survey`."""
        return UNBIASED_IF[self.mode]

    def axis_ends(self, num_users: int) -> tuple[float, ...]:
        """Returns the ends of the range of possible numbers."""
        return self.low, self.high

    def identity(self, offer: Offer) -> Identity:
        """The protocol's."""
        return self.protocol.identity

    def choosing(self, offer: Offer) -> ChoiceRun:
        """See `Survey`."""
        return no_targets()

    def answering(self, offer: Offer, plan: Identity | None = None) -> OneMessageRun:
        """See `Survey`."""
        return only_stage(self.protocol, offer, plan, self._code)

    @property
    def _code(self) -> MessageCode:
        coded: Any = self.protocol.randomizer
        code: MessageCode = coded.message_code
        return code


SURVEY = MeanSurvey
