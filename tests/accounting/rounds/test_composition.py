"""Composed profiles: above the exact ones, and close to them, at any number of rounds."""

import itertools
import math
from collections.abc import Callable

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.accounting.epsilon_solver import smallest_certified_epsilon
from shuffledp.accounting.rounds import composition
from shuffledp.accounting.rounds.composition import LossIntegrand, composed
from shuffledp.accounting.rounds.loss_distribution import (
    LossDistribution,
    connect_dots,
)
from shuffledp.accounting.rounds.node_choice import loss_distribution
from shuffledp.errors import CertificationError
from shuffledp.types import Complexes, Floats

# Everything an oracle returns is rounded up by this much, so that it stays an upper bound.
UP = 1.0 + 1e-14


def gaussian(mu: float, epsilon: float) -> float:
    """The profile of N(mu, 1) against N(0, 1), correct to all digits."""
    with mp.workdps(40):
        shift, level = mp.mpf(mu) / 2, mp.mpf(epsilon) / mp.mpf(mu)
        below = mp.exp(epsilon) * mp.ncdf(-shift - level)
        return float(mp.ncdf(shift - level) - below)


def response(budget: float, epsilon: float, rounds: int = 1) -> float:
    """The profile of `rounds` answers of binary randomized response, by enumeration."""
    with mp.workdps(200):
        odds = mp.exp(budget)
        total = mp.mpf(0)
        for lies in range(rounds + 1):
            weight = mp.binomial(rounds, lies) / (1 + odds) ** rounds
            gain = odds ** (rounds - lies) - mp.exp(epsilon) * odds**lies
            total += weight * max(gain, mp.mpf(0))
        return float(total)


def gaussian_losses(mu: float, *, negligible: float) -> LossDistribution:
    return loss_distribution(
        lambda epsilon: UP * gaussian(mu, epsilon),
        ceiling=math.inf,
        negligible=negligible,
    )


def response_losses(budget: float) -> LossDistribution:
    return loss_distribution(
        lambda epsilon: UP * response(budget, epsilon), ceiling=budget, negligible=1e-30
    )


def epsilon_of(bound: Callable[[float], float], delta: float, *, guess: float) -> float:
    return smallest_certified_epsilon(bound, delta, ceiling=1e6, guess=guess)


@covering(
    ("delta", [0.05, 1e-6, 1e-12, 1e-100, 1e-250]),
    ("rounds", [2, 10, 1000, 10_000]),
    ("mu", [0.005, 0.5]),
)
def test_gaussian_rounds_cost_little_more_than_their_exact_sum(
    mu: float, rounds: int, delta: float
) -> None:
    part = gaussian_losses(mu, negligible=1e-3 * delta / rounds)
    total = mu * math.sqrt(rounds)
    exact = epsilon_of(lambda x: gaussian(total, x), delta, guess=total)

    ours = epsilon_of(composed([(part, rounds)]).delta, delta, guess=exact)

    assert exact <= ours <= 1.005 * exact
    # The tails above cut off 1e-3 of delta, and 200 nodes have to reach up to 34 mu.
    assert ours - exact <= 0.002 * (exact + total) or delta < 1e-12


