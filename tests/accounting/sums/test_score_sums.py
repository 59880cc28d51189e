"""Sums of equal scores, against convolutions of everything, zeros included."""

import numpy as np
import pytest

from shuffledp.accounting.sums.score_sums import clipped, summed


@pytest.mark.parametrize("times", [1, 2, 3, 7, 40, 1_000])
@pytest.mark.parametrize("limit", [5, 30, 200])
@pytest.mark.parametrize("half", [1, 5])
def test_trimmed_sums_are_those_of_full_arrays(
    times: int, limit: int, half: int
) -> None:
    rng = np.random.default_rng(times + limit)
    scores = rng.uniform(size=2 * half + 1)
    scores /= scores.sum()
    if half > 1:
        # Nothing at either end: what is trimmed.
        scores[[0, -1]] = 0.0

    expected = scores
    for _ in range(times - 1):
        expected = clipped(np.convolve(expected, scores), limit)

    found = summed(scores, times, limit)
    assert found.size == 2 * min(times * half, limit) + 1
    padding = (found.size - expected.size) // 2
    # Clipped in another order, the ends hold other parts; the middle is far from them.
    if times * half <= limit:
        np.testing.assert_allclose(
            found, np.pad(expected, padding), rtol=1e-12, atol=1e-70
        )
    assert found.sum() == pytest.approx(scores.sum() ** times, rel=1e-9)
