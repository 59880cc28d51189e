"""Questionnaires: one certificate, unbiased estimates of every question, strict inputs."""

from typing import Any

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.errors import (
    CertificationError,
    InvalidInputError,
    PopulationError,
    UnknownLevelError,
)
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.questionnaire.choice_question import ChoiceQuestion
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.questionnaire_plan import plan_questionnaire
from shuffledp.statistics.statistic_catalog import protocol_of

QUESTIONS = (
    ChoiceQuestion("color", ("red", "green", "blue"), most=2),
    NumberQuestion("age", 0.0, 100.0, digits=3),
)
NOISE = tuple(PoissonNoise(mean) for mean in (50.0, 40.0, 80.0, 160.0))
PEOPLE = Population.from_counts({0.5: 200, 1.0: 400})


def questionnaire(**changes: Any) -> Questionnaire:
    terms: dict[str, Any] = {
        "questions": QUESTIONS,
        "noise": NOISE,
        "targets": (0.5, 1.0),
        "rates": (0.6, 1.0),
        "honest": 600,
    }
    return Questionnaire(**terms | changes)


def answers_of(n: int = 600) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    colors = np.column_stack([rng.integers(0, 2, n), rng.choice([2, -1], n)])
    return {"color": colors, "age": rng.uniform(0.0, 100.0, n)}


@pytest.mark.slow
def test_a_certificate_is_that_of_the_counts() -> None:
    asked = questionnaire()
    assert protocol_of(asked.identity) == asked.counts
    certified = account(asked, PEOPLE, delta=1e-5)
    assert certified == account(asked.counts, PEOPLE, delta=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("is_drawn", [False, True])
def test_estimates_are_unbiased_and_their_errors_are_stated(is_drawn: bool) -> None:
    asked, answers, rng = questionnaire(), answers_of(), np.random.default_rng(7)
    targets = PEOPLE.budgets()
    runs = 150
    errors: dict[str, list[Any]] = {"color": [], "age": []}
    stated: dict[str, list[Any]] = {"color": [], "age": []}
    colors = np.bincount(answers["color"].ravel() + 1, minlength=4)[1:]
    truth = {"color": colors, "age": np.array([answers["age"].mean()])}
    for _ in range(runs):
        dealt = rng.permutation(targets)
        if is_drawn:
            seen: Any = asked.draw_tally(answers, dealt, rng=rng)
        else:
            seen = shuffle(asked.randomize(answers, dealt, rng=rng), rng=rng)
        for name, estimate in asked.estimate(seen, PEOPLE).items():
            errors[name].append(estimate.value - truth[name])
            stated[name].append(estimate.standard_error)
    for name in truth:
        error, spread = np.array(errors[name]), np.array(stated[name]).mean(axis=0)
        # Six standard errors of a mean: 2e-9 false alarms each.
        assert np.all(np.abs(error.mean(axis=0)) < 6.0 * spread / np.sqrt(runs))
        # A deviation of 150 runs is right to 5.8%: six times that.
        assert np.all(error.std(axis=0) < 1.35 * spread)
    deviation = np.array(errors["color"]).std(axis=0)
    assert np.all(deviation > 0.65 * np.array(stated["color"]).mean(axis=0))


@pytest.mark.parametrize(
    "changes",
    [
        {"questions": ()},
        {"questions": (QUESTIONS[0], QUESTIONS[0]), "noise": NOISE[:2]},
        {"noise": NOISE[:3]},
        {"rates": (0.5,)},
        {"honest": 0},
    ],
)
def test_other_terms_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        questionnaire(**changes)


def test_other_answers_are_refused() -> None:
    asked, rng, targets = questionnaire(), np.random.default_rng(1), PEOPLE.budgets()
    answers = answers_of()
    for wrong in (
        {"color": answers["color"]},
        answers | {"size": answers["age"]},
        answers | {"age": answers["age"][:-1]},
    ):
        with pytest.raises(InvalidInputError):
            asked.randomize(wrong, targets, rng=rng)
    with pytest.raises(InvalidInputError, match="age: Expected numbers"):
        asked.randomize(answers | {"age": answers["age"] + 1.0}, targets, rng=rng)
    with pytest.raises(UnknownLevelError):
        asked.randomize(answers, np.full(600, 2.0), rng=rng)


@pytest.mark.slow
def test_a_plan_keeps_targets_and_adds_no_more_noise_than_needed() -> None:
    wish = Wish(targets={0.5: 500, 2.0: 1_500}, delta=1e-5, absent=100)
    plan = plan_questionnaire(QUESTIONS, wish)
    levels = plan.guarantee.levels
    assert [level.target for level in levels] == [0.5, 2.0]
    assert all(level.epsilon_central <= (level.target or 0.0) for level in levels)
    assert levels[0].epsilon_central > 0.99 * 0.5
    assert plan.questionnaire.honest == 1_900
    people = Population.from_counts(dict(wish.asked))
    again = account(plan.questionnaire, people, delta=1e-5, quantiles=False, absent=100)
    assert again == plan.guarantee


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("target", [8.0, 700.0])
def test_large_targets_are_kept_with_little_noise(target: float) -> None:
    plan = plan_questionnaire(QUESTIONS[1:], Wish(targets={target: 1_000}))
    (level,) = plan.guarantee.levels
    assert level.epsilon_central <= target
    # Less than one person in a thousand, in units of the range.
    assert plan.expected["age"].standard_error[0] < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["color", "age"])
