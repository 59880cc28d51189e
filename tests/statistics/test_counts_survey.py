"""A survey of several questions: its plan, its devices and its shares."""

from typing import Any

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.asked_question import AskedQuestion
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.identity import Identity
from shuffledp.randomness import SystemRandom
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.counts.survey import AnswersRun, CountsSurvey
from shuffledp.statistics.survey import Offer
from shuffledp.tally import Tally

QUESTIONS = (
    AskedQuestion("Color?", ("red", "green", "blue"), 2),
    AskedQuestion("Smoker?", ("yes", "no")),
)
SURVEY = CountsSurvey(QUESTIONS)
OFFER = Offer((1.0, 2.0), 1e-4, 3)
PEOPLE = (900, 2_100)


@pytest.fixture(scope="module")
def chosen() -> Tally:
    return SURVEY.choosing(OFFER).exact(PEOPLE)


@pytest.fixture(scope="module")
def plan(chosen: Tally) -> Identity:
    return SURVEY.choosing(OFFER).make_rule().plan(chosen, 2_700, spare=27)


def values(rng: np.random.Generator, num_users: int) -> Any:
    """Two colors or one, and whether people smoke, which some do not say."""
    first = rng.integers(0, 3, num_users)
    second = np.where(rng.random(num_users) < 0.5, 5, (first + 1) % 3)
    smokes = rng.choice([3, 4, 5], num_users, p=[0.2, 0.7, 0.1])
    return np.sort(np.column_stack([first, second, smokes]), axis=1)


@pytest.mark.slow
def test_a_plan_keeps_the_rule_and_every_target(chosen: Tally, plan: Identity) -> None:
    rule = SURVEY.choosing(OFFER).make_rule()
    rule.prove()
    rule.check(plan, 2_700)
    run = SURVEY.answering(OFFER, plan)

    people = run.batch_people((2_700,), chosen)
    # Of 2,700 people who answer, 3 may be absent and 27 reports spoiled.
    guarantee = account(
        run.protocol, people.people, delta=1e-4, absent=people.missing + 30
    )

    assert people.missing == 300
    for level in guarantee.levels:
        assert level.target is not None
        assert level.epsilon_central <= level.target
    again = SURVEY.choosing(OFFER).read_rule(rule.to_dict())
    assert again == rule


@pytest.mark.slow
def test_shares_are_unbiased_and_their_errors_true(
    chosen: Tally, plan: Identity
) -> None:
    rng = np.random.default_rng(3)
    run = SURVEY.answering(OFFER, plan)
    answers = values(rng, sum(PEOPLE))
    truth = np.bincount(answers.ravel(), minlength=6)[:5] / sum(PEOPLE)
    levels = np.repeat(OFFER.choices, PEOPLE)
    found, inside, runs = [], 0, 200

    for _ in range(runs):
        rng.shuffle(levels)
        messages = run.randomize(answers, levels, rng=rng)
        assert messages.shape == (sum(PEOPLE), run.messages_per_report)
        assert run.code.known(messages.ravel()).all()
        estimate = run.estimate(run.tally(messages.ravel(), None), chosen)
        found.append((estimate.value - truth) / estimate.standard_error)
        low, high = estimate.interval().T
        inside += int(np.sum((low <= truth) & (truth <= high)))

    # Means and variances of 200 standard normal numbers: five deviations of each.
    assert np.all(np.abs(np.mean(found, axis=0)) <= 5.0 / np.sqrt(runs))
    assert np.all(np.abs(np.var(found, axis=0) - 1.0) <= 5.0 * np.sqrt(2.0 / runs))
    assert 0.92 <= inside / (5 * runs) <= 0.98


@pytest.mark.slow
def test_answers_are_divided_among_questions(plan: Identity) -> None:
    run = SURVEY.answering(OFFER, plan)
    assert isinstance(run, AnswersRun)

    assert run.answers(
        [[0, 2, 4], [1, 3, 5], [5, 5, 5]], rng=SystemRandom()
    ).tolist() == [
        [0, 2, 1],
        [1, -1, 0],
        [-1, -1, -1],
    ]
    for wrong in ([[3, 4, 5]], [[0, 1, 2]], [[0, 1, 6]], [[-1, 5, 5]], [0, 1], [[0.5]]):
        with pytest.raises(InvalidInputError):
            run.answers(wrong, rng=SystemRandom())


def test_labels_say_question_and_answer() -> None:
    assert SURVEY.labels == (
        "Color?: red",
        "Color?: green",
        "Color?: blue",
        "Smoker?: yes",
        "Smoker?: no",
    )
    assert CountsSurvey(QUESTIONS[1:]).labels == ("yes", "no")
    assert [part.most for part in SURVEY.form.parts] == [2, 1]


