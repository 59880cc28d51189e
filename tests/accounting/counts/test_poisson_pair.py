"""One replaced item, against 60-digit double sums and the protocol's own enumeration."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from shuffledp.accounting.counts.poisson_pair import PoissonPair, poisson_window


def double_sum(mean: float, send_probability: float, epsilon: float) -> float:
    """Sums (P - E Q)_+ over both counts, term by term, with 60 digits."""
    with mp.workdps(60):
        mu, chance, growth = mp.mpf(mean), mp.mpf(send_probability), mp.exp(epsilon)
        last = int(8.0 * mean + 60.0)
        law = [mp.exp(-mu) * mu**x / mp.factorial(x) for x in range(last)]
        moved = [
            (1 - chance) * law[x] + chance * (law[x - 1] if x else 0)
            for x in range(last)
        ]
        total = mp.mpf(0)
        for x in range(last):
            for y in range(last):
                gain = moved[x] * law[y] - growth * law[x] * moved[y]
                total += max(gain, mp.mpf(0))
        return float(total)


@pytest.mark.few_cases(2)
@covering(
    ("mean", [1e-6, 0.03, 1.0, 7.5, 20.0]),
    ("send_probability", [1.0, 0.5524, 0.01]),
    ("epsilon", [0.0, 0.3, 2.0]),
)
def test_bounds_enclose_the_double_sum(
    mean: float, send_probability: float, epsilon: float
) -> None:
    pair = PoissonPair(mean, send_probability)

    exact = double_sum(mean, send_probability, epsilon)

    assert pair.lower(epsilon) <= exact <= pair.upper(epsilon)
    # Bounds of rounding, over a sum of terms that cancel; and what is cut off at 1e-100.
    assert pair.upper(epsilon) <= pair.lower(epsilon) * (1.0 + 1e-5) + 1e-90


def test_profile_without_blanket_is_the_chance_to_send() -> None:
    # Blanket messages of one person in a million change it by their number at most.
    pair = PoissonPair(1e-6, 0.25)

    bounds = pair.lower(3.0), pair.upper(3.0)

    assert bounds[0] <= 0.25 <= bounds[1] + 2e-5


@pytest.mark.parametrize("mean", [1e4, 1e6, 1e7, 1e9])
def test_profile_of_a_large_mean_is_nearly_gaussian(mean: float) -> None:
    # log a(X) - log a(Y) has variance 2 / mu; Berry-Esseen leaves some 1 / sqrt(mu).
    mu = math.sqrt(2.0 / mean)
    epsilon = 2.0 * mu
    gaussian = stats.norm.sf(epsilon / mu - mu / 2.0)
    gaussian -= math.exp(epsilon) * stats.norm.sf(epsilon / mu + mu / 2.0)

    pair = PoissonPair(mean, 1.0)

    assert pair.lower(epsilon) == pytest.approx(gaussian, rel=0.03)
    assert pair.upper(epsilon) <= pair.lower(epsilon) * (1.0 + 2e-3)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mean", [1e-6, 0.5, 999.5, 1e5, 3e6])
def test_window_is_the_poisson_law(mean: float) -> None:
    window = poisson_window(mean)

    masses = stats.poisson.pmf(window.counts, mean)

    near = np.flatnonzero(abs(window.counts - mean) < 8.0 * math.sqrt(mean) + 8.0)
    # SciPy's masses lose digits with the size of mean log mean; its tails, many more.
    rtol = 1e-13 + 1e-14 * mean
    np.testing.assert_allclose(window.masses[near], masses[near], rtol=rtol)
    for place in near[[0, near.size // 2, -near.size // 5, -1]].tolist():
        tail = upper_tail(mean, window.first + place)
        assert window.tails[place] == pytest.approx(tail, rel=window.doubt)
    assert window.doubt < 1e-10
    assert window.tails.size == window.masses.size + 1
    assert window.tails[-1] == 0.0


def upper_tail(mean: float, count: int) -> float:
    with mp.workdps(40):
        mu, total = mp.mpf(mean), mp.mpf(0)
        term = mp.exp(count * mp.log(mu) - mu - mp.loggamma(count + 1))
        while count < mean or term > total * mp.mpf("1e-20"):
            total += term
            count += 1
            term *= mu / count
        return float(total)


@settings(max_examples=60, deadline=None)
@given(
    mean=st.floats(1e-6, 1e4),
    send_probability=st.floats(1e-6, 1.0),
    epsilon=st.floats(0.0, 20.0),
)
def test_profile_falls_with_epsilon_and_blanket_and_rises_with_chance(
    mean: float, send_probability: float, epsilon: float
) -> None:
    pair = PoissonPair(mean, send_probability)

    upper = pair.upper(epsilon)

    assert 0.0 <= pair.lower(epsilon) <= upper <= send_probability + 1e-9
    assert PoissonPair(mean, send_probability).lower(1.1 * epsilon + 0.01) <= upper
    assert PoissonPair(1.3 * mean, send_probability).lower(epsilon) <= upper
    # A smaller chance mixes the pair with two equal laws: in proportion, at most.
    assert (
        PoissonPair(mean, 0.5 * send_probability).lower(epsilon) <= 0.5 * upper + 1e-15
    )


def test_profile_of_nothing_sent_is_zero() -> None:
    assert PoissonPair(3.0, 0.0).upper(0.0) == 0.0


def test_a_huge_epsilon_leaves_what_cannot_be_hidden() -> None:
    # The item is always sent: seeing none of the other one is proof.
    pair = PoissonPair(5.0, 1.0)

    assert pair.lower(600.0) == pytest.approx(math.exp(-5.0), rel=1e-9)


def test_leaking_setting_of_the_published_protocol_is_repaired() -> None:
    # n = 5000, d = 128, m = 1: published delta 2e-6, exact 9.05e-4 with its own noise.
    pair = PoissonPair(5000 / 128, 0.5524)

    # The known value has three digits.
    assert pair.upper(0.5) == pytest.approx(1.22e-6, rel=0.01)
    assert pair.upper(0.5) <= 2e-6


@pytest.mark.parametrize("mean", [3.0, 400.0, 2e5])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.4])
def test_a_narrow_window_adds_what_it_leaves_out(mean: float, epsilon: float) -> None:
    wide, narrow = PoissonPair(mean, 0.5), PoissonPair(mean, 0.5, outside=1e-9)

    assert (
        poisson_window(mean, 1e-9).masses.size < 0.7 * poisson_window(mean).masses.size
    )
    assert wide.lower(epsilon) <= narrow.upper(epsilon) <= wide.upper(epsilon) + 2e-8
    assert narrow.lower(epsilon) <= wide.upper(epsilon)
