"""The blanket bound as an integral: above the sum, and close to it, everywhere."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.multiprecision import BlanketSum
from scipy.optimize import brentq

from shuffledp import Frequency, Population, account
from shuffledp.accounting.epsilon_solver import smallest_certified_epsilon
from shuffledp.accounting.upper.atoms import atoms
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.counting import counting_bound
from shuffledp.accounting.upper.cover_count import cover_count
from shuffledp.accounting.upper.integrals import (
    contour_integrand,
    first_integral,
    smoothed_loss,
)
from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.cover import Cover, mirrored
from shuffledp.errors import CertificationError
from shuffledp.randomizers.kary_response import KRandomizedResponse

CROWDS = [
    (2, {1.0: 60}, 1.0),
    (2, {0.3: 12, 1.0: 9, 2.5: 9}, 2.5),
    (3, {0.3: 10, 1.0: 10, 2.5: 10}, 1.0),
    (17, {0.5: 10, 1.0: 10, 2.0: 10}, 2.0),
    (17, {1.0: 40}, 1.0),
]
SHARES = [0.0, 0.05, 0.2, 0.5, 0.8]


@cache
def exact_delta(crowd: int, share: float) -> mp.mpf:
    """The sum of a crowd above, in fifty digits, at a share of the victim's budget."""
    num_categories, counts, victim = CROWDS[crowd]
    return BlanketSum(counts, victim, num_categories).delta(share * victim)


def cover_for(num_categories: int, people: Population, victim: float) -> Cover:
    device = KRandomizedResponse(num_categories)
    ((cover,),) = device.covers([victim], people, delta=1e-6)
    return cover


def integral_for(
    num_categories: int, crowd: dict[float, int], victim: float
) -> ContourBound:
    # The cover depends on the levels alone, and the bound takes more than 10^10 people.
    levels = Population.from_counts(dict.fromkeys(crowd, 1))
    counts = np.array([crowd[level] for level in sorted(crowd)], dtype=np.float64)
    counts[levels.epsilons == victim] -= 1
    cover = cover_for(num_categories, levels, victim)
    return ContourBound(cover, cover.blanket_probabilities, counts)


@pytest.mark.few_cases(1)
@covering(("crowd", range(len(CROWDS))), ("share", SHARES))
def test_integral_is_above_the_double_sum_in_fifty_digits(
    crowd: int, share: float
) -> None:
    exact = exact_delta(crowd, share)

    upper = integral_for(*CROWDS[crowd]).delta(share * CROWDS[crowd][2])

    # Such small crowds are counted, since the smoothing shows where few sums are near 0.
    assert exact <= upper <= 1.02 * exact


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("crowd", range(len(CROWDS)))
def test_long_integrals_that_are_smoothed_more_stay_above_the_sum(
    monkeypatch: pytest.MonkeyPatch, crowd: int
) -> None:
    # All take longer than this, and are smoothed.
    monkeypatch.setattr(first_integral, "_SLOW_WORK", 0.0)
    for share in SHARES:
        exact = exact_delta(crowd, share)

        upper = integral_for(*CROWDS[crowd]).delta(share * CROWDS[crowd][2])

        assert exact <= upper <= 1.02 * exact


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("crowd", range(len(CROWDS)))
def test_crude_smoothing_only_raises_the_bound(
    monkeypatch: pytest.MonkeyPatch, crowd: int, smoothing: float
) -> None:
    monkeypatch.setattr(smoothed_loss, "_SMOOTHING", smoothing)
    bound = integral_for(*CROWDS[crowd])

    for share in SHARES:
        upper = bound.delta(share * CROWDS[crowd][2])
        assert exact_delta(crowd, share) <= upper <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-4, 1e-2, 0.3, 3.0])
@pytest.mark.parametrize("crowd", range(len(CROWDS)))
def test_crude_integration_is_paid_for_by_its_error_bound(
    monkeypatch: pytest.MonkeyPatch, crowd: int, tolerance: float
) -> None:
    monkeypatch.setattr(contour_integrand, "_TOLERANCE", tolerance)
    bound = integral_for(*CROWDS[crowd])

    for share in SHARES:
        assert exact_delta(crowd, share) <= bound.delta(share * CROWDS[crowd][2])


@pytest.mark.parametrize("skip", [0.5, 3.0, 10.0])
def test_skipped_points_are_added_to_the_bound(
    monkeypatch: pytest.MonkeyPatch, skip: float
) -> None:
    crowd = {0.5: 100, 2.0: 100}
    fine = integral_for(5, crowd, 2.0)
    deltas = [fine.delta(epsilon) for epsilon in (0.05, 0.3, 0.8)]

    monkeypatch.setattr(contour_integrand, "_SKIP", skip)

    for epsilon, delta in zip((0.05, 0.3, 0.8), deltas, strict=True):
        # The fine value has 1e-8 of itself in allowances for errors.
        assert fine.delta(epsilon) >= delta * (1.0 - 1e-7)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("num_categories", [2, 5])
