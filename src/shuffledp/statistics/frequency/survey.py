"""Frequencies, as they are asked of real people."""

from dataclasses import dataclass
from typing import ClassVar

from shuffledp.identity import Identity
from shuffledp.statistics.frequency.protocol import WORDS, Frequency
from shuffledp.statistics.one_message_run import OneMessageRun, no_targets, only_stage
from shuffledp.statistics.survey import (
    SHARES,
    ChoiceRun,
    Form,
    Offer,
    Scale,
)
from shuffledp.statistics.survey_terms import CATEGORIES, Term
from shuffledp.types import Mode
from shuffledp.wording import UNBIASED_IF, Words


@dataclass(frozen=True)
class FrequencySurvey:
    """Which of several categories: see `Survey`.

    Attributes:
        categories: Their names.
        mode: "agnostic" or "stratified".
    """

    words: ClassVar[Words] = WORDS
    asks: ClassVar[str] = "which --category"
    terms: ClassVar[tuple[Term, ...]] = (CATEGORIES,)
    central: ClassVar[bool] = False

    categories: tuple[str, ...]
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        CATEGORIES.checked(self.categories)
        _ = self.protocol  # Checks the rest.

    @property
    def protocol(self) -> Frequency:
        """What runs."""
        return Frequency(len(self.categories), self.mode)

    @property
    def form(self) -> Form:
        """See `Survey`."""
        return Form("one of", self.categories)

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories."""
        return self.categories

    @property
    def unbiased_if(self) -> str:
        """See `Survey`."""
        return UNBIASED_IF[self.mode]

    def scale(self, num_users: int) -> Scale:
        """Shares."""
        return SHARES

    def identity(self, offer: Offer) -> Identity:
        """The protocol's."""
        return self.protocol.identity

    def choosing(self, offer: Offer) -> ChoiceRun:
        """See `Survey`."""
        return no_targets()

    def answering(self, offer: Offer, plan: Identity | None = None) -> OneMessageRun:
        """See `Survey`."""
        return only_stage(self.protocol, offer, plan, len(self.categories))


SURVEY = FrequencySurvey
