import itertools

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.multiprecision import exact_blanket_probability
from scipy.stats import chi2

from shuffledp import InvalidInputError, PopulationError
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.set_response import drawn_blanket_probability
from shuffledp.types import Ints

UNIT = 2.0**-53
SETTINGS = list(itertools.product([2, 3, 17, 300], [0.01, 0.5, 1.0, 4.0, 20.0]))


def g_test_threshold(degrees: int) -> float:
    """Exceeded with probability 1e-7 by a fair sampler."""
    return float(chi2.isf(1e-7, degrees))


def g_statistic(observed: Ints, expected: np.typing.NDArray[np.float64]) -> float:
    seen = observed > 0
    ratios = np.log(observed[seen] / expected[seen])
    return float(2.0 * (observed[seen] * ratios).sum())


@pytest.mark.parametrize(("num_categories", "epsilon"), SETTINGS)
def test_drawn_blanket_is_never_too_rare(num_categories: int, epsilon: float) -> None:
    exact = exact_blanket_probability(epsilon, num_categories)

    (sampled,) = drawn_blanket_probability(np.array([epsilon]), 1.0 / num_categories)

    # 4 units on purpose, 3 for the rounding of gamma itself.
    assert exact <= sampled <= min(exact * mp.mpf(1 + 14 * UNIT), mp.mpf(1))


@given(
    num_categories=st.sampled_from([2, 3, 5, 17, 100, 300, 2**31]),
    scale=st.floats(-4.0, 1.5),
    seed=st.integers(0, 10**6),
)
def test_drawn_blanket_is_never_too_rare_at_random_budgets(
    num_categories: int, scale: float, seed: int
) -> None:
    epsilons = 10.0**scale * np.random.default_rng(seed).random(30)

    sampled = drawn_blanket_probability(epsilons, 1.0 / num_categories)

    for epsilon, gamma in zip(epsilons, sampled, strict=True):
        exact = exact_blanket_probability(float(epsilon), num_categories)
        # 4 units on purpose, 3 for the rounding of gamma itself.
        assert exact <= gamma <= min(exact * mp.mpf(1 + 14 * UNIT), mp.mpf(1))


@pytest.mark.parametrize(("num_categories", "epsilon"), SETTINGS)
def test_local_epsilon_measured_from_the_densities_is_at_most_the_promise(
    num_categories: int, epsilon: float
) -> None:
    device = KRandomizedResponse(num_categories)

    keep, flip = (mp.mpf(float(p[0])) for p in device.densities(np.array([epsilon])))

    assert keep >= flip > 0
    # The densities are quotients of doubles, each off by half a unit at most.
    assert mp.log(keep / flip) <= epsilon * (1 + mp.mpf(2.0**-51))


@pytest.mark.parametrize("num_categories", [2, 3, 17, 300, 2**31])
def test_densities_add_up_to_one_and_are_those_of_the_sampler(
    num_categories: int,
) -> None:
    epsilons = np.array([0.0, 1e-12, 0.3, 1.0, 5.0, 30.0, 100.0, 700.0])

    keep, flip = KRandomizedResponse(num_categories).densities(epsilons)

    sampled = drawn_blanket_probability(epsilons, 1.0 / num_categories)
    for p, q, gamma in zip(keep, flip, sampled, strict=True):
        ignored = mp.mpf(float(gamma))
        # One division and one subtraction of doubles.
        assert abs(q - ignored / num_categories) <= ignored * UNIT
        assert (
            abs(mp.mpf(float(p)) + (num_categories - 1) * mp.mpf(float(q)) - 1)
            < 2 * UNIT
        )


@pytest.mark.parametrize("num_categories", [2, 3, 17, 300])
def test_messages_follow_the_densities_at_every_level(num_categories: int) -> None:
    device, draws = KRandomizedResponse(num_categories), 200_000
    levels = np.array([0.2, 1.0, 4.0])
    value = num_categories - 1
    rng = np.random.default_rng(5)

    values = np.full(3 * draws, value)
    messages = device.randomize(values, np.tile(levels, draws), rng=rng)

    keep, flip = device.densities(levels)
    for index in range(3):
        observed = np.bincount(messages[index::3], minlength=num_categories)
        expected = np.full(num_categories, draws * flip[index])
        expected[value] = draws * keep[index]
        threshold = g_test_threshold(num_categories - 1)
        assert g_statistic(observed, expected) < threshold


