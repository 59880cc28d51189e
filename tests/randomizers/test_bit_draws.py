"""Bits drawn from 16 digits each: exact probabilities, of each user's own stream."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp import KeyedRandom
from shuffledp.randomizers.bit_draws import bit_draws
from shuffledp.randomness import SystemRandom
from shuffledp.types import Floats

ALL = 2**16


class EveryDigit(SystemRandom):
    """Draws every number of 16 digits once, in order; later digits are `then`."""

    def __init__(self, then: float) -> None:
        self.then = then
        self.asked = 0

    def _words(self, size: int) -> NDArray[np.uint64]:
        assert size == ALL // 4
        return np.arange(ALL, dtype="<u2").view("<u8").astype(np.uint64)

    def random(self, size: int) -> Floats:
        self.asked += size
        return np.full(size, self.then)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("then", [0.0, 1.0 - 2.0**-53])
@pytest.mark.parametrize(
    "probability",
    [
        *(0.0, 1e-300, 1e-20, 2.0**-17, 2.0**-16, 0.1, 0.3, 0.5 - 2.0**-54, 0.5),
        *(0.5 + 2.0**-53, 0.7, 1.0 - 2.0**-16, 1.0 - 2.0**-53, 1.0),
    ],
)
def test_all_first_digits_give_as_many_ones_as_the_probability(
    probability: float, then: float, held: bool
) -> None:
    rng = EveryDigit(then)
    other = 1.0 - probability
    ones = bit_draws(
        np.full((1, ALL), held),
        of_one=np.array([probability if held else other]),
        of_zero=np.array([other if held else probability]),
        rng=rng,
    ).sum()

    # Of the probability or of its complement, whichever is drawn: the digits that decide,
    # and one more draw if the digits that follow fall below what is left.
    drawn = min(Fraction(probability), 1 - Fraction(probability))
    whole, rest = floor(drawn * ALL), drawn * ALL - floor(drawn * ALL)
    expected = whole + (1 if then < rest else 0)
    if probability > 0.5:
        expected = ALL - expected
    assert ones == expected
    assert rng.asked >= 1


def test_bits_of_ones_and_zeros_have_probabilities_of_their_users() -> None:
    rng = np.random.default_rng(5)
    bits = rng.random((4, 250_000)) < 0.5
    of_one, of_zero = np.array([0.1, 0.9, 0.5, 1.0]), np.array([0.7, 0.2, 0.0, 0.25])

    ones = bit_draws(bits, of_one=of_one, of_zero=of_zero, rng=rng)

    for user in range(4):
        for value, probability in ((True, of_one[user]), (False, of_zero[user])):
            drawn = ones[user][bits[user] == value]
            # Seven standard deviations: a false alarm of 3e-12 for each of eight.
            deviation = 7.0 * np.sqrt(probability * (1 - probability) * drawn.size)
            assert abs(drawn.sum() - probability * drawn.size) <= deviation


def test_a_users_bits_depend_on_the_users_stream_alone() -> None:
    people = np.arange(48, dtype=np.uint8).reshape(3, 16)
    # 2**-17 leaves every draw of digits 0 undecided, so that users need further draws.
    flip = np.full(3, 2.0**-17)
    bits = np.zeros((3, 300_001), dtype=np.bool_)

    together = bit_draws(
        bits, of_one=flip, of_zero=flip, rng=KeyedRandom(bytes(32), people)
    )
    for user in range(3):
        alone = bit_draws(
            bits[:1],
            of_one=flip[:1],
            of_zero=flip[:1],
            rng=KeyedRandom(bytes(32), people[user : user + 1]),
        )
        assert np.array_equal(alone[0], together[user])
    assert together.any()
