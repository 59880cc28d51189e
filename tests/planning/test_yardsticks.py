from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from shuffledp import Frequency, Guarantee, Population, account
from shuffledp.planning.yardsticks import curator_error
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.types import Floats

PEOPLE = Population.from_counts({0.5: 100, 4.0: 300})


@cache
def guarantee() -> Guarantee:
    return account(Frequency(2), PEOPLE, delta=1e-6)


def certified() -> Floats:
    return np.array([level.epsilon_central for level in guarantee().levels])


def simulated(weights: Floats, noise: Floats, values: Floats) -> float:
    """The error of a curator who weighs people that levels are dealt to at random."""
    rng, runs = np.random.default_rng(97), noise.size
    each = np.repeat(weights, [100, 300])
    held = rng.permuted(np.tile(values, (runs, 1)), axis=1)
    published = (held @ each + noise) / each.sum()
    return float(np.std(published - values.mean()))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_curator_has_the_smallest_error_of_four_simulations(spread: float) -> None:
    rng, runs = np.random.default_rng(96), 10_000
    values = np.repeat([0.5 - spread, 0.5 + spread], 200)
    epsilons = certified()
    mu = sensitivity_per_deviation(epsilons, 1e-6)

    # A value in [0, 1] moves the sum by its weight, at noise of scale 1.
    errors = []
    for weights, noise in (
        (mu, rng.normal(size=runs)),
        (epsilons, rng.laplace(size=runs)),
    ):
        strictest = np.full(2, weights.min())
        errors += [simulated(w, noise, values) for w in (weights, strictest)]

    found = curator_error(guarantee(), reach_l1=1.0, reach_l2=1.0, spread=spread)
    # 10,000 runs know a deviation to 0.7%, of Laplace noise to 1.1%.
    assert abs(found / min(errors) - 1.0) < 0.05


def test_noise_of_the_curator_keeps_the_guarantees() -> None:
    epsilons = certified()
    mu = sensitivity_per_deviation(epsilons, 1e-6)

    # Balle and Wang (2018), Theorem 8, for normal noise of deviation 1.
    told = norm.cdf(mu / 2 - epsilons / mu) - np.exp(epsilons) * norm.cdf(
        -mu / 2 - epsilons / mu
    )

    # Used up; rounding of a difference of tails.
    assert told == pytest.approx(1e-6, rel=1e-3)


def test_a_wider_reach_means_as_much_more_noise() -> None:
    one = curator_error(guarantee(), reach_l1=1.0, reach_l2=1.0, spread=0.0)
    two = curator_error(guarantee(), reach_l1=2.0, reach_l2=2.0, spread=0.0)

    assert two == pytest.approx(2.0 * one, rel=1e-12)
