"""Unary encoding: one bit per value, each randomized and shuffled on its own.

A user who holds x_i in {0, ..., k-1} writes k bits, all 0 except number x_i, and
randomizes every bit independently. With `lost` the probability that the 1 is sent as 0,
and `stray` the probability that a 0 is sent as 1, two values differ in two bits, and

    eps = log((1 - lost) / stray) + log((1 - stray) / lost).

"symmetric" flips all bits alike, lost = stray = 1 / (e^{eps/2} + 1): basic RAPPOR.
"optimized" takes lost = 1/2 and stray = 1 / (e^eps + 1), which leaves frequencies of rare
values the least variance.

Sources: Erlingsson, Pihur, Korolova (2014), "RAPPOR: Randomized aggregatable
privacy-preserving ordinal response"; Wang, Blocki, Li, Jha (2017), "Locally differentially
private protocols for frequency estimation".
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import int_array, one_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomizers.bit_channel import (
    UPWARD,
    BitChannel,
    BitProbabilities,
    symmetric_flips,
)
from shuffledp.randomizers.bit_draws import bit_draws
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.drawn_counts import check_population
from shuffledp.randomness import Rng, check_rng, stream_of
from shuffledp.types import Floats, Ints

VARIANTS = ("symmetric", "optimized")

# Bits randomized at a time, to bound the memory of temporaries; no report has more.
_BATCH = 1 << 22
# A plan compares no longer reports: one bit per category.
_MOST_PLANNED_BITS = 10_000


@dataclass(frozen=True, slots=True)
class UnaryEncoding(BitChannel):
    """Public parameters only; values, levels and rng are arguments of `randomize`.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.UnaryEncoding(num_categories=4)
    >>> rng = np.random.default_rng(1)
    >>> device.randomize(np.array([0, 3]), np.full(2, 9.0), rng=rng).astype(int).tolist()
    [[1, 0, 0, 0], [0, 0, 0, 1]]

    Attributes:
        num_categories: k, how many values there are; at least 2.
        variant: "symmetric" or "optimized".
    """

    # Of every level: people of several levels may share a call of `randomize`.
    draws_alike: ClassVar[bool] = True

    num_categories: int
    variant: str = "symmetric"

    def __post_init__(self) -> None:
        whole_number(self.num_categories, "categories", least=2, most=_BATCH)
        if self.variant not in VARIANTS:
            raise InvalidInputError(
                f"Expected a variant, {' or '.join(VARIANTS)}, got {self.variant!r}."
            )

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "unary-encoding"

    @property
    def plan_name(self) -> str:
        """See `PlannedOracle`."""
        return f"{self.mechanism}, {self.variant}"

    @classmethod
    def families(cls, num_categories: int) -> list[list[Self]]:
        """See `PlannedOracle`."""
        return [[cls(num_categories, variant)] for variant in VARIANTS]

    @classmethod
    def left_out(cls, num_categories: int, *, for_targets: bool) -> str:
        """See `PlannedOracle`."""
        if num_categories > _MOST_PLANNED_BITS:
            return f"unary-encoding: {num_categories:,} bits per person."
        if for_targets:
            return (
                "unary-encoding: its levels for central targets take minutes to find, "
                "and subset selection does what it does with a smaller error."
            )
        return ""

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"categories": int(self.num_categories), "variant": self.variant}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """None beyond those of every collection of bits."""
        return ()

    @property
    def changes(self) -> int:
        """The bit of the old value and that of the new one."""
        return 2

    @property
    def has_third_value(self) -> bool:
        """With three categories or more."""
        return self.num_categories > 2

    def bits_per_person(self, epsilons: Floats) -> float:
        """Length of a report."""
        del epsilons
        return float(self.num_categories)

    def promised(self, epsilons: Floats) -> BitProbabilities:
        """Returns the flip probabilities a level allows, shape (levels,) each."""
        if self.variant == "symmetric":
            # Two values differ in two bits, each of which gets half of the budget.
            return symmetric_flips(epsilons / 2.0)
        stray = symmetric_flips(epsilons).stray
        # The gap 1/2 - 1 / (e^eps + 1) is tanh(eps / 2) / 2, without cancellation.
        return BitProbabilities(
            np.full_like(stray, 0.5), stray, np.tanh(epsilons / 2.0) / 2
        )

    def drawn(self, epsilons: Floats) -> BitProbabilities:
        """Returns the flip probabilities that `randomize` uses, rounded upward."""
        exact = self.promised(epsilons)
        # A device is slightly more private than `promised`, never less.
        stray = np.minimum(exact.stray * UPWARD, 0.5)
        lost = stray if self.variant == "symmetric" else exact.lost
        return BitProbabilities(lost, stray, (1.0 - lost) - stray)

    def densities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns the probabilities of a 1 for the value held, and for another.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).

        Returns:
            P(bit x is 1) and P(bit y is 1) for each single y != x, shape (levels,).
        """
        probabilities = self.drawn(np.asarray(epsilons, dtype=np.float64))
        return 1.0 - probabilities.lost, probabilities.stray

    def randomize(
        self, values: Ints, epsilons: Floats, *, rng: Rng
    ) -> NDArray[np.bool_]:
        """Draws one report per person, in the order of `values`.

        Args:
            values: Integers in [0, k), shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            Bits, shape (n, k).

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        k = self.num_categories
        check_rng(rng)
        values, epsilons = one_each(values, epsilons, what="values")
        if values.size and (values.min() < 0 or values.max() >= k):
            raise InvalidInputError(f"Expected values to be integers in [0, {k}).")
        check_budgets(epsilons)
        reports = np.zeros((values.size, k), dtype=np.bool_)
        reports[np.arange(values.size), values] = True
        size = _BATCH // k
        for start in range(0, values.size, size):
            people = slice(start, min(start + size, values.size))
            batch, probabilities = reports[people], self.drawn(epsilons[people])
            # The probability of a flip, not of a one: 1 - 1e-20 is not a number of its
            # own.
            batch ^= bit_draws(
                batch,
                of_one=probabilities.lost,
                of_zero=probabilities.stray,
                rng=stream_of(rng, people),
            )
        return reports

    def support_counts(
        self, messages: NDArray[Any], groups: Ints | None, num_groups: int
    ) -> Ints:
        """Returns how many reports of each group have a 1 for each value.

        Args:
            messages: Reports, shape (n, k).
            groups: Each report's group, in [0, num_groups), shape (n,); None if there
                is one group only.
            num_groups: How many groups there are.

        Returns:
            Counts, shape (num_groups, k).

        Raises:
            InvalidInputError: If these are not reports, or not one group for each.
        """
        reports = self.check_messages(messages)
        if groups is None:
            ones: Ints = reports.sum(axis=0, dtype=np.int64)
            return ones[None]
        group = int_array(groups, "groups")
        if group.size != reports.shape[0]:
            raise InvalidInputError("Expected one group for each report.")
        if group.size and not (group.min() >= 0 and group.max() < num_groups):
            raise InvalidInputError(f"Expected groups in [0, {num_groups}).")
        counts = np.zeros((num_groups, self.num_categories), dtype=np.int64)
        order = np.argsort(group, kind="stable")
        present, starts = np.unique(group[order], return_index=True)
        # NumPy sums runs of rows that belong together, none of which may be empty.
        if present.size:
            counts[present] = np.add.reduceat(
                reports[order], starts, axis=0, dtype=np.int64
            )
        return counts

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
            InvalidInputError: If shapes differ, or a count or a budget is out of range.
        """
        people, epsilons = check_population(
            holders, epsilons, num_values=self.num_categories, rng=rng
        )
        probabilities = self.drawn(epsilons)
        lost = rng.binomial(people, probabilities.lost[:, None])
        others = people.sum(axis=1, keepdims=True) - people
        # Given all users' values, the bits of a report are independent.
        return people - lost + rng.binomial(others, probabilities.stray[:, None])

    def check_messages(self, messages: Any) -> NDArray[np.bool_]:
        """Returns reports as bits.

        Raises:
            InvalidInputError: Unless there are k bits, 0 or 1, in every report.
        """
        expected = f"Expected reports of {self.num_categories} bits each, 0 or 1."
        try:
            array = np.asarray(messages)
        except (TypeError, ValueError, OverflowError):
            # NumPy's own message may quote what people wrote.
            raise InvalidInputError(expected) from None
        if array.ndim != 2 or array.shape[1] != self.num_categories:
            raise InvalidInputError(expected)
        if array.dtype.kind not in "biu" or not np.all((array == 0) | (array == 1)):
            raise InvalidInputError(expected)
        bits: NDArray[np.bool_] = array.astype(np.bool_, copy=False)
        return bits
