"""Devices that send messages into buckets: distributions, sizes, streams, refusals."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.bucket_messages import BucketGroup, BucketMessages
from shuffledp.randomizers.jump_table import JumpTable
from shuffledp.randomness import KeyedRandom, SystemRandom
from shuffledp.types import Floats, Ints

SECRET = bytes(range(32))
# Kinds with rare and frequent ones: 1 +, 3 +, 2 -, 1 pair, 4 pairs.
PLUS, MINUS = np.array([1, 3, 0, 1, 4]), np.array([0, 0, 2, 1, 4])
WEIGHTS = np.array([5.0, 2.0, 1.0, 0.1, 0.02])


def table(mean: float, slots: int = 0) -> JumpTable:
    return JumpTable(PLUS, MINUS, WEIGHTS, mean, slots, 8 if slots else 0)


def device(*groups: tuple[int, int, JumpTable]) -> BucketMessages:
    return BucketMessages(tuple(BucketGroup(*group) for group in groups))


def p_value(observed: Ints, law: Floats) -> float:
    """The probability of counts as far from the law, or further."""
    expected = law / law.sum() * observed.sum()
    assert expected.min() >= 5.0
    square = float(((observed - expected) ** 2 / expected).sum())
    return float(stats.chi2.sf(square, law.size - 1))


def digests(count: int) -> Any:
    bytes_ = np.random.default_rng(2).integers(0, 256, (count, 16))
    return bytes_.astype(np.uint8)


def test_kinds_of_jumps_have_their_weights() -> None:
    kinds = table(1.0).kinds(100_000, rng=np.random.default_rng(3))

    # A false alarm in a million seeds; so in every such test here.
    assert p_value(np.bincount(kinds, minlength=5), WEIGHTS) > 1e-6
    only = JumpTable(PLUS[:1], MINUS[:1], WEIGHTS[:1], 1.0)
    assert not only.kinds(100, rng=np.random.default_rng(3)).any()


@pytest.mark.parametrize("mean", [0.05, 1.3, 6.0])
def test_numbers_of_jumps_are_poisson(mean: float) -> None:
    n, numbers = 100_000, np.zeros(100_000, dtype=np.int64)
    for people in table(mean).jumpers(n, most=4096, rng=np.random.default_rng(4)):
        # Everybody once per round, in order.
        assert np.all(np.diff(people) > 0)
        numbers[people] += 1

    last = int(stats.poisson.isf(1e-4, mean)) - 1
    law = stats.poisson.pmf(np.arange(last + 1), mean)
    law = np.append(law, stats.poisson.sf(last, mean))
    observed = np.bincount(np.minimum(numbers, last + 1), minlength=last + 2)
    assert p_value(observed, law) > 1e-6


@pytest.mark.parametrize("probability", [0.03, 0.6])
def test_every_slot_is_a_jump_with_its_probability(probability: float) -> None:
    n, numbers = 50_000, np.zeros(50_000, dtype=np.int64)
    rounds = list(
        table(probability, 3).jumpers(n, most=4096, rng=np.random.default_rng(5))
    )
    for people in rounds:
        numbers[people] += 1

    assert len(rounds) == 3
    law = stats.binom.pmf(np.arange(4), 3, probability)
    kept = 4 if law[3] * n > 5.0 else 3
    observed = np.bincount(np.minimum(numbers, kept - 1), minlength=kept)
    assert p_value(observed, np.append(law[: kept - 1], law[kept - 1 :].sum())) > 1e-6


def test_jumps_land_in_every_bucket_alike() -> None:
    messages = device((6, 1, table(2.0)))
    nothing = np.full((30_000, 1), -1)

    reports = messages.randomize(nothing, np.ones(30_000), rng=np.random.default_rng(6))

    counts = np.bincount(reports[reports >= 0], minlength=12).reshape(6, 2)
    share = WEIGHTS / WEIGHTS.sum() * 2.0 * 30_000 / 6
    for sign, sizes in ((0, PLUS), (1, MINUS)):
        deviation = np.sqrt(float(share @ sizes**2))
        assert np.all(np.abs(counts[:, sign] - share @ sizes) < 5.0 * deviation)


@pytest.mark.parametrize("system", [False, True])
def test_answers_are_sent_at_their_rates(system: bool) -> None:
    rng = SystemRandom() if system else np.random.default_rng(7)
    messages = device((5, 2, table(1e-9)), (3, 1, table(1e-9)))
    n = 20_000
    answers = np.tile([[4, 0, 2], [-1, 1, -1]], (n // 2, 1))
    rates = np.repeat([0.3, 1.0], n // 2)

    reports = messages.randomize(answers, rates, rng=rng)

    sent = np.bincount(reports[reports >= 0], minlength=17)
    deviation = np.sqrt(n * 0.3 * 0.7 / 4.0)
    half, whole = 0.25 * n * 0.3, 0.25 * n
    # Bucket 2 of the second group is the eighth; nothing but its + messages.
    for message in (8, 0, 14, 2):
        assert abs(sent[message] - half - whole) < 5.0 * deviation
    assert sent[[1, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 15]].sum() <= 2


def test_reports_of_slots_have_one_size() -> None:
    messages = device((6, 2, table(0.4, 3)), (2, 1, table(0.2, 1)))
    rng = np.random.default_rng(8)
    several = np.argsort(rng.random((500, 7)), axis=1)[:, :2] - 1
    answers = np.column_stack([several, rng.integers(-1, 2, 500)])

    reports = messages.randomize(answers, np.full(500, 0.5), rng=rng)

    assert messages.report_size == 2 + 3 * 8 + 1 + 8
    assert reports.shape == (500, messages.report_size)
    assert reports.dtype == np.int32
    assert 0 <= reports.min() <= reports.max() == messages.dummy == 16
    assert device((6, 2, table(0.4, 3)), (2, 1, table(0.2))).report_size is None


def alone(messages: BucketMessages, answers: Ints) -> list[Ints]:
    people = digests(len(answers))
    return [
        messages.randomize(
            answers[[i]], np.full(1, 0.7), rng=KeyedRandom(SECRET, people[[i]])
        )
        for i in range(len(answers))
    ]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("slots", [0, 4])
def test_a_persons_messages_are_the_same_in_any_company(slots: int) -> None:
    messages = device((6, 2, table(0.5 if slots else 3.0, slots)))
    rng = np.random.default_rng(9)
    answers = np.argsort(rng.random((200, 6)), axis=1)[:, :2]

    together = messages.randomize(
        answers, np.full(200, 0.7), rng=KeyedRandom(SECRET, digests(200))
    )

    for row, own in zip(together, alone(messages, answers), strict=True):
        np.testing.assert_array_equal(row[: own.shape[1]], own[0])
        assert np.all(row[own.shape[1] :] == messages.filler)
    # Different people draw independently: hardly two reports are alike.
    assert len({row.tobytes() for row in together[:, 2:]}) > 100


@pytest.mark.parametrize("slots", [0, 40])
def test_several_jumps_of_a_person_are_drawn_apart(slots: int) -> None:
    # Each jump is one +: repeated streams would put all of them into one bucket.
    one = JumpTable(
        np.array([1]),
        np.array([0]),
        np.ones(1),
        1.0 if slots else 40.0,
        slots,
        slots and 1,
    )
    messages = device((50, 1, one))
    n = 300

    reports = messages.randomize(
        np.full((n, 1), -1), np.ones(n), rng=KeyedRandom(SECRET, digests(n))
    )

    pairs = same = 0
    for row in reports:
        counts = np.bincount(row[(row >= 0) & (row < messages.dummy)] // 2)
        pairs += counts.sum() * (counts.sum() - 1) / 2
        same += (counts * (counts - 1) / 2).sum()
    # Two jumps land in one bucket with probability 1 / 50, pairwise independent.
    assert abs(same - pairs / 50) < 5.0 * np.sqrt(pairs / 50)


def test_kinds_of_several_jumps_are_drawn_apart() -> None:
    half = JumpTable(np.array([1, 0]), np.array([0, 1]), np.ones(2), 1.0, 2, 1)
    messages, n = device((1, 1, half)), 4000

    reports = messages.randomize(
        np.full((n, 1), -1),
        np.ones(n),
        rng=KeyedRandom(SECRET, digests(n)),
    )

    alike = int((reports[:, 1] == reports[:, 2]).sum())
    assert abs(alike - n / 2) < 5.0 * np.sqrt(n / 4)


@pytest.mark.parametrize(
    "answers",
    [
        [[0, 1], [2, 2]],
        [[0, 1], [6, 1]],
        [[0, 1], [-2, 1]],
        [[0], [1]],
        [0, 1],
        [[0.0, 1.0], [1.0, 2.0]],
        np.zeros((0, 2), dtype=np.int64),
        [[True, False], [True, False]],
        [["0", "1"], ["1", "2"]],
    ],
)
def test_wrong_answers_are_refused_and_not_repeated(answers: Any) -> None:
    messages = device((6, 2, table(1.0)))

    with pytest.raises(InvalidInputError) as raised:
        messages.randomize(np.array(answers), np.ones(2), rng=np.random.default_rng(1))

    assert "got" not in str(raised.value)


@pytest.mark.parametrize(
    "rates",
    [np.ones(3), np.array([0.5, 1.5]), np.array([-0.1, 1.0]), np.full(2, np.nan)],
)
def test_wrong_rates_are_refused(rates: Floats) -> None:
    messages = device((6, 2, table(1.0)))

    with pytest.raises(InvalidInputError, match="2 sampling rates"):
        messages.randomize(
            np.array([[0, 1], [2, -1]]), rates, rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize(("buckets", "most"), [(0, 1), (4, 5), (4, 0), (2**31, 1)])
def test_groups_of_no_sense_are_refused(buckets: int, most: int) -> None:
    with pytest.raises(InvalidInputError):
        BucketGroup(buckets, most, table(1.0))
