"""The two responses of RAPPOR on devices: a permanent one, and one for every report."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomizers.bloom import bloom_positions
from shuffledp.randomizers.rappor import Rappor
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

# Bits are randomized in batches of about this size, to bound the memory of temporaries.
_BATCH = 1 << 21


def permanent_responses(
    strings: Sequence[str],
    cohorts: Ints,
    levels: Floats,
    randomizer: Rappor,
    *,
    rng: Rng,
) -> NDArray[np.bool_]:
    """Returns each person's permanent response, shape (n, bits).

    Args:
        strings: One per person, n of them.
        cohorts: Each person's cohort, which sets the hash functions, shape (n,).
        levels: Each person's lifetime budget in nats, shape (n,).
        randomizer: For filters.
        rng: `SystemRandom()` on real devices, a seeded generator in simulations.
    """
    num_bits = randomizer.num_bits
    positions = bloom_positions(
        strings, cohorts, num_bits=num_bits, num_hashes=randomizer.num_hashes
    )
    bits = np.zeros((levels.size, num_bits), dtype=np.bool_)
    for part in _batches(levels.size, num_bits):
        # A view: `bits` is filled in place.
        batch = bits[part]
        np.put_along_axis(batch, positions[part], True, axis=1)
        # Keyed randomness has a stream for each person: batches do not change the bits.
        stream = stream_of(rng, part)
        batch[:] = randomizer.permanent_response(batch, levels[part], rng=stream)
    return bits


def reported_bits(
    permanent: NDArray[np.bool_], randomizer: Rappor, *, rng: Rng
) -> NDArray[np.bool_]:
    """Returns each person's report, shape (n, bits).

    Args:
        permanent: The permanent responses, shape (n, bits).
        randomizer: For filters.
        rng: As for `permanent_responses`.
    """
    bits = np.empty_like(permanent)
    for part in _batches(len(permanent), randomizer.num_bits):
        stream = stream_of(rng, part)
        bits[part] = randomizer.instantaneous_response(permanent[part], rng=stream)
    return bits


def _batches(num_users: int, num_bits: int) -> Iterator[slice]:
    size = max(_BATCH // num_bits, 1)
    for start in range(0, num_users, size):
        yield slice(start, start + size)
