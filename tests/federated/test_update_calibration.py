"""The value behind an average message, against sums over all cells and eq. (1)."""

import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.errors import InvalidInputError
from shuffledp.federated.response_inversion import invert_response, mean_response
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace

POINTS = (0, 5, 700, 2048, 3001, 4090, 4096)
VALUES = (np.arange(4097) - 2048) / 2048


def of(levels: object) -> Population:
    """People, one at each of these levels."""
    return Population.from_budgets(np.asarray(levels))


def average_by_cells(level: float, point: int, threshold: int) -> float:
    """The mean distance from the middle, summed cell by cell."""
    weights, distances = [], []
    for cell in range(4096):
        away = cell - point if cell >= point else point - 1 - cell
        weights.append(math.exp(-level * away / 4096))
        off = cell - 2048 if cell >= 2048 else 2047 - cell
        distances.append(cell + 0.5 - 2048 if off >= threshold else 0.0)
    kept = math.fsum(w * d for w, d in zip(weights, distances, strict=True))
    return kept / math.fsum(weights)


def mean_by_equation_1(level: float, value: float) -> float:
    """The paper's formula with C = 1, in 40 digits."""
    with mpmath.workdps(40):
        scale, v = 2 / mpmath.mpf(level), mpmath.mpf(value)
        low, high = mpmath.exp((-1 - v) / scale), mpmath.exp((-1 + v) / scale)
        return float(((1 + scale) * (low - high) + 2 * v) / (2 - low - high))


@pytest.mark.parametrize("level", [1e-9, 1e-6, 0.05, 1.0, 8.0, 300.0])
@pytest.mark.parametrize("threshold", [0, 1, 1600, 2047])
def test_response_is_the_sum_over_all_cells(level: float, threshold: int) -> None:
    expected = [average_by_cells(level, point, threshold) for point in POINTS]

    found = mean_response(of([level]), threshold=threshold)

    # Cells, of which there are 4096: cumulated sums round.
    np.testing.assert_allclose(found[list(POINTS)], expected, rtol=0, atol=3e-9)


@pytest.mark.slow
def test_many_levels_take_the_place_of_each_other() -> None:
    levels = np.exp(np.random.default_rng(1).uniform(-8.0, 6.4, 3_000))

    found = mean_response(of(levels))[::16] / 2048
    sparse = mean_response(of(levels), threshold=1638)[::16] / 2048

    # The moments of the density differ from those of cells by eps / 10^4 of a cell.
    means, _ = ClipLaplace(1.0).moments(levels, VALUES[::16])
    np.testing.assert_allclose(found, means.mean(axis=0), rtol=0, atol=1e-5)
    randomizer = SparsifiedClipLaplace(1.0, share=1.0 - 1638 / 2048)
    means, _ = randomizer.moments(levels, VALUES[::16])
    np.testing.assert_allclose(sparse, means.mean(axis=0), rtol=0, atol=1e-12)


def test_the_value_of_equation_1_is_found() -> None:
    levels = np.random.default_rng(2).uniform(0.05, 1.0, 40)
    values = np.array([-0.9, -0.5, -0.01, 0.0, 0.3, 0.77])
    averages = [
        float(np.mean([mean_by_equation_1(level, value) for level in levels]))
        for value in values
    ]

    found = invert_response(2048 * np.array(averages), mean_response(of(levels)))

    # Cells instead of the density: a mean moves by less than eps / 10^4 of a cell, which
    # is 5e-8 eps C. The slope is eps / 3 in the middle and falls to 0 at the ends, a sixth
    # of it here.
    np.testing.assert_allclose(found, values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("threshold", [0, 1638])
def test_the_value_behind_the_average_of_a_value_is_that_value(threshold: int) -> None:
    levels = np.random.default_rng(3).uniform(0.05, 1.0, 10_000)
    responses = mean_response(of(levels), threshold=threshold)
    held = np.linspace(-1.0, 1.0, 1_001)
    # A value is moved to one of its two points without bias.
    position = 2048 * (held + 1.0)
    below = np.minimum(np.floor(position).astype(int), 4095)
    up = position - below
    averages = (1.0 - up) * responses[below] + up * responses[below + 1]

    found = invert_response(averages, responses)

    np.testing.assert_allclose(found, held, rtol=0, atol=1e-9)


@given(st.lists(st.floats(1e-3, 50.0), min_size=1, max_size=30))
def test_larger_values_give_larger_averages(levels: list[float]) -> None:
    responses = mean_response(of(levels))

    assert np.all(np.diff(responses) > 0.0)
    # Nobody is on one side of the middle by design.
    np.testing.assert_allclose(responses, -responses[::-1], rtol=0, atol=1e-9)


def test_the_value_ends_where_the_range_does() -> None:
    responses = mean_response(of([0.5, 1.0]))

    found = invert_response(np.array([-2_000.0, 2_000.0]), responses)

    assert found.tolist() == [-1.0, 1.0]


def test_messages_that_say_nothing_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="well above 0"):
        invert_response(np.zeros(3), mean_response(of(np.zeros(5))))


def test_levels_that_say_nothing_are_all_the_same() -> None:
    # More of them than there are nodes, all below the smallest that is told apart.
    silent = mean_response(of(np.linspace(0.0, 9e-10, 40)))

    np.testing.assert_allclose(silent, mean_response(of([1e-9])), rtol=0, atol=1e-12)