def test_interest_in_a_question_lowers_its_error_and_raises_the_other(
    name: str,
) -> None:
    wish = Wish(targets={1.0: 5_000})
    even = plan_questionnaire(QUESTIONS, wish)
    drawn = plan_questionnaire(QUESTIONS, wish, interest={name: 9.0})
    for question in ("color", "age"):
        ratio = (
            drawn.expected[question].standard_error
            / even.expected[question].standard_error
        )
        assert np.all((ratio < 1.0) == (question == name))


@pytest.mark.slow
def test_the_division_of_noise_is_the_best_of_its_neighbors() -> None:
    """Moving noise between any two groups, at equal guarantees, does not pay."""
    plan = plan_questionnaire(QUESTIONS, Wish(targets={1.0: 20_000}))
    groups = [group for asked in QUESTIONS for group in asked.groups]
    variances = np.array([noise.variance for noise in plan.questionnaire.noise])
    weights = np.array([group.error_weight for group in groups])
    changes = np.array([2.0 * group.most for group in groups])
    best, spent = weights @ variances, (changes / variances).sum()
    rng = np.random.default_rng(3)
    for _ in range(50):
        moved = variances * np.exp(0.2 * rng.standard_normal(variances.size))
        # As private in the approximation by Gaussian noise.
        moved *= (changes / moved).sum() / spent
        assert weights @ moved >= best * (1.0 - 1e-12)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"wish": Wish(levels={1.0: 100})}, InvalidInputError),
        ({"wish": Wish(targets={1.0: 100}, absent=100)}, PopulationError),
        ({"wish": Wish(targets={0.01: 100})}, CertificationError),
        ({"interest": {"size": 1.0}}, InvalidInputError),
        ({"interest": {"age": 0.0}}, InvalidInputError),
        ({"interest": {"age": np.nan}}, InvalidInputError),
        ({"interest": {"age": 1e300}}, InvalidInputError),
        ({"interest": {"age": 1e-4}}, InvalidInputError),
        ({"max_messages": 5}, InvalidInputError),
        ({"max_messages": 0}, InvalidInputError),
        ({"questions": ()}, InvalidInputError),
    ],
)
def test_wishes_without_a_plan_are_refused(
    changes: dict[str, Any], kind: type[Exception]
) -> None:
    terms: dict[str, Any] = {
        "questions": QUESTIONS,
        "wish": Wish(targets={1.0: 10_000}),
    } | changes
    questions = terms.pop("questions")
    wish = terms.pop("wish")
    with pytest.raises(kind):
        plan_questionnaire(questions, wish, **terms)


def test_equal_names_are_refused_before_anything_is_planned() -> None:
    steps: list[str] = []

    with pytest.raises(InvalidInputError, match="different names, got 'color' twice"):
        plan_questionnaire(
            (*QUESTIONS, QUESTIONS[0], QUESTIONS[0]),
            Wish(targets={1.0: 10_000}),
            on_step=steps.append,
        )
    assert not steps