def test_a_plan_of_something_else_is_none(plan: Identity) -> None:
    counts = Counts.from_record(plan.record)
    for other in (
        None,
        CountsSurvey(QUESTIONS[:1]).identity(OFFER),
        SURVEY.identity(OFFER),
        Counts(counts.groups[::-1], (1.0, 2.0), (1.0, 1.0), 100, 30).identity,
        Counts(counts.groups, (1.0, 3.0), counts.rates, 100, 4000).identity,
        Counts(counts.groups, counts.targets, counts.rates, 100).identity,
    ):
        with pytest.raises(InvalidInputError, match="Expected a plan"):
            SURVEY.answering(OFFER, other)


def test_geometric_noise_is_refused_with_the_way_to_it(plan: Identity) -> None:
    counts = Counts.from_record(plan.record)
    groups = tuple(
        CountGroup(group.buckets, group.most, GeometricNoise(0.5, 20.0))
        for group in counts.groups
    )

    for size in (None, 300):
        other = Counts(groups, counts.targets, counts.rates, counts.honest, size)
        with pytest.raises(
            InvalidInputError, match=r"how much was answered.*plan counts"
        ):
            SURVEY.answering(OFFER, other.identity)


def test_noise_of_the_shuffler_is_refused_where_devices_add_it(plan: Identity) -> None:
    counts = Counts.from_record(plan.record)
    groups = tuple(
        CountGroup(group.buckets, group.most, ShufflerNoise(0.5, dummies=40))
        for group in counts.groups
    )
    other = Counts(groups, counts.targets, counts.rates, honest=1)

    # A shuffler that was not asked adds no dummies: answers would be counted as they are.
    with pytest.raises(InvalidInputError, match="by the task: devices"):
        SURVEY.answering(OFFER, other.identity)
    with pytest.raises(InvalidInputError, match="Poisson noise"):
        SURVEY.choosing(OFFER).make_rule().check(other.identity, 2_700)


def test_a_plan_that_randomizes_answers_before_is_none() -> None:
    survey = CountsSurvey(QUESTIONS[1:])
    terms = (
        (CountGroup(2, 1, PoissonNoise(50.0)),),
        OFFER.choices,
        (1.0, 1.0),
        100,
        30,
    )

    assert survey.answering(OFFER, Counts(*terms).identity).messages_per_report == 30
    with pytest.raises(InvalidInputError, match="Expected a plan"):
        survey.answering(OFFER, Counts(*terms, local_epsilon=4.0).identity)


@pytest.mark.slow
def test_too_few_people_have_no_plan() -> None:
    choosing = SURVEY.choosing(OFFER)
    rule = choosing.make_rule()

    with pytest.raises(InvalidInputError, match="more than 4 people"):
        rule.plan(choosing.exact((1, 3)), 4, spare=1)
    many = CountsSurvey((AskedQuestion("?", tuple(map(str, range(9_000)))),))
    few = many.choosing(OFFER)
    with pytest.raises(CertificationError, match="4,096 messages"):
        few.make_rule().plan(few.exact((10, 10)), 20, spare=1)


@pytest.mark.parametrize(
    ("questions", "mode"),
    [
        (QUESTIONS, "stratified"),
        ((), "agnostic"),
        (QUESTIONS * 40, "agnostic"),
        ((QUESTIONS[1], QUESTIONS[1]), "agnostic"),
        (
            tuple(AskedQuestion(str(n), tuple(map(str, range(9_000)))) for n in (1, 2)),
            "agnostic",
        ),
        ("Color?", "agnostic"),
    ],
    ids=["mode", "none", "many", "twice", "options", "text"],
)
def test_questions_that_make_no_sense_are_refused(questions: Any, mode: Any) -> None:
    with pytest.raises(InvalidInputError):
        CountsSurvey(questions, mode)


def test_runs_are_those_of_the_plan(plan: Identity) -> None:
    run = SURVEY.answering(OFFER, plan)

    assert isinstance(run, AnswersRun)
    assert run.identity == plan
    assert run.code.count == 2 * 5 + 1


def test_answers_without_noise_are_improbable(chosen: Tally, plan: Identity) -> None:
    rng = np.random.default_rng(8)
    run = SURVEY.answering(OFFER, plan)
    answers = values(rng, sum(PEOPLE))
    answers[answers == 2] = 5  # Nobody likes blue: what is counted is noise.
    levels = np.repeat(OFFER.choices, PEOPLE)
    messages = run.randomize(answers, levels, rng=rng)
    bare = run.protocol.groups[0].most + run.protocol.groups[1].most

    honest = run.noise_p_value(run.tally(messages.ravel(), None), sum(PEOPLE))
    without = np.where(np.arange(messages.shape[1]) < bare, messages, 10)
    silent = run.noise_p_value(run.tally(without.ravel(), None), sum(PEOPLE))

    assert honest is not None
    assert silent is not None
    assert honest > 1e-6
    assert silent < 1e-12
