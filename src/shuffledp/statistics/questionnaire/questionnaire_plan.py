"""Plans of questionnaires: the noise of every group that keeps all targets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.arguments import expect_callable, expect_instance
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.planning.collection_design import ValueAssumption
from shuffledp.planning.strict_targets import (
    StrictTargets,
    strict_targets,
    without_strict_targets,
)
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.questionnaire.certified_questionnaire import (
    certified_questionnaire,
)
from shuffledp.statistics.questionnaire.expected_answers import (
    assumed_means,
    expected_counts,
    least_ratio,
)
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import (
    Question,
    QuestionEstimate,
    check_different_names,
)


@dataclass(frozen=True, eq=False)
class QuestionnairePlan:
    """A questionnaire with its certificate and the errors to expect.

    Attributes:
        name: Of the noise.
        questionnaire: Of the devices, with its noise.
        guarantee: Of each target, after the shuffle.
        expected: Estimates of every question if answers are spread evenly over buckets;
            only their standard errors are of use.
        assumption: Means that these errors assume; None where none depends on one.
        strict: The cost of the smallest targets, where they are those of few people;
            None if it is little.
    """

    name: str
    questionnaire: Questionnaire
    guarantee: Guarantee
    expected: dict[str, QuestionEstimate]
    assumption: ValueAssumption | None = None
    strict: StrictTargets | None = None

    @property
    def messages(self) -> float:
        """Messages of a person in the mean, without dummies."""
        return mean_messages(self.questionnaire)

    @property
    def report_size(self) -> int | None:
        """Messages of every report, dummies included; None if sizes vary."""
        return self.questionnaire.report_size

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as plain values, for JSON."""
        return {
            "noise": self.name,
            "messages": self.messages,
            "report_size": self.report_size,
            "questions": {
                name: estimate.predicted_errors
                for name, estimate in self.expected.items()
            },
            "assumed": None
            if self.assumption is None
            else {"means": self.assumption.values, "meaning": self.assumption.meaning},
            "strict_targets": None if self.strict is None else self.strict.to_dict(),
            "protocol": self.questionnaire.identity.record,
            "guarantee": self.guarantee.to_dict(),
        }


def plan_questionnaire(
    questions: Sequence[Question],
    wish: Wish,
    *,
    interest: Mapping[str, float] | None = None,
    max_messages: int | None = None,
    expected_means: Mapping[str, float] | None = None,
    on_step: Callable[[str], None] = lambda _step: None,
) -> QuestionnairePlan:
    """Divides noise among questions so that the weighted squared error is smallest.

    Every person sends all answers, with noise that is enough for the smallest target.

    >>> import shuffledp as sdp
    >>> asked = (sdp.NumberQuestion("age", 0, 100), sdp.NumberQuestion("income", 0, 1e6))
    >>> plan = plan_questionnaire(asked, sdp.Wish(targets={1.0: 10_000}))
    >>> plan.expected["age"].standard_error.round(2).tolist()
    [0.06]

    Args:
        questions: At least one; names differ.
        wish: Targets, people, delta, absent people.
        interest: Weight of each question's squared error, from 0.001 to 1,000; 1 where
            none is given.
        max_messages: Messages of a person in the mean, without dummies; by default twice
            the answers and 16 more, or up to 8 times as many where these are too few.
        expected_means: Of numbers, by question; predicted errors assume them, by default
            the middle of each range.
        on_step: Called with the name of each kind of noise before it is computed.

    Raises:
        InvalidInputError: If a parameter is out of range.
        PopulationError: If more people may be absent than there are others.
        CertificationError: If nothing is found that can be proven.
    """
    _check_questions(questions)
    expect_instance(wish, Wish)
    expect_callable(on_step, "on_step")
    assumption = assumed_means(questions, expected_means)
    name, questionnaire, guarantee = certified_questionnaire(
        questions, wish, interest=interest, max_messages=max_messages, on_step=on_step
    )
    people = Population.from_counts(dict(wish.targets or {}))
    plan = QuestionnairePlan(
        name,
        questionnaire,
        guarantee,
        expected_estimates(questionnaire, people, expected_means or {}),
        assumption,
    )
    eased = without_strict_targets(wish)
    if eased is None:
        return plan
    on_step("larger targets")
    try:
        other = plan_questionnaire(
            questions,
            eased,
            interest=interest,
            max_messages=max_messages,
            expected_means=expected_means,
        )
    except CertificationError:
        return plan
    factor = least_ratio(plan.expected, other.expected)
    return replace(plan, strict=strict_targets(wish, eased, factor))


def _check_questions(questions: Sequence[Question]) -> None:
    if not isinstance(questions, Sequence) or not questions:
        raise InvalidInputError("Expected a list of at least one question.")
    for question in questions:
        if not hasattr(question, "adapted"):
            raise InvalidInputError(
                f"Expected questions, got {type(question).__name__}."
            )
    check_different_names(question.name for question in questions)


def mean_messages(asked: Questionnaire) -> float:
    """Returns the messages of a person in the mean, without dummies."""
    return replace(asked, report_size=None).counts.parameters.mean_messages


def expected_estimates(
    asked: Questionnaire, people: Population, means: Mapping[str, float]
) -> dict[str, QuestionEstimate]:
    """Returns estimates from expected answers: see `expected_counts`."""
    n = people.num_users
    counts = expected_counts(asked, n, means)
    steps = (1.0,) * len(counts)
    expected = CountsEstimate(counts, counts, counts, n, asked.identity, steps)
    return asked.estimates_of(expected, people)
