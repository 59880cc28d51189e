import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.noise import chi_square

from shuffledp import InvalidInputError, SystemRandom
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.grid import STEPS
from shuffledp.types import Floats

# Of draws with a fixed seed: the chance that a test fails by bad luck for a random seed.
FALSE_ALARM = 1e-5


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("level", [0.0, *np.geomspace(1e-6, 700.0, 19).tolist()])
def test_budget_measured_from_the_coins_is_within_the_level(level: float) -> None:
    # Chances of twelve digits, cut off at the range and normalized.
    with mp.workdps(50):
        chances = np.array([mp.mpf(1)])
        for digit in range(12):
            chance = 1 / (1 + mp.exp(mp.mpf(level / STEPS) * 2**digit))
            chances = np.concatenate([chances * (1 - chance), chances * chance])
        cells = np.arange(STEPS)
        laws = []
        for point in (0, 1, 1500, STEPS):
            distance = np.where(cells >= point, cells - point, point - 1 - cells)
            laws.append(chances[distance] / chances[distance].sum())
        worst = max(
            abs(mp.log(first[cell] / second[cell]))
            for cell in (0, 1, 1499, 1500, 4094, STEPS - 1)
            for first in laws
            for second in laws
        )

        # All of the level would be seen at the very ends; cells there hide a little.
        seen = mp.mpf(level) * (STEPS - 1) / STEPS
        assert abs(worst - seen) <= mp.mpf(10) ** -30 * level + mp.mpf(10) ** -40


def cell_chances(level: float, position: float) -> Floats:
    """Chances of all cells for a value this many cells into the range."""
    cells, chances = np.arange(STEPS), np.zeros(STEPS)
    for point in (math.floor(position), math.ceil(position)):
        weight = 0.5 if position % 1.0 == 0.0 else 1.0 - abs(position - point)
        away = np.where(cells >= point, cells - point, point - 1 - cells)
        density = np.exp(-level / STEPS * away)
        chances += weight * density / density.sum()
    return chances


POSITIONS = [0.0, 1.5, 1000.0, 2047.5, 4095.25, 4096.0]


@pytest.mark.parametrize("position", POSITIONS)
def test_messages_fall_into_cells_as_often_as_they_should(position: float) -> None:
    device, size, levels = ClipLaplace(3.0), 50_000, np.array([0.0, 0.5, 8.0, 300.0])
    values = np.full(4 * size, -3.0 + 6.0 * position / STEPS)
    # Levels are mixed, so that one batch holds them all.
    held = np.tile(levels, size)

    messages = device.randomize(values, held, rng=np.random.default_rng(int(position)))

    assert messages.dtype == np.uint16
    device.check_messages(messages)
    for level in levels.tolist():
        chances = cell_chances(level, position)
        observed = np.bincount(messages[held == level], minlength=STEPS)
        assert chi_square(observed.astype(np.float64), size * chances) > FALSE_ALARM


@pytest.mark.parametrize(
    "level", [0.0, 1e-8, 1e-3, 0.1, 1.0, 1.99, 2.01, 10.0, 100, 700]
)
def test_moments_are_those_of_the_cells_to_many_digits(level: float) -> None:
    clip, cells = 5.0, 64
    shares = [-1.0, -0.7, -1e-9, 0.0, 1e-5, 0.25, 0.9, 1.0 - 1e-12, 1.0]
    device = ClipLaplace(clip, cells=cells)

    means, variances = device.moments(np.array([level]), clip * np.array(shares))

    with mp.workdps(60):
        decay = mp.exp(-mp.mpf(level) / cells)
        middles = [clip * (mp.mpf(2 * cell + 1) / cells - 1) for cell in range(cells)]

        def moment_at(point: int, power: int) -> Any:
            away = [p - point if p >= point else point - 1 - p for p in range(cells)]
            chances = [decay**distance for distance in away]
            total = mp.fsum(c * y**power for c, y in zip(chances, middles, strict=True))
            return total / mp.fsum(chances)

        least = abs(moment_at(cells, 1)) * 1e-13
        for share, mean, variance in zip(shares, means[0], variances[0], strict=True):
            place = (mp.mpf(share) + 1) / 2 * cells
            below = min(int(mp.floor(place)), cells - 1)
            first, second = (
                (below + 1 - place) * moment_at(below, power)
                + (place - below) * moment_at(below + 1, power)
                for power in (1, 2)
            )
            # However small the budget, the mean keeps its digits.
            assert abs(mean - first) <= 1e-12 * abs(first) + least
            assert abs(variance - (second - first**2)) <= 1e-12 * clip**2


