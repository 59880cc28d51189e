from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.noise import exact_normal_chance

from shuffledp import SystemRandom
from shuffledp.randomizers.normal_cells import accepted_cells
from shuffledp.types import Floats


@pytest.mark.parametrize("length", [1e-8, 1e-3, 0.0125])
def testaccepted_cells_cells_have_the_chances_of_the_density(length: float) -> None:
    cells = [0, 1, int(1.0 / length), int(4.0 / length), int(20.0 / length)]
    ratios = []
    # The quadrature's error is absolute, and chances far out are e^-200.
    with mp.workdps(150):
        for cell in cells:

            def accepted(t: Any, cell: int = cell) -> Any:
                z = mp.mpf(length) * (cell + t)
                return mp.exp(-((z - 1) ** 2) / 2 - mp.mpf(length) * t)

            drawn = mp.exp(-mp.mpf(length) * cell) * mp.quad(accepted, [0, 1])
            ratios.append(drawn / exact_normal_chance(length * 4096.0, 0, cell, 4096))

        assert all(mp.almosteq(ratio, ratios[0], 1e-40) for ratio in ratios)


class HalfwayRandom(SystemRandom):
    """Draws the first 53 bits it is given, then others from a seeded generator."""

    def __init__(self, first: list[Floats]) -> None:
        self.first, self.rest = first, np.random.default_rng(11)

    def random(self, size: int) -> Floats:
        return self.first.pop(0) if self.first else self.rest.random(size)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("cell", [0, 1, 300, 5000])
def test_chances_are_kept_where_the_first_bits_decide_nothing(cell: int) -> None:
    length, offset, size = 1e-3, 0.375, 1000
    with mp.workdps(50):
        away = mp.mpf(length) * (cell + mp.mpf(offset)) - 1
        chance = mp.exp(-(away**2) / 2 - mp.mpf(length) * offset) * 2**53
        below = int(mp.floor(chance))
        share = float(chance - below)

    accepted = {}
    for first in (below - 1, below, below + 1):
        coins = np.full(size, first * 2.0**-53)
        rng = HalfwayRandom([np.full(size, offset), coins])
        cells, lengths = np.full(size, cell), np.full(size, length)
        accepted[first] = accepted_cells(cells, lengths, rng=rng).mean()

    assert accepted[below - 1] == 1.0
    assert accepted[below + 1] == 0.0
    # Five standard errors of a fixed seed. The offset's other bits change the chance by
    # 5 thousandths of its last bit at most.
    assert abs(accepted[below] - share) <= 5.0 * 0.5 / size**0.5 + 0.005
