"""Windows of negative binomial numbers against 40-digit masses, and jumps' sums."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.counts.flood_window import flood_window
from shuffledp.accounting.counts.jump_rates import logarithmic_rates


@pytest.mark.parametrize(
    ("mean", "shape"),
    [(1e-9, 4.0), (0.5, 1.01), (5.0, 4.0), (400.0, 12.0), (800.0, 1.5), (1e5, 1e4)],
)
def test_window_is_the_negative_binomial_law(mean: float, shape: float) -> None:
    window = flood_window(mean, shape)

    with mp.workdps(40):
        f, r = mp.mpf(mean), mp.mpf(shape)
        for at in np.linspace(0, window.masses.size - 1, 9).astype(int).tolist():
            z = window.first + at
            log = mp.loggamma(r + z) - mp.loggamma(r) - mp.loggamma(z + 1)
            log += r * mp.log(r / (r + f)) + z * mp.log(f / (r + f))
            assert abs(window.masses[at] / mp.exp(log) - 1) <= window.doubt
        # What falls short of 1 is outside.
        first = (r / (r + f)) ** r if window.first == 0 else mp.mpf(0)
        assert (first > 0) == (window.first == 0)
    assert window.outside < 1e-40
    assert window.masses.min() > 1e-90
    assert window.masses.sum() == pytest.approx(1.0, rel=1e-12)


def test_an_infinite_shape_is_poisson() -> None:
    window = flood_window(30.0, math.inf)

    masses = [
        math.exp(-30.0 + z * math.log(30.0) - math.lgamma(z + 1)) for z in (0, 35)
    ]

    assert window.masses[0 - window.first] == pytest.approx(masses[0], rel=1e-12)
    assert window.masses[35 - window.first] == pytest.approx(masses[1], rel=1e-12)


@pytest.mark.parametrize("shape", [1e-3, 1.0, 12.0])
@pytest.mark.parametrize("ratio", [1e-6, 0.3, 0.99])
def test_jumps_add_up_to_a_negative_binomial_number(shape: float, ratio: float) -> None:
    rates, omitted = logarithmic_rates(shape, ratio)
    sizes = np.arange(1, rates.size + 1)

    mean = shape * ratio / (1.0 - ratio)
    assert rates.sum() == pytest.approx(-shape * math.log1p(-ratio), rel=1e-12)
    assert float(rates @ sizes) == pytest.approx(mean, rel=1e-12)
    # The variance of a compound Poisson number.
    assert float(rates @ sizes**2) == pytest.approx(mean / (1.0 - ratio), rel=1e-12)
    n = rates.size
    assert shape * ratio ** (n + 1) / ((n + 1) * (1.0 - ratio)) <= omitted
