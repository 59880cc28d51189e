"""What devices draw follows the law that is stated, for every value, at mixed levels."""

import numpy as np
import pytest
from oracles.favored_sets import (
    all_messages,
    expected_chances,
    favors,
    oracles,
    positions,
)
from oracles.finite_messages import Senders
from scipy.stats import chi2

from shuffledp import InvalidInputError, PopulationError, SystemRandom
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.set_response import SetResponse
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.randomizers.subsets import looked_at, uniform_subsets
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints

CASES = oracles()
DEVICES = [pytest.param(*case, id=repr(case[0])) for case in CASES]
LARGER = [
    KRandomizedResponse(300),
    SubsetSelection(300, 2),
    SubsetSelection(40, 15),
    HadamardResponse(300),
    LocalHashing(300, 7),
]
LEVELS = np.array([0.4, 2.0])
DRAWS = 20_000
# Of each of about 200 comparisons: a false alarm in 2e-6 of all seeds.
FALSE_ALARM = 1e-8


def chi_square(observed: Ints, expected: Floats) -> float:
    return float(((observed - expected) ** 2 / expected).sum())


@pytest.mark.few_cases(13)
@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_messages_follow_the_law_for_every_value_at_mixed_levels(
    device: FrequencyOracle, sends: Senders
) -> None:
    favored = favors(sends)
    k, count = favored.shape
    known = all_messages(device, count)
    values = np.tile(np.repeat(np.arange(k), 2), DRAWS)

    messages = device.randomize(
        values, np.tile(LEVELS, k * DRAWS), rng=np.random.default_rng(23)
    )

    assert isinstance(device, SetResponse)
    gammas = device.drawn(LEVELS)[0]
    found = positions(messages, known).reshape(DRAWS, k, 2)
    for index, gamma in enumerate(gammas.tolist()):
        chances = expected_chances(gamma, favored)
        for value in range(k):
            observed = np.bincount(found[:, value, index], minlength=count)
            statistic = chi_square(observed, DRAWS * chances[value])
            assert statistic < chi2.isf(FALSE_ALARM, count - 1)


@pytest.mark.parametrize("rng", [np.random.default_rng(3), SystemRandom()])
@pytest.mark.parametrize("level", LEVELS)
def test_one_bit_follows_its_law_for_values_at_the_ends_and_between(
    rng: Rng, level: float
) -> None:
    low, high = -1.5e308, 1.6e308  # The length of the range is not a number.
    shares = np.array([0.0, 0.25, 0.5, 0.9, 1.0])
    values = np.clip(low * (1.0 - shares) + high * shares, low, high)

    bits = OneBit(low, high).randomize(
        np.tile(values, DRAWS), np.full(5 * DRAWS, level), rng=rng
    )

    assert bits.dtype == np.uint8
    exact = (1.0 + shares * np.expm1(level)) / (np.exp(level) + 1.0)
    errors = np.sqrt(exact * (1.0 - exact) / DRAWS)
    # Five standard errors: 20 comparisons, a false alarm in 1e-5 of all runs.
    seen = bits.reshape(DRAWS, 5).mean(axis=0)
    assert np.all(np.abs(seen - exact) < 5.0 * errors)


@pytest.mark.parametrize("rng", [np.random.default_rng(4), SystemRandom()])
@pytest.mark.parametrize(("k", "size"), [(12, 7), (12, 6), (6, 1), (6, 0), (5, 5)])
def test_all_sets_of_a_size_are_equally_likely(rng: Rng, k: int, size: int) -> None:
    draws = 60_000

    drawn = np.sort(uniform_subsets(draws, size, k, rng=rng), axis=1)

    assert drawn.shape == (draws, size)
    codes, observed = np.unique((1 << drawn).sum(axis=1), return_counts=True)
    ways = {7: 792, 6: 924, 1: 6, 0: 1, 5: 1}[size]
    assert codes.size == ways
    assert np.all(np.diff(drawn, axis=1) > 0)
    if ways > 1:
        statistic = chi_square(observed, np.full(ways, draws / ways))
        assert statistic < chi2.isf(FALSE_ALARM, ways - 1)


def test_sets_are_drawn_in_both_ways() -> None:
    ways = {looked_at(size, 12) for size in (6, 7)}

    assert ways == {6, 12}


