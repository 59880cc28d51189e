"""Buckets of the prefixes of a code, and of whole codes: hashed layers, and checks.

Layer 1 has a bucket for each prefix of as many bits as buckets need. On every later layer a
longer prefix, the whole code on the last one, is hashed into a bucket. Checks are more
groups into which whole codes are hashed, each with a hash function of its own; a search for
prefixes never reads them.
"""

from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.statistics.questionnaire.hashed.bucket_hash import Codes, hashed_buckets
from shuffledp.statistics.questionnaire.texts.text_codes import MOST_BITS
from shuffledp.types import Ints

LEAST_BUCKET_BITS, MOST_BUCKET_BITS = 4, 20
MOST_LEVELS, MOST_CHECKS = 32, 8
# More children of a prefix are slow to try.
_MOST_STEP = 12


@dataclass(frozen=True)
class PrefixLayout:
    """Sizes of layers and checks.

    >>> layout = PrefixLayout(48, level_bits=15, levels=6, check_bits=15, checks=4)
    >>> layout.widths
    (15, 22, 28, 35, 41, 48)

    Attributes:
        bits: Of a code, above `level_bits`, at most 64.
        level_bits: Every layer has 2 to this power of buckets, from 4 to 20.
        levels: How many layers, from 2 to 32.
        check_bits: Every check has 2 to this power of buckets, from 4 to 20.
        checks: From 1 to 8.
        key: Of the hash functions: public, and chosen before texts are.
    """

    # Digests of questions hold the names of these fields (see `meaning`): they stay.
    bits: int
    level_bits: int
    levels: int
    check_bits: int
    checks: int
    key: int = 0

    def __post_init__(self) -> None:
        for name in ("level_bits", "check_bits"):
            whole_number(
                getattr(self, name),
                "bits of a bucket",
                least=LEAST_BUCKET_BITS,
                most=MOST_BUCKET_BITS,
            )
        whole_number(self.levels, "levels", least=2, most=MOST_LEVELS)
        whole_number(self.checks, "checks", least=1, most=MOST_CHECKS)
        whole_number(self.key, "as the key", least=0, most=2**63)
        whole_number(self.bits, "bits", least=self.level_bits + 1, most=MOST_BITS)
        steps = np.diff(self.widths)
        if steps.min() < 1 or steps.max() > _MOST_STEP:
            raise InvalidInputError(
                f"Expected levels of 1 to {_MOST_STEP} bits more than the last one: "
                f"{self.levels} levels do not fit {self.bits} bits."
            )

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of the prefixes of each layer, ascending."""
        added_bits, steps = self.bits - self.level_bits, self.levels - 1
        return tuple(
            self.level_bits + round(added_bits * layer / steps)
            for layer in range(steps + 1)
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Buckets of all layers, and of all checks."""
        return (2**self.level_bits,) * self.levels + (2**self.check_bits,) * self.checks

    def prefixes(self, codes: Codes, layer: int) -> Codes:
        """Returns prefixes of whole codes on a layer, from 0."""
        return codes >> np.uint64(self.bits - self.widths[layer])

    def layer_buckets(self, prefixes: Codes, layer: int) -> Ints:
        """Returns the bucket of each prefix of a layer, shape as `prefixes`."""
        if layer == 0:
            return prefixes.astype(np.int64)
        return hashed_buckets(prefixes, self._function(layer), self.level_bits)

    def check_buckets(self, codes: Codes, check: int) -> Ints:
        """Returns the bucket of each whole code in a check, shape as `codes`."""
        function = self._function(self.levels + check)
        return hashed_buckets(codes, function, self.check_bits)

    def buckets(self, codes: Codes) -> Ints:
        """Returns the buckets of whole codes, shape (n, layers + checks)."""
        columns = [
            self.layer_buckets(self.prefixes(codes, layer), layer)
            for layer in range(self.levels)
        ]
        columns += [self.check_buckets(codes, check) for check in range(self.checks)]
        return np.stack(columns, axis=1)

    def _function(self, group: int) -> str:
        return f"{self.key}/{group}"
