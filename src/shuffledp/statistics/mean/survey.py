"""Surveys of means: every number is sent as one bit."""

from dataclasses import dataclass
from typing import ClassVar

from shuffledp.identity import Identity
from shuffledp.labels import UNBIASED_IF, StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.statistics.mean.protocol import HIGH, LOW, WORDS, Mean
from shuffledp.statistics.one_message_run import OneMessageRun, no_targets, only_stage
from shuffledp.statistics.stage_runs import ChoiceRun
from shuffledp.statistics.survey import Form, Offer
from shuffledp.types import Mode


@dataclass(frozen=True)
class MeanSurvey:
    """A question for a number in a range: see `Survey`.

    Attributes:
        low: Smallest possible number.
        high: Largest possible number.
        mode: "agnostic" or "stratified".
    """

    words: ClassVar[StatisticLabels] = WORDS
    asks: ClassVar[str] = "which number from --low to --high"
    parameters: ClassVar[tuple[Parameter, ...]] = (LOW, HIGH)
    central: ClassVar[bool] = False

    low: float
    high: float
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        # Building the protocol checks that low < high, and the mode.
        _ = self.protocol

    @property
    def protocol(self) -> Mean:
        """The protocol that runs."""
        # One-bit messages, the default of `Mean`: all of one size, whatever the range.
        return Mean(self.low, self.high, self.mode)

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
        # A message is a bit, 0 or 1.
        return only_stage(self.protocol, offer, plan, NumberCode(2))


SURVEY = MeanSurvey