@pytest.mark.few_cases(3)
@covering(
    ("share", [0.0, 0.01, 0.1, 0.3, 0.5, 0.77, 0.9, 0.99]), ("budget", [0.01, 1.0, 8.0])
)
def test_randomized_response_is_above_its_enumeration(
    budget: float, share: float
) -> None:
    part = response_losses(budget)

    for rounds in (*range(1, 21), 300):
        exact = response(budget, share * rounds * budget, rounds)
        bound = composed([(part, rounds)]).delta(share * rounds * budget)
        # The smoothing shows where few sums of losses are as large as epsilon.
        assert exact <= bound <= 1.1 * exact


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 5.0, 20.0])
def test_different_mechanisms_add_up(epsilon: float) -> None:
    small, large = (gaussian_losses(mu, negligible=1e-40) for mu in (0.02, 0.3))

    bound = composed([(small, 500), (large, 7)]).delta(epsilon)

    exact = gaussian(math.sqrt(500 * 0.02**2 + 7 * 0.3**2), epsilon)
    assert exact <= bound <= 1.1 * exact + 1e-36


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("rounds", [1, 5, 40])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_epsilon_lies_between_the_ends_of_another_accountant(
    rounds: int, delta: float
) -> None:
    pld = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="Needs the extra dev."
    )
    upper, lower = (
        pld.from_gaussian_mechanism(
            2.0,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=1e-3,
            log_mass_truncation_bound=-50,
        )
        .self_compose(rounds)
        .get_epsilon_for_delta(delta)
        for pessimistic in (True, False)
    )
    part = gaussian_losses(0.5, negligible=1e-6 * delta / rounds)

    ours = epsilon_of(composed([(part, rounds)]).delta, delta, guess=upper)

    assert lower * (1.0 - 1e-3) <= ours <= upper * (1.0 + 1e-3)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    budget=st.floats(0.01, 6.0),
    drop=st.floats(0.0, 1e-3),
    rounds=st.integers(1, 10**6),
    share=st.floats(0.0, 1.0),
)
def test_bound_rises_with_rounds_and_falls_with_epsilon(
    budget: float, drop: float, rounds: int, share: float
) -> None:
    nodes = np.linspace(0.0, budget, 12)
    values = drop + np.maximum(np.expm1(budget - nodes), 0.0) / (1.0 + np.exp(budget))
    part = connect_dots(nodes, np.minimum(values, 1.0))
    epsilon = share * budget * math.sqrt(rounds)

    bound = composed([(part, rounds)]).delta(epsilon)

    # The smoothing grows with the variance of the loss, by a few parts in a million of
    # it: where few sums of losses are near epsilon, that shows by up to a few percent.
    slack = 1.05 * bound + 1e-300
    assert composed([(part, rounds)]).delta(1.01 * epsilon + 1e-3) <= slack
    assert bound <= 1.05 * composed([(part, rounds + 1)]).delta(epsilon) + 1e-300
    together = composed([(part, rounds), (part, 1)]).delta(epsilon)
    assert together == pytest.approx(
        composed([(part, rounds + 1)]).delta(epsilon), rel=1e-6
    )


@pytest.mark.parametrize("mu", [1e-4, 0.1, 3.0])
def test_connected_dots_are_a_pair_above_the_profile(mu: float) -> None:
    part = gaussian_losses(mu, negligible=1e-12)

    ratios = np.exp(part.losses)
    for epsilon in np.linspace(-8.0, 8.0, 81) * mu:
        held = float(part.masses @ np.maximum(ratios - np.exp(epsilon), 0.0))
        exact = gaussian(mu, abs(epsilon))
        if epsilon < 0.0:  # The same for the pair the other way round.
            exact = -math.expm1(epsilon) + math.exp(epsilon) * exact
        assert held + part.infinite >= exact * (1.0 - 1e-12)

    assert np.all(part.masses > 0.0)
    assert np.all(np.diff(part.losses) > 0.0)
    assert part.infinite + part.masses.sum() == pytest.approx(1.0, abs=1e-14)
    assert part.infinite + part.masses @ ratios == pytest.approx(1.0, abs=1e-12)


def test_masses_are_those_of_the_hull_in_fifty_digits() -> None:
    nodes = np.linspace(0.0, 0.06, 121)
    values = np.array([UP * gaussian(0.01, epsilon) for epsilon in nodes])

    part = connect_dots(nodes, values)

    with mp.workdps(50):
        ratios = [mp.exp(mp.mpf(float(x))) for x in part.losses]
        exact = {
            mp.mpf(float(x)): mp.mpf(float(u))
            for x, u in zip(nodes, values, strict=True)
        }
        heights = [
            exact[mp.mpf(float(x))] if x >= 0 else 1 - e + e * exact[mp.mpf(float(-x))]
            for x, e in zip(part.losses, ratios, strict=True)
        ]
        slopes = [
            (heights[i + 1] - heights[i]) / (ratios[i + 1] - ratios[i])
            for i in range(len(ratios) - 1)
        ]
        # To the left of all mirror images the profile is 1 - E + infinite E.
        slopes = [mp.mpf(part.infinite) - 1, *slopes, mp.mpf(0)]
        for i, mass in enumerate(part.masses):
            true = slopes[i + 1] - slopes[i]
            if part.losses[i] != 0.0:  # The middle gives what the others round up.
                assert true <= mass <= true * (1 + mp.mpf("1e-9"))
        total = mp.fsum([mp.mpf(float(mass)) for mass in part.masses])
        assert -1e-16 <= total + mp.mpf(part.infinite) - 1 <= 1e-14


