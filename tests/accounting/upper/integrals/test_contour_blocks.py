"""Blocks that matter are all found, however many there are, and few others."""

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp.accounting.upper.integrals.contour_blocks import visible_blocks
from shuffledp.types import Complexes


@pytest.mark.parametrize("num_blocks", [1, 2, 255, 256, 257, 1_000, 4_096])
@pytest.mark.parametrize("seed", range(5))
def test_blocks_that_matter_are_the_same_in_groups(num_blocks: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, spacing = 0.3 + 0.5j, 1.0j
    matter = rng.choice(num_blocks, size=min(num_blocks, 7), replace=False)
    asked = []

    def is_visible(
        outer: Complexes, inner: Complexes, change: float
    ) -> NDArray[np.bool_]:
        points = outer[:, np.newaxis] + inner
        asked.append(points.size)
        distances = np.abs(points[..., np.newaxis] - (first + spacing * matter))
        near: NDArray[np.bool_] = distances.min(axis=-1) <= change
        return near

    blocks = visible_blocks(is_visible, first, spacing, num_blocks, 0.5)

    # The point that matters is in the middle of its block.
    assert blocks.tolist() == sorted(matter.tolist())
    if num_blocks >= 1_000:
        assert sum(asked) < num_blocks / 2


def test_nothing_matters_where_nothing_is_seen() -> None:
    def is_visible(
        outer: Complexes, inner: Complexes, _change: float
    ) -> NDArray[np.bool_]:
        return np.zeros((outer.size, inner.size), dtype=np.bool_)

    assert visible_blocks(is_visible, 0.1 + 0j, 1.0j, 1_000, 0.5).size == 0
