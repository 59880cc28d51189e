"""Distances of counts from normal distributions, against sums and integrals."""

import math

import numpy as np
import pytest
from scipy.stats import binom, multivariate_normal

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.eapes.eapes_theorem import gdp_parameter
from shuffledp_papers.eapes.normal_limit import normal_distances


def test_the_printed_example_is_that_of_fifty_people() -> None:
    found = normal_distances(50, 0.1, delta=1 / 50)

    assert found.printed == pytest.approx(0.02058, abs=5e-6)
    # It is nearly the largest probability, and no distance of the laws.
    assert 0.7 * found.mode < found.printed < found.mode
    assert found.rounded > 3.0 * found.printed


def test_distances_are_those_of_sums_and_integrals() -> None:
    n, epsilon, delta = 12, 0.5, 0.05
    trials, chance = n - 1, (1 - delta) / (1 + math.exp(epsilon))
    reach = range(trials + 1)
    law = np.zeros((trials + 1, trials + 1))
    for k in reach:
        row = binom.pmf(reach, trials - k, chance / (1 - chance))
        law[k] = binom.pmf(k, trials, chance) * row
    variance = trials * chance * (1 - chance)
    normal = multivariate_normal(
        [trials * chance] * 2,
        np.array([[variance, -trials * chance**2], [-trials * chance**2, variance]]),
    )

    def below(first: float, second: float) -> float:
        return float(normal.cdf([first, second]))

    def cell(k: int, j: int, low: float, high: float) -> float:
        return (
            below(k + high, j + high)
            - below(k + high, j + low)
            - below(k + low, j + high)
            + below(k + low, j + low)
        )

    printed = max(abs(law[k, j] - cell(k, j, 0.0, 0.5)) for k in reach for j in reach)
    # Of the normal law beyond what counts can be, all is a difference.
    inside = below(trials + 0.5, trials + 0.5) - 2 * below(-0.5, trials + 0.5)
    inside += below(-0.5, -0.5)
    rounded = 0.5 * (1.0 - inside) + 0.5 * sum(
        abs(law[k, j] - cell(k, j, -0.5, 0.5)) for k in reach for j in reach
    )

    found = normal_distances(n, epsilon, delta=delta)

    # scipy's integral is good to 1e-5.
    assert found.printed == pytest.approx(printed, abs=2e-5)
    assert found.rounded == pytest.approx(rounded, abs=2e-4)
    largest = max(
        abs(law[: k + 1, : j + 1].sum() - below(k + 0.5, j + 0.5))
        for k in reach
        for j in reach
    )
    assert found.kolmogorov == pytest.approx(largest, abs=2e-4)


def test_theorem_2_is_the_distance_of_two_normal_laws() -> None:
    budgets, delta = np.array([0.1, 0.4, 0.4, 1.5, 2.0]), 0.05
    p = 2.0 * (1.0 - delta) / (1.0 + np.exp(budgets[:-1]))
    covariance = np.diag(np.full(2, (p / 2).sum())) - (p**2).sum() / 4
    apart = np.array([-1.0, 1.0])

    distance = math.sqrt(apart @ np.linalg.solve(covariance, apart))

    setting = Setting(sdp.Population.from_budgets(budgets))
    assert gdp_parameter(setting, delta_local=delta) == pytest.approx(
        distance, rel=1e-12
    )


def test_only_the_distance_of_the_whole_law_falls_like_one_over_root_n() -> None:
    few, many = (normal_distances(n, 0.1, delta=1 / n) for n in (60, 240))

    # Four times as many people: a half for distances of laws, a quarter for single cells.
    assert few.rounded / many.rounded == pytest.approx(2.0, rel=0.1)
    assert few.printed / many.printed == pytest.approx(4.0, rel=0.1)
    assert few.mode / many.mode == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize(
    ("people", "epsilon", "delta"), [(9, 0.1, 0.0), (50, 6.0, 0.0), (50, 0.1, math.nan)]
)
def test_out_of_range(people: int, epsilon: float, delta: float) -> None:
    with pytest.raises(sdp.InvalidInputError, match="Expected 10 to"):
        normal_distances(people, epsilon, delta=delta)
