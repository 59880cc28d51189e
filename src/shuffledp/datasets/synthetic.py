"""Synthetic people whose values follow published frequencies, without any download."""

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng

# Number of the 989,818 visits of the MSNBC data that begin in each category, as counted
# by `load_msnbc` in the real file, in the order of `MSNBC_CATEGORIES`.
MSNBC_FIRST_VISITS = (
    277376, 77138, 66554, 51040, 4226, 163077, 3557, 71828, 65278,
    12790, 14275, 56742, 62986, 53639, 7377, 426, 1509,
)  # fmt: skip


def draw_msnbc_like(num_users: int, *, rng: Rng) -> NDArray[np.uint8]:
    """Draws one category per person with the frequencies of the MSNBC data.

    Args:
        num_users: Number of people, >= 1.
        rng: The only source of randomness.

    Returns:
        Categories in [0, 17), shape (num_users,).
    """
    if num_users < 1:
        raise InvalidInputError(f"Expected at least 1 person, got {num_users}.")
    shares = np.cumsum(MSNBC_FIRST_VISITS) / np.sum(MSNBC_FIRST_VISITS)
    # Inverse of the distribution function; without its last value 1, so that rounding
    # cannot lead beyond the last category.
    drawn = np.searchsorted(shares[:-1], rng.random(num_users), side="right")
    return drawn.astype(np.uint8)


def draw_msnbc_like_holders(
    counts: NDArray[np.int64], *, rng: Rng
) -> NDArray[np.int64]:
    """Draws the number of people per level and category, without single people.

    Args:
        counts: People of each level, shape (levels,).
        rng: A simulation's generator.

    Returns:
        Shape (levels, 17), distributed like counts of `draw_msnbc_like`.

    Raises:
        InvalidInputError: If `rng` is another source of randomness.
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError("Expected numpy.random.default_rng(seed).")
    shares = np.array(MSNBC_FIRST_VISITS) / np.sum(MSNBC_FIRST_VISITS)
    drawn: NDArray[np.int64] = rng.multinomial(counts, shares)
    return drawn
