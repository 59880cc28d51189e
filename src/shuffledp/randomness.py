"""Where random numbers come from: a seeded generator, or the operating system.

Simulations pass `numpy.random.default_rng(seed)` and can be repeated. Whoever handles
real people's data - a device, a shuffler - passes `SystemRandom()`: NumPy's generators
are fast but predictable from their output, and a predictable coin protects nobody.
"""

import os
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


class SystemRandom:
    """The part of `numpy.random.Generator` that shuffledp uses, fed by `os.urandom`.

    >>> throws = SystemRandom().integers(1, 7, size=1_000)
    >>> sorted(set(throws.tolist()))
    [1, 2, 3, 4, 5, 6]
    """

    def random(self, size: int) -> Floats:
        """Draws `size` multiples of 2**-53, uniform on [0, 1)."""
        high_bits = self._words(size) >> np.uint64(11)
        return high_bits.astype(np.float64) * 2.0**-53

    def integers(self, low: int, high: int, size: int) -> NDArray[np.int64]:
        """Draws `size` integers, exactly uniform on [low, high)."""
        span = high - low
        # Words past the last multiple of span would favor small results: redraw them.
        limit = np.uint64(2**64 - 1 - 2**64 % span)
        words = self._words(size)
        while (bad := np.flatnonzero(words > limit)).size:
            words[bad] = self._words(bad.size)
        return (words % np.uint64(span)).astype(np.int64) + low

    def permutation(self, x: int) -> NDArray[np.int64]:
        """Draws one of the x! orders of 0, ..., x - 1, each equally likely.

        Sorting independent keys gives every order the same chance as long as no two
        keys are equal; equal keys (chance below 3e-6 at ten million) are drawn again.
        """
        while True:
            keys = self._words(x)
            order = np.argsort(keys)
            ordered = keys[order]
            if not np.any(ordered[1:] == ordered[:-1]):
                return order

    def _words(self, size: int) -> NDArray[np.uint64]:
        return np.frombuffer(bytearray(os.urandom(8 * size)), dtype=np.uint64)


Rng: TypeAlias = np.random.Generator | SystemRandom


def coins(probabilities: Floats, *, rng: Rng) -> NDArray[np.bool_]:
    """Draws coins that come up True with exactly these chances, every bit of them.

    A comparison with one uniform number would round each chance to a multiple of 2**-53,
    which is nothing to an estimate, and much to somebody whose chance is 1e-15.

    Args:
        probabilities: In [0, 1], any shape.
        rng: The only source of randomness.

    Returns:
        Shape as `probabilities`.
    """
    flat = probabilities.ravel()
    hits = np.zeros(flat.size, dtype=np.bool_)
    undecided, rest = None, flat
    while rest.size:
        scaled = rest * 2.0**53
        whole = np.floor(scaled)
        drawn = rng.random(rest.size) * 2.0**53
        if undecided is None:
            hits = drawn < whole
        else:
            hits[undecided] = drawn < whole
        # The next 53 bits decide among equals, if the chance has any left.
        equal = np.flatnonzero((drawn == whole) & (scaled > whole))
        undecided = equal if undecided is None else undecided[equal]
        rest = scaled[equal] - whole[equal]
    return hits.reshape(probabilities.shape)


def check_rng(rng: Rng) -> None:
    """Raises InvalidInputError unless `rng` is a source of randomness we know."""
    if not isinstance(rng, np.random.Generator | SystemRandom):
        raise InvalidInputError(
            "Expected rng to be numpy.random.default_rng(seed) or SystemRandom(), "
            f"got {type(rng).__name__}."
        )
