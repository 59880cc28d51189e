"""Complex exponentials against 40 digits."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.sums.complex_expm1 import expm1_parts

# Angles next to poles of the tangent of their half, to its zeros, and far from both.
ANGLES = [
    1e-9,
    0.3,
    2.0,
    math.pi,
    3.0 * math.pi + 1e-9,
    2.0 * math.pi - 1e-7,
    1e4 + 0.1,
]


@pytest.mark.parametrize("line", [-3.0, 1e-12, 0.5])
def test_parts_are_right_to_some_units_in_the_last_place(line: float) -> None:
    losses = np.array([1.0, -0.7, 1e-6])

    real, imaginary = expm1_parts(line + 1j * np.array(ANGLES), losses)

    with mp.workdps(40):
        for row, angle in enumerate(ANGLES):
            for column, loss in enumerate(losses.tolist()):
                # Angles are rounded when they are multiplied: not a matter of the parts.
                turn = 2.0 * ((0.5 * angle) * loss)
                exact = mp.expm1(mp.mpc(line * loss, turn))
                value = mp.mpc(float(real[row, column]), float(imaginary[row, column]))
                assert abs(value - exact) <= 1.5e-15 * abs(exact)
