"""Surveys of the number of people who say yes."""

from dataclasses import dataclass
from typing import ClassVar

from shuffledp.identity import Identity
from shuffledp.labels import UNBIASED_IF, StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.statistics.one_message_run import OneMessageRun, no_targets, only_stage
from shuffledp.statistics.stage_runs import ChoiceRun
from shuffledp.statistics.sum.protocol import WORDS, BinarySum
from shuffledp.statistics.survey import Form, Offer
from shuffledp.types import Mode


@dataclass(frozen=True)
class SumSurvey:
    """A yes-or-no question: see `Survey`.

    Attributes:
        mode: "agnostic" or "stratified".
    """

    words: ClassVar[StatisticLabels] = WORDS
    asks: ClassVar[str] = "yes or no"
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    central: ClassVar[bool] = False
    noise_by_shuffler: ClassVar[bool] = False

    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        # Building the protocol checks the mode.
        _ = self.protocol

    @property
    def protocol(self) -> BinarySum:
        """The protocol that runs."""
        return BinarySum(self.mode)

    @property
    def form(self) -> Form:
        """See `Survey`."""
        return Form("yes or no")

    @property
    def labels(self) -> tuple[str, ...]:
        """One."""
        return ("people who say yes",)

    @property
    def unbiased_if(self) -> str:
        """See `Survey`."""
        return UNBIASED_IF[self.mode]

    def axis_ends(self, num_users: int) -> tuple[float, ...]:
        """Returns the ends of the range of possible numbers."""
        return 0.0, float(num_users)

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


SURVEY = SumSurvey
