from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.stats import chi2

from shuffledp import InvalidInputError
from shuffledp.randomizers.grid import (
    FARTHEST,
    STEPS,
    cell_beside,
    check_cells,
    geometric_digits,
    geometric_numbers,
    grid_points,
    midpoints,
    positions,
    within_bounds,
)
from shuffledp.types import Floats, Ints

# The seeds are fixed; each test would fail by bad luck for one seed in 10^5, or fewer.
FALSE_ALARM = 1e-5


@pytest.mark.parametrize(
    "ends", [(0.0, 1.0), (-3.0, 5.0), (-1.7e308, 1.7e308), (1e-300, 3e-300), (7, 9)]
)
def test_values_move_to_a_neighboring_point_without_bias(
    ends: tuple[float, float],
) -> None:
    low, high = ends

    for position in (0.0, 0.3, 17.5, 4095.99, 4096.0):
        share = position / STEPS
        values = np.full(40_000, low * (1.0 - share) + high * share)
        places = positions(values, low, high, STEPS)
        points = grid_points(places, rng=np.random.default_rng(1))

        assert set(points) <= {np.floor(position), np.ceil(position)}
        # A coin's standard error is at most 1 / 2; rounding counts, too.
        assert abs(points.mean() - position) <= 5.0 * 0.5 / 200.0 + 1e-9


@pytest.mark.parametrize("position", range(0, STEPS + 1, 512))
def test_points_of_the_grid_stay_where_they_are(position: int) -> None:
    values = np.full(100, -2.0 + 4.0 * position / STEPS)

    places = positions(values, -2.0, 2.0, STEPS)
    points = grid_points(places, rng=np.random.default_rng(2))

    assert np.all(points == position)


@pytest.mark.parametrize("exponent", [1e-9, 0.01, 0.3, 2.0])
def test_independent_digits_make_a_geometric_number(exponent: float) -> None:
    with mp.workdps(60):
        a = mp.mpf(exponent)
        chances = [1 / (1 + mp.exp(a * 2**i)) for i in range(6)]

        def chance(number: int) -> Any:
            digits = [number >> i & 1 for i in range(6)]
            return mp.fprod(
                p if digit else 1 - p for p, digit in zip(chances, digits, strict=True)
            )

        total = mp.fsum(mp.exp(-a * d) for d in range(64))
        for number in range(64):
            assert mp.almosteq(chance(number), mp.exp(-a * number) / total, 1e-50)


def statistic(observed: Ints, expected: Floats) -> tuple[float, float]:
    """Pearson's, and where a false alarm becomes rarer than allowed."""
    value = float(((observed - expected) ** 2 / expected).sum())
    return value, float(chi2.isf(FALSE_ALARM, expected.size - 1))


@pytest.mark.parametrize("exponent", [0.05, 0.7, 9.0, 40.0])
def test_geometric_numbers_have_their_chances(exponent: float) -> None:
    size, top = 200_000, max(2, int(5.0 / exponent))

    drawn = geometric_numbers(
        np.full(size, exponent), rng=np.random.default_rng(int(100 * exponent))
    )

    chances = np.exp(-exponent * np.arange(top)) * -np.expm1(-exponent)
    expected = size * np.append(chances, np.exp(-exponent * top))
    observed = np.bincount(np.minimum(drawn, top), minlength=top + 1)
    kept = expected > 5.0
    value, limit = statistic(observed[kept], expected[kept])
    assert value < limit or kept.sum() == 1
    assert observed[~kept].sum() <= 30


def test_people_of_one_batch_keep_their_own_chances() -> None:
    exponents = np.tile([1e-9, 1e-3, 1.0, 50.0], 50_000)

    drawn = geometric_numbers(exponents, rng=np.random.default_rng(4))

    for exponent in (1e-9, 1e-3, 1.0):
        mean = 1.0 / np.expm1(exponent)
        error = (mean * (1.0 + mean) / 50_000) ** 0.5
        assert abs(drawn[exponents == exponent].mean() - mean) <= 5.0 * error
    assert not drawn[exponents == 50.0].any()


def test_few_digits_are_uniform_without_a_slope() -> None:
    drawn = geometric_digits(np.zeros(160_000), 4, rng=np.random.default_rng(5))

    observed = np.bincount(drawn, minlength=16)

    value, limit = statistic(observed, np.full(16, 10_000.0))
    assert value < limit


def test_remaining_digits_are_drawn_where_there_are_any() -> None:
    # Without a single digit of its own, the whole number comes from what is left.
    exponents = np.full(10_000, 32.0)

    assert not geometric_numbers(exponents, rng=np.random.default_rng(6)).any()
    assert geometric_numbers(np.zeros(0), rng=np.random.default_rng(6)).size == 0


def test_cells_lie_beside_their_point() -> None:
    points, right = np.array([5, 5, 5, 5]), np.array([1, 1, 0, 0])

    cells = cell_beside(points, right, np.array([0, 3, 0, 3]))

    assert cells.tolist() == [5, 8, 4, 1]


def test_middles_of_cells_are_in_the_units_of_the_values() -> None:
    cells = np.array([0, 2048, 4095, -1], dtype=np.int64)

    middles = midpoints(cells, -4.0, 4.0, STEPS)

    step = 8.0 / STEPS
    assert middles.tolist() == [
        -4.0 + step / 2,
        step / 2,
        4.0 - step / 2,
        -4.0 - step / 2,
    ]
    assert np.isposinf(midpoints(np.array([FARTHEST]), 0.0, 1e308, STEPS)).all()


def test_messages_off_the_grid_are_refused() -> None:
    bounded = within_bounds(np.array([-(2**50), 7, 2**50]), STEPS)

    assert bounded.tolist() == [-FARTHEST, 7, FARTHEST + STEPS - 1]
    check_cells(bounded, STEPS, FARTHEST)
    check_cells(np.zeros(0, dtype=np.int64), STEPS, 0)
    wrong: list[Any] = [[-1], [STEPS], [0.5], [[1]], [True]]
    for bad in wrong:
        with pytest.raises(InvalidInputError, match="messages"):
            check_cells(np.array(bad), STEPS, 0)
    with pytest.raises(InvalidInputError, match="messages"):
        check_cells(np.array([2**63], dtype=np.uint64), STEPS, FARTHEST)
