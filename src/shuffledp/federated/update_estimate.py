"""The estimate of a round of training."""

from dataclasses import dataclass

from shuffledp.identity import Identity
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class UpdateEstimate:
    """An estimate of the mean update.

    Attributes:
        value: Shape (d,).
        identity: Of the round.
    """

    value: Floats
    identity: Identity
