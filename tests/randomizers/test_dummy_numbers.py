"""Numbers of dummies: drawn as their law says, never below 0, and again from a key."""

from fractions import Fraction

import numpy as np
import pytest

from shuffledp.randomizers import dummy_numbers
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


@pytest.mark.parametrize("decay", [1e-9, 0.1, 0.6, 0.97, 1.0 - 1e-9])
@pytest.mark.parametrize("dummies", [1, 2, 7, 33])
def test_drawn_probabilities_are_as_near_the_law_as_certified(
    decay: float, dummies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Fraction] = []
    # The first draw decides for a number beside the middle one, from the rarer side.
    heavy = 2.0 * sum(decay**j for j in range(1, dummies + 1)) > 1.0

    def recorded(probability: float, size: int, rng: Rng) -> np.ndarray:
        del rng
        asked.append(Fraction(probability))
        return np.full(size, len(asked) == 1 and not heavy)

    monkeypatch.setattr(dummy_numbers, "_repeated_draws", recorded)
    draw_dummies(decay, dummies, 1, rng=np.random.default_rng(1))
    other = 1 - asked[0] if heavy else asked[0]
    below = [Fraction(1)]
    for bit in asked[1:]:
        below = [mass * (1 - bit) for mass in below] + [mass * bit for mass in below]
    below = below[:dummies]

    drawn = [1 - other, *(other * mass / sum(below) for mass in below)]
    law = [Fraction(decay) ** j for j in range(dummies + 1)]
    total = 1 + 2 * sum(law[1:], Fraction(0))
    exact = [law[0] / total, *(2 * mass / total for mass in law[1:])]

    # Half of what the pair of a bucket pays for: the other half is that of its masses.
    drift = (2.0 * dummies + 500.0) * 2.3e-16
    assert len(drawn) == len(exact)
    for ours, theirs in zip(drawn, exact, strict=True):
        assert abs(ours / theirs - 1) <= drift
