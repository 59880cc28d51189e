"""Local hashing: the message is a random hash function and a randomized hash of the value.

The device draws a hash function h with g buckets from a public family, and sends h with
k-ary response (k = g) on h(value). The family is that of affine functions over the field
of g elements, g prime: with v's digits v_1, ..., v_t in base g,

    h(v) = a_1 v_1 + ... + a_t v_t + b  modulo g,    a_1, ..., a_t, b uniform,

so that the hashes of two values are exactly independent and uniform. Of three values on a
line, two with different hashes leave no freedom to the third, whose hash differs from both.

Source: Wang, Blocki, Li, Jha (2017), "Locally differentially private protocols for
frequency estimation".
"""

from dataclasses import dataclass

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.set_response import Overlaps, SetResponse

_MOST_CATEGORIES = 2**31
_MOST_BUCKETS = 1_000_003


@dataclass(frozen=True, slots=True)
class LocalHashing(SetResponse):
    """Public parameters only.

    Attributes:
        num_categories: k, at least 2.
        num_buckets: g, a prime number; near e^eps + 1 has the smallest error.
    """

    num_categories: int
    num_buckets: int

    def __post_init__(self) -> None:
        whole_number(self.num_categories, "categories", least=2, most=_MOST_CATEGORIES)
        g = whole_number(self.num_buckets, "hash buckets", least=2, most=_MOST_BUCKETS)
        if any(g % divisor == 0 for divisor in range(2, int(g**0.5) + 1)):
            raise InvalidInputError(
                f"Expected a prime number of hash buckets, got {g}: only then are the "
                "hashes of two values exactly independent."
            )

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "local-hashing"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "categories": int(self.num_categories),
            "buckets": int(self.num_buckets),
        }

    @property
    def overlaps(self) -> Overlaps:
        """Chances over the hash function and a uniform bucket."""
        g = int(self.num_buckets)
        third = None
        if self.num_categories > 2:
            # Values 0, 1, 2 are on a line, but for g = 2, where no three values are.
            third = 0.125 if g == 2 else 0.0
        return Overlaps(1.0 / g, 1.0 / g**2, third)
