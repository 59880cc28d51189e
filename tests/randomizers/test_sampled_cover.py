"""The oracle adds up the 4096 cells one by one."""

import math

import numpy as np
import pytest

from shuffledp import Population, account
from shuffledp.cover import Cover
from shuffledp.randomizers.exponential_blanket import ExponentialBlanket
from shuffledp.randomizers.sampled_clip_laplace import SampledClipLaplace
from shuffledp.randomizers.sampled_cover import best_kappa, cover_with_kappa
from shuffledp.types import Floats

STEPS = 4096
CELLS = np.arange(STEPS)
POINTS = [0, STEPS, STEPS // 2, 1, 700, 1600, 2700, 3500]


def noise_at(rate: float, point: int) -> Floats:
    """Probabilities of all cells under noise of this rate around a point of the grid."""
    away = np.where(point <= CELLS, CELLS - point, point - 1 - CELLS)
    density = np.exp(-2.0 * rate / STEPS * away)
    result: Floats = density / density.sum()
    return result


def sent(level: float, point: int, share: float) -> Floats:
    """Probabilities of all cells that a device may send."""
    around = (1.0 - share) * noise_at(level / 2.0, STEPS // 2)
    result: Floats = share * noise_at(level / 2.0, point) + around
    return result


def excess(cover: Cover, epsilon: float, c: float) -> float:
    """The mean excess of the cover's loss over c."""
    losses = cover.differences - math.expm1(epsilon) * cover.bases
    return float(cover.masses @ np.maximum(losses - c, 0.0))


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("kappa", [0.0, 0.3, 2.0])
def test_everybody_sends_omega_whatever_the_value_is(
    share: float, kappa: float
) -> None:
    device, omega = SampledClipLaplace(1.0, share=share), noise_at(kappa, STEPS // 2)

    for level in (1e-6, 0.1, 1.0, 8.0):
        (gamma,) = device.blanket_probability(
            np.array([level / 2.0]), ExponentialBlanket(kappa, 2.0, 1.0)
        ).tolist()

        largest = min(float((sent(level, p, share) / omega).min()) for p in POINTS)
        assert gamma <= largest * (1.0 + 1e-9)
        # Densities vary by this within a cell, where probabilities are averages.
        assert gamma >= largest * (1.0 - 1e-3 * (1.0 + level))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("victim", "kappa", "share"),
    [(8.0, 0.5, 0.2), (2.0, 0.3, 0.5), (4.0, 0.0, 0.9), (1.0, 0.5, 0.05)],
)
def test_random_pairs_of_values_never_exceed_the_cover(
    victim: float, kappa: float, share: float
) -> None:
    rng, omega = np.random.default_rng(5), noise_at(kappa, STEPS // 2)
    points = POINTS + rng.integers(0, STEPS + 1, 20).tolist()
    densities = [sent(victim, point, share) / omega for point in points]

    cover = cover_with_kappa(kappa, rate=victim / 2.0, share=share, gammas=np.ones(1))

    assert cover.masses @ cover.bases == pytest.approx(1.0, abs=1e-9)
    for _ in range(150):
        here, there = rng.integers(0, len(points), 2)
        epsilon = float(rng.choice([0.0, 0.1, 0.8])) * victim
        losses = densities[here] - math.exp(epsilon) * densities[there]
        # The increasing convex order: all mean excesses, at any threshold.
        for c in np.quantile(losses, [0.0, 0.02, 0.3, 0.5, 0.8, 0.97, 0.999]):
            shown = float(omega @ np.maximum(losses - c, 0.0))
            # 4096 roundings.
            assert shown <= excess(cover, epsilon, float(c)) * (1.0 + 1e-10) + 1e-13


def test_ends_against_each_other_are_nearly_the_cover() -> None:
    omega = noise_at(0.5, STEPS // 2)
    ends = (sent(8.0, 0, 0.2) - sent(8.0, STEPS, 0.2)) / omega

    cover = cover_with_kappa(0.5, rate=4.0, share=0.2, gammas=np.ones(1))

    shown, spread = omega @ ends**2, cover.masses @ cover.differences**2
    assert shown <= spread <= 1.1 * shown


@pytest.mark.slow
def test_a_victim_among_careful_people_is_certified_for_what_they_hide() -> None:
    people = Population.from_counts({1.0: 9_990, 8.0: 10})

    (careful, liberal) = account(
        SampledClipLaplace(share=0.2), people, delta=1e-6
    ).levels

    assert careful.epsilon_central <= 0.00348542
    # With the victim's own omega it was 0.1135.
    assert liberal.epsilon_central_lower <= liberal.epsilon_central <= 0.02125


def test_no_kappa_is_taken_that_is_no_gain() -> None:
    device, people = SampledClipLaplace(share=0.2), Population.from_counts({1.0: 100})

    def kappa(least: float) -> float | None:
        return best_kappa(
            0.5,
            people,
            0.2,
            blanket_probability=device.blanket_probability,
            smallest_spread=least,
        )

    assert kappa(0.0) is None
    assert kappa(1.0) is not None


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("level", [1e-11, 40.0, 700.0])
def test_extreme_levels_have_covers_made_of_numbers(level: float) -> None:
    crowd = Population.from_counts({level: 1, 1.0: 5_000})

    cover = SampledClipLaplace(share=0.2).cover_of(level, crowd, delta=1e-6)

    for numbers in (cover.masses, cover.differences, cover.bases):
        assert np.all(np.isfinite(numbers))
    assert np.all(cover.masses >= 0.0)
    assert np.all(cover.bases >= 0.0)
    assert np.all(cover.blanket_probabilities <= 1.0)
