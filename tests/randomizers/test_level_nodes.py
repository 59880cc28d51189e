"""Covers and attacks of populations with very many levels."""

import numpy as np
import pytest

from shuffledp import ClipLaplace, Gaussian, Laplace, Population, account
from shuffledp.randomizers import level_nodes as level_nodes_module
from shuffledp.randomizers import noise
from shuffledp.randomizers.exponential_blanket import (
    ExponentialBlanket,
    blanket_probability,
)
from shuffledp.randomizers.level_nodes import between_nodes, level_nodes
from shuffledp.randomizers.noise import AddedNoise
from shuffledp.randomizers.normal_blanket import shape_at
from shuffledp.randomizers.normal_cover import cover_with
from shuffledp.randomizers.normal_divergence import (
    SENSITIVITY_ERROR,
    sensitivity_of_many_levels,
    sensitivity_per_deviation,
)
from shuffledp.types import Floats

NOISES = [Laplace(), ClipLaplace(), Gaussian()]


def spread_out(num_levels: int) -> Floats:
    return np.unique(np.random.default_rng(1).uniform(0.02, 3.0, num_levels))


@pytest.mark.parametrize("kappa", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("reach", [1.0, 30.0, np.inf])
@pytest.mark.parametrize("clipped", [True, False])
def test_exponential_noise_gives_at_least_the_cover_of_the_nodes(
    kappa: float, reach: float, *, clipped: bool
) -> None:
    epsilons = spread_out(60_000)
    nodes = level_nodes(epsilons)
    shape = ExponentialBlanket(0.25 * kappa, 0.25, 1.0 if clipped else reach)
    exact = blanket_probability(epsilons / 2.0, shape, clipped=clipped)
    device = ClipLaplace() if clipped else Laplace()
    people = Population(epsilons[nodes], np.ones_like(nodes))
    cover = device.cover_of(0.5, people, delta=1e-6)
    object.__setattr__(cover, "blanket_probabilities", exact[nodes])

    between = between_nodes(cover, nodes).blanket_probabilities

    assert np.all(between <= exact * (1.0 + 1e-13))
    assert between.sum() >= 0.99 * exact.sum()


@pytest.mark.parametrize("form", [None, (1.5, 80), (5.0, 400)])
@pytest.mark.parametrize("target_user", [0.05, 0.5, 3.0])
def test_normal_noise_gives_at_least_the_cover_of_the_nodes(
    target_user: float, form: tuple[float, int] | None
) -> None:
    epsilons = spread_out(60_000)
    nodes, device = level_nodes(epsilons), Gaussian()
    deviation = float(device.deviations(np.array([target_user]))[0])
    shape = shape_at(4.0 * deviation, deviation, form)
    deviations = 2.0 / sensitivity_of_many_levels(epsilons, 1e-6)
    exact = shape.blanket_probability(deviations)

    cover = between_nodes(cover_with(shape, exact[nodes]), nodes)

    assert np.all(cover.blanket_probabilities <= exact * (1.0 + 1e-9))
    assert cover.blanket_probabilities.sum() >= 0.99 * exact.sum()


@pytest.mark.parametrize("delta_local", [1e-12, 1e-6, 0.3])
def test_noise_of_many_levels_is_that_of_each(delta_local: float) -> None:
    epsilons = spread_out(2_000)

    quick = sensitivity_of_many_levels(epsilons, delta_local)

    slow = sensitivity_per_deviation(epsilons, delta_local)
    assert np.all(np.abs(quick / slow - 1.0) <= SENSITIVITY_ERROR)


# Edges on both sides of the value, and all on one of them.
@pytest.mark.parametrize("starts", [(0, 1, 5, 20, -1), (0, 1, 20), (0, -20, -1)])
@pytest.mark.parametrize("device", NOISES, ids=lambda device: device.mechanism)
def test_runs_are_sums_of_bins(device: AddedNoise, starts: tuple[int, ...]) -> None:
    epsilons = spread_out(700)
    bins = device.bins(epsilons, 0.25)
    first_bins = np.array(starts) % bins.shape[1]

    (runs,) = device.probabilities_of_runs(epsilons, [(0.25, first_bins)])

    sums = np.add.reduceat(bins, first_bins, axis=1).T
    assert np.abs(runs - sums).max() <= device.error_of_runs + 1e-14


def test_scores_of_many_levels_are_attacked_where_their_sum_lies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = Population.from_budgets(4.0 + spread_out(3_000))
    named = people.epsilons[[1_500]].tolist()
    monkeypatch.setattr(noise, "MANY_LEVELS", 2_000)

    (level,) = account(Laplace(), people, delta=1e-6, levels=named, rounds=1000).levels

    # Where thresholds are tried far from the sum, nothing is shown.
    assert level.epsilon_central >= level.epsilon_central_lower
    assert level.epsilon_central_lower >= 0.3 * level.epsilon_central


@pytest.mark.slow
@pytest.mark.parametrize("device", NOISES, ids=lambda device: device.mechanism)
def test_nodes_loosen_a_certificate_by_less_than_a_hundredth(
    device: Laplace | ClipLaplace | Gaussian, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = Population.from_budgets(spread_out(3_000))
    named = people.epsilons[[0, 1_500]].tolist()
    exact = account(device, people, delta=1e-6, levels=named)
    monkeypatch.setattr(noise, "MANY_LEVELS", 2_000)
    monkeypatch.setattr(level_nodes_module, "_NODES_BY_RANK", 200)
    monkeypatch.setattr(level_nodes_module, "_NODES_BY_EPSILON", 2_000)

    quick = account(device, people, delta=1e-6, levels=named)

    for one, other in zip(exact.levels, quick.levels, strict=True):
        # Both are certified; the attack of few scores is below the one of many levels.
        assert other.epsilon_central >= other.epsilon_central_lower
        assert other.epsilon_central >= one.epsilon_central_lower
        assert other.epsilon_central <= 1.01 * one.epsilon_central
        assert other.epsilon_central_lower <= one.epsilon_central