def test_points_above_the_hull_are_dropped() -> None:
    nodes = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    below = np.array([0.1, 0.07, 0.04, 0.02, 0.01, 0.0])
    # One of them higher than the one before it.
    above = below + np.array([0.0, 0.0, 0.02, 0.0, 0.05, 0.0])
    last = np.array([0.1, 0.07, 0.09])

    part, same = (
        connect_dots(nodes, above),
        connect_dots(nodes[[0, 1, 3, 5]], below[[0, 1, 3, 5]]),
    )

    assert np.array_equal(part.losses, same.losses)
    assert np.array_equal(part.masses, same.masses)
    assert connect_dots(nodes[:3], last).infinite == 0.07


def test_nodes_that_cost_more_than_their_mirror_images_are_dropped() -> None:
    # At epsilon 0 the chord between E_1 = 3 and 1 / 3 is at (1 - u_1) (E_1 - 1)
    # / (E_1 + 1) + u_1 = 0.505 for u_1 = 0.01.
    nodes = np.array([0.0, math.log(3.0)])

    high = connect_dots(nodes, np.array([0.7, 0.01]))

    low = connect_dots(nodes, np.array([0.3, 0.01]))
    assert high.masses[1] < 1e-12 < 0.1 < low.masses[1]
    assert composed([(high, 1)]).delta(0.0) == pytest.approx(0.505, rel=1e-4)
    assert composed([(low, 1)]).delta(0.0) == pytest.approx(0.3, rel=1e-2)


def test_profile_of_zero_stays_zero() -> None:
    part = loss_distribution(lambda epsilon: 0.0, ceiling=1.0, negligible=1e-9)

    for epsilon in (0.0, 1e-9, 1.0):
        assert composed([(part, 10**9)]).delta(epsilon) == 0.0
    other = gaussian_losses(0.1, negligible=1e-12)
    alone = composed([(other, 5)]).delta(0.3)
    assert composed([(part, 10**9), (other, 5)]).delta(0.3) == pytest.approx(
        alone, rel=1e-6
    )


@pytest.mark.parametrize("rounds", [1, 30, 10**7])
def test_infinite_mass_is_met_once_in_so_many_rounds(rounds: int) -> None:
    tail = 1e-6
    part = loss_distribution(
        lambda epsilon: tail + (1.0 - tail) * UP * gaussian(0.01, epsilon),
        ceiling=math.inf,
        negligible=1e-12,
    )

    delta = composed([(part, rounds)]).delta(1e4)

    assert tail <= part.infinite <= 1.01 * tail
    assert delta == pytest.approx(-math.expm1(rounds * math.log1p(-part.infinite)))
    assert composed([(part, rounds)]).delta(0.0) >= delta


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_infinite_and_finite_masses_compose_together(epsilon: float) -> None:
    tail, rounds = 0.2, 4
    part = loss_distribution(
        lambda epsilon: tail + (1.0 - tail) * UP * gaussian(0.5, epsilon),
        ceiling=math.inf,
        negligible=1e-12,
    )

    bound = composed([(part, rounds)]).delta(epsilon)

    missed = (1.0 - tail) ** rounds
    exact = 1.0 - missed + missed * gaussian(0.5 * math.sqrt(rounds), epsilon)
    assert exact <= bound <= 1.002 * exact


