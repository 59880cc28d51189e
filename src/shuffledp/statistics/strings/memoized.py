"""The permanent responses that devices keep, for all reports that they will ever send."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, check_same
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class MemoizedStrings:
    """Permanent responses: devices answer with them alone, never again from the string.

    Attributes:
        bits: Each person's permanent response, shape (n, bits).
        cohorts: Each person's cohort, shape (n,).
        levels: Each person's privacy level in nats, shape (n,).
        identity: Of the protocol that this was kept for.
    """

    # The string is not stored: the level is the budget of all reports together, as long
    # as each is drawn from these bits.
    bits: NDArray[np.bool_]
    cohorts: Ints
    levels: Floats
    identity: Identity


def check_memoized(memoized: object, identity: Identity) -> None:
    """Raises InvalidInputError unless these are permanent responses of this protocol."""
    if not isinstance(memoized, MemoizedStrings):
        raise InvalidInputError(
            f"Expected MemoizedStrings, got {type(memoized).__name__}."
        )
    check_same(memoized.identity, identity, what="permanent responses")
