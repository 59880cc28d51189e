"""Queries to a device whose messages are compared with independent ones.

* Single users.
* Small batches that hold two values, are sorted, or are mixed; their first and last users;
  each user's message against the values of the users before and after.
* Batches of one value at one level: sums, and each position in a batch, must vary as much
  as those of independent draws.
* One large mixed batch: neighbors, and all pairs of bits.
* Two generators, for which messages must differ as independent ones do; one generator
  twice; one seed twice, for which they must be the same.

These are a few hundred calls. Dependence that starts after more calls, at a certain time,
or for a certain combination of values is not detected, nor is a random bit that is reused
many messages later.
"""

from collections.abc import Iterator

import numpy as np

from shuffledp.randomness import Rng
from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.testing.message_sender import MessageSender, balanced_values
from shuffledp.testing.tail_probabilities import (
    DrawComparison,
    chi_square_tails,
    compare_products,
    sum_tail,
)
from shuffledp.testing.uniform_ranks import (
    BOUND,
    LEAK_BOUND,
    NUM_FEATURES,
    UniformRanks,
)
from shuffledp.types import Floats, Ints

# Numbers of calls about one user, with small batches, and with batches of one value, and
# the size of the latter.
_SINGLE, _SMALL, _SAME, _SAME_SIZE = 240, 240, 600, 24
_MAX_SMALL = 20
# Entries of the large batch, and of those for two generators.
_LARGE, _TWICE = 60_000, 6_000
_MIN_USERS = 200
# All pairs of a random sample of this many columns are compared.
_MAX_COLUMNS = 256
_DEVIATE = "are not of the stated distribution"


class ForeignMessageError(Exception):
    """Raised for a message outside the support of the stated distribution."""


