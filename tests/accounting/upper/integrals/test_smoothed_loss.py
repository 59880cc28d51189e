"""Moments of a loss with noise: their values, and how steep they are at most."""

import numpy as np
import pytest

from shuffledp.accounting.upper.integrals.smoothed_loss import SmoothedLoss

LOSSES = np.array([-3.0, -0.4, 0.0, 0.7, 5.0])
MASSES = np.array([0.2, 0.4, 0.1, 0.29, 0.01])
OUTER = 0.3 + 1j * np.linspace(0.0, 60.0, 600)
INNER = 1j * np.array([-0.02, -0.01, 0.0, 0.01, 0.02])


@pytest.mark.parametrize("smoothing", [1e-6, 1e-3, 0.1, 4.0])
def test_moments_and_slopes_are_those_of_the_definition(smoothing: float) -> None:
    loss = SmoothedLoss(LOSSES, MASSES, smoothing, LOSSES.size)
    z = OUTER[:, np.newaxis] + INNER
    noise = np.exp(0.5 * smoothing * z**2)
    powers = np.exp(np.multiply.outer(z, LOSSES))
    slope = (powers @ (MASSES * LOSSES) + smoothing * z * (powers @ MASSES)) * noise

    x, slopes = loss.less_1_and_slope(OUTER, INNER, mirrored=2)

    assert np.allclose(1.0 + x, powers @ MASSES * noise, rtol=0.0, atol=1e-12)
    assert np.allclose(slopes, slope, rtol=0.0, atol=1e-12)
    assert np.allclose(loss.less_1(OUTER, INNER), x, rtol=0.0, atol=1e-12)
    assert np.allclose(loss.real_less_1(np.array([0.3])), x[:1, 2].real, rtol=1e-12)


@pytest.mark.parametrize("smoothing", [1e-6, 1e-3, 0.1, 4.0, 100.0])
@pytest.mark.parametrize("line", [1e-3, 0.3, 1.0])
@pytest.mark.parametrize("losses", [LOSSES, 1e-3 * LOSSES])
def test_nothing_is_steeper_than_the_bound(
    losses: np.ndarray, line: float, smoothing: float
) -> None:
    loss = SmoothedLoss(losses, MASSES, smoothing, LOSSES.size)
    # Noise of deviation s is steepest at a height of about 1 / s.
    heights = np.concatenate(
        [np.linspace(0.0, 5.0 / smoothing**0.5, 2_000), np.linspace(0.0, 9.0, 2_000)]
    )

    _, slopes = loss.less_1_and_slope(line + 1j * heights, np.zeros(1, complex))

    steepest = float(np.abs(slopes).max())
    assert steepest <= loss.steepest(line) <= 3.0 * steepest
