"""The search for the rate inside of the range, against a grid of shapes one by one."""

import math
from dataclasses import replace

import numpy as np
import pytest

from shuffledp.randomizers.exponential_blanket import (
    ExponentialBlanket,
    TargetDensities,
    blanket_probability,
    divergence,
    log_peak,
)
from shuffledp.randomizers.exponential_spread import best_decays

RATES = np.array([0.1, 0.5, 2.0, 20.0])
COUNTS = np.array([300.0, 500.0, 150.0, 50.0])


@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0, 20.0])
@pytest.mark.parametrize("clipped", [True, False])
def test_no_rate_of_a_fine_grid_spreads_less(rate: float, clipped: bool) -> None:
    shapes = [ExponentialBlanket(rate, rate, 1.0)]
    if not clipped:
        shapes = [
            ExponentialBlanket(rate, rate, math.inf),
            ExponentialBlanket(rate, rate, 1.0 + 12.0 / rate),
            ExponentialBlanket(rate, rate, 1.0 + 9.0 / rate, 1.2),
        ]

    def spread_of(shape: ExponentialBlanket) -> float:
        people = COUNTS @ blanket_probability(RATES, shape, clipped=clipped)
        return divergence(shape, clipped=clipped) / float(people)

    answers = best_decays(
        shapes,
        TargetDensities.of(rate, clipped=clipped),
        log_peak(RATES, clipped=clipped),
        RATES,
        COUNTS,
    )

    for before, (spread, shape) in zip(shapes, answers, strict=True):
        assert shape == replace(before, kappa=shape.kappa)
        # Blanket probabilities are lowered by 1e-12.
        assert spread == pytest.approx(spread_of(shape), rel=1e-9)
        grid = [
            spread_of(replace(shape, kappa=float(kappa)))
            for kappa in np.linspace(0.0, rate, 401)
        ]
        # Where two blanket probabilities meet, the minimum is a corner, and the last steps
        # of the search are a 384th of the rate.
        assert spread <= min(grid) * 1.002
