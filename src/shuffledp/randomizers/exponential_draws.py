"""Exact Bernoulli draws whose probabilities are exponentials of given numbers.

A Bernoulli draw of probability p is a hit if a real number U, uniform on [0, 1), is
below p. The first 53 bits of U and p in double precision settle all but one draw in
10^13 beyond doubt. Where they do not, more bits of U are drawn and p is worked out in
decimals, with ever more digits, until the two can be told apart. So a probability of
e^-300 is e^-300, and a probability that is not a double is not rounded to one.
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats

# Bits of U -> numbers between which the probability lies, in the decimals of the
# context. The gap between them must shrink as the bits grow.
Bounds: TypeAlias = Callable[[int], tuple[Decimal, Decimal]]

# More than the relative error of a probability that was worked out in double precision.
# Probabilities below 2^-53 may be wrong altogether: they are settled in decimals where
# U starts with 0s.
_DOUBT = 1e-13
_WORD = 53


def exponential_draws(
    exponents: Floats, *, parts: int = 1, rng: Rng
) -> NDArray[np.bool_]:
    """Draws Bernoulli variables of probability e^(-a / parts), a >= 0, same shape."""
    # Bounds are on the quotient of real numbers, which need not be a double.
    return settled_draws(
        np.exp(-exponents / parts),
        lambda index: lambda _: around((-_quotient(exponents[index], parts)).exp()),
        rng=rng,
    )


def logistic_draws(exponents: Floats, *, parts: int = 1, rng: Rng) -> NDArray[np.bool_]:
    """Draws hits of probability 1 / (1 + e^(a / parts)), each a >= 0, shape as they."""
    decay = np.exp(-exponents / parts)

    def bounds(index: int) -> Bounds:
        return lambda _: around(1 / (1 + _quotient(exponents[index], parts).exp()))

    return settled_draws(decay / (1.0 + decay), bounds, rng=rng)


def settled_draws(
    probabilities: Floats, bounds: Callable[[int], Bounds], *, rng: Rng
) -> NDArray[np.bool_]:
    """Draws Bernoulli variables whose probabilities have bounds of any precision.

    Args:
        probabilities: In double precision, to a relative 5e-14 if above 2^-53, shape
            (n,).
        bounds: Returns bounds on a draw's probability, given its index.
        rng: The only source of randomness.
    """
    drawn = rng.random(probabilities.size)
    hits: NDArray[np.bool_] = drawn + 2.0**-_WORD <= probabilities * (1.0 - _DOUBT)
    # Probabilities that underflowed to 0 are not 0.
    upper_probabilities = np.maximum(probabilities * (1.0 + _DOUBT), 1e-300)
    for index in np.flatnonzero(~hits & (drawn < upper_probabilities)).tolist():
        stream = stream_of(rng, np.array([index]))
        hits[index] = _settle(int(drawn[index] * 2.0**_WORD), bounds(index), rng=stream)
    return hits


def around(number: Decimal) -> tuple[Decimal, Decimal]:
    """Returns bounds on the exact value behind a number after a few roundings."""
    slack = Decimal(10) ** (15 - getcontext().prec)
    return number * (1 - slack), number * (1 + slack)


def word(rng: Rng) -> int:
    """Draws 53 bits."""
    return int(rng.random(1)[0] * 2.0**_WORD)


def _quotient(exponent: np.float64, parts: int) -> Decimal:
    """Returns it as precisely as the context has digits."""
    return Decimal(float(exponent)) / parts


def _settle(numerator: int, bounds: Bounds, *, rng: Rng) -> bool:
    """Returns whether U is below the probability, given the first 53 bits of U."""
    bits = _WORD
    while True:
        # Enough for every multiple of 2^-bits to be exact.
        with localcontext(Context(prec=bits + 30, Emin=MIN_EMIN, Emax=MAX_EMAX)):
            low, high = bounds(bits)
            unit = Decimal(2) ** -bits
            if (numerator + 1) * unit <= low:
                return True
            if numerator * unit >= high:
                return False
        numerator = (numerator << _WORD) + word(rng)
        bits += _WORD
