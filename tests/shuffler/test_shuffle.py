import itertools

import numpy as np
import pytest
from oracles.reports import reports as reports_of
from scipy.stats import chi2

from shuffledp import InvalidInputError, SystemRandom, shuffle
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.types import Floats, Mode

GENERATORS = [np.random.default_rng(17), SystemRandom()]
DRAWS = 24_000
# Each of these tests calls a fair shuffler unfair with probability 1e-6.
FALSE_ALARM = 1e-6


def levels_of(shuffled: ShuffledReports) -> Floats:
    assert shuffled.levels is not None
    return shuffled.levels


def chi_square(observed: list[int], expected: float) -> float:
    return sum((count - expected) ** 2 / expected for count in observed)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_every_order_of_four_messages_is_equally_likely(rng: Rng, mode: Mode) -> None:
    reports = reports_of(np.arange(4), np.ones(4), mode)
    seen = dict.fromkeys(itertools.permutations(range(4)), 0)

    for _ in range(DRAWS):
        seen[tuple(shuffle(reports, rng=rng).messages.tolist())] += 1

    assert len(seen) == 24
    statistic = chi_square(list(seen.values()), DRAWS / 24)
    assert statistic < chi2.isf(FALSE_ALARM, 23)


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
@pytest.mark.slow
def test_orders_of_messages_and_levels_are_independent_when_unlinked(rng: Rng) -> None:
    reports = reports_of(np.arange(3), np.array([0.0, 1.0, 2.0]))
    orders = list(itertools.permutations(range(3)))
    seen = dict.fromkeys(itertools.product(orders, orders), 0)

    for _ in range(DRAWS):
        shuffled = shuffle(reports, rng=rng)
        levels = levels_of(shuffled).astype(int)
        seen[tuple(shuffled.messages.tolist()), tuple(levels.tolist())] += 1

    assert len(seen) == 36
    statistic = chi_square(list(seen.values()), DRAWS / 36)
    assert statistic < chi2.isf(FALSE_ALARM, 35)


@pytest.mark.parametrize("rng", GENERATORS, ids=["numpy", "system"])
def test_linked_messages_keep_their_levels(rng: Rng) -> None:
    messages = np.arange(1000)
    reports = reports_of(messages, messages / 4.0, "stratified")

    shuffled = shuffle(reports, rng=rng)

    assert shuffled.linked
    assert np.array_equal(levels_of(shuffled), shuffled.messages / 4.0)
    assert np.array_equal(np.sort(shuffled.messages), messages)
    assert not np.array_equal(shuffled.messages, messages)


def test_unlinked_shuffle_keeps_all_messages_and_levels() -> None:
    rng = np.random.default_rng(3)
    levels = rng.random(500)
    reports = reports_of(rng.integers(0, 7, 500), levels)

    shuffled = shuffle(reports, rng=rng)

    assert not shuffled.linked
    assert np.array_equal(np.sort(shuffled.messages), np.sort(reports.messages))
    assert np.array_equal(np.sort(levels_of(shuffled)), np.sort(levels))


def test_seeded_shuffle_can_be_repeated() -> None:
    reports = reports_of(np.arange(50), np.arange(50.0))

    first = shuffle(reports, rng=np.random.default_rng(4))
    second = shuffle(reports, rng=np.random.default_rng(4))

    assert np.array_equal(first.messages, second.messages)
    assert np.array_equal(levels_of(first), levels_of(second))


@pytest.mark.parametrize("size", [0, 1])
def test_short_batches_pass_unchanged(size: int) -> None:
    reports = reports_of(np.arange(size), np.ones(size))

    shuffled = shuffle(reports, rng=SystemRandom())

    assert shuffled.messages.tolist() == list(range(size))
    assert levels_of(shuffled).shape == (size,)


def test_reports_whose_levels_are_not_sent_have_none_afterwards() -> None:
    shuffled = shuffle(reports_of(np.arange(9), None), rng=SystemRandom())

    assert shuffled.levels is None
    assert np.array_equal(np.sort(shuffled.messages), np.arange(9))


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_shuffled_reports_know_their_protocol(mode: Mode) -> None:
    reports = reports_of(np.arange(9), np.ones(9), mode)

    shuffled = shuffle(reports, rng=SystemRandom())

    assert shuffled.identity == reports.identity
    assert shuffled.arrangement == reports.arrangement == "rows"
    assert shuffled.linked == (mode == "stratified")


def test_cohorts_are_for_columns() -> None:
    reports = reports_of(np.arange(3), np.ones(3), cohorts=np.zeros(3, dtype=np.int64))

    with pytest.raises(InvalidInputError, match="columns"):
        shuffle(reports, rng=SystemRandom())


@pytest.mark.parametrize("what", [None, np.arange(3), [0, 1], "reports"])
def test_what_is_no_report_is_refused(what: Reports) -> None:
    with pytest.raises(InvalidInputError, match="Expected Reports, got"):
        shuffle(what, rng=SystemRandom())


def test_nothing_is_shuffled_twice() -> None:
    shuffled = shuffle(reports_of(np.arange(3), np.ones(3)), rng=SystemRandom())

    with pytest.raises(InvalidInputError, match="got ShuffledReports"):
        shuffle(shuffled, rng=SystemRandom())  # type: ignore[arg-type]


@pytest.mark.parametrize("rng", [None, 3, np.random, "random"])
def test_randomness_is_known(rng: Rng) -> None:
    with pytest.raises(InvalidInputError, match="rng"):
        shuffle(reports_of(np.arange(3), np.ones(3)), rng=rng)
