"""Definition 4 for messages wider than values, against integrals and grids."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

import shuffledp as sdp
from shuffledp_papers.apes.amplification import ApesNumerical
from shuffledp_papers.apes.figures import message_range as reach
from shuffledp_papers.apes.wide_clip_laplace import (
    largest_divergence,
    log_density,
    moments,
    neighbor_divergence,
    wide_epsilon,
)
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.outside_preconditions import OutsidePreconditions

EFFORT = Effort(1, 1, False, lambda _share: None)


@pytest.mark.few_cases(23)
@pytest.mark.parametrize("wide", [1.0, 1.7, 6.0])
@pytest.mark.parametrize("epsilon", [0.003, 0.05, 1.0, 9.0])
@pytest.mark.parametrize("value", [-1.0, 0.0, 0.4])
def test_moments_and_mass_are_integrals(
    wide: float, epsilon: float, value: float
) -> None:
    with mp.workdps(40):
        rate, at, end = mp.mpf(epsilon) / 2, mp.mpf(value), mp.mpf(wide)
        ends = sorted({-end, at, end})
        mass, first, second = (
            mp.quad(lambda z, k=k: z**k * mp.exp(-rate * abs(z - at)), ends)
            for k in range(3)
        )
        mean, variance = first / mass, second / mass - (first / mass) ** 2

    found = moments(value, epsilon=epsilon, reach=wide)

    # Digits cancel where the rate is small: 9 of 16 are left.
    assert found[0] == pytest.approx(float(mean), rel=1e-9, abs=1e-9)
    assert found[1] == pytest.approx(float(variance), rel=1e-8)
    density = log_density(np.array([0.3]), value, epsilon=epsilon, reach=wide)
    with mp.workdps(40):
        exact = mp.log(mp.exp(-rate * abs(mp.mpf("0.3") - at)) / mass)
    assert float(density[0]) == pytest.approx(float(exact), abs=1e-12)


def test_ends_are_the_librarys_device_and_laplace_noise() -> None:
    mean, variance = sdp.ClipLaplace().moments(np.array([0.7]), np.array([0.5]))
    # Cells' middles, 4096 of them, and values between two grid points.
    narrow = moments(0.5, epsilon=0.7, reach=1.0)
    assert narrow[0] == pytest.approx(float(mean[0, 0]), abs=1e-3)
    assert narrow[1] == pytest.approx(float(variance[0, 0]), rel=1e-3)

    wide = moments(0.5, epsilon=0.7, reach=2e3)
    assert wide[0] == pytest.approx(0.5, abs=1e-9)
    assert wide[1] == pytest.approx(2 * (2 / 0.7) ** 2, rel=1e-9)


@pytest.mark.parametrize("wide", [1.0, 1.3, 3.0])
@pytest.mark.parametrize("budgets", [(1.0, 0.05), (0.05, 1.0), (2.0, 1.5), (0.4, 0.4)])
def test_lemma_4_bounds_every_ratio(wide: float, budgets: tuple[float, float]) -> None:
    exact = largest_divergence(*budgets, reach=wide)
    stated = neighbor_divergence(*budgets, reach=wide)

    assert exact <= stated * (1.0 + 1e-12)
    # The printed formula, by hand.
    i, j = budgets
    masses = [
        1 - math.exp(-(wide - 1) * e / 2) / 2 - math.exp(-(wide + 1) * e / 2) / 2
        for e in budgets
    ]
    by_hand = math.log(i / j * masses[1] / masses[0]) + (i + j) / 2
    assert stated == pytest.approx(by_hand + wide * abs(i - j) / 2, rel=1e-12)


@pytest.mark.parametrize("wide", [1.0, 1.3, 5.0])
def test_theorem_1_holds_in_one_coordinate_whatever_the_reach(wide: float) -> None:
    assert largest_divergence(0.8, 0.8, reach=wide) == pytest.approx(0.8, rel=1e-12)


def test_at_a_reach_of_1_the_counts_are_the_papers() -> None:
    people = sdp.Population.from_counts({0.1: 1000, 0.5: 2000, 1.0: 500})
    setting = Setting(people, sdp.ClipLaplace())

    totals = [wide_epsilon(setting, 1e-6, reach=a) for a in (1.0, 2.0, math.inf)]

    assert totals[0][1] == pytest.approx(ApesNumerical().epsilon(setting, 1e-6))
    sums, epsilons = zip(*totals, strict=True)
    assert list(sums) == sorted(sums, reverse=True)
    assert list(epsilons) == sorted(epsilons)


@pytest.mark.parametrize(("epsilon", "wide"), [(0.0, 1.0), (1.0, 0.5), (1.0, math.inf)])
def test_ranges_that_cannot_be_are_refused(epsilon: float, wide: float) -> None:
    with pytest.raises(OutsidePreconditions, match="Expected"):
        moments(0.0, epsilon=epsilon, reach=wide)


@pytest.mark.slow
def test_wider_messages_hide_less_and_are_less_biased(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reach, "PEOPLE", 500)

    table = reach.run(EFFORT).table

    lemma, exact = (
        np.array(table.numbers(f"p_ij, {of}")) for of in ("Lemma 4", "exact")
    )
    assert np.all(lemma <= exact + 1e-12)
    assert table.numbers("local, exact") == pytest.approx([1.0] * len(lemma), rel=1e-12)
    for name in ("EoN numerical", "bias", "deviation"):
        assert np.all(np.diff(table.numbers(name)) >= 0.0), name
    assert np.all(np.diff(table.numbers("S")) <= 0.0)


@pytest.mark.slow
def test_theorem_1_is_marked_where_a_pair_of_values_shows_more() -> None:
    result = EXPERIMENTS["apes-local"].run(EFFORT)

    table = result.table
    assert table.column("Theorem 1: exceeded") == [False] + [True] * 6
    shown, stated = table.numbers("shown by a pair"), table.numbers("Theorem 3")
    assert np.all(np.array(shown) <= np.array(stated) * (1 + 1e-12))
    assert all(each.agrees for each in result.comparisons)
