"""Opened messages: counted once, and estimated as the protocol does in one process."""

import struct

import numpy as np
import pytest
from numpy.typing import ArrayLike
from oracles.service_parties import LEVELS, Parties, answers, parties
from shuffledp.shuffler.shuffle_messages import MessageReports, shuffle_messages

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.service.collection.tally import (
    Tally,
    estimate,
    level_counts,
    num_messages,
)
from shuffledp.service.encode import randomized, seal_reports
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.question import Statistic
from shuffledp.service.wire.sealing import Opener
from shuffledp.service.wire.step import Stage, Step
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items_framework import ItemsFramework
from shuffledp.types import Floats, Mode

PEOPLE = (300, 100, 200)
LEVEL_OF_EACH = np.random.default_rng(1).permutation(np.repeat(LEVELS, PEOPLE))


def plain(number: int, kind: int = 1) -> bytes:
    return struct.pack(">Bq", kind, number)


def sent_and_counted(
    made: Parties,
    step: Step,
    values: ArrayLike,
    levels: Floats,
    plan: PublishedPlan | None = None,
) -> Tally:
    """Through the devices' sealing and the analyst's opening, pile by pile."""
    messages = randomized(
        step,
        values,
        levels,
        plan=plan,
        rng=np.random.default_rng(3),
    )
    tokens = [bytes(32)] * levels.size
    reports = seal_reports(step, messages, levels, tokens)
    tally, private = Tally(step), made.analyst.private_key
    for group in range(step.groups):
        opener = Opener(made.task.suite, private, step.info(group))
        pile = [r.sealed for r in reports if not step.linked or r.level == group]
        tally.add(group, [opener.open(text) for texts in pile for text in texts])
    return tally


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum"])
def test_estimates_are_those_of_the_protocol_to_the_last_digit(
    statistic: Statistic, mode: Mode
) -> None:
    made = parties(statistic, mode=mode)
    values = answers(statistic, 600, np.random.default_rng(2))
    protocol = made.task.question.protocol(LEVELS, 1e-3, 0)
    assert not isinstance(protocol, ItemsFramework)

    tally = sent_and_counted(made, Step(made.task, 1), values, LEVEL_OF_EACH)
    found = estimate(tally, PEOPLE)

    reports = protocol.randomize(values, LEVEL_OF_EACH, rng=np.random.default_rng(3))
    shuffled = shuffle(reports, rng=np.random.default_rng(4))
    crowd = Population.from_counts(dict(zip(LEVELS, PEOPLE, strict=True)))
    expected = protocol.estimate(shuffled, crowd)
    assert np.array_equal(found.value, expected.value)
    assert np.array_equal(found.standard_error, expected.standard_error)
    assert tally.spoiled.sum() == 0


def test_items_are_estimated_as_in_one_process() -> None:
    made = parties("items")
    sets = answers("items", 600, np.random.default_rng(2))
    framework = made.task.question.protocol(LEVELS, made.task.delta, made.task.absent)
    assert isinstance(framework, ItemsFramework)
    first = Step(made.task, 1, Stage.LEVELS)

    levels = level_counts(sent_and_counted(made, first, sets, LEVEL_OF_EACH))
    chosen = framework.plan(levels).protocol
    size = chosen.randomizer.report_size
    plan = PublishedPlan(chosen.rates, chosen.blanket, size)
    step = Step(made.task, 1, Stage.ANSWER, size, plan.digest)
    tally = sent_and_counted(made, step, sets, LEVEL_OF_EACH, plan)
    found = estimate(tally, (600,), plan=plan, levels=levels)

    assert levels.value.tolist() == list(PEOPLE)
    reports = chosen.randomize(sets, LEVEL_OF_EACH, rng=np.random.default_rng(3))
    shuffled = shuffle_messages(
        MessageReports(reports.messages), rng=np.random.default_rng(4)
    )
    expected = chosen.estimate(shuffled, levels)
    assert np.array_equal(found.value, expected.value)


def test_whatever_is_no_message_of_the_step_is_counted_as_spoiled() -> None:
    tally = Tally(Step(parties("frequency").task, 1))
    good = [plain(0), plain(3), plain(3)]
    bad = [None, b"", plain(0)[:-1], plain(0) + b"x", plain(0, kind=0)]
    odd = [plain(0, kind=2), plain(-1), plain(4), plain(2**63 - 1), plain(-(2**63))]

    tally.add(0, [*good, *bad, *odd])

    assert tally.counts.tolist() == [[1, 0, 0, 2]]
    assert tally.spoiled.tolist() == [len(bad) + len(odd)]


@pytest.mark.parametrize(
    ("statistic", "stage", "number"),
    [
        ("frequency", Stage.ANSWER, 4),
        ("mean", Stage.ANSWER, 2),
        ("sum", Stage.ANSWER, 2),
        ("items", Stage.LEVELS, 3),
        ("items", Stage.ANSWER, 5),
    ],
)
def test_as_many_messages_are_known_as_devices_send(
    statistic: Statistic, stage: Stage, number: int
) -> None:
    assert num_messages(Step(parties(statistic).task, 1, stage)) == number


def test_people_whose_message_is_spoiled_are_left_out_in_proportion() -> None:
    tally = Tally(Step(parties("frequency").task, 1))
    tally.add(0, [plain(n % 4) for n in range(590)] + [None] * 10)

    found = estimate(tally, (300, 100, 200))

    # 5, 1 2/3 and 3 1/3 of them: the largest remainder is that of the second level.
    left = Population.from_counts({0.5: 295, 1.0: 98, 2.0: 197})
    keep = np.exp(left.epsilons) / (np.exp(left.epsilons) + 3)
    flip = (1 - keep) / 3
    share = left.counts / 590
    counts = np.array([148, 148, 147, 147]) / 590
    expected = (counts - share @ flip) / (share @ (keep - flip))
    assert found.num_users == 590
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)


def test_people_whose_message_is_spoiled_are_left_out_of_their_own_level() -> None:
    tally = Tally(Step(parties("frequency", mode="stratified").task, 1))
    tally.counts[:] = [[1, 0, 0, 0]] * 3
    tally.spoiled[:] = [299, 99, 199]

    found = estimate(tally, (300, 100, 200))

    assert found.num_users == 3


def test_a_level_of_which_nothing_can_be_read_is_left_out() -> None:
    tally = Tally(Step(parties("frequency", mode="stratified").task, 1))
    tally.add(0, [plain(0)] * 300)
    tally.add(1, [None] * 100)
    tally.add(2, [plain(1)] * 200)

    found = estimate(tally, (300, 100, 200))

    assert found.num_users == 500


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum"])
def test_nothing_is_estimated_from_spoiled_messages_alone(
    statistic: Statistic, mode: Mode
) -> None:
    tally = Tally(Step(parties(statistic, mode=mode).task, 1))
    for group in range(tally.step.groups):
        size = PEOPLE[group] if mode == "stratified" else sum(PEOPLE)
        tally.add(group, [None] * size)

    with pytest.raises(InvalidInputError):
        estimate(tally, PEOPLE)


def test_no_levels_are_counted_from_spoiled_messages_alone() -> None:
    tally = Tally(Step(parties("items").task, 1, Stage.LEVELS))
    tally.add(0, [None] * 300)

    with pytest.raises(InvalidInputError):
        level_counts(tally)
