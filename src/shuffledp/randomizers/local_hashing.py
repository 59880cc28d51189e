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

import math
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import check_integers_below
from shuffledp.errors import InvalidInputError
from shuffledp.parameter import Parameter
from shuffledp.randomizers.checks import categories_and_budgets, whole_number
from shuffledp.randomizers.drawn_counts import draw_multinomials
from shuffledp.randomizers.drawn_hashes import functions_of, supported
from shuffledp.randomizers.mechanism_setting import setting_metadata
from shuffledp.randomizers.planned_oracle import geometric_sizes
from shuffledp.randomizers.set_response import Overlaps, SetResponse
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

_MOST_CATEGORIES = 2**31
_MOST_BUCKETS = 1_000_003
_MOST_PLANNED_BUCKETS = 1000
# Steps of counting hash functions one by one.
_MOST_STEPS = 10**8


@dataclass(frozen=True, slots=True)
class LocalHashing(SetResponse):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.LocalHashing(num_categories=9, num_buckets=3)
    >>> rng = np.random.default_rng(1)
    >>> messages = device.randomize(np.array([7, 7]), np.full(2, 8.0), rng=rng)
    >>> messages.tolist()  # digits of a function, and the bucket it puts the value in
    [[1, 2, 0, 2], [1, 2, 0, 2]]

    Attributes:
        num_categories: k, how many values there are; at least 2.
        num_buckets: g, a prime number; near e^eps + 1 has the smallest error.
    """

    # Of every level: people of several levels may share a call of `randomize`.
    draws_alike: ClassVar[bool] = True

    num_categories: int
    num_buckets: int = field(
        metadata=setting_metadata(
            Parameter(
                "buckets",
                "whole number",
                "Hash buckets, a prime",
                least=2,
                most=1000,
                default=5,
            )
        )
    )

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
    def plan_name(self) -> str:
        """See `PlannedOracle`."""
        return f"{self.mechanism}, {self.num_buckets} buckets"

    @classmethod
    def families(cls, num_categories: int) -> list[list[Self]]:
        """See `PlannedOracle`."""
        sizes = geometric_sizes(2, min(num_categories, _MOST_PLANNED_BUCKETS))
        # Hash functions need a prime number of buckets.
        primes = sorted({_prime_from(size) for size in sizes})
        return [[cls(num_categories, prime) for prime in primes]]

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "categories": int(self.num_categories),
            "buckets": int(self.num_buckets),
        }

    @property
    def overlaps(self) -> Overlaps:
        """Probabilities over the hash function and a uniform bucket."""
        g = int(self.num_buckets)
        third = None
        if self.num_categories > 2:
            # Values 0, 1, 2 are on a line, except for g = 2, where no three values are.
            third = 0.125 if g == 2 else 0.0
        return Overlaps(1.0 / g, 1.0 / g**2, third)

    @property
    def num_digits(self) -> int:
        """t: digits in base g that tell all values apart."""
        digits = 1
        while self.num_buckets**digits < self.num_categories:
            digits += 1
        return digits

    @property
    def message_type(self) -> np.dtype[np.unsignedinteger]:
        """The smallest unsigned integer type that holds every bucket."""
        return np.min_scalar_type(self.num_buckets - 1)

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws one hash function and bucket per person, in the order of `values`.

        Args:
            values: Integers in [0, k), shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            a_1, ..., a_t, b and the bucket, shape (n, t + 2), of type `message_type`.

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        g = int(self.num_buckets)
        values, epsilons = categories_and_budgets(
            values, epsilons, num_categories=self.num_categories, rng=rng
        )
        width = self.num_digits + 2
        messages = np.empty((values.size, width), dtype=self.message_type)
        for people in batches(values.size):
            stream, unhashed = stream_of(rng, people), values[people].astype(np.int64)
            hashes = np.zeros_like(unhashed)
            for column in range(width - 1):
                drawn = stream.integers(0, g, size=unhashed.size)
                messages[people, column] = drawn
                # The last of these is b, which belongs to no digit.
                hashes += drawn * (unhashed % g) if column < width - 2 else drawn
                unhashed //= g
            uniform = stream.integers(0, g, size=unhashed.size)
            ignores_value = self.ignores_value(epsilons[people], rng=stream)
            messages[people, -1] = np.where(ignores_value, uniform, hashes % g)
        return messages

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are in [0, g), shape (n, t + 2)."""
        check_integers_below(
            messages, self.num_buckets, what="messages", width=self.num_digits + 2
        )

    def support_counts(
        self, messages: Ints, groups: Ints | None, num_groups: int
    ) -> Ints:
        """Counts the messages of each group whose function hashes a category to the bucket.

        This hashes every category with every function: n k steps.

        Args:
            messages: From `randomize`, shape (n, t + 2).
            groups: Each message's group, shape (n,); None if there is one only.
            num_groups: How many groups there are.

        Returns:
            Shape (num_groups, k).
        """
        counts = np.zeros((self.num_categories, num_groups), dtype=np.int64)
        order = None if groups is None else np.argsort(groups, kind="stable")
        # Small batches: their arrays stay in the processor's cache.
        for people in batches(len(messages), width=8):
            if groups is None or order is None:
                rows, starts, present = messages[people], np.array([0]), np.array([0])
            else:
                rows = messages[order[people]]
                present, starts = np.unique(groups[order[people]], return_index=True)
            steps, unhashed = self._steps(rows)
            for category in range(self.num_categories):
                if category:
                    # A digit that falls from g - 1 to 0 adds -(g - 1) a, which is a.
                    carried = _trailing_zeros(category, self.num_buckets)
                    unhashed += steps[carried]
                    # 2 g fits; what is below g becomes huge, and stays as it is.
                    np.minimum(
                        unhashed, unhashed - np.uint32(self.num_buckets), out=unhashed
                    )
                hits = unhashed == 0
                if groups is None:
                    counts[category, 0] += np.count_nonzero(hits)
                else:
                    sums = np.add.reduceat(hits, starts, dtype=np.int64)
                    counts[category, present] += sums
        return counts.T

    def draw_support_counts(
        self, holders: Ints, epsilons: Floats, *, rng: np.random.Generator
    ) -> Ints:
        """Draws the support counts of a population, without any people.

        Args:
            holders: How many people of each level hold each value, shape (levels, k).
            epsilons: Local budgets in nats, shape (levels,).
            rng: A simulation's.

        Returns:
            Shape (levels, k).

        Raises:
            InvalidInputError: If shapes differ, a count or a budget is out of range, or
                there are too many hash functions to count messages by.
        """
        k, g, digits = int(self.num_categories), int(self.num_buckets), self.num_digits
        ignoring, keeping = self.draw_ignoring(
            holders, epsilons, num_categories=k, rng=rng
        )
        if len(keeping) * g ** (digits + 2) > _MOST_STEPS:
            raise InvalidInputError(
                f"Expected at most {_MOST_STEPS:,} as the number of levels times {g} to "
                f"the power of {digits + 2}: it would take too long to count messages by "
                f"hash function; got {len(keeping)} levels."
            )
        values = np.zeros((len(keeping), g**digits), dtype=np.int64)
        values[:, :k] = keeping
        functions = functions_of(values, g, digits, rng=rng)
        anything = draw_multinomials(ignoring, np.ones(g ** (digits + 1)), rng=rng)
        functions += anything.reshape(functions.shape)
        return supported(functions, g, digits)[:, :k]

    def _steps(self, rows: Ints) -> tuple[list[NDArray[np.uint32]], NDArray[np.uint32]]:
        """Returns the steps of h(v) - bucket as v goes up by one, and its value at 0."""
        g = int(self.num_buckets)
        # A step that carries i - 1 digits, g - 1 to 0, changes the hash by a_1 + ... + a_i
        # modulo g.
        sums = np.cumsum(rows[:, : self.num_digits].T, axis=0, dtype=np.int64) % g
        start = (rows[:, -2].astype(np.int64) - rows[:, -1]) % g
        return [step.astype(np.uint32) for step in sums], start.astype(np.uint32)

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
        del epsilons
        return (self.num_digits + 2) * math.log2(self.num_buckets)


def _trailing_zeros(number: int, base: int) -> int:
    count = 0
    while number % base == 0:
        number //= base
        count += 1
    return count


def _prime_from(minimum: int) -> int:
    prime = minimum
    while any(prime % divisor == 0 for divisor in range(2, math.isqrt(prime) + 1)):
        prime += 1
    return prime