class BatchQueries:
    """Queries to one device.

    Attributes:
        calls: Number of calls so far.
    """

    def __init__(
        self, distributions: DistributionTable, rng: Rng, query_rng: np.random.Generator
    ) -> None:
        """Prepares the queries without a call to the device.

        Args:
            distributions: Exact distributions of the device under test.
            rng: Given to the device.
            query_rng: Chooses the queries, and breaks ties.
        """
        self.sender, self.ranks = (
            MessageSender.of(distributions),
            UniformRanks(distributions),
        )
        self.rng, self.query_rng = rng, query_rng
        self.num_levels, self.calls = len(distributions.levels), 0

    def comparisons(self) -> Iterator[DrawComparison]:
        """Yields all comparisons.

        Raises:
            ForeignMessageError: If a message is outside the support of its distribution.
        """
        yield from self._single_users()
        yield from self._small_batches()
        yield from self._one_value()
        yield from self._large_batch()
        yield from self._generators()

    def _send(self, values: Ints, levels: Ints, rng: Rng | None = None) -> Ints:
        self.calls += 1
        indices = self.sender.send(values, levels, rng=rng or self.rng)
        if indices.min() < 0:
            raise ForeignMessageError
        return indices

    def _features(self, values: Ints, levels: Ints, indices: Ints) -> Floats:
        rows = self.sender.rows(values)
        return self.ranks.features(indices, rows, levels, rng=self.query_rng)

    def _single_users(self) -> Iterator[DrawComparison]:
        values = balanced_values(_SINGLE, self.sender.num_values, rng=self.query_rng)
        levels = self.query_rng.integers(self.num_levels, size=_SINGLE)
        # One call each: a device may send values in clear if a batch has one user.
        indices = np.concatenate(
            [
                self._send(values[user : user + 1], levels[user : user + 1])
                for user in range(_SINGLE)
            ]
        )
        features = self._features(values, levels, indices)
        yield from _zero_means(features, f"messages of single people {_DEVIATE}")
        for value in range(min(self.sender.num_values, _SINGLE)):
            defect = (
                f"messages of single people with value number {value} are not of it"
            )
            yield from _zero_means(features[values == value], defect)

    def _small_batches(self) -> Iterator[DrawComparison]:
        """Compares small batches of several values with independent messages."""
        kinds = ("of two values", "in ascending order", "in descending order", "mixed")
        by_kind: dict[str, list[Floats]] = {kind: [] for kind in kinds}
        ends: dict[str, list[Floats]] = {"first": [], "last": []}
        neighbors: dict[str, list[Floats]] = {"before": [], "after": []}
        k = self.sender.num_values
        for number in range(_SMALL):
            kind = kinds[number % len(kinds)]
            size = 2 + int(self.query_rng.integers(_MAX_SMALL - 1))
            values = self.query_rng.integers(k, size=size)
            if kind == "of two values":
                pair = self.query_rng.choice(k, size=2, replace=False)
                values = pair[balanced_values(size, 2, rng=self.query_rng)]
            elif kind == "in ascending order":
                values = np.sort(values)
            elif kind == "in descending order":
                values = np.sort(values)[::-1].copy()
            # Half of the batches of each kind have one level, the other half mixed levels.
            levels = self.query_rng.integers(self.num_levels, size=size)
            levels = levels if number % 8 < 4 else np.full(size, levels[0])
            indices = self._send(values, levels)
            features = self._features(values, levels, indices)
            by_kind[kind].append(features)
            ends["first"].append(features[:1])
            ends["last"].append(features[-1:])
            for side, part in self._neighbor_leaks(values, levels, indices):
                neighbors[side].append(part)
        for kind, parts in by_kind.items():
            defect = f"messages of small batches {kind} {_DEVIATE}"
            yield from _zero_means(np.concatenate(parts), defect)
        for end, parts in ends.items():
            defect = f"messages of the {end} person of a batch {_DEVIATE}"
            yield from _zero_means(np.concatenate(parts), defect)
        for side, parts in neighbors.items():
            yield _leaks_to_neighbors(np.concatenate(parts), side)

    def _one_value(self) -> Iterator[DrawComparison]:
        """Compares the variance of sums over batches, and over positions."""
        k = self.sender.num_values
        values = balanced_values(_SAME, k, rng=self.query_rng)
        levels = self.query_rng.integers(self.num_levels, size=_SAME)
        parts, leaks = [], []
        for value, level in zip(values.tolist(), levels.tolist(), strict=True):
            batch, same_level = np.full(_SAME_SIZE, value), np.full(_SAME_SIZE, level)
            indices = self._send(batch, same_level)
            parts.append(self._features(batch, same_level, indices))
            leaks.append(
                self.ranks.standard_leaks(
                    indices, self.sender.rows(batch), same_level, rng=self.query_rng
                )
            )
        # Shape (batches, users, width, features).
        features = np.array(parts)
        yield from _zero_means(features, f"messages of batches of one value {_DEVIATE}")
        terms = [(np.array(leaks), LEAK_BOUND)]
        terms += [(feature, BOUND) for feature in np.moveaxis(features, 3, 0)]
        for part, bound in terms:
            sums = part.sum(axis=1) / _SAME_SIZE**0.5
            # Quotas reduce the variance of sums, shared draws increase it.
            low, high = chi_square_tails(float(np.sum(sums**2)), float(sums.size))
            yield DrawComparison(low, "sums over a batch vary too little")
            yield DrawComparison(high, "sums over a batch vary too much")
            by_position = part.sum(axis=0) / _SAME**0.5
            square = float(np.sum(by_position**2))
            _, high = chi_square_tails(square, float(by_position.size))
            yield DrawComparison(high, "messages depend on the place in a batch")
            for lag in (1, 2, _SAME_SIZE // 2):
                yield compare_products(
                    part[:, :-lag],
                    part[:, lag:],
                    f"depend on those {lag} people before",
                    bound=bound,
                )
            half = _SAME_SIZE // 2
            yield compare_products(
                part[:, :half],
                part[:, ::-1][:, :half],
                "depend on those as far from the other end",
                bound=bound,
            )

    def _large_batch(self) -> Iterator[DrawComparison]:
        size = max(_LARGE // self.sender.width, _MIN_USERS)
        values = balanced_values(size, self.sender.num_values, rng=self.query_rng)
        levels = self.query_rng.integers(self.num_levels, size=size)
        indices = self._send(values, levels)
        features = self._features(values, levels, indices)
        yield from _zero_means(features, f"messages of a large batch {_DEVIATE}")
        for feature in range(NUM_FEATURES):
            part = features[..., feature]
            for lag in (1, 2, 3, size // 2):
                yield compare_products(
                    part[:-lag],
                    part[lag:],
                    f"depend on those {lag} people before",
                    bound=BOUND,
                )
            half = size // 2
            yield compare_products(
                part[:half],
                part[::-1][:half],
                "depend on those as far from the other end",
                bound=BOUND,
            )
            yield from self._pairs_of_bits(part)
        for side, parts in self._neighbor_leaks(values, levels, indices):
            yield _leaks_to_neighbors(parts, side)

    def _pairs_of_bits(self, features: Floats) -> Iterator[DrawComparison]:
        size, width = features.shape
        if width == 1:
            return
        if width > _MAX_COLUMNS:
            columns = self.query_rng.choice(width, size=_MAX_COLUMNS, replace=False)
            features = features[:, np.sort(columns)]
        products = features.T @ features
        sums = np.abs(products[np.triu_indices(products.shape[0], 1)])
        # The union bound over pairs of columns.
        p_value = sum_tail(float(sums.max()), float(size), BOUND**2) * sums.size
        yield DrawComparison(
            min(p_value, 1.0), "two bits of a report depend on each other"
        )

    def _generators(self) -> Iterator[DrawComparison]:
        """Compares calls about the same users with one generator, and with two."""
        size = max(_TWICE // self.sender.width, _MIN_USERS)
        values = balanced_values(size, self.sender.num_values, rng=self.query_rng)
        levels = self.query_rng.integers(self.num_levels, size=size)
        seed, other_seed = self.query_rng.integers(0, 2**62, size=2).tolist()
        generator = np.random.default_rng(seed)
        first = self._send(values, levels, generator)
        # The generator has moved on, so that these messages must be fresh.
        again = self._send(values, levels, generator)
        second = self._send(values, levels, np.random.default_rng(other_seed))
        same = self._send(values, levels, np.random.default_rng(seed))
        yield DrawComparison(
            # As a p-value: 0 if one seed sends other messages, an impossible event.
            float(np.array_equal(first, same)),
            "with one seed it sends two things: it draws from something but rng",
        )
        for indices, defect in (
            (again, "depend on those of the call before"),
            (second, "depend on those of another generator"),
        ):
            features = self._features(values, levels, first)
            others = self._features(values, levels, indices)
            for feature in range(NUM_FEATURES):
                yield compare_products(
                    features[..., feature],
                    others[..., feature],
                    defect,
                    bound=BOUND,
                )

    def _neighbor_leaks(
        self, values: Ints, levels: Ints, indices: Ints
    ) -> Iterator[tuple[str, Floats]]:
        """Yields uniform scores of messages as evidence of a neighbor's different value."""
        rows = self.sender.rows(values)
        for side, step in (("before", 1), ("after", -1)):
            defect = np.roll(rows, step, axis=0)
            leaks = self.ranks.evidence(
                indices, rows, defect, levels, rng=self.query_rng
            )
            yield side, leaks[defect != rows]


def _zero_means(features: Floats, defect: str) -> Iterator[DrawComparison]:
    """Compares sums of features, shape (..., features), with 0."""
    flat = features.reshape(-1, NUM_FEATURES)
    for total in flat.sum(axis=0).tolist():
        # Features have variance 1, so that their number is the variance of the sum.
        yield DrawComparison(sum_tail(total, float(len(flat)), BOUND), defect)


def _leaks_to_neighbors(features: Floats, side: str) -> DrawComparison:
    p_value = sum_tail(float(features.sum()), float(features.size), BOUND)
    return DrawComparison(p_value, f"messages speak for the value of the person {side}")
