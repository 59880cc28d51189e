"""Grouped coins are rounded downward: never above the exact geometric mean."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.sums.grouping import grouped_blocks
from shuffledp.accounting.upper.cover_count import _GROUPS, grouped_downward


@pytest.mark.parametrize("low", [0.3, 1e-6])
def test_no_group_is_above_its_geometric_mean(low: float) -> None:
    rng = np.random.default_rng(11)
    probabilities = np.sort(rng.uniform(low, 0.9, 300))
    counts = rng.integers(1, 10**6, 300)

    means, members = grouped_downward(probabilities, counts)

    groups = np.empty(300, dtype=np.int64)
    for block, group in grouped_blocks(probabilities, _GROUPS, narrow_near_0=True):
        groups[block] = group
    assert members.sum() == counts.sum()
    with mp.workdps(40):
        for place, mean in zip(np.unique(groups), means.tolist(), strict=True):
            inside = groups == place
            logs = mp.fsum(
                int(n) * mp.log(mp.mpf(p))
                for p, n in zip(probabilities[inside], counts[inside], strict=True)
            )
            exact = mp.exp(logs / int(counts[inside].sum()))
            assert exact * (1 - mp.mpf(1e-11)) <= mean <= exact


def test_few_levels_are_rounded_downward_and_nobody_is_left_out() -> None:
    probabilities = np.array([0.0, 0.2, 0.5, 1.0])

    means, members = grouped_downward(probabilities, np.array([3, 0, 5, 7]))

    assert members.tolist() == [5, 7]
    for mean, exact in zip(means.tolist(), (0.5, 1.0), strict=True):
        assert exact * (1.0 - 1e-12) <= mean < exact