def test_wide_steps_and_short_lines_are_paid_for_by_the_error_bound(
    num_categories: int, share: float
) -> None:
    bound = integral_for(num_categories, {0.5: 300, 2.0: 300}, 2.0)
    unit = float(np.abs(bound.cover.differences).max())
    loss = atoms(bound.cover, unit, 2.0 * share)
    integrand = ContourIntegrand(loss, LogProduct(bound.probabilities, bound.counts))
    fine_step = 0.05 * min(integrand.saddle, 1.0 / integrand.deviation)
    fine, doubt = integrand.trapezoid(fine_step, 300_000)

    seen = 0
    for factor, height in itertools.product([1, 10, 40, 80, 160], [0.5, 1, 2, 4, 2000]):
        step = factor * fine_step
        value, error = integrand.trapezoid(
            step, int(height / integrand.deviation / step)
        )
        difference = abs(value - fine)
        assert difference <= error + doubt
        seen += difference > 10.0 * doubt

    # Most of these are so crude that their error shows, and the bound is put to a test.
    assert doubt <= 1e-6 * fine
    assert seen >= 10


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    num_categories=st.integers(2, 40),
    levels=st.lists(st.floats(0.1, 3.0), min_size=1, max_size=4, unique=True),
    size=st.integers(400, 3000),
    log_delta=st.floats(-40.0, -2.0),
)
def test_sum_and_integral_give_the_same_epsilon(
    num_categories: int, levels: list[float], size: int, log_delta: float
) -> None:
    victim, delta = max(levels), 10.0**log_delta
    people = Population.from_counts(dict.fromkeys(levels, size // len(levels)))
    cover = cover_for(num_categories, people, victim)
    gammas, summable = cover.blanket_probabilities, mirrored(cover)
    assert summable is not None
    # Below, the sum is always used: few lattice points leave gaps that smoothing fills.
    assume(gammas @ people.counts > 300)

    others = cover_count(gammas, people.counts, tail=1e-12 * delta)
    counted = counting_bound(summable, others, tail=1e-12 * delta)
    integrated = ContourBound(cover, gammas, people.counts.astype(np.float64))

    first, second = (
        smallest_certified_epsilon(bound.delta, delta, ceiling=victim, guess=0.1)
        for bound in (counted, integrated)
    )
    # Either may be rounded up by one unit of six digits; the smoothing costs 1e-6, and
    # up to 1e-4 where lattice points of a small crowd lie next to the threshold.
    assert first * (1.0 - 1e-5) <= second <= first * (1.0 + 1.2e-4)


# Where every message counts, and sums have a longest possible value: far out, rounding
# must not be taken for more than it is.
FAR_OUT = [
    pytest.param(14, {0.6: 120, 3.0: 250, 3.9: 190}, 1e-80, marks=pytest.mark.slow),
    (37, {1.4: 170, 3.9: 176}, 1e-85),
    pytest.param(8, {1.0: 600, 3.5: 678}, 1e-80, marks=pytest.mark.slow),
    (25, {0.5: 200, 2.0: 132, 3.0: 100}, 1e-95),
]


def root(function: Callable[[float], float], delta: float, top: float) -> float:
    """Where a bound meets delta, without rounding, or the top if it is larger there."""
    if function(top) > delta:
        return top
    found: float = brentq(
        lambda epsilon: math.log(function(epsilon) / delta),
        0.0,
        top,
        xtol=1e-14,
        rtol=1e-12,
    )
    return found


def agree(num_categories: int, people: Population, delta: float) -> bool:
    """Counting and integrating must agree at the highest level, if they can be compared."""
    victim = float(people.epsilons[-1])
    cover = cover_for(num_categories, people, victim)
    gammas, summable = cover.blanket_probabilities, mirrored(cover)
    assert summable is not None
    tail = max(1e-14 * delta, 1e-290)
    others = cover_count(gammas, people.counts, tail=tail)
    counted = counting_bound(summable, others, tail=tail)
    integrated = ContourBound(cover, gammas, people.counts.astype(np.float64))
    # Next to 0 a millionth of delta is a large part of epsilon.
    if not counted.delta(0.0) > 1.01 * delta > delta > counted.delta(0.999 * victim):
        return False
    first = root(counted.delta, delta, 0.9995 * victim)
    second = root(integrated.delta, delta, 0.9995 * victim)

    # The smoothing costs about one part in a million, and more where lattice points of a
    # small crowd, which is always counted, lie next to the threshold.
    allowed = 2e-6 if gammas @ people.counts > 300 else 1e-4
    assert first * (1.0 - 1e-9) <= second <= first * (1.0 + allowed)
    for share in np.linspace(0.0, 1.0, 12):
        # The sum's own allowance for rounding.
        exact = counted.delta(share * first) * (1.0 - 1e-9)
        assert exact <= integrated.delta(share * first)
    return True


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(
    num_categories=st.integers(2, 40),
    levels=st.lists(st.floats(0.05, 4.0), min_size=1, max_size=4, unique=True),
    shares=st.lists(st.floats(0.1, 1.0), min_size=4, max_size=4),
    log_size=st.floats(2.3, 3.3),
    log_delta=st.floats(-100.0, -1.0),
)
def test_sum_and_integral_meet_delta_at_the_same_epsilon(
    num_categories: int,
    levels: list[float],
    shares: list[float],
    log_size: float,
    log_delta: float,
) -> None:
    parts = zip(levels, shares, strict=False)
    people = {level: 1 + int(share * 10.0**log_size / 4) for level, share in parts}

    assume(agree(num_categories, Population.from_counts(people), 10.0**log_delta))


@pytest.mark.slow
@pytest.mark.parametrize(("num_categories", "crowd", "delta"), FAR_OUT)
def test_sum_and_integral_meet_delta_at_the_same_epsilon_far_out(
    num_categories: int, crowd: dict[float, int], delta: float
) -> None:
    assert agree(num_categories, Population.from_counts(crowd), delta)


@pytest.mark.parametrize("num_users", [10**4, 10**6, 10**8, 10**10])
@pytest.mark.parametrize("num_categories", [2, 17])
def test_integral_falls_with_epsilon_at_any_size(
    num_users: int, num_categories: int
) -> None:
    bound = integral_for(num_categories, {0.5: num_users, 2.0: num_users}, 2.0)
    scale = 10.0 / np.sqrt(num_users)

    deltas = [bound.delta(scale * share) for share in (0.0, 0.1, 0.3, 1.0, 2.0)]

    assert deltas == sorted(deltas, reverse=True)
    assert 0.0 < deltas[-1] < 1e-3 < deltas[0] * 1e6


@pytest.mark.parametrize("num_others", [10**6, 10**8, 10**9, 10**10])
@pytest.mark.parametrize("chance", [0.1, 0.5, 0.999])
def test_integral_is_above_the_closed_form_at_any_size(
    num_others: int, chance: float
) -> None:
    # At epsilon 0 with two categories the sum is gap E|A - B| / (2 N): the walk's own
    # mean, E|D_N| = N C(N - 1, floor((N - 1) / 2)) / 2^(N - 1), averaged over N = M + 1.
    blanket = cover_for(2, Population.from_counts({1.0: 2}), 1.0)
    bound = ContourBound(blanket, np.array([chance]), np.array([float(num_others)]))

    upper = bound.delta(0.0)

    # C(N - 1, .) 2^-(N - 1) = sqrt(2 / (pi N)) (1 - 1 / (4 N) + ...), and it is convex in
    # N: by Jensen its mean is at least its value at the mean, with 1 / (8 m) on top.
    mean = mp.mpf(num_others) * mp.mpf(chance) + 1
    gap = mp.mpf(float(blanket.differences[0]))
    exact = gap / 2 * mp.sqrt(2 / (mp.pi * mean)) * (1 - 1 / (4 * mean))
    assert exact <= upper <= exact * (1 + mp.mpf("1e-5"))


@pytest.mark.few_cases(3)
@covering(
    (
        ("num_categories", "crowd", "victim"),
        [
            (1000, {0.3: 200, 2.5: 500}, 2.5),
            (1000, {1.0: 2000}, 1.0),
            (100_000, {1.0: 1_000_000}, 1.0),
            (2**31, {1.0: 2000}, 1.0),
            (1000, {1e-6: 310, 0.5: 1}, 0.5),
            (1000, {0.1: 400, 600.0: 2}, 600.0),
            (20, {0.1: 320, 12.0: 1}, 12.0),
            (20, {0.1: 400, 20.0: 1}, 20.0),
            (17, {0.1: 10**6, 600.0: 2}, 600.0),
            (17, {5.0: 10**8, 30.0: 10**7}, 30.0),
        ],
    ),
    ("delta", [1e-3, 1e-30, 1e-240]),
)
def test_extreme_crowds_get_a_certificate(
    num_categories: int, crowd: dict[float, int], victim: float, delta: float
) -> None:
    people = Population.from_counts(crowd)

    (level,) = account(
        Frequency(num_categories), people, delta=delta, levels=[victim]
    ).levels

    assert 0.0 <= level.epsilon_central_lower <= level.epsilon_central <= victim


@pytest.mark.parametrize("share", [1.001, 1.5, 20.0])
def test_where_no_message_tells_as_much_the_bound_is_the_smallest_number(
    share: float,
) -> None:
    # Beyond the local budget no loss is positive, and the exact divergence is 0.
    bound = integral_for(5, {1.0: 400, 2.0: 300}, 1.0)

    assert 0.0 < bound.delta(share) <= 1e-306
    assert bound.delta(0.99) > 1e-306


def test_losses_that_are_no_numbers_get_no_bound() -> None:
    cover = cover_for(5, Population.from_counts({1.0: 400}), 1.0)
    spoiled = replace(cover, bases=np.full(cover.bases.size, math.nan))

    with pytest.raises(CertificationError, match="No proven bound"):
        ContourBound(spoiled, np.array([0.5]), np.array([400.0])).delta(1.0)
