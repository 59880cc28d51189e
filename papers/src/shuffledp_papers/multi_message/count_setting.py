"""Question that published protocols for counts answer: one of k, asked of n people."""

import math
from dataclasses import dataclass

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError


@dataclass(frozen=True)
class CountSetting:
    """People, buckets, and the guarantee that is asked for.

    >>> CountSetting(num_users=10_000, buckets=8, epsilon=1.0, delta=1e-6).half
    (0.5, 5e-07)

    Attributes:
        num_users: n, at least 2.
        buckets: k, at least 2; each user is in one of them.
        epsilon: Above 0, finite: collections in which one answer is replaced differ by it.
        delta: In (0, 1).

    Raises:
        InvalidInputError: If a number is out of range.
    """

    num_users: int
    buckets: int
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_whole(self.num_users, "people", least=2)
        check_whole(self.buckets, "buckets", least=2)
        # Written this way round, these refuse NaN, too.
        if not 0.0 < as_number(self.epsilon, "epsilon") < math.inf:
            raise InvalidInputError(
                f"Expected a finite epsilon above 0, got {self.epsilon:g}."
            )
        if not 0.0 < as_number(self.delta, "delta") < 1.0:
            raise InvalidInputError(f"Expected 0 < delta < 1, got {self.delta:g}.")

    @property
    def half(self) -> tuple[float, float]:
        """Cost of one bucket: a replaced answer changes two of them."""
        return self.epsilon / 2.0, self.delta / 2.0
