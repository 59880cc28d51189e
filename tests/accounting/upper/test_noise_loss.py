import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import laplace, norm

from shuffledp.accounting.upper.noise_loss import noise_loss
from shuffledp.cover import NoiseDensities, shown_by
from shuffledp.errors import CertificationError
from shuffledp.randomizers.exponential_densities import exponential_densities
from shuffledp.randomizers.normal_densities import normal_densities
from shuffledp.types import Floats

Distribution = Callable[[Floats], Floats]
DELTA = 1e-5
PARTS = 4


def normal(deviation: float) -> tuple[NoiseDensities, Distribution]:
    noise = normal_densities(deviation, lambda levels: 2.0 / levels, delta=DELTA)
    assert noise is not None
    return noise, lambda y: norm.cdf(y, scale=deviation)


def exponential(rate: float) -> tuple[NoiseDensities, Distribution]:
    noise = exponential_densities(2.0 * rate, delta=DELTA)
    assert noise is not None
    return noise, lambda y: laplace.cdf(y, scale=1.0 / rate)


def falling_density(
    noise: NoiseDensities, scale: float, rng: np.random.Generator
) -> Floats:
    """A density that never rises outward: of crowds of any widths, or in steps."""
    sizes = noise.edges[1:]
    kind = rng.integers(3)
    if kind == 0:
        # Many people about 0, few elsewhere.
        falling = np.where(sizes < scale * rng.uniform(0.8, 1.5), 1.0, 1e-4)
    elif kind == 1:
        steps = rng.exponential(size=sizes.size) * (rng.random(sizes.size) < 0.2)
        falling = np.exp(-np.cumsum(steps) * rng.uniform(0.02, 0.5))
    else:
        widths = scale * np.exp(rng.uniform(-2.0, 1.0, size=(3, 1)))
        shares = np.exp(rng.uniform(-8.0, 0.0, size=3))
        falling = shares @ np.exp(-0.5 * ((sizes + 1.0) / widths) ** 2)
    density: Floats = np.maximum(falling, 1e-12 * falling[0])
    if noise.imbalance is None:
        # Exponential noise: one density on the whole range of values.
        density[sizes <= 1.0] = density[sizes >= 1.0][0]
    return density


