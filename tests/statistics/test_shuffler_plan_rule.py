"""Forms whose shuffler adds the noise: the one plan of a task, devices, estimates."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.statistics.counts.counts_plan_rule import CountsTerms
from shuffledp.statistics.counts.dummies_run import DummiesRun, groups_with_nulls
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.counts.shuffler_plan_rule import ShufflerPlanRule
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.survey import Offer

QUESTIONS = (
    AskedQuestion("Which papers do you read?", ("Post", "Times", "Herald"), most=2),
    AskedNumber.in_intervals("How old are you?", (16, 40, 110), skippable=True),
)
SURVEY = CountsSurvey(QUESTIONS, noise="shuffler")
OFFER = Offer((1.0, 2.0), 1e-6, 3)


def run() -> DummiesRun:
    rule = SURVEY.choosing(OFFER).make_rule()
    plan = rule.plan(SURVEY.choosing(OFFER).exact((20, 30)), 45, spare=0)
    answering = SURVEY.answering(OFFER, plan)
    assert isinstance(answering, DummiesRun)
    return answering


def test_groups_have_a_bucket_for_every_answer_that_may_be_missing() -> None:
    # Of the papers two; of ages one, beside the bucket of those who skip.
    (papers, most), *ages = groups_with_nulls(QUESTIONS)

    assert (papers, most) == (5, 2)
    assert all(each == 1 for _, each in ages)
    assert run().protocol.groups[0].buckets == 5


def test_every_person_sends_equally_many_different_messages() -> None:
    answering = run()
    given = np.array([[0, 2, 20.0], [1, 3, 50.0], [3, 3, np.nan]])

    messages = answering.randomize(given, np.array([1.0, 2.0, 2.0]), rng=SystemRandom())

    assert messages.shape == (3, answering.messages_per_report)
    assert messages[:, :2].tolist() == [[0, 2], [1, 4], [3, 4]]
    assert all(len(set(row)) == len(row) for row in messages.tolist())
    assert messages.max() < answering.code.count


def test_changed_answers_move_as_many_messages_as_the_certificate_covers() -> None:
    answering, levels = run(), np.array([1.0])
    most = sum(group.most for group in answering.protocol.groups)
    rows: list[Any] = [
        [*papers, age]
        for papers in ([0, 1], [0, 3], [2, 3], [3, 3], [1, 2])
        for age in (20.0, 60.0, np.nan)
    ]
    sent = [
        set(
            answering.randomize(np.array([row]), levels, rng=SystemRandom())[0].tolist()
        )
        for row in rows
    ]

    for one in sent:
        for other in sent:
            # Sets of one size: what is not in the other set moved there.
            assert len(one - other) == len(other - one) <= most


def test_the_rule_is_written_and_read_and_proven() -> None:
    rule: Any = SURVEY.choosing(OFFER).make_rule()
    rule.prove()

    assert SURVEY.choosing(OFFER).read_rule(rule.to_dict()) == rule
    people = Population.from_counts({1.0: 7, 2.0: 1})
    guarantee = account(run().protocol, people, delta=1e-6)
    # Not far below the smallest target: the noise is no larger than it has to be.
    assert all(0.99 < each.epsilon_central <= 1.0 for each in guarantee.levels)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"shuffler": 1},
        {"shuffler": {"decay": 0.5}},
        {"shuffler": {"decay": 0.5, "dummies": 10}, "noise": []},
        {"shuffler": {"decay": 1, "dummies": 10}},
        {"shuffler": {"decay": 0.5, "dummies": 10.0}},
        {"shuffler": {"decay": 0.5, "dummies": True}},
        {"shuffler": {"decay": float("nan"), "dummies": 10}},
        {"shuffler": {"decay": 1.5, "dummies": 10}},
    ],
)
def test_what_is_no_rule_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        SURVEY.choosing(OFFER).read_rule(value)


@pytest.mark.parametrize("noise", [ShufflerNoise(0.5, 200), ShufflerNoise(0.95, 20)])
def test_too_little_noise_is_not_proven(noise: ShufflerNoise) -> None:
    terms = CountsTerms(groups_with_nulls(QUESTIONS), (1.0, 2.0), 1e-6, 3)

    with pytest.raises(CertificationError, match=r"keeps target 1|No finite"):
        ShufflerPlanRule(terms, noise).prove()


def test_plans_of_others_and_for_nobody_are_refused() -> None:
    rule, plan = SURVEY.choosing(OFFER).make_rule(), run().identity
    rule.check(plan, 4)
    weaker = Counts(
        tuple(
            CountGroup(group.buckets, group.most, ShufflerNoise(0.5, 5))
            for group in run().protocol.groups
        ),
        (1.0, 2.0),
        (1.0, 1.0),
        honest=1,
    )

    with pytest.raises(InvalidInputError, match="absent"):
        rule.check(plan, 3)
    with pytest.raises(InvalidInputError, match="that the task states"):
        rule.check(weaker.identity, 100)
    poisson = replace(
        run().protocol,
        groups=tuple(
            CountGroup(group.buckets, group.most, PoissonNoise(100.0))
            for group in run().protocol.groups
        ),
    )
    with pytest.raises(InvalidInputError, match="by the task: the shuffler"):
        SURVEY.answering(OFFER, poisson.identity)


def test_a_rate_below_one_is_no_plan() -> None:
    counts = run().protocol
    lower = replace(counts, rates=(0.5, 1.0))

    with pytest.raises(InvalidInputError, match="Expected a plan"):
        SURVEY.answering(OFFER, lower.identity)


def test_noise_of_devices_is_said_by_saying_nothing() -> None:
    assert CountsSurvey(QUESTIONS, noise="devices") == CountsSurvey(QUESTIONS)
    with pytest.raises(InvalidInputError, match="noise"):
        CountsSurvey(QUESTIONS, noise="analyst")


def test_a_tally_is_of_one_batch() -> None:
    answering = run()
    part = answering.tally(np.array([0, 4, 5]), None)
    whole = answering.of_batch(part + part)

    # Messages of buckets 0, 4 and 5, twice; and one shuffle.
    assert whole.counts[0, 0, :12:2].tolist() == [2, 0, 0, 0, 2, 2]
    assert whole.counts[0, 0, -1] == 1
    with pytest.raises(InvalidInputError, match="one batch"):
        answering.of_batch(whole)


def test_too_many_dummies_are_refused() -> None:
    survey = CountsSurvey(
        (AskedQuestion("Where?", tuple(map(str, range(5_000)))),), noise="shuffler"
    )
    offer = Offer((0.05,), 1e-9, 0)
    rule = survey.choosing(offer).make_rule()
    plan = rule.plan(survey.choosing(offer).exact((100,)), 90, spare=0)

    with pytest.raises(InvalidInputError, match="at most 1,000,000 dummies"):
        survey.answering(offer, plan)
