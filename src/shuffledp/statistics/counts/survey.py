"""Surveys of several questions at once: targets are collected first, then answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.counts.poisson_table import poisson_means
from shuffledp.asked_question import AskedQuestion
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.statistics.counts.answer_shares import AnswerShares
from shuffledp.statistics.counts.counts_plan_rule import CountsPlanRule, CountsTerms
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.planned_run import PlannedRun, planned_protocol
from shuffledp.statistics.survey import Form, Offer
from shuffledp.statistics.targets_run import TargetsRun
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints, Mode

WORDS = StatisticLabels(
    name="counts",
    title="Answers",
    asked="How many people give each answer",
    row="answer",
    rows="answers",
    display=SHARES,
)
UNBIASED_IF = (
    "Unbiased if answers and targets are independent: targets were shuffled apart from the "
    "messages."
)
QUESTIONS = Parameter(
    "questions",
    "questions",
    "A TOML file of questions: tables [questions.NAME] with text, options, and most, how "
    "many a person may pick",
    "FILE",
    least=1,
    most=64,
)
# Buckets of all questions together.
_MOST_ANSWERS = 10_000


@dataclass(frozen=True)
class CountsSurvey:
    """Questions with answers to pick from, in one report: see `Survey`.

    Attributes:
        questions: In the order of the form.
        mode: "agnostic": targets travel apart from answers.
    """

    words: ClassVar[StatisticLabels] = WORDS
    asks: ClassVar[str] = "answers to several --questions, in one report"
    parameters: ClassVar[tuple[Parameter, ...]] = (QUESTIONS,)
    central: ClassVar[bool] = True

    questions: tuple[AskedQuestion, ...]
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        QUESTIONS.checked(self.questions)
        if self.mode != "agnostic":
            raise InvalidInputError(
                "Expected answers to several questions to be collected agnostic of "
                "targets."
            )
        if len(self.labels) > _MOST_ANSWERS:
            raise InvalidInputError(
                f"Expected at most {_MOST_ANSWERS:,} options of all questions together, "
                f"got {len(self.labels):,}."
            )
        if len(set(self.labels)) < len(self.labels):
            raise InvalidInputError(
                "Expected questions and options that make different labels, such as "
                "'Question: option'."
            )

    @property
    def form(self) -> Form:
        """See `Survey`."""
        parts = tuple(
            Form("some of", each.options, each.most, each.text)
            for each in self.questions
        )
        return Form("several", parts=parts)

    @property
    def labels(self) -> tuple[str, ...]:
        """Questions and answers."""
        return tuple(
            f"{each.text}: {option}" if len(self.questions) > 1 else option
            for each in self.questions
            for option in each.options
        )

    @property
    def unbiased_if(self) -> str:
        """See `Survey`."""
        return UNBIASED_IF

    def axis_ends(self, num_users: int) -> tuple[float, ...]:
        """Returns 0: bars begin there."""
        return (0.0,)

    def identity(self, offer: Offer) -> Identity:
        """Returns the identity without the parameters that a plan sets."""
        # A task is signed before its plan sets rates, noise and the report size.
        parameters = {
            "groups": [
                {"buckets": buckets, "most": most} for buckets, most in self._groups
            ],
            "choices": self.choosing(offer).identity.record,
        }
        return Identity.of(WORDS.name, "noisy-counts", parameters, "agnostic")

    def choosing(self, offer: Offer) -> TargetsRun[CountsTerms]:
        """See `Survey`."""
        terms = CountsTerms(self._groups, offer.choices, offer.delta, offer.absent)
        return TargetsRun(terms.choices, terms, CountsPlanRule)

    def answering(self, offer: Offer, plan: Identity | None = None) -> "AnswersRun":
        """See `Survey`."""
        refusal = InvalidInputError("Expected a plan for these questions and targets.")
        counts = planned_protocol(Counts, plan, refusal)
        groups = tuple((group.buckets, group.most) for group in counts.groups)
        is_poisson = poisson_means(counts.parameters) is not None
        if (groups, counts.targets) != (self._groups, offer.choices) or not is_poisson:
            raise refusal
        # A size that varies would tell the shuffler how much was answered.
        if counts.report_size is None:
            raise refusal
        return AnswersRun(counts, self.choosing(offer).protocol)

    @property
    def _groups(self) -> tuple[tuple[int, int], ...]:
        return tuple((len(each.options), each.most) for each in self.questions)


@dataclass(frozen=True)
class AnswersRun(PlannedRun):
    """The stage that collects answers as the plan says: see `AnswerRun`."""

    protocol: Counts

    @property
    def dummy(self) -> int:
        """Above two messages for each answer."""
        return self.protocol.randomizer.dummy

    @property
    def messages_per_report(self) -> int:
        """The report size of the plan."""
        assert self.protocol.report_size is not None
        return self.protocol.report_size

    def answers(self, values: ArrayLike) -> Ints:
        """Returns each person's answers, question by question, shape (n, most).

        Args:
            values: Positions of the picked options, counted over all questions, in rows
                that are filled up with the number of options.

        Raises:
            InvalidInputError: If somebody picked more options than a question allows.
        """
        given = np.asarray(values)
        if given.ndim != 2 or given.dtype.kind not in "iu":
            raise InvalidInputError("Expected rows of whole numbers, one per person.")
        total = sum(group.buckets for group in self.protocol.groups)
        if given.size and not 0 <= given.min() <= given.max() <= total:
            raise InvalidInputError(f"Expected positions of options from 0 to {total}.")
        columns, first = [], 0
        for group in self.protocol.groups:
            is_own = (given >= first) & (given < first + group.buckets)
            if given.size and is_own.sum(axis=1).max() > group.most:
                raise InvalidInputError(
                    f"Expected at most {group.most} answers to a question."
                )
            answers = np.full((given.shape[0], group.most), group.buckets)
            column = np.cumsum(is_own, axis=1) - 1
            rows, _ = np.nonzero(is_own)
            answers[rows, column[is_own]] = given[is_own] - first
            columns.append(answers)
            first += group.buckets
        return np.concatenate(columns, axis=1)

    def noisy_counts(self, tally: Tally) -> tuple[NDArray[np.int64], Floats]:
        """Returns counts of answers, and the noise of a person for each."""
        means = [
            np.full(group.buckets, group.noise.messages / self.protocol.honest)
            for group in self.protocol.groups
        ]
        # Poisson noise is all messages +.
        return tally.counts[0, 0, ::2], np.concatenate(means)

    def estimate(self, tally: Tally, chosen: Tally | None) -> AnswerShares:
        """See `AnswerRun`."""
        people = self._counts(chosen).scaled_to(tally.num_users)
        return AnswerShares(self.protocol.estimate(tally, people))

    def manipulation(
        self, tally: Tally, chosen: Tally | None, num_liars: int
    ) -> Floats:
        """See `AnswerRun`."""
        people = self._counts(chosen).scaled_to(tally.num_users)
        shifts: Sequence[Floats] = self.protocol.manipulation(people, num_liars)
        return np.concatenate(shifts) / tally.num_users


SURVEY = CountsSurvey
