"""Opened messages: counted once, and estimated as the protocol does in one process."""

import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from service_parties import LEVELS, Parties, allowed_plan, answers, parties

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp.types import Floats, Mode
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.collection.planning import best_plan
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.step import Step

PEOPLE = (300, 100, 200)
LEVEL_OF_EACH = np.random.default_rng(1).permutation(np.repeat(LEVELS, PEOPLE))


def plain(number: int, kind: int = 1) -> bytes:
    return struct.pack(">Bq", kind, number)


def sent_and_counted(
    made: Parties, step: Step, values: ArrayLike, levels: Floats
) -> MessageCounter:
    """Through the devices' sealing and the analyst's opening, pile by pile."""
    messages = step.run.randomize(values, levels, rng=np.random.default_rng(3))
    tokens = [bytes(32)] * levels.size
    reports = seal_reports(step, messages, levels, tokens)
    counting, private = MessageCounter(step), made.analyst.private_key
    for group in range(step.groups):
        opener = Opener(made.task.suite, private, step.info(group))
        pile = [r.sealed for r in reports if not step.linked or r.choice == group]
        opened = [opener.open(text) for texts in pile for text in texts]
        # In parts that are no whole reports.
        for start in range(0, len(opened), 97):
            counting.add(group, opened[start : start + 97])
    return counting


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum"])
def test_tallies_and_estimates_are_those_of_the_protocol_to_the_last_digit(
    statistic: str, mode: Mode
) -> None:
    made = parties(statistic, mode=mode)
    values = answers(statistic, 600, np.random.default_rng(2))
    step = Step(made.task, 1)
    protocol: Any = step.answer_run.protocol

    counting = sent_and_counted(made, step, values, LEVEL_OF_EACH)
    tally = counting.of(PEOPLE)
    found = step.answer_run.estimate(tally, None)

    reports = protocol.randomize(values, LEVEL_OF_EACH, rng=np.random.default_rng(3))
    shuffled = shuffle(reports, rng=np.random.default_rng(4))
    crowd = Population.from_counts(dict(zip(LEVELS, PEOPLE, strict=True)))
    expected = protocol.estimate(shuffled, crowd)
    assert tally == protocol.tally(shuffled)
    assert np.array_equal(found.value, expected.value)
    assert np.array_equal(found.standard_error, expected.standard_error)
    assert counting.spoiled.sum() == 0


@pytest.mark.slow
def test_items_are_planned_and_estimated_as_in_one_process() -> None:
    made = parties("items")
    sets = answers("items", 600, np.random.default_rng(2))
    task = made.task
    framework = ItemsFramework(4, 2, LEVELS, task.delta, absent=task.absent)
    first = Step(task, 1, EpochStage.CHOICE)

    chosen = sent_and_counted(made, first, sets, LEVEL_OF_EACH).of((600,))
    step = Step(task, 1, EpochStage.ANSWER, best_plan(task, chosen))
    tally = sent_and_counted(made, step, sets, LEVEL_OF_EACH).of((600,))
    found = step.answer_run.estimate(tally, chosen)

    rng = np.random.default_rng(4)
    named = shuffle(framework.report_choices(LEVEL_OF_EACH, rng=rng), rng=rng)
    counts = framework.count_choices(named)
    assert counts.value.tolist() == list(PEOPLE)
    assert step.plan is not None
    items = Items.from_record(step.plan.record)
    reports = items.randomize(sets, LEVEL_OF_EACH, rng=np.random.default_rng(3))
    shuffled = shuffle(reports, rng=rng)
    expected = items.estimate(shuffled, counts)
    assert tally == items.tally(shuffled)
    assert np.array_equal(found.value, expected.value)
    assert np.array_equal(found.standard_error, expected.standard_error)


def test_whatever_is_no_message_of_the_step_is_counted_as_spoiled() -> None:
    counting = MessageCounter(Step(parties("frequency").task, 1))
    good = [plain(0), plain(3), plain(3)]
    bad = [None, b"", plain(0)[:-1], plain(0) + b"x", plain(0, kind=0)]
    odd = [plain(0, kind=2), plain(-1), plain(4), plain(2**63 - 1), plain(-(2**63))]

    counting.add(0, [*good, *bad, *odd])

    assert counting.tally is not None
    assert counting.tally.counts.tolist() == [[[1, 0, 0, 2]]]
    assert counting.spoiled.tolist() == [len(bad) + len(odd)]


