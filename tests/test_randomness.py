import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from shuffledp import SystemRandom

# Fresh randomness in every run: each test fails by bad luck once in a million runs.
FALSE_ALARM = 1e-6


def test_random_numbers_are_multiples_of_one_unit_below_one() -> None:
    numbers = SystemRandom().random(100_000)

    units = numbers * 2.0**53

    assert np.all((numbers >= 0.0) & (numbers < 1.0))
    assert np.array_equal(units, np.floor(units))
    # All 53 bits are in use: the lowest one is set in half of the numbers.
    odd = float(np.mean(units % 2.0))
    assert abs(odd - 0.5) < 5.0 * 0.5 / np.sqrt(100_000)


def test_random_numbers_are_uniform() -> None:
    numbers = SystemRandom().random(200_000)

    observed = np.bincount((numbers * 50).astype(int), minlength=50)

    statistic = float(((observed - 4_000) ** 2 / 4_000).sum())
    assert statistic < chi2.isf(FALSE_ALARM, 49)


@pytest.mark.parametrize(("low", "high"), [(0, 2), (0, 7), (-3, 14), (0, 300), (5, 6)])
def test_integers_are_uniform_on_exactly_the_range(low: int, high: int) -> None:
    span = high - low
    draws = 2_000 * span

    numbers = SystemRandom().integers(low, high, draws)

    assert numbers.dtype == np.int64
    assert numbers.min() == low
    assert numbers.max() == high - 1
    observed = np.bincount(numbers - low, minlength=span)
    statistic = float(((observed - 2_000) ** 2 / 2_000).sum())
    assert statistic <= chi2.isf(FALSE_ALARM, max(span - 1, 1))


class ScriptedRandom(SystemRandom):
    """Draws the words it is given, in order."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def _words(self, size: int) -> np.typing.NDArray[np.uint64]:
        drawn, self.words = self.words[:size], self.words[size:]
        return np.array(drawn, dtype=np.uint64)


@pytest.mark.parametrize("span", [3, 10, 300, 2**31, 2**31 - 1, 2**40 + 1])
def test_words_that_would_favor_small_integers_are_drawn_again(span: int) -> None:
    last_fair = 2**64 - 2**64 % span - 1
    unfair = [word for word in (last_fair + 1, 2**64 - 1) if last_fair < word < 2**64]

    rng = ScriptedRandom([0, last_fair, *unfair, *[5] * len(unfair)])
    numbers = rng.integers(0, span, 2 + len(unfair))

    assert numbers[:2].tolist() == [0, span - 1]
    # The word 5 came out where an unfair one was refused.
    assert numbers[2:].tolist() == [5 % span] * len(unfair)
    assert bool(unfair) == (2**64 % span > 0)


def test_equal_keys_of_a_permutation_are_drawn_again() -> None:
    rng = ScriptedRandom([7, 1, 7, 30, 10, 20])

    order = rng.permutation(3)

    assert order.tolist() == [1, 2, 0]


def test_permutations_of_three_are_equally_likely() -> None:
    rng, seen = SystemRandom(), dict.fromkeys(itertools.permutations(range(3)), 0)

    for _ in range(12_000):
        seen[tuple(rng.permutation(3).tolist())] += 1

    statistic = sum((count - 2_000) ** 2 / 2_000 for count in seen.values())
    assert statistic < chi2.isf(FALSE_ALARM, 5)


def test_two_sources_do_not_repeat_each_other() -> None:
    first, second = SystemRandom(), SystemRandom()

    words = {*first.random(1000).tolist(), *second.random(1000).tolist()}

    # Two of 2000 such numbers are equal with probability 2e-10.
    assert len(words) == 2000
