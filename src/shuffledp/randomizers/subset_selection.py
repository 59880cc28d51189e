"""Subset selection: the message is a set of w of the k categories.

Sets that contain the person's value are e^eps times as likely as others. With w = 1 it is
k-ary response; a w near k / (e^eps + 1) has the smallest error.

Sources: Wang et al. (2016), "Mutual information optimally local private discrete
distribution estimation", arXiv:1607.08025; Ye, Barg (2018), "Optimal schemes for discrete
distribution estimation under locally differential privacy".
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from shuffledp.arrays import check_integers_below
from shuffledp.errors import InvalidInputError
from shuffledp.parameter import Parameter
from shuffledp.randomizers.checks import categories_and_budgets, whole_number
from shuffledp.randomizers.mechanism_setting import setting_metadata
from shuffledp.randomizers.message_code import SubsetCode
from shuffledp.randomizers.planned_oracle import geometric_sizes
from shuffledp.randomizers.set_response import Overlaps, SetResponse
from shuffledp.randomizers.subsets import contained, looked_at, uniform_subsets
from shuffledp.randomizers.tally import batches, tally
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

_MOST = 2**31
_MOST_DRAWS = 2 * 10**8


@dataclass(frozen=True, slots=True)
class SubsetSelection(SetResponse):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.SubsetSelection(num_categories=6, subset_size=2)
    >>> rng = np.random.default_rng(1)
    >>> device.randomize(np.array([0, 5]), np.full(2, 8.0), rng=rng).tolist()
    [[0, 1], [0, 5]]

    Attributes:
        num_categories: k, how many values there are; at least 2.
        subset_size: w, from 1 to k - 1; the same at every level, so that all messages
            look alike.
    """

    # Of every level: people of several levels may share a call of `randomize`.
    draws_alike: ClassVar[bool] = True

    num_categories: int
    subset_size: int = field(
        metadata=setting_metadata(
            Parameter(
                "subset_size",
                "whole number",
                "Categories per message",
                least=1,
                most=9_999,
                default=4,
            ),
            below="categories",
        )
    )

    def __post_init__(self) -> None:
        whole_number(self.num_categories, "categories", least=2, most=_MOST)
        max_size = self.num_categories - 1
        whole_number(self.subset_size, "categories per subset", least=1, most=max_size)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "subset-selection"

    @property
    def message_code(self) -> SubsetCode:
        """The subsets of this size."""
        return SubsetCode(self.num_categories, self.subset_size)

    @property
    def plan_name(self) -> str:
        """See `PlannedOracle`."""
        return f"{self.mechanism}, {self.subset_size} of {self.num_categories}"

    @classmethod
    def families(cls, num_categories: int) -> list[list[Self]]:
        """See `PlannedOracle`."""
        # Of larger subsets none has a smaller error.
        sizes = geometric_sizes(2, num_categories // 2)
        return [[cls(num_categories, size) for size in sizes]] if sizes else []

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "categories": int(self.num_categories),
            "subset_size": int(self.subset_size),
        }

    @property
    def supported(self) -> int:
        """A message supports the categories of its subset."""
        return int(self.subset_size)

    @property
    def overlaps(self) -> Overlaps:
        """Shares of the subsets that contain one, two or three given categories."""
        k, w = int(self.num_categories), int(self.subset_size)
        both = w * (w - 1) / (k * (k - 1))
        # A set with two given categories misses a third with probability (k - w) / (k -
        # 2).
        return Overlaps(w / k, both, both * (k - w) / (k - 2) if k > 2 else None)

    @property
    def message_type(self) -> np.dtype[np.unsignedinteger]:
        """The smallest unsigned integer type that holds every category."""
        return np.min_scalar_type(self.num_categories - 1)

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws one set per person, in the order of `values`.

        Args:
            values: Integers in [0, k), shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            The w categories of each set in ascending order, which tells nothing of how
            they were drawn, shape (n, w), of type `message_type`.

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        k, w = int(self.num_categories), int(self.subset_size)
        values, epsilons = categories_and_budgets(
            values, epsilons, num_categories=k, rng=rng
        )
        messages = np.empty((values.size, w), dtype=self.message_type)
        for people in batches(values.size, width=looked_at(w, k)):
            stream = stream_of(rng, people)
            ignores_value = self.ignores_value(epsilons[people], rng=stream)
            rows, anything = messages[people], np.flatnonzero(ignores_value)
            rows[ignores_value] = uniform_subsets(
                anything.size, w, k, rng=stream_of(stream, anything)
            )
            own_category = values[people][~ignores_value, None].astype(np.int64)
            own_stream = stream_of(stream, np.flatnonzero(~ignores_value))
            others = uniform_subsets(own_category.size, w - 1, k - 1, rng=own_stream)
            # The k - 1 others are numbered without a gap where the value was.
            rows[~ignores_value] = np.hstack(
                [own_category, others + (others >= own_category)]
            )
            # The order would show which category was put in first: the value.
            rows.sort(axis=1)
        return messages

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are sets in ascending order, (n, w)."""
        k, w = self.num_categories, self.subset_size
        check_integers_below(messages, k, what="messages", width=w)
        # One person counts once for a category.
        for column in range(1, w):
            if not np.all(messages[:, column - 1] < messages[:, column]):
                raise InvalidInputError(
                    "Expected messages to be sets in ascending order."
                )

    def support_counts(
        self, messages: Ints, groups: Ints | None, num_groups: int
    ) -> Ints:
        """Counts the sets of each group that contain each category.

        Args:
            messages: From `randomize`, shape (n, w).
            groups: Each message's group, shape (n,); None if there is one only.
            num_groups: How many groups there are.

        Returns:
            Shape (num_groups, k).
        """
        counts = np.zeros((num_groups, self.num_categories), dtype=np.int64)
        for column in messages.T:
            counts += tally(column, self.num_categories, groups, num_groups)
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
            InvalidInputError: If shapes differ, a count or a budget is out of range, or k
                and w are so large that it would take long.
        """
        k, w = int(self.num_categories), int(self.subset_size)
        ignoring, keeping = self.draw_ignoring(
            holders, epsilons, num_categories=k, rng=rng
        )
        if len(keeping) * k**2 * w > _MOST_DRAWS:
            raise InvalidInputError(
                f"Expected at most {_MOST_DRAWS:,} as the number of levels, times that of "
                "categories squared, times that of categories per subset: more would take "
                f"too long; got {len(keeping)}, {k} and {w}."
            )
        return contained(ignoring, keeping, w, rng=rng)

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
        del epsilons
        k, w = self.num_categories, self.subset_size
        # log C(k, w); the number itself may be larger than any double.
        ways = math.lgamma(k + 1) - math.lgamma(w + 1) - math.lgamma(k - w + 1)
        return ways / math.log(2.0)
