"""Bernoulli draws for many bits per user, from 16 random bits each where these decide.

A bit is 1 if a uniform number U on [0, 1) is below its probability p. The first 16 binary
digits of U decide unless they are those of p, which happens once in 65,536 draws. Then the
next 53 digits are drawn, and so on: probabilities are exact, to the last bit.
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomness import Rng, bernoulli_draws, random_words, stream_of
from shuffledp.types import Floats

# Four bits per random word: one in 2^16 needs more digits of its probability.
_DIGITS = 16
_PER_WORD = 64 // _DIGITS


def bit_draws(
    bits: NDArray[np.bool_], *, of_one: Floats, of_zero: Floats, rng: Rng
) -> NDArray[np.bool_]:
    """Draws a 1 for each bit, with the probability of its user and of its value.

    Args:
        bits: Shape (n, m).
        of_one: Probabilities in [0, 1] where a bit is 1, shape (n,).
        of_zero: Probabilities in [0, 1] where a bit is 0, shape (n,).
        rng: The only source of randomness.

    Returns:
        Shape (n, m).
    """
    # Above 1/2 the complement is drawn, whose probability is exact there: a threshold fits
    # into 16 bits.
    (if_one, one_turned), (if_zero, zero_turned) = (
        _lower_half(of_one),
        _lower_half(of_zero),
    )
    # Modulo 2**16; np.where takes eight times as long where bits are mixed.
    from_zero = _first_digits(if_zero)
    thresholds = from_zero + bits * (_first_digits(if_one) - from_zero)
    drawn = _digits(bits.shape, rng)
    draws: NDArray[np.bool_] = drawn < thresholds
    undecided = np.flatnonzero(drawn == thresholds)
    if undecided.size:
        users = undecided // bits.shape[1]
        values = bits.ravel()[undecided]
        scaled = np.where(values, if_one[users], if_zero[users]) * 2.0**_DIGITS
        # Exact: the product is by a power of two, and the difference of neighbors.
        remainder = scaled - np.floor(scaled)
        stream = stream_of(rng, users)
        draws.ravel()[undecided] = bernoulli_draws(remainder, rng=stream)
    if one_turned.any() or zero_turned.any():
        differ = one_turned ^ zero_turned
        draws ^= zero_turned[:, None] ^ (bits & differ[:, None])
    return draws


def _lower_half(probabilities: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Returns probabilities of at most 1/2, and which of them are of the complement."""
    turned = probabilities > 0.5
    return np.where(turned, 1.0 - probabilities, probabilities), turned


def _first_digits(probabilities: Floats) -> NDArray[np.uint16]:
    """Returns the first 16 binary digits of probabilities up to 1/2, shape (n, 1)."""
    return np.floor(probabilities * 2.0**_DIGITS).astype(np.uint16)[:, None]


def _digits(shape: tuple[int, ...], rng: Rng) -> NDArray[np.uint16]:
    """Draws 16 binary digits for each bit; a user's are of the user's own stream."""
    num_users, num_bits = shape
    words = -(-num_bits // _PER_WORD)
    drawn = random_words(num_users * words, rng=rng)
    # The same on every machine, whatever its order of bytes.
    digits: NDArray[np.uint16] = drawn.astype("<u8", copy=False).view("<u2")
    return digits.reshape(num_users, words * _PER_WORD)[:, :num_bits]
