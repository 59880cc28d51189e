import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.noise import chi_square, normal_chances
from scipy.special import ndtr

from shuffledp import InvalidInputError, SystemRandom
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation

# Of draws with a fixed seed: the chance that a test fails by bad luck for a random seed.
FALSE_ALARM = 1e-5


@pytest.mark.parametrize("level", [1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0, 700.0])
@pytest.mark.parametrize("delta_local", [1e-100, 1e-6, 0.1])
def test_cells_of_the_two_ends_keep_the_promise(
    level: float, delta_local: float
) -> None:
    (mu,) = sensitivity_per_deviation(np.array([level]), delta_local).tolist()
    # Left of the crossing every cell favors low. It is somewhere within a cell.
    with mp.workdps(150):
        length = mp.mpf(mu) / STEPS
        crossing = (mp.mpf(mu) / 2 - mp.mpf(level) / mu) / length
        kept = max(
            mp.ncdf(length * edge) - mp.exp(level) * mp.ncdf(length * (edge - STEPS))
            for edge in (mp.floor(crossing), mp.ceil(crossing))
        )

    assert kept <= delta_local
    assert kept >= delta_local * (1.0 - 1e-3)


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("position", [0.0, 1000.0, 2047.5, 4095.25, 4096.0])
def test_messages_fall_into_cells_as_often_as_they_should(position: float) -> None:
    device, size, levels = (
        Gaussian(-1.0, 3.0, delta_local=1e-3),
        60_000,
        np.array([0.5, 5.0, 100]),
    )
    values = np.full(3 * size, -1.0 + 4.0 * position / STEPS)
    # Levels are mixed, so that one batch holds them all.
    held = np.tile(levels, size)

    messages = device.randomize(values, held, rng=np.random.default_rng(int(position)))

    assert messages.dtype == np.int64
    edges = np.arange(-3 * STEPS, 4 * STEPS + 1)
    bounds = np.concatenate([[-np.inf], edges, [np.inf]])
    for level, deviation in zip(levels, device.deviations(levels), strict=True):
        chances = np.zeros(edges.size + 1)
        for point in (math.floor(position), math.ceil(position)):
            weight = 0.5 if position % 1.0 == 0.0 else 1.0 - abs(position - point)
            # Deviations are on the scale of [-1, 1].
            chances += weight * normal_chances(deviation * STEPS / 2.0, point, bounds)
        places = np.searchsorted(edges, messages[held == level], side="right")
        observed = np.bincount(places, minlength=chances.size).astype(np.float64)
        assert chi_square(observed, size * chances) > FALSE_ALARM


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("value", [10.0, 10.3, 12.0])
def test_decoded_messages_are_unbiased(value: float) -> None:
    device, levels = Gaussian(10.0, 12.0), np.array([0.01, 1.0, 50.0])
    size = 100_000
    held = np.tile(levels, size)

    messages = device.randomize(
        np.full(held.size, value), held, rng=np.random.default_rng(8)
    )

    decoded = device.decode(messages)
    mean, variance = device.moments(levels, np.array([value]))
    for row, level in enumerate(levels):
        part = decoded[held == level]
        assert mean[row, 0] == value
        assert abs(part.mean() - value) <= 5.0 * (variance[row, 0] / size) ** 0.5
        error = (2.0 / size) ** 0.5 * variance[row, 0] + (2.0 / STEPS) ** 2
        assert abs(part.var() - variance[row, 0]) <= 5.0 * error


@pytest.mark.parametrize("level", [1e-6, 0.1, 5.0, 700.0])
def test_bits_hold_all_messages_but_one_in_a_billion(level: float) -> None:
    device = Gaussian()

    bits = device.bits_per_person(np.array([level, 700.0]))

    beyond = (2.0**bits - STEPS) / 2.0
    (deviation,) = device.deviations(np.array([level])).tolist()
    assert bits > 12.0
    assert 2.0 * ndtr(-beyond / (deviation * STEPS / 2.0)) <= 1e-9


def test_system_randomness_will_do() -> None:
    device = Gaussian(delta_local=1e-100)

    messages = device.randomize([0.0, 0.5, 1.0], [1e-6, 1.0, 700], rng=SystemRandom())

    device.check_messages(messages)
    assert device.randomize([], [], rng=SystemRandom()).shape == (0,)


@pytest.mark.parametrize(
    ("values", "levels"),
    [([0.5], [1.0, 2.0]), ([1.25], [1.0]), ([math.nan], [1.0]), ([0.5], [9e-7])],
)
def test_data_out_of_range_are_refused_and_not_repeated(
    values: list[float], levels: list[float]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected") as caught:
        Gaussian().randomize(values, levels, rng=SystemRandom())

    assert "25" not in str(caught.value)