@pytest.mark.parametrize(
    ("statistic", "number"), [("frequency", 4), ("mean", 2), ("sum", 2)]
)
def test_as_many_messages_are_known_as_devices_send(
    statistic: str, number: int
) -> None:
    run = Step(parties(statistic).task, 1).run
    values = answers(statistic, 600, np.random.default_rng(2))

    sent = run.randomize(values, LEVEL_OF_EACH, rng=np.random.default_rng(1))

    assert run.code == NumberCode(number)
    assert np.unique(sent).tolist() == list(range(number))


def test_spoiled_messages_are_reports_rounded_up() -> None:
    task = parties("items", minimum=(300, 1, 1)).task
    step = replace(Step(task, 1), stage=EpochStage.ANSWER, plan=allowed_plan(task))
    size = step.messages_per_report

    for spoiled, people in ((0, 0), (1, 1), (size, 1), (size + 1, 2), (7 * size, 7)):
        counting = MessageCounter(step)
        counting.add(0, [None] * spoiled)
        assert counting.spoiled_people == people


@pytest.mark.slow
def test_items_have_a_message_more_that_fills_up_a_report() -> None:
    task = parties("items").task
    first = Step(task, 1, EpochStage.CHOICE)
    plan = best_plan(task, first.choice_run.exact(PEOPLE))

    assert first.run.code == NumberCode(3)
    assert replace(first, stage=EpochStage.ANSWER, plan=plan).run.code == NumberCode(5)


def test_people_whose_message_is_spoiled_are_left_out_in_proportion() -> None:
    step = Step(parties("frequency").task, 1)
    counting = MessageCounter(step)
    counting.add(0, [plain(n % 4) for n in range(590)] + [None] * 10)

    tally = counting.of((300, 100, 200))
    found = step.answer_run.estimate(tally, None)

    # 5, 1 2/3 and 3 1/3 of them: the largest remainder is that of the second level.
    assert tally.people.tolist() == [[295, 98, 197]]
    left = Population.from_counts({0.5: 295, 1.0: 98, 2.0: 197})
    keep = np.exp(left.epsilons) / (np.exp(left.epsilons) + 3)
    flip = (1 - keep) / 3
    share = left.counts / 590
    counts = np.array([148, 148, 147, 147]) / 590
    expected = (counts - share @ flip) / (share @ (keep - flip))
    assert found.num_users == 590
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)


def test_people_whose_message_is_spoiled_are_left_out_of_their_own_level() -> None:
    step = Step(parties("frequency", mode="stratified").task, 1)
    counting = MessageCounter(step)
    for group, spoiled in enumerate((299, 99, 199)):
        counting.add(group, [plain(0), *([None] * spoiled)])

    tally = counting.of((300, 100, 200))

    assert tally.people.tolist() == [[1, 1, 1]]
    assert step.answer_run.estimate(tally, None).num_users == 3


def test_a_level_of_which_nothing_can_be_read_is_left_out() -> None:
    step = Step(parties("frequency", mode="stratified").task, 1)
    counting = MessageCounter(step)
    counting.add(0, [plain(0)] * 300)
    counting.add(1, [None] * 100)
    counting.add(2, [plain(1)] * 200)

    tally = counting.of((300, 100, 200))

    assert tally.levels.tolist() == [0.5, 2.0]
    assert step.answer_run.estimate(tally, None).num_users == 500


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum"])
def test_nothing_is_counted_of_spoiled_messages_alone(
    statistic: str, mode: Mode
) -> None:
    counting = MessageCounter(Step(parties(statistic, mode=mode).task, 1))
    for group in range(counting.step.groups):
        size = PEOPLE[group] if mode == "stratified" else sum(PEOPLE)
        counting.add(group, [None] * size)

    with pytest.raises(InvalidInputError):
        counting.of(PEOPLE)


def test_no_choices_are_counted_from_spoiled_messages_alone() -> None:
    counting = MessageCounter(Step(parties("items").task, 1, EpochStage.CHOICE))
    counting.add(0, [None] * 300)

    with pytest.raises(InvalidInputError):
        counting.of((300,))
