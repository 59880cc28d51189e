"""What devices keep of a string, for all the reports that they will ever send."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.identity import Identity
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class MemoizedStrings:
    """What the devices keep: with it alone they answer, and never again from the string.

    Attributes:
        bits: Each person's permanent response, shape (n, bits).
        cohorts: Each person's cohort, shape (n,).
        levels: Each person's privacy level in nats, shape (n,).
        identity: Of the protocol that this was kept for.
    """

    bits: NDArray[np.bool_]
    cohorts: Ints
    levels: Floats
    identity: Identity
