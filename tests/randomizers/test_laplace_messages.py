import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.noise import (
    chi_square,
    exact_geometric,
    exact_laplace_chance,
    laplace_chances,
)

from shuffledp import InvalidInputError, SystemRandom
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.laplace import Laplace

# Of draws with a fixed seed: the chance that a test fails by bad luck for a random seed.
FALSE_ALARM = 1e-5
SETTINGS = np.geomspace(1e-6, 700.0, 20).tolist()


@pytest.mark.parametrize("level", SETTINGS)
def test_budget_measured_from_the_coins_is_the_level(level: float) -> None:
    # Twice as far as messages go there are 41 digits.
    exponent, far = level / STEPS, [1, 5000, 2**30 + 3, 2**40 - 1]
    with mp.workdps(60):
        losses = []
        for cell in (-1, 0, 1, 2000, STEPS - 1, *(STEPS + more for more in far)):
            low, high = (
                exact_geometric(exponent, 41, max(cell - point, point - 1 - cell))
                for point in (0, STEPS)
            )
            losses.append(abs(mp.log(low / high)))

        # The last digits of sixty go into logarithms of chances of e^-10^8.
        assert max(losses) <= level * (1 + mp.mpf(10) ** -35)
        assert max(losses) >= level * (1 - mp.mpf(10) ** -35)


@pytest.mark.parametrize("level", [0.3, 2.0, 40.0, 700.0])
def test_digits_have_the_chances_of_cells_under_the_density(level: float) -> None:
    step = 2.0 / STEPS
    with mp.workdps(60):
        for distance in (0, 1, 2, 77, 4095):
            real = exact_laplace_chance(
                level / 2, 0, distance * step, step * (distance + 1)
            )

            drawn = exact_geometric(level / STEPS, 60, distance) / 2

            assert mp.almosteq(drawn, real, 1e-40)


@pytest.mark.parametrize("position", [0.0, 1000.0, 2047.5, 4095.25, 4096.0])
def test_messages_fall_into_cells_as_often_as_they_should(position: float) -> None:
    device, size, levels = Laplace(-1.0, 3.0), 60_000, np.array([0.5, 5.0, 100.0])
    values = np.full(3 * size, -1.0 + 4.0 * position / STEPS)
    # Levels are mixed, so that one batch holds them all.
    held = np.tile(levels, size)

    messages = device.randomize(values, held, rng=np.random.default_rng(int(position)))

    edges = np.arange(-3 * STEPS, 4 * STEPS + 1)
    for level in levels.tolist():
        chances = np.zeros(edges.size + 1)
        for point in (math.floor(position), math.ceil(position)):
            weight = 0.5 if position % 1.0 == 0.0 else 1.0 - abs(position - point)
            bounds = np.concatenate([[-np.inf], edges, [np.inf]])
            chances += weight * laplace_chances(level / STEPS, point, bounds)
        places = np.searchsorted(edges, messages[held == level], side="right")
        observed = np.bincount(places, minlength=chances.size).astype(np.float64)
        assert chi_square(observed, size * chances) > FALSE_ALARM


@pytest.mark.parametrize("value", [10.0, 10.3, 12.0])
def test_decoded_messages_are_unbiased(value: float) -> None:
    device, levels, size = Laplace(10.0, 12.0), np.array([0.01, 1.0, 50.0]), 100_000
    held = np.tile(levels, size)

    messages = device.randomize(
        np.full(held.size, value), held, rng=np.random.default_rng(8)
    )

    decoded = device.decode(messages)
    mean, variance = device.moments(levels, np.array([value]))
    for row, level in enumerate(levels):
        part = decoded[held == level]
        assert mean[row, 0] == value
        fraction = (value - 10.0) / 2.0 * STEPS % 1.0
        beside = 0.5 / math.sinh(level / STEPS / 2.0) ** 2 + 0.25
        exact = (2.0 / STEPS) ** 2 * (beside + fraction * (1.0 - fraction))
        assert variance[row, 0] == pytest.approx(exact, rel=1e-12)
        assert abs(part.mean() - value) <= 5.0 * (variance[row, 0] / size) ** 0.5
        # The fourth moment of this noise is 6 squared variances.
        error = (5.0 / size) ** 0.5 * variance[row, 0] + (2.0 / STEPS) ** 2
        assert abs(part.var() - variance[row, 0]) <= 5.0 * error


@pytest.mark.parametrize("level", [1e-6, 0.1, 5.0, 700.0])
def test_bits_hold_all_messages_but_one_in_a_billion(level: float) -> None:
    bits = Laplace().bits_per_person(np.array([level, 700.0]))

    beyond = (2.0**bits - STEPS) / 2.0
    assert bits > 12.0
    assert math.exp(-level / STEPS * beyond) <= 1e-9
    assert math.exp(-level / STEPS * max(beyond / 2.0 - STEPS, 0.0)) > 1e-9


def test_system_randomness_will_do() -> None:
    device = Laplace()

    messages = device.randomize([0.0, 0.5, 1.0], [1e-6, 1.0, 700.0], rng=SystemRandom())

    assert messages.dtype == np.int64
    device.check_messages(messages)
    assert device.randomize([], [], rng=SystemRandom()).shape == (0,)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([0.5], [1.0, 2.0]),
        ([-0.25], [1.0]),
        ([1.25], [1.0]),
        ([math.nan], [1.0]),
        ([math.inf], [1.0]),
        (["0.25"], [1.0]),
        ([0.5], [math.nan]),
        ([0.5], [-1.0]),
        ([0.5], [701.0]),
    ],
)
def test_data_out_of_range_are_refused_and_not_repeated(
    values: list[float], levels: list[float]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected") as caught:
        Laplace().randomize(values, levels, rng=SystemRandom())

    assert "25" not in str(caught.value)


@pytest.mark.parametrize("level", [0.0, 9e-7])
def test_levels_without_bounds_worth_sending_are_refused(level: float) -> None:
    with pytest.raises(InvalidInputError, match="at least 1e-06"):
        Laplace().randomize([0.5, 0.5], [1.0, level], rng=SystemRandom())


def test_unknown_randomness_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="rng"):
        Laplace().randomize([0.5], [1.0], rng=np.random.RandomState(1))  # type: ignore[arg-type]
