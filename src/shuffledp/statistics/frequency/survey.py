"""Surveys of frequencies."""

from dataclasses import dataclass
from typing import Any, ClassVar

from shuffledp.identity import Identity
from shuffledp.label_checks import check_labels
from shuffledp.labels import UNBIASED_IF, StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.randomizers.catalog import build, mechanism_class, mechanisms_for
from shuffledp.randomizers.message_code import MessageCode
from shuffledp.statistics.frequency.protocol import WORDS, Frequency
from shuffledp.statistics.one_message_run import OneMessageRun, no_targets, only_stage
from shuffledp.statistics.shared_parameters import ANSWERS
from shuffledp.statistics.stage_runs import ChoiceRun
from shuffledp.statistics.survey import Form, Offer, terms_of
from shuffledp.types import Mode

# Those whose messages have a code for the wire. The first is the usual one; the others
# serve questions with many categories: at the same levels their estimates are closer, and
# their certificates weaker.
MECHANISM = Parameter(
    "mechanism",
    "text",
    "What the devices run",
    choices=tuple(
        name
        for name in mechanisms_for("categories")
        if hasattr(mechanism_class(name), "message_code")
    ),
)
SUBSET_SIZE = Parameter(
    "subset_size",
    "whole number",
    "Of subset-selection, how many categories a message names",
    least=1,
    most=9_999,
    required=False,
    in_mechanism=True,
)


@dataclass(frozen=True)
class FrequencySurvey:
    """A question for one of several categories: see `Survey`.

    Attributes:
        categories: Their names.
        mechanism: The mechanism of the devices.
        subset_size: How many categories a message of subset-selection names; None of
            other mechanisms.
        mode: "agnostic" or "stratified".
    """

    words: ClassVar[StatisticLabels] = WORDS
    asks: ClassVar[str] = "which --category"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        ANSWERS,
        MECHANISM,
        SUBSET_SIZE,
    )
    central: ClassVar[bool] = False
    noise_by_shuffler: ClassVar[bool] = False

    categories: tuple[str, ...]
    mechanism: str = MECHANISM.choices[0]
    subset_size: int | None = None
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        terms = terms_of(self)
        for parameter in self.parameters:
            # An optional term that is not stated is None, which is a value of no kind.
            if parameter.required or parameter.name in terms:
                parameter.checked(terms.get(parameter.name))
        check_labels(self.categories, "answers")
        # Building the mechanism refuses a subset size that is not for it, or too large.
        _ = self.protocol

    @property
    def protocol(self) -> Frequency:
        """The protocol that runs."""
        size = {} if self.subset_size is None else {"subset_size": self.subset_size}
        k = len(self.categories)
        built: Any = build(self.mechanism, {"categories": k, **size})
        return Frequency(k, self.mode, built)

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

    def axis_ends(self, num_users: int) -> tuple[float, ...]:
        """Returns 0: bars begin there."""
        return (0.0,)

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


SURVEY = FrequencySurvey