@pytest.mark.parametrize("rounds", [10**2, 10**4])
def test_rounding_is_paid_for_by_the_error_bound(
    monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    part = gaussian_losses(1.0 / math.sqrt(rounds), negligible=1e-9 / rounds)
    integrand = LossIntegrand([(part, rounds)], 2.0)
    fine, doubt = integrand.trapezoid(integrand.step, 10_000)
    exactly = composition._turned

    def roughly(
        masses: Floats, losses: Floats, rows: Floats, columns: Floats
    ) -> Complexes:
        # Off by 100 units in the last place, in a sum of more losses than that.
        wrong = 1e-6 * float(masses @ np.abs(losses)) * np.add.outer(rows, columns)
        return exactly(masses, losses, rows, columns) + 1j * wrong.ravel()

    monkeypatch.setattr(composition, "_turned", roughly)
    monkeypatch.setattr(composition, "_ULP", 1e-8)
    with np.errstate(over="ignore"):
        value, error = integrand.trapezoid(integrand.step, 10_000)

    assert part.losses.size > 100
    assert 100.0 * doubt < abs(value - fine) <= error + doubt


@pytest.mark.parametrize("rounds", [10**8, 10**10])
def test_rounding_stays_small_at_ten_thousand_million_rounds(rounds: int) -> None:
    mu = 1.0 / math.sqrt(rounds)
    part = gaussian_losses(mu, negligible=1e-12 / rounds)

    for epsilon in (0.0, 1.0, 5.0):
        exact = gaussian(1.0, epsilon)
        assert exact <= composed([(part, rounds)]).delta(epsilon) <= 1.01 * exact


@pytest.mark.parametrize("smoothing", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("tolerance", [1e-9, 1e-2, 3.0])
def test_crude_smoothing_and_integration_only_raise_the_bound(
    monkeypatch: pytest.MonkeyPatch, smoothing: float, tolerance: float
) -> None:
    monkeypatch.setattr(composition, "_SMOOTHING", smoothing)
    monkeypatch.setattr(composition, "_TOLERANCE", tolerance)
    part = response_losses(1.0)

    for rounds, share in itertools.product((1, 2, 5, 50), (0.0, 0.1, 0.5, 0.9)):
        exact = response(1.0, share * rounds, rounds)
        assert exact <= composed([(part, rounds)]).delta(share * rounds) <= 1.0


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("rounds", [2, 300])
def test_wide_steps_and_short_lines_are_paid_for_by_the_error_bound(
    rounds: int, epsilon: float
) -> None:
    part = gaussian_losses(1.0 / math.sqrt(rounds), negligible=1e-12)
    integrand = LossIntegrand([(part, rounds)], epsilon)
    step = 0.25 * integrand.step
    fine, doubt = integrand.trapezoid(step, 40_000)

    seen = 0
    for factor, last in itertools.product([1, 6, 10, 20, 40], [2, 4, 8, 40_000]):
        with np.errstate(over="ignore"):
            value, error = integrand.trapezoid(factor * step, last)
        assert abs(value - fine) <= error + doubt
        seen += abs(value - fine) > 10.0 * doubt

    # Most of these are so crude that their error shows, and the bound is put to a test.
    assert doubt <= 1e-6 * fine
    assert seen >= 10


def test_steep_and_far_profiles_get_a_certificate() -> None:
    for budget, rounds in itertools.product((1e-9, 30.0, 300.0, 2000.0), (1, 9, 10**6)):

        def steep(epsilon: float, budget: float = budget) -> float:
            return -math.expm1(epsilon - budget)

        part = loss_distribution(steep, ceiling=budget, negligible=1e-250)
        bound = composed([(part, rounds)])
        deltas = [bound.delta(share * budget * rounds) for share in (0.0, 0.5, 0.99, 1)]
        assert all(0.0 <= delta <= 1.0 for delta in deltas)


def test_what_is_not_a_profile_is_refused() -> None:
    with pytest.raises(CertificationError):
        loss_distribution(lambda epsilon: math.nan, ceiling=1.0, negligible=1e-9)
    with pytest.raises(CertificationError):
        connect_dots(np.array([0.0, 1.0]), np.array([0.5, -0.1]))
    with pytest.raises(CertificationError):
        composed([(gaussian_losses(1.0, negligible=1e-3), 3)]).delta(math.nan)
    with pytest.raises(ValueError, match="at least once"):
        composed([])


def test_losses_too_extreme_for_doubles_prove_nothing() -> None:
    # e^-1000 is no double.
    losses, masses = np.array([-1e3, 0.0, 1e3]), np.array([0.0, 0.999, 1e-3])

    with pytest.raises(CertificationError, match="epsilon 100: the numbers are too"):
        composed([(LossDistribution(losses, masses, 0.0), 2)]).delta(100.0)