def test_every_value_is_kept_with_the_same_probability() -> None:
    device, draws = KRandomizedResponse(4), 50_000
    values = np.repeat(np.arange(4), draws)

    messages = device.randomize(
        values, np.full(values.size, 1.5), rng=np.random.default_rng(11)
    )

    keep = float(device.densities(np.array([1.5]))[0][0])
    kept = np.bincount(values[messages == values], minlength=4) / draws
    # Five standard errors: four categories raise a false alarm in 2e-6 of all seeds.
    assert np.abs(kept - keep).max() < 5.0 * np.sqrt(keep * (1.0 - keep) / draws)


@pytest.mark.parametrize(
    ("num_categories", "name"),
    [
        (2, "uint8"),
        (256, "uint8"),
        (257, "uint16"),
        (65537, "uint32"),
        (2**31, "uint32"),
    ],
)
def test_messages_have_the_smallest_type_that_holds_them(
    num_categories: int, name: str
) -> None:
    device = KRandomizedResponse(num_categories)
    values = np.array([0, num_categories - 1])

    messages = device.randomize(values, np.full(2, 700.0), rng=np.random.default_rng(1))

    assert messages.dtype == np.dtype(name)
    # At this budget a value is replaced with probability 3e-16.
    assert np.array_equal(messages, values)


def test_nobody_sends_nothing() -> None:
    nobody = np.array([], dtype=np.int64)

    messages = KRandomizedResponse(3).randomize(
        nobody, np.array([]), rng=np.random.default_rng(1)
    )

    assert messages.shape == (0,)


def test_randomizing_leaves_the_values_alone_and_can_be_repeated() -> None:
    values, levels = np.arange(600_000) % 5, np.full(600_000, 0.5)
    before = values.copy()

    first = KRandomizedResponse(5).randomize(
        values, levels, rng=np.random.default_rng(2)
    )
    second = KRandomizedResponse(5).randomize(
        values, levels, rng=np.random.default_rng(2)
    )

    assert np.array_equal(values, before)
    assert np.array_equal(first, second)
    # More people than one batch: the later ones are randomized, too.
    assert 0.1 < np.mean(first[-50_000:] != values[-50_000:]) < 0.9


@pytest.mark.parametrize("num_categories", [1, 0, -3, 2**31 + 1, 2.0, 2.5, True, "3"])
def test_numbers_of_categories_that_make_no_sense_are_refused(
    num_categories: object,
) -> None:
    with pytest.raises(InvalidInputError, match="categories"):
        KRandomizedResponse(num_categories)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, 987654]),
        np.array([0, -987654]),
        np.array([0.0, 1.0]),
        np.array([0.5, np.nan]),
        np.array(["987654", "1"]),
        np.array([True, False]),
        np.array([None, 987654]),
        np.array([0]),
        np.array([[0, 1]]),
        np.array(1),
    ],
)
def test_values_that_make_no_sense_are_refused_without_repeating_them(
    values: Ints,
) -> None:
    device, rng = KRandomizedResponse(5), np.random.default_rng(1)

    with pytest.raises(InvalidInputError) as caught:
        device.randomize(values, np.array([1.0, 1.0]), rng=rng)

    assert "987654" not in str(caught.value)


@pytest.mark.parametrize("level", [np.nan, -0.123456, np.inf, -np.inf, 12345.6])
def test_levels_that_make_no_sense_are_refused_without_repeating_them(
    level: float,
) -> None:
    device, rng = KRandomizedResponse(5), np.random.default_rng(1)

    with pytest.raises(PopulationError) as caught:
        device.randomize(np.array([1, 2]), np.array([1.0, level]), rng=rng)

    assert "123456" not in str(caught.value)
    assert "12345.6" not in str(caught.value)