def shown_by_pair(
    noise: NoiseDensities,
    cumulative: Distribution,
    density: Floats,
    pair: tuple[float, float],
    growth: float,
    level: float,
) -> float:
    """Less than what a pair shows above a level, by Jensen's inequality in many cells."""
    positions = np.arange(noise.edges.size)
    fine = np.interp(np.arange(0, positions[-1] + 0.5 / PARTS, 1.0 / PARTS), positions,
                     noise.edges)  # fmt: skip
    # As many cells again beyond the last edge, where nobody hides the target.
    beyond = fine[-1] + (fine[-1] / PARTS) * np.arange(1, 8 * PARTS)
    edges = np.concatenate([fine, beyond, [1e9]])
    others = np.concatenate([np.repeat(density, PARTS), np.zeros(beyond.size + 1)])
    total = 0.0
    for side in (-1.0, 1.0):
        first, second = (
            np.abs(np.diff(cumulative(side * edges - value))) for value in pair
        )
        excess = first - growth * second - level * others * np.diff(edges)
        total += float(np.maximum(excess, 0.0).sum())
    return total


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("family", [normal, exponential])
def test_any_pair_of_values_shows_less(
    family: Callable[[float], tuple[NoiseDensities, Distribution]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scale = math.exp(rng.uniform(math.log(0.5), math.log(60.0)))
    parameter = scale if family is normal else 1.0 / scale
    noise, cumulative = family(parameter)
    density = falling_density(noise, scale, rng)
    epsilon = float(rng.uniform(0.0, 6.0 / scale))
    try:
        loss, unit = noise_loss(noise, density, epsilon)
    except CertificationError:
        # Nothing is promised; normal noise only, where epsilon is too large for it.
        assert family is normal
        return
    total = 2.0 * float(density @ np.diff(noise.edges))
    losses, masses = loss.losses * unit / total, loss.masses * total
    uncovered = shown_by(noise.uncovered, epsilon)
    pairs = [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0), (-0.2, 0.3), (1.0, -1.0)]
    pairs += [tuple(rng.uniform(-1.0, 1.0, size=2).tolist()) for _ in range(4)]
    quantiles = np.quantile(losses, [0.02, 0.3, 0.6, 0.9, 0.99])
    inside = 2.0 * losses[np.argmax(masses)]
    levels = np.concatenate([quantiles, [0.0, inside, 10.0 * inside, 100.0 * inside]])

    for pair in pairs:
        if family is exponential and epsilon >= abs(pair[0] - pair[1]) / scale:
            # That pair shows nothing at all.
            continue
        for level in levels.tolist():
            shown = shown_by_pair(
                noise, cumulative, density, pair, math.exp(epsilon), level
            )
            bound = float(masses @ np.maximum(losses - level, 0.0)) + uncovered
            assert shown <= bound * (1.0 + 1e-9)


@pytest.mark.parametrize("deviation", [6.0, 7.0, 9.0])
@pytest.mark.parametrize("width", [0.65, 1.05])
@pytest.mark.parametrize("exponent", [4.0, 4.5, 5.0])
def test_other_values_than_the_ends_may_hide_more(
    deviation: float, width: float, exponent: float
) -> None:
    noise, cumulative = normal(deviation)
    sizes, epsilon = noise.edges[1:], exponent / deviation
    # Many people about 0, and nearly nobody where values within the range hide more.
    few = np.exp(-0.5 * (sizes / (width * deviation)) ** 2)
    density = np.where(sizes < 0.75 * deviation, 1.0, np.maximum(1e-5 * few, 1e-14))
    loss, unit = noise_loss(noise, density, epsilon)
    total = 2.0 * float(density @ np.diff(noise.edges))
    losses, masses = loss.losses * unit / total, loss.masses * total
    uncovered = shown_by(noise.uncovered, epsilon)
    inside = float(losses[np.argmax(masses)])

    for level in (inside * np.array([0.5, 1.0, 1.5, 2.0, 3.0])).tolist():
        shown = shown_by_pair(
            noise, cumulative, density, (0.0, 1.0), math.exp(epsilon), level
        )
        bound = float(masses @ np.maximum(losses - level, 0.0)) + uncovered
        assert shown <= bound * (1.0 + 1e-9)


def test_nothing_is_known_at_large_epsilons() -> None:
    noise, _ = normal(10.0)

    with pytest.raises(CertificationError):
        noise_loss(noise, np.ones(noise.edges.size - 1), 50.0)


@pytest.mark.parametrize("deviation", [1.2, 2.5])
@pytest.mark.parametrize("delta", [1e-4, 3e-8])
@pytest.mark.parametrize("epsilon", [0.0, 0.25])
def test_what_is_raised_is_where_losses_are_largest(
    deviation: float, delta: float, epsilon: float
) -> None:
    noise = normal_densities(deviation, lambda levels: 2.0 / levels, delta=delta)
    assert noise is not None
    sizes = noise.edges[1:]
    # Few others far out: a message tells most there, and nothing like it nearer to 0.
    density = np.where(sizes < 1.5 * deviation, 1.0, 1e-4)
    loss, unit = noise_loss(noise, density, epsilon)
    total = 2.0 * float(density @ np.diff(noise.edges))
    losses, masses = loss.losses * unit / total, loss.masses * total
    uncovered = shown_by(noise.uncovered, epsilon)

    largest = float(losses.max())
    for level in np.geomspace(1e-5 * largest, 0.999 * largest, 30).tolist():
        shown = shown_by_pair(
            noise,
            lambda y: norm.cdf(y, scale=deviation),
            density,
            (-1.0, 1.0),
            math.exp(epsilon),
            level,
        )
        bound = float(masses @ np.maximum(losses - level, 0.0)) + uncovered
        assert shown <= bound * (1.0 + 1e-9)
