"""Surveys of several questions at once: targets are collected first, then answers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.counts.counts_parameters import MAX_GROUPS
from shuffledp.accounting.counts.poisson_table import poisson_means
from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion, FormQuestion
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.randomness import Rng
from shuffledp.statistics.counts.counts_plan_rule import CountsPlanRule, CountsTerms
from shuffledp.statistics.counts.dummies_run import DummiesRun, groups_with_nulls
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.form_estimates import EntryEstimate, share_labels
from shuffledp.statistics.counts.form_shares import FormShares, entry_estimates
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.counts.shuffler_plan_rule import ShufflerPlanRule
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
    "A TOML file of questions: tables [questions.NAME] with text, and options and most, "
    "how many a person may pick; or with kind number or distribution, perhaps skippable; "
    "or with kind table or group-mean",
    "FILE",
    least=1,
    most=64,
)
NOISE = Parameter(
    "noise",
    "text",
    "Who adds it; shuffler: one message per answer, and a shuffler that is trusted to add "
    "dummies and to keep them secret from the analyst",
    choices=("devices", "shuffler"),
    required=False,
    in_python=False,
)
# Of all questions together.
_MOST_BUCKETS = 10_000


@dataclass(frozen=True)
class CountsSurvey:
    """Choices, numbers and combinations of them, in one report: see `Survey`.

    Attributes:
        questions: In the order of the form.
        mode: "agnostic": targets travel apart from answers.
        noise: "shuffler" if the shuffler adds it; None if devices do, as by default.
    """

    words: ClassVar[StatisticLabels] = WORDS
    asks: ClassVar[str] = "answers to several --questions, in one report"
    parameters: ClassVar[tuple[Parameter, ...]] = (QUESTIONS, NOISE)
    central: ClassVar[bool] = True

    questions: tuple[FormQuestion, ...]
    mode: Mode = "agnostic"
    noise: str | None = None

    def __post_init__(self) -> None:
        QUESTIONS.checked(self.questions)
        if self.noise is not None:
            NOISE.checked(self.noise)
        # One way to say so: equal terms have equal digests.
        if self.noise == "devices":
            object.__setattr__(self, "noise", None)
        if self.mode != "agnostic":
            raise InvalidInputError(
                "Expected answers to several questions to be collected agnostic of "
                "targets."
            )
        self._encoding.check()
        groups = self._groups
        buckets = sum(each for each, _ in groups)
        if buckets > _MOST_BUCKETS or len(groups) > MAX_GROUPS:
            raise InvalidInputError(
                f"Expected at most {_MOST_BUCKETS:,} options, intervals and cells, and "
                f"{MAX_GROUPS:,} groups of them, of all questions together, got "
                f"{buckets:,} and {len(groups):,}."
            )
        if not self.labels:
            raise InvalidInputError(
                "Expected a choice or a distribution beside means: of a single mean, ask "
                "with a statistic of its own."
            )
        if len(set(self.labels)) < len(self.labels):
            raise InvalidInputError(
                "Expected questions and options that make different labels, such as "
                "'Question: option'."
            )

    @property
    def noise_by_shuffler(self) -> bool:
        """See `Survey`."""
        return self.noise == "shuffler"

    @property
    def form(self) -> Form:
        """See `Survey`."""
        parts = (_question_form(each) for each in self.questions)
        return Form("several", parts=tuple(part for part in parts if part is not None))

    @property
    def labels(self) -> tuple[str, ...]:
        """Questions and answers."""
        return tuple(
            label
            for each in self.questions
            for label in share_labels(self.questions, each)
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
        parameters: dict[str, object] = {
            "groups": [
                {"buckets": buckets, "most": most} for buckets, most in self._groups
            ],
            "choices": self.choosing(offer).identity.record,
        }
        if self.noise is not None:
            parameters["noise"] = self.noise
        return Identity.of(WORDS.name, "noisy-counts", parameters, "agnostic")

    def choosing(self, offer: Offer) -> TargetsRun[CountsTerms]:
        """See `Survey`."""
        terms = CountsTerms(self._groups, offer.choices, offer.delta, offer.absent)
        rule = ShufflerPlanRule if self.noise_by_shuffler else CountsPlanRule
        return TargetsRun(terms.choices, terms, rule)

    def answering(
        self, offer: Offer, plan: Identity | None = None
    ) -> "AnswersRun | DummiesRun":
        """See `Survey`."""
        refusal = InvalidInputError("Expected a plan for these questions and targets.")
        counts = planned_protocol(Counts, plan, refusal)
        groups = tuple((group.buckets, group.most) for group in counts.groups)
        if (groups, counts.targets) != (self._groups, offer.choices):
            raise refusal
        if counts.parameters.noise_by_shuffler is not self.noise_by_shuffler:
            raise InvalidInputError(
                "Expected a plan with noise of those who add it by the task: "
                f"{'the shuffler' if self.noise_by_shuffler else 'devices'}."
            )
        # Devices of the services send answers as they are.
        if counts.local_epsilon is not None:
            raise refusal
        if self.noise_by_shuffler:
            # A rate below 1 would leave reports of different sizes.
            if set(counts.rates) != {1.0} or counts.meaning is not None:
                raise refusal
            return DummiesRun(counts, self.choosing(offer).protocol, self.questions)
        # docs/theory/plans.md says why.
        if counts.report_size is None or poisson_means(counts.parameters) is None:
            raise InvalidInputError(
                "Expected a plan with Poisson noise and a report size: a size that varies "
                "would tell the shuffler how much was answered. Geometric noise is for "
                "`Counts` outside of services, from `shuffledp plan counts`."
            )
        return AnswersRun(counts, self.choosing(offer).protocol, self.questions)

    @property
    def _encoding(self) -> FormEncoding:
        return FormEncoding(self.questions)

    @property
    def _groups(self) -> tuple[tuple[int, int], ...]:
        if self.noise_by_shuffler:
            return groups_with_nulls(self.questions)
        return tuple((each.buckets, each.most) for each in self._encoding.groups)


@dataclass(frozen=True)
class AnswersRun(FormShares, PlannedRun):
    """The stage that collects answers as the plan says: see `AnswerRun`.

    Attributes:
        questions: Of the form.
    """

    protocol: Counts
    questions: tuple[FormQuestion, ...]

    @property
    def dummy(self) -> int:
        """Above two messages for each answer."""
        return self.protocol.randomizer.dummy

    @property
    def messages_per_report(self) -> int:
        """The report size of the plan."""
        assert self.protocol.report_size is not None
        return self.protocol.report_size

    def answers(self, values: ArrayLike, *, rng: Rng) -> Ints:
        """Returns each person's buckets, group by group: see `FormEncoding.encode`."""
        return FormEncoding(self.questions).encode(values, rng=rng)

    def noisy_counts(self, tally: Tally) -> tuple[NDArray[np.int64], Floats]:
        """Returns counts of answers, and the noise of a person for each."""
        means = [
            np.full(group.buckets, group.noise.messages / self.protocol.honest)
            for group in self.protocol.groups
        ]
        # Poisson noise is all messages +.
        return tally.counts[0, 0, ::2], np.concatenate(means)

    def estimates(
        self, tally: Tally, chosen: Tally | None
    ) -> tuple[CountsEstimate, tuple[EntryEstimate, ...]]:
        """See `FormShares`."""
        people = self._counts(chosen).scaled_to(tally.num_users)
        estimate = self.protocol.estimate(tally, people)
        entries = entry_estimates(self.protocol, estimate, people, self.questions)
        return estimate, entries


def _question_form(asked: FormQuestion) -> Form | None:
    """Returns the form of a question; None if people are not asked it."""
    if isinstance(asked, AskedQuestion):
        return Form("some of", asked.options, asked.most, asked.text)
    if isinstance(asked, AskedNumber):
        ends = asked.low, asked.high
        return Form("number", text=asked.text, ends=ends, skippable=asked.skippable)
    return None


SURVEY = CountsSurvey