@pytest.mark.parametrize("rng", [np.random.default_rng(5), SystemRandom()])
@pytest.mark.parametrize("device", LARGER, ids=repr)
def test_larger_devices_send_valid_messages_of_the_promised_support(
    rng: Rng, device: FrequencyOracle
) -> None:
    k, n = device.num_categories, 40_000
    values = np.arange(n) % k

    messages = device.randomize(values, np.full(n, 1.0), rng=rng)
    device.check_messages(messages)
    # Everybody's messages, sorted by what they hold.
    counts = device.support_counts(messages, values, k)

    (keep,), (flip,) = device.densities(np.array([1.0]))
    kept = int(np.trace(counts))
    # Five standard errors each: a false alarm in 6e-6 of all runs. Support of different
    # categories by one message is not independent, but nearly, or less than that.
    assert abs(kept - n * keep) < 5.0 * np.sqrt(n * keep * (1.0 - keep))
    others = counts[:, 0].sum() - counts[0, 0]
    strangers = n - (values == 0).sum()
    spread = np.sqrt(strangers * flip * (1.0 - flip))
    assert abs(others - strangers * flip) < 5.0 * spread


@pytest.mark.parametrize("device", LARGER, ids=repr)
def test_types_of_values_do_not_matter_and_draws_can_be_repeated(
    device: FrequencyOracle,
) -> None:
    n = 50_000
    values, levels = np.arange(n) % 40, np.tile(LEVELS, n // 2)

    first, second = (
        device.randomize(values.astype(kind), levels, rng=np.random.default_rng(8))
        for kind in (np.uint8, np.uint64)
    )

    assert np.array_equal(first, second)
    assert first.dtype.kind == "u"
    assert first.dtype.itemsize <= 2


@pytest.mark.parametrize("device", [case[0] for case in CASES], ids=repr)
def test_nobody_sends_nothing(device: FrequencyOracle) -> None:
    nobody = np.array([], dtype=np.int64)

    messages = device.randomize(nobody, np.array([]), rng=np.random.default_rng(1))
    device.check_messages(messages)

    assert len(messages) == 0
    assert device.support_counts(messages, None, 1).tolist() == [
        [0] * device.num_categories
    ]


@pytest.mark.parametrize("device", LARGER, ids=repr)
@pytest.mark.parametrize(
    "values",
    [[0, 987654], [0, -987654], [0.5, 1.0], [0], [[0, 1]], [True, False], ["1", "2"]],
)
def test_values_out_of_range_are_refused_without_repeating_them(
    device: FrequencyOracle, values: list[object]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        device.randomize(
            np.array(values), np.array([1.0, 1.0]), rng=np.random.default_rng(1)
        )

    assert "987654" not in str(caught.value)


@pytest.mark.parametrize("device", [*LARGER, OneBit()], ids=repr)
@pytest.mark.parametrize("level", [np.nan, -0.5, np.inf, 12345.6])
def test_levels_that_nobody_may_choose_are_refused(
    device: FrequencyOracle, level: float
) -> None:
    with pytest.raises(PopulationError):
        device.randomize(
            np.array([0, 1]), np.array([1.0, level]), rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize(
    "values",
    [[0.1, 987.654], [0.1, -987.654], [0.1, np.nan], [0.1, np.inf], [0.1], [[0.1, 1]]],
)
def test_one_bit_refuses_values_out_of_range_without_repeating_them(
    values: list[float],
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        OneBit(0.0, 2.0).randomize(values, [1.0, 1.0], rng=np.random.default_rng(1))

    assert "987" not in str(caught.value)


def test_decoded_bits_have_the_stated_moments() -> None:
    device, levels = OneBit(-2.0, 6.0), np.array([0.0, 1.0, 30.0])
    values = np.array([-2.0, 0.0, 6.0])

    mean, variance = device.moments(levels, values)

    ends = device.decode(np.array([0, 1], dtype=np.uint8))
    assert ends.tolist() == [-2.0, 6.0]
    for index, level in enumerate(levels):
        high = (1.0 + (values + 2.0) / 8.0 * np.expm1(level)) / (np.exp(level) + 1.0)
        expected = ends[0] * (1.0 - high) + ends[1] * high
        squares = ends[0] ** 2 * (1.0 - high) + ends[1] ** 2 * high
        # A few roundings of numbers up to 36.
        assert np.allclose(mean[index], expected, rtol=0.0, atol=1e-13)
        assert np.allclose(variance[index], squares - expected**2, rtol=0.0, atol=1e-12)
    assert device.bits_per_person(levels) == 1.0
    with pytest.raises(InvalidInputError, match="messages"):
        device.check_messages(np.array([0, 2]))
