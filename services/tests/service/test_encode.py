"""What a device sends: the protocol's own messages, and nothing that tells them apart."""

import numpy as np
import pytest
from service_parties import LEVELS, answers, parties, plan_for

from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.identity import Identity
from shuffledp.randomness import SystemRandom
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.device.encode import choice_indices, seal_reports
from shuffledp_services.wire.sealing import Opener, Suite
from shuffledp_services.wire.step import UNLINKED, Step
from shuffledp_services.wire.upload_format import report_size, write_reports

ALL = np.array(LEVELS)
PLAN = plan_for(parties("items").task, (0.1, 0.2, 0.3), 2.0, 9)
TOKENS = [bytes([n]) * 32 for n in range(3)]


def test_messages_are_those_of_the_protocol_with_the_same_coins() -> None:
    step = Step(parties("frequency").task, 1)
    values = answers("frequency", 500, np.random.default_rng(1))
    levels = np.random.default_rng(2).choice(ALL, 500)

    messages = step.run.randomize(values, levels, rng=np.random.default_rng(3))

    expected = Frequency(4).randomize(values, levels, rng=np.random.default_rng(3))
    assert messages.tolist() == [[number] for number in expected.messages.tolist()]


@pytest.mark.parametrize("suite", list(Suite))
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum", "items"])
def test_reports_have_one_size_whatever_the_answer_level_or_suite(
    statistic: str, suite: Suite
) -> None:
    task = parties(statistic, suite=suite).task
    items = statistic == "items"
    step = Step(task, 1, EpochStage.ANSWER, PLAN) if items else Step(task, 1)

    sizes = set()
    for value in (0, 1):
        values = np.full((3, 2), [value, 3]) if items else np.full(3, value)
        rng = SystemRandom()
        messages = step.run.randomize(values, ALL, rng=rng)
        for dummy in (False, True):
            reports = seal_reports(step, messages, ALL, TOKENS, dummy=dummy)
            sizes |= {len(write_reports(step, [report])) for report in reports}

    assert sizes == {26 + report_size(step)}


def test_reports_about_items_name_no_level_in_either_step() -> None:
    task = parties("items").task
    first, second = (
        Step(task, 1, EpochStage.CHOICE),
        Step(task, 1, EpochStage.ANSWER, PLAN),
    )
    sets, rng = np.array([[0, 1], [1, 2], [2, 3]]), np.random.default_rng(1)

    for step in (first, second):
        messages = step.run.randomize(sets, ALL, rng=rng)
        reports = seal_reports(step, messages, ALL, TOKENS)
        assert {report.choice for report in reports} == {UNLINKED}


def test_a_stratified_message_opens_with_its_own_level_alone() -> None:
    made = parties("frequency", mode="stratified")
    step = Step(made.task, 1)
    messages = np.array([[0], [1], [2]])

    reports = seal_reports(step, messages, ALL, TOKENS)

    for report in reports:
        opened = [
            Opener(made.task.suite, made.analyst.private_key, step.info(group)).open(
                report.sealed[0]
            )
            for group in range(3)
        ]
        assert [text is not None for text in opened] == [
            group == report.choice for group in range(3)
        ]


@pytest.mark.parametrize(
    "plan",
    [
        None,
        Frequency(4).identity,
        Items(5, 2, LEVELS, (0.1, 0.2, 0.3), 2.0, 9).identity,
        Items(4, 1, LEVELS, (0.1, 0.2, 0.3), 2.0, 9).identity,
        Items(4, 2, (0.5, 1.0), (0.1, 0.2), 2.0, 9).identity,
        Items(4, 2, LEVELS, (0.1, 0.2, 0.3), 2.0, 9, "bernoulli").identity,
    ],
    ids=["none", "one value", "items", "set size", "targets", "noise"],
)
def test_items_are_not_randomized_for_a_plan_of_something_else(
    plan: Identity | None,
) -> None:
    step = Step(parties("items").task, 1, EpochStage.ANSWER, plan)

    with pytest.raises(InvalidInputError):
        step.run.randomize([[0, 1]], ALL[:1], rng=np.random.default_rng(1))


@pytest.mark.parametrize("level", [0.4, 0.75, 3.0, float("nan"), float("inf"), -1.0])
def test_levels_that_are_not_offered_are_refused(level: float) -> None:
    step = Step(parties("frequency").task, 1)

    with pytest.raises(UnknownLevelError):
        seal_reports(step, np.array([[0]]), np.array([level]), TOKENS[:1])


def test_levels_have_the_place_they_have_in_the_task() -> None:
    places = choice_indices(parties().task, np.array([2.0, 0.5, 1.0, 2.0]))

    assert places.tolist() == [2, 0, 1, 2]


@pytest.mark.parametrize(
    ("messages", "levels", "tokens"), [(2, 3, 3), (3, 2, 3), (3, 3, 2)]
)
def test_one_token_level_and_message_per_person_are_expected(
    messages: int, levels: int, tokens: int
) -> None:
    step = Step(parties("frequency").task, 1)

    with pytest.raises(InvalidInputError):
        seal_reports(
            step, np.zeros((messages, 1), np.int64), ALL[:levels], TOKENS[:tokens]
        )


@pytest.mark.parametrize("value", [4, -1, float("nan"), 0.5])
def test_answers_that_the_question_does_not_know_are_refused(value: float) -> None:
    step = Step(parties("frequency").task, 1)

    with pytest.raises(InvalidInputError):
        step.run.randomize(np.array([value]), ALL[:1], rng=np.random.default_rng(1))
