"""Counts of reported ones in a collection of strings, drawn from their distribution."""

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers import bloom
from shuffledp.types import Floats, Ints

# NumPy's multivariate hypergeometric draw takes fewer people than this.
MOST_DEALT = 10**9


def drawn_ones(
    texts: list[str],
    holders: NDArray[np.int64],
    dealt: Ints,
    *,
    probabilities: tuple[Floats, Floats],
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Returns the ones of each cohort, level and bit, shape (cohorts, levels, bits).

    Args:
        texts: Different strings.
        holders: Numbers of people of each level who hold each, shape (levels, strings).
        dealt: How many people of each level each cohort gets, shape (cohorts, levels).
        probabilities: Of a 1 where a bit is set, and where it is not, each of shape
            (levels,).
        shape: Bits of a filter, and how many of them a string sets.
        rng: A simulation's generator.

    Raises:
        InvalidInputError: If there are more people than can be dealt.
    """
    if int(holders.sum()) >= MOST_DEALT:
        raise InvalidInputError(
            f"Expected fewer than {MOST_DEALT:,} people to be dealt to cohorts."
        )
    # People are dealt to cohorts without replacement: `remaining_people` are not dealt yet.
    remaining_people, (p_set, p_unset), (num_bits, num_hashes) = (
        holders.copy(),
        probabilities,
        shape,
    )
    ones = np.zeros((*dealt.shape, num_bits), dtype=np.int64)
    for cohort, sizes in enumerate(dealt.tolist()):
        positions = bloom.bloom_positions(
            texts,
            np.full(len(texts), cohort),
            num_bits=num_bits,
            num_hashes=num_hashes,
        )
        sets = np.zeros((len(texts), num_bits), dtype=np.int64)
        np.put_along_axis(sets, positions, 1, axis=1)
        for level, size in enumerate(sizes):
            # Arrival is independent of strings: a cohort is a random sample.
            members = rng.multivariate_hypergeometric(
                remaining_people[level], size, method="marginals"
            )
            remaining_people[level] -= members
            set_bits = members @ sets
            ones[cohort, level] = rng.binomial(set_bits, p_set[level])
            ones[cohort, level] += rng.binomial(size - set_bits, p_unset[level])
    return ones
