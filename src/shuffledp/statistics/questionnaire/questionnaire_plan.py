"""Plans of questionnaires: the noise of every group that keeps all targets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.counts.rate_statement import check_delta
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.report_sizing import keeps_targets
from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.arguments import expect_callable, expect_instance, expect_mapping
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.format_number import plain
from shuffledp.planning.collection_design import ValueAssumption
from shuffledp.planning.strict_targets import (
    StrictTargets,
    strict_targets,
    without_strict_targets,
)
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.statistics.questionnaire.expected_answers import (
    assumed_means,
    expected_counts,
    least_ratio,
)
from shuffledp.statistics.questionnaire.noise_division import (
    NoiseDivision,
    noise_divisions,
)
from shuffledp.statistics.questionnaire.noise_search import NoiseSearch
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import (
    Question,
    QuestionEstimate,
    check_different_names,
)

USUAL_MESSAGES = 16
# By how much the usual number of messages grows, where it is too small.
_MOST_USUAL = 8
# More, and its inverse, leave next to no privacy, or next to no data, for others.
_MOST_INTEREST = 1e3
# Larger targets are kept with noise for this one, which is next to none.
_ENOUGH = 20.0


@dataclass(frozen=True, eq=False)
class QuestionnairePlan:
    """A questionnaire with its certificate and the errors to expect.

    Attributes:
        name: Of the noise.
        questionnaire: What devices run.
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
        asked = self.questionnaire
        return replace(asked, report_size=None).counts.parameters.mean_messages

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
    if not isinstance(questions, Sequence) or not questions:
        raise InvalidInputError("Expected a list of at least one question.")
    for question in questions:
        if not hasattr(question, "adapted"):
            raise InvalidInputError(
                f"Expected questions, got {type(question).__name__}."
            )
    check_different_names(question.name for question in questions)
    expect_instance(wish, Wish)
    expect_callable(on_step, "on_step")
    assumption = assumed_means(questions, expected_means)
    if wish.targets is None:
        raise InvalidInputError("Expected central targets, got privacy levels.")
    people = Population.from_counts(dict(wish.targets))
    smallest = float(people.epsilons[0])
    if smallest <= 0.0:
        raise InvalidInputError("Expected targets above 0.")
    smallest = min(smallest, _ENOUGH)
    honest = people.num_users - wish.absent
    if honest < 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {wish.absent}."
        )
    check_delta(wish.delta)
    mu = float(sensitivity_per_deviation(np.array([smallest]), wish.delta)[0])
    adapted = tuple(
        question.adapted(people.num_users, noise=1.0 / mu) for question in questions
    )
    groups = tuple(group for question in adapted for group in question.groups)
    answers = sum(group.most for group in groups)
    allowed = 2 * answers + USUAL_MESSAGES if max_messages is None else max_messages
    check_whole(allowed, "messages per person", least=1)
    if allowed <= answers:
        raise InvalidInputError(
            f"Expected more than {answers} messages per person, as many as answers, got "
            f"{allowed}."
        )
    weights = _weights(adapted, interest)
    divisions = tuple(
        noise_divisions(groups, weights, epsilon=smallest, deviation=1.0 / mu)
    )
    # Where nothing is proven with the usual number, several times as many may do.
    last = allowed if max_messages is not None else _MOST_USUAL * allowed
    while True:
        search = NoiseSearch(
            adapted, people, wish.delta, honest, float(allowed - answers) * honest
        )
        least = _least_error(search, divisions, smallest, 1.0 / mu, on_step)
        if least is not None:
            break
        if allowed >= last:
            count, wanted = int(people.counts[0]), plain(float(people.epsilons[0]))
            raise CertificationError(
                f"No noise of at most {allowed} messages per person is enough for the "
                f"smallest target, {wanted} ({count:,} of {people.num_users:,} people): "
                "expected a larger one, more messages, more people, "
                f"{_closer(interest)}fewer and coarser questions."
            )
        allowed *= 2
    division, noise = least
    best = search.questionnaire(noise)
    guarantee = account(
        best, people, delta=wish.delta, quantiles=False, absent=wish.absent
    )
    # The search is not trusted: its result is certified as a whole.
    if not keeps_targets(guarantee):
        raise CertificationError(
            f"No noise found that keeps all targets at delta {wish.delta:g}."
        )
    plan = QuestionnairePlan(
        division.name,
        best,
        guarantee,
        _expected(best, people, expected_means or {}),
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


def _least_error(
    search: NoiseSearch,
    divisions: Sequence[NoiseDivision],
    epsilon: float,
    deviation: float,
    on_step: Callable[[str], None],
) -> tuple[NoiseDivision, tuple[Noise, ...]] | None:
    """Returns the certified noise of the smallest error; None if there is none."""
    candidates: list[tuple[float, NoiseDivision, float]] = []
    for division in divisions:
        on_step(division.name)
        size = search.approximate(division, epsilon, deviation)
        noise = None if size is None else division.noise(size, search.room)
        if size is not None and noise is not None:
            candidates.append((division.error(noise), division, size))
    for _, division, size in sorted(candidates, key=lambda each: each[0]):
        on_step("certificate")
        noise = search.certified(division, size, epsilon)
        if noise is not None:
            return division, noise
    return None


def _weights(
    questions: Sequence[Question], interest: Mapping[str, float] | None
) -> tuple[float, ...]:
    wanted = expect_mapping(interest or {}, "interest by question")
    unknown = set(wanted) - {question.name for question in questions}
    if unknown:
        raise InvalidInputError(
            "Expected interest in questions that are asked, got "
            f"{', '.join(sorted(map(str, unknown)))}."
        )
    weights = []
    for question in questions:
        weight = as_number(wanted.get(question.name, 1.0), "interest")
        if not 1.0 / _MOST_INTEREST <= weight <= _MOST_INTEREST:
            raise InvalidInputError(
                f"Expected an interest from {1.0 / _MOST_INTEREST:g} to "
                f"{_MOST_INTEREST:g} in {question.name!r}, got {weight:g}."
            )
        weights += [weight * group.error_weight for group in question.groups]
    return tuple(weights)


def _closer(interest: Mapping[str, float] | None) -> str:
    """Returns part of an error text where the given interests may be to blame."""
    given = {float(weight) for weight in (interest or {}).values()} - {1.0}
    return "interests nearer to each other, or " if given else "or "


def _expected(
    asked: Questionnaire, people: Population, means: Mapping[str, float]
) -> dict[str, QuestionEstimate]:
    """Returns estimates from expected answers: see `expected_counts`."""
    n = people.num_users
    counts = expected_counts(asked, n, means)
    expected = CountsEstimate(counts, counts, counts, n, asked.identity)
    return asked.estimates_of(expected, people)
