"""Numbers of dummies: drawn as their law says, never below 0, and again from a key."""

import numpy as np
import pytest

from shuffledp.randomizers.dummy_numbers import draw_dummies
from shuffledp.randomness import KeyedRandom, Rng, SystemRandom

KEY, PERSON = bytes(range(32)), np.zeros((1, 32), dtype=np.uint8)


def masses_of(decay: float, dummies: int) -> np.ndarray:
    weights = decay ** np.abs(np.arange(-dummies, dummies + 1.0))
    masses: np.ndarray = weights / weights.sum()
    return masses


@pytest.mark.parametrize(
    ("decay", "dummies"), [(0.1, 4), (0.6, 3), (0.6, 1), (0.97, 9), (1 - 1e-12, 5)]
)
def test_numbers_have_their_law(decay: float, dummies: int) -> None:
    size, rng = 200_000, np.random.default_rng(7)

    drawn = draw_dummies(decay, dummies, size, rng=rng)

    masses = masses_of(decay, dummies)
    counts = np.bincount(drawn, minlength=masses.size)
    assert counts.size == masses.size
    # Five standard errors, and one for small counts, of 49 counts in all cases together:
    # a false alarm in 30,000 seeds.
    errors = np.sqrt(size * masses * (1.0 - masses))
    assert np.all(np.abs(counts - size * masses) <= 5.0 * errors + 1.0)


@pytest.mark.parametrize(
    "rng", [np.random.default_rng(1), SystemRandom(), KeyedRandom(KEY, PERSON)]
)
@pytest.mark.parametrize("decay", [1e-100, 0.5, 1.0 - 1e-15])
@pytest.mark.parametrize("dummies", [1, 2, 33, 100_000])
def test_numbers_stay_in_their_range(rng: Rng, decay: float, dummies: int) -> None:
    drawn = draw_dummies(decay, dummies, 300, rng=rng)

    assert drawn.min() >= 0
    assert drawn.max() <= 2 * dummies
    assert draw_dummies(decay, dummies, 0, rng=rng).shape == (0,)


def test_a_key_draws_the_same_again() -> None:
    first = draw_dummies(0.9, 50, 400, rng=KeyedRandom(KEY, PERSON))
    again = draw_dummies(0.9, 50, 400, rng=KeyedRandom(KEY, PERSON))
    other = draw_dummies(0.9, 50, 400, rng=KeyedRandom(bytes(32), PERSON))

    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)
    # Neighbors of one stream are independent: five standard errors of a correlation.
    values = first - first.mean()
    correlation = (values[1:] @ values[:-1]) / (values @ values)
    assert abs(correlation) <= 5.0 / np.sqrt(399)