@pytest.mark.parametrize("level", [0.0, 1e-3, 1.0, 10.0, 100.0, 700.0])
@pytest.mark.parametrize("position", [*POSITIONS, 4095.5])
def test_moments_are_those_of_all_cells(level: float, position: float) -> None:
    step = 2.0 / STEPS
    chances = cell_chances(level, position)
    middles = ClipLaplace().decode(np.arange(STEPS))
    mean = float(chances @ middles)
    variance = float(chances @ (middles - mean) ** 2)

    ((stated_mean,),), ((stated_variance,),) = (
        moment.tolist()
        for moment in ClipLaplace().moments(
            np.array([level]), np.array([position * step - 1.0])
        )
    )

    assert abs(mean - stated_mean) <= 1e-13
    assert abs(variance - stated_variance) <= 1e-13


def test_moments_of_draws_are_those_stated() -> None:
    device, size, levels = ClipLaplace(2.0), 100_000, np.array([0.0, 1.0, 20.0])
    values = np.array([-2.0, 0.5])
    held = np.tile(levels, size)

    means, variances = device.moments(levels, values)

    for column, value in enumerate(values):
        messages = device.randomize(
            np.full(held.size, value), held, rng=np.random.default_rng(column)
        )
        for row, level in enumerate(levels):
            part = device.decode(messages[held == level])
            error = (variances[row, column] / size) ** 0.5
            assert abs(part.mean() - means[row, column]) <= 5.0 * error
            fourth = float(np.mean((part - part.mean()) ** 4))
            error = (fourth / size) ** 0.5
            assert abs(part.var() - variances[row, column]) <= 5.0 * error


@pytest.mark.parametrize("level", [0.0, 1e-9, 1e-3, 1.0, 30.0, 700.0])
@pytest.mark.parametrize("share", [-1.0, -0.3, 0.0, 0.999, 1.0])
def test_quantile_inverts_the_distribution(level: float, share: float) -> None:
    chances = np.array([0.0, 1e-12, 1e-3, 0.2, 0.5, 0.7, 0.999, 1.0])
    same = np.full(chances.shape, 1.0)

    messages = ClipLaplace(4.0).quantile(chances, level * same, 4.0 * share * same)

    assert np.all(np.diff(messages) >= 0.0)
    assert (messages[0], messages[-1]) == pytest.approx((-4.0, 4.0), abs=1e-12)
    with mp.workdps(50):
        rate, value = mp.mpf(max(level, 1e-20)) / 2, mp.mpf(share)
        below, above = (1 - mp.exp(-rate * (1 + side)) for side in (value, -value))
        for chance, message in zip(chances.tolist(), messages.tolist(), strict=True):
            y = mp.mpf(message) / 4
            part = 1 - mp.exp(-rate * abs(y - value))
            reached = (below + mp.sign(y - value) * part) / (below + above)
            # A message is a double near its value: half a unit shifts its chance.
            density = rate * mp.exp(-rate * abs(y - value)) / (below + above)
            assert abs(reached - chance) <= 4e-16 * (1 + density)


@pytest.mark.parametrize("position", [0, 700, 4096])
def test_draws_and_quantiles_have_one_distribution(position: int) -> None:
    device, size = ClipLaplace(), 40_000
    values = np.full(size, 2.0 * position / STEPS - 1.0)
    rng = np.random.default_rng(position)

    for level in (0.0, 2.0, 50.0):
        levels = np.full(size, level)
        drawn = np.sort(device.decode(device.randomize(values, levels, rng=rng)))
        chances = (np.arange(size) + 0.5) / size
        oracle = device.quantile(chances, levels, values)

        # Kolmogorov and Smirnov: exceeded once in 10^6 by bad luck, plus half a cell.
        limit = (math.log(2e6) / (2.0 * size)) ** 0.5
        shift = np.searchsorted(oracle, drawn) / size - chances
        slack = np.exp(-level / STEPS) * max(level, 1.0) / STEPS
        assert np.abs(shift).max() <= limit + slack


def test_system_randomness_will_do() -> None:
    device = ClipLaplace(2.0)

    messages = device.randomize([-2.0, 0.5, 2.0], [0.0, 1.0, 700], rng=SystemRandom())

    assert messages.dtype == np.uint16
    assert np.all(np.abs(device.decode(messages)) < 2.0)
    assert device.bits_per_person(np.array([0.0, 1.0])) == 12.0
    assert (device.low, device.high) == (-2.0, 2.0)


@pytest.mark.parametrize(
    ("values", "levels"),
    [([0.5], [1.0, 2.0]), ([-1.25], [1.0]), ([np.nan], [1.0]), ([0.5], [-1.0])],
)
def test_data_out_of_range_are_refused_and_not_repeated(
    values: list[float], levels: list[float]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected") as caught:
        ClipLaplace().randomize(values, levels, rng=SystemRandom())

    assert "25" not in str(caught.value)


def test_messages_beyond_the_range_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="messages"):
        ClipLaplace().check_messages(np.array([0, 4096]))
