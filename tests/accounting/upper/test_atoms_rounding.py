"""Losses are rounded upward: compared with 50-digit arithmetic, none is too small."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.upper.atoms import atoms
from shuffledp.cover import Cover


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 0.7, 3.0, 20.0])
def test_no_loss_is_below_the_exact_one(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    differences = rng.uniform(-1.0, 1.0, 400)
    # Where both parts nearly cancel, rounding is all there is.
    bases = np.abs(differences) / np.expm1(epsilon) * rng.choice([1.0, 0.1], 400)
    cover = Cover(np.array([0.5]), np.full(400, 1 / 400), differences, bases)
    unit = 0.3

    found = atoms(cover, unit, epsilon).losses

    with mp.workdps(50):
        growth = mp.expm1(mp.mpf(epsilon))
        for loss, difference, base in zip(
            found.tolist(), differences.tolist(), bases.tolist(), strict=True
        ):
            parts = mp.mpf(difference) / unit, growth * base / unit
            exact = parts[0] - parts[1]
            assert exact <= loss <= exact + 2e-15 * (abs(parts[0]) + parts[1])
