"""Complex exponentials of stated parts against 40 digits."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np

from shuffledp.accounting.sums.complex_exp import exp_of

# Angles next to poles and zeros of the tangent of their half, and far from both.
ANGLES = [0.0, 1e-9, 0.3, 2.0, math.pi, 3.0 * math.pi + 1e-9, 2.0 * math.pi, 1e6 + 0.1]


def test_powers_are_right_to_some_units_in_the_last_place() -> None:
    imaginary = np.array([ANGLES, [-angle for angle in ANGLES]])
    real = np.array([[-700.0], [3.0]]) + np.zeros_like(imaginary)

    powers = exp_of(real, imaginary)

    with mp.workdps(40):
        for power, x, y in zip(
            powers.ravel().tolist(), real.ravel(), imaginary.ravel(), strict=True
        ):
            exact = mp.exp(mp.mpc(float(x), float(y)))
            assert abs(mp.mpc(power) - exact) <= 1.5e-15 * abs(exact)
