import math

import numpy as np
import pytest
from oracles.blanket_groups import exact_divergence, poisson_divergence

from shuffledp import Gaussian, Laplace, Population
from shuffledp.accounting.account import account
from shuffledp.accounting.upper.differing_blankets import FirstByEstimate
from shuffledp.accounting.upper.poisson_counts import poisson_counts
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

DELTA = 1e-6
MANY = {0.1: 1_250, 0.2: 1_250, 0.5: 1_250, 1.0: 1_250, 2.0: 1_250}
# What the best single blanket certifies for `MANY` at DELTA.
ALONE = {
    "laplace": (0.00862657, 0.0146008, 0.0371763, 0.0710363, 0.133111),
    "gaussian": (0.00208373, 0.00343006, 0.00861252, 0.0154496, 0.0288379),
}


def mixed(rng: np.random.Generator, size: int) -> Floats:
    weights = rng.dirichlet(np.ones(3), size=size)
    floor: Floats = 0.05 + 0.85 * weights
    return floor


@pytest.mark.parametrize("seed", range(6))
def test_bound_holds_for_the_messages_of_groups(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = rng.integers(8, 26, size=2)
    gammas = rng.uniform(0.2, 0.95, size=2)
    blankets, pair = mixed(rng, 2), mixed(rng, 2)
    epsilon = float(rng.uniform(0.0, 0.6))
    counts = poisson_counts(gammas, people.astype(np.float64), 0.02)
    means = counts.means @ blankets

    bound = poisson_divergence(means, pair, epsilon) / (1.0 - counts.beyond)
    bound += counts.at_limit
    for values in ((0, 0), (0, 1), (1, 2), (2, 2)):
        groups = [
            (int(people[g]), float(gammas[g]), blankets[g], values[g]) for g in range(2)
        ]
        exact = exact_divergence(groups, pair, epsilon)
        assert exact <= bound
        # The second direction, too.
        reversed_bound = poisson_divergence(means, pair[::-1], epsilon)
        reversed_bound = reversed_bound / (1.0 - counts.beyond) + counts.at_limit
        assert exact_divergence(groups, pair[::-1], epsilon) <= reversed_bound


@pytest.mark.parametrize("randomizer", [Laplace(), Gaussian()])
def test_levels_that_differ_hide_each_other(randomizer: LocalRandomizer) -> None:
    guarantee = account(randomizer, Population.from_counts(MANY), delta=DELTA)

    certified = [level.epsilon_central for level in guarantee.levels]
    attacked = [level.epsilon_central_lower for level in guarantee.levels]
    for lower, upper, before in zip(
        attacked, certified, ALONE[randomizer.mechanism], strict=True
    ):
        assert lower <= upper <= before
        assert upper <= 1.35 * lower
    # Of people with more noise less is seen.
    assert certified == sorted(certified)


@pytest.mark.parametrize("randomizer", [Laplace(), Gaussian()])
def test_more_absent_people_hide_less(randomizer: LocalRandomizer) -> None:
    people = Population.from_counts(MANY)

    epsilons = [
        account(randomizer, people, delta=DELTA, absent=absent).worst.epsilon_central
        for absent in (0, 50, 500)
    ]

    assert epsilons == sorted(epsilons)


def test_equal_people_keep_their_own_blanket() -> None:
    people = Population.from_counts({1.0: 10_000})

    (upper,) = upper_profiles(Laplace(), people, [0], delta=DELTA)

    assert not isinstance(upper.bounds["blanket"], FirstByEstimate)


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.03, 0.1])
def test_estimates_are_near_the_bound(epsilon: float) -> None:
    people = Population.from_counts(MANY)
    (upper,) = upper_profiles(Laplace(), people, [2], delta=DELTA)

    bound = upper.bounds["blanket"]

    assert isinstance(bound, FirstByEstimate)
    estimate = bound.estimate(epsilon)
    assert 0.9 * estimate <= bound.delta(epsilon) <= 1.1 * estimate + 1e-8
    assert 0.0 <= bound.slack(epsilon) <= 0.05


class Refused:
    """A bound that promises much and says nothing."""

    def delta(self, epsilon: float) -> float:
        raise CertificationError("Nothing is known.")

    def estimate(self, epsilon: float) -> float:
        return 1e-30

    def slack(self, epsilon: float) -> float:
        raise CertificationError("Nothing is known.")


class Constant:
    """The same bound at every epsilon."""

    def delta(self, epsilon: float) -> float:
        return 0.25

    def estimate(self, epsilon: float) -> float:
        return math.nan

    def slack(self, epsilon: float) -> float:
        return 0.5


def test_a_refused_bound_leaves_the_other_one() -> None:
    bound = FirstByEstimate(Constant(), Refused(), is_composed=False)

    assert bound.delta(0.3) == 0.25
    assert bound.slack(0.3) == 0.5
