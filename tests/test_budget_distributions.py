import math

import numpy as np
import pytest
from scipy.stats import norm

from shuffledp import InvalidInputError, SystemRandom, draw_budgets
from shuffledp.budget_distributions import BUDGET_DISTRIBUTIONS

DRAWS = 100_000
Part = tuple[float, float, float]
RANGES: dict[str, tuple[float, float]] = {
    "e-apes/uniform1": (0.05, 1.0),
    "e-apes/uniform2": (0.01, 2.0),
    "e-apes/gauss1": (0.05, 1.0),
    "e-apes/gauss2": (0.01, 2.0),
    "e-apes/gauss3": (0.01, 2.0),
    "apes/uniform1": (0.05, 0.5),
    "apes/uniform2": (0.05, 1.0),
    "apes/uniform3": (0.05, 3.0),
    "apes/gauss1": (0.05, 0.5),
    "apes/gauss2": (0.05, 1.0),
    "apes/gauss3": (0.05, 3.0),
    "apes/mixgauss1": (0.05, 0.5),
    "apes/mixgauss2": (0.05, 1.0),
    "apes/mixgauss3": (0.05, 3.0),
    "f-dp/uniform1": (0.05, 1.0),
    "f-dp/uniform2": (0.5, 2.0),
    "f-dp/gauss1": (0.05, 1.0),
    "f-dp/gauss2": (0.5, 2.0),
}
NORMALS: dict[str, list[Part]] = {
    "e-apes/gauss1": [(0.5, 0.2, 1.0)],
    "e-apes/gauss2": [(1.0, 0.2, 1.0)],
    "e-apes/gauss3": [(1.0, 0.5, 1.0)],
    "apes/gauss1": [(0.1, 1.0, 1.0)],
    "apes/gauss2": [(0.2, 1.0, 1.0)],
    "apes/gauss3": [(0.5, 1.0, 1.0)],
    "apes/mixgauss1": [(0.1, 1.0, 0.9), (0.5, 1.0, 0.1)],
    "apes/mixgauss2": [(0.2, 1.0, 0.9), (1.0, 1.0, 0.1)],
    "apes/mixgauss3": [(0.5, 1.0, 0.9), (3.0, 1.0, 0.1)],
    "f-dp/gauss1": [(0.8, 0.5, 1.0)],
    "f-dp/gauss2": [(1.5, 0.5, 1.0)],
}


def clipped_normal_mean(part: Part, low: float, high: float) -> float:
    """E[clip(X)] in closed form."""
    mean, deviation, _ = part
    a, b = (low - mean) / deviation, (high - mean) / deviation
    inside = float(norm.cdf(b) - norm.cdf(a))
    middle = mean * inside + deviation * float(norm.pdf(a) - norm.pdf(b))
    return low * float(norm.cdf(a)) + middle + high * float(norm.sf(b))


def test_every_distribution_is_listed_here() -> None:
    assert set(RANGES) == set(BUDGET_DISTRIBUTIONS)
    assert {name for name in RANGES if "gauss" in name} == set(NORMALS)


@pytest.mark.parametrize("name", RANGES)
def test_budgets_stay_in_their_range_and_reach_its_ends(name: str) -> None:
    low, high = RANGES[name]

    budgets = draw_budgets(name, DRAWS, rng=np.random.default_rng(21))

    assert budgets.shape == (DRAWS,)
    assert budgets.min() >= low
    assert budgets.max() <= high
    # The least likely end: e-apes/gauss2 is cut at five deviations and hardly gets there.
    if name != "e-apes/gauss2":
        assert budgets.min() - low < 0.01
        assert high - budgets.max() < 0.01


@pytest.mark.parametrize("name", RANGES)
def test_mean_budget_agrees_with_the_closed_form(name: str) -> None:
    low, high = RANGES[name]
    if name in NORMALS:
        parts = NORMALS[name]
        mean = sum(part[2] * clipped_normal_mean(part, low, high) for part in parts)
    else:
        mean = (low + high) / 2.0

    budgets = draw_budgets(name, DRAWS, rng=np.random.default_rng(22))

    # Five standard errors: 18 names, a false alarm in 1e-5 of all seeds.
    assert abs(budgets.mean() - mean) < 5.0 * budgets.std() / math.sqrt(DRAWS)


def test_seeded_budgets_can_be_repeated_and_names_ignore_case() -> None:
    first = draw_budgets("apes/mixgauss2", 100, rng=np.random.default_rng(1))
    second = draw_budgets("APES/MixGauss2", 100, rng=np.random.default_rng(1))

    assert np.array_equal(first, second)
    assert np.unique(first).size > 10


def test_budgets_can_be_drawn_from_the_operating_system() -> None:
    budgets = draw_budgets("e-apes/gauss1", 1000, rng=SystemRandom())

    assert budgets.shape == (1000,)
    assert np.all((budgets >= 0.05) & (budgets <= 1.0))


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"apes/mixgauss2.*'gauss9'"):
        draw_budgets("gauss9", 10, rng=np.random.default_rng(1))


@pytest.mark.parametrize("num_users", [0, -1, 10**30])
def test_nobody_draws_no_budgets(num_users: int) -> None:
    with pytest.raises(InvalidInputError, match=r"1 to .* people"):
        draw_budgets("apes/uniform1", num_users, rng=np.random.default_rng(1))
