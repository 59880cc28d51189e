"""The ways in which a device is asked for messages, to compare them with independent ones.

* Single people.
* Small batches that hold two values, or come in order, or are mixed; their first and last
  people; each person's message against the values of the people before and after.
* Batches of one value at one level: sums must vary as much as those of independent draws,
  no more (shared draws) and no less (quotas); so must each place in a batch.
* One large mixed batch: neighbors, and all pairs of bits.
* Two generators, for which messages must differ as independent ones do; one generator
  twice; one seed twice, for which they must be the same.

All of it is hundreds of calls. What comes after more calls than that, at a certain time, or
for a certain combination of values is not seen, nor is a coin that comes back many
messages later.
"""

from collections.abc import Iterator

import numpy as np

from shuffledp.randomness import Rng
from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.testing.message_sender import MessageSender, held_evenly
from shuffledp.testing.tail_probabilities import (
    DrawComparison,
    chi_square_tails,
    sum_tail,
)
from shuffledp.testing.uniform_ranks import BOUND, NUM_FEATURES, UniformRanks
from shuffledp.types import Floats, Ints

# Calls about one person; with small batches; with batches of one value, and their size.
_SINGLE, _SMALL, _SAME, _SAME_SIZE = 240, 240, 600, 24
_MOST_SMALL = 20
# Entries of the large batch, and of those for two generators.
_LARGE, _TWICE = 60_000, 6_000
_LEAST_PEOPLE = 200
# So many columns are compared with each other.
_MOST_COLUMNS = 256


class ForeignMessageError(Exception):
    """A message that is not in the stated law."""


class BatchQueries:
    """Asks one device for messages in all these ways.

    Attributes:
        calls: How often it was asked.
    """

    def __init__(
        self, subject: DistributionTable, rng: Rng, own: np.random.Generator
    ) -> None:
        """Asks nothing yet.

        Args:
            subject: What is checked.
            rng: Given to the device.
            own: Chooses what is asked, and breaks ties.
        """
        self.sender, self.ranks = MessageSender.of(subject), UniformRanks(subject)
        self.rng, self.own = rng, own
        self.num_levels, self.calls = len(subject.levels), 0

    def comparisons(self) -> Iterator[DrawComparison]:
        """Makes all comparisons.

        Raises:
            ForeignMessageError: If the device sends what is not in its law.
        """
        yield from self._single_people()
        yield from self._small_batches()
        yield from self._one_value()
        yield from self._large_batch()
        yield from self._generators()

    def _send(self, held: Ints, levels: Ints, rng: Rng | None = None) -> Ints:
        self.calls += 1
        places = self.sender.send(held, levels, rng=rng or self.rng)
        if places.min() < 0:
            raise ForeignMessageError
        return places

    def _features(self, held: Ints, levels: Ints, places: Ints) -> Floats:
        rows = self.sender.rows(held)
        return self.ranks.features(places, rows, levels, rng=self.own)

    def _single_people(self) -> Iterator[DrawComparison]:
        held = held_evenly(_SINGLE, self.sender.num_held, rng=self.own)
        levels = self.own.integers(self.num_levels, size=_SINGLE)
        places = np.concatenate(
            [
                self._send(held[one : one + 1], levels[one : one + 1])
                for one in range(_SINGLE)
            ]
        )
        numbers = self._features(held, levels, places)
        yield from _means(numbers, "messages of single people are not of the law")
        for value in range(min(self.sender.num_held, _SINGLE)):
            about = f"messages of single people with value number {value} are not of it"
            yield from _means(numbers[held == value], about)

    def _small_batches(self) -> Iterator[DrawComparison]:
        """Compares batches of several values."""
        kinds = ("of two values", "in ascending order", "in descending order", "mixed")
        parts: dict[str, list[Floats]] = {kind: [] for kind in kinds}
        ends: dict[str, list[Floats]] = {"first": [], "last": []}
        neighbors: dict[str, list[Floats]] = {"before": [], "after": []}
        k = self.sender.num_held
        for number in range(_SMALL):
            kind = kinds[number % len(kinds)]
            size = 2 + int(self.own.integers(_MOST_SMALL - 1))
            held = self.own.integers(k, size=size)
            if kind == "of two values":
                pair = self.own.choice(k, size=2, replace=False)
                held = pair[held_evenly(size, 2, rng=self.own)]
            elif kind == "in ascending order":
                held = np.sort(held)
            elif kind == "in descending order":
                held = np.sort(held)[::-1].copy()
            # Half of the batches have one level.
            levels = self.own.integers(self.num_levels, size=size)
            levels = levels if number % 8 < 4 else np.full(size, levels[0])
            places = self._send(held, levels)
            numbers = self._features(held, levels, places)
            parts[kind].append(numbers)
            ends["first"].append(numbers[:1])
            ends["last"].append(numbers[-1:])
            for side, part in self._about_neighbors(held, levels, places):
                neighbors[side].append(part)
        for kind, found in parts.items():
            about = f"messages of small batches {kind} are not of the stated law"
            yield from _means(np.concatenate(found), about)
        for end, found in ends.items():
            about = f"messages of the {end} person of a batch are not of the stated law"
            yield from _means(np.concatenate(found), about)
        for side, found in neighbors.items():
            yield _told(np.concatenate(found), side)

    def _one_value(self) -> Iterator[DrawComparison]:
        """Compares how sums over batches, and over places, vary."""
        k = self.sender.num_held
        values = held_evenly(_SAME, k, rng=self.own)
        levels = self.own.integers(self.num_levels, size=_SAME)
        parts, told = [], []
        for value, level in zip(values.tolist(), levels.tolist(), strict=True):
            held, level_of = np.full(_SAME_SIZE, value), np.full(_SAME_SIZE, level)
            places = self._send(held, level_of)
            parts.append(self._features(held, level_of, places))
            told.append(
                self.ranks.standard_leaks(
                    places, self.sender.rows(held), level_of, rng=self.own
                )
            )
        # Shape (batches, people, width, features).
        numbers = np.array(parts)
        flat = numbers.reshape(-1, *numbers.shape[2:])
        yield from _means(flat, "messages of batches of one value are not of the law")
        for part in (np.array(told), *np.moveaxis(numbers, 3, 0)):
            sums = part.sum(axis=1) / _SAME_SIZE**0.5
            low, high = chi_square_tails(float(np.sum(sums**2)), float(sums.size))
            yield DrawComparison(low, "sums over a batch vary too little")
            yield DrawComparison(high, "sums over a batch vary too much")
            by_place = part.sum(axis=0) / _SAME**0.5
            square = float(np.sum(by_place**2))
            _, high = chi_square_tails(square, float(by_place.size))
            yield DrawComparison(high, "messages depend on the place in a batch")
            for lag in (1, 2, _SAME_SIZE // 2):
                yield _together(
                    part[:, :-lag],
                    part[:, lag:],
                    f"depend on those {lag} people before",
                )
            half = _SAME_SIZE // 2
            yield _together(
                part[:, :half],
                part[:, ::-1][:, :half],
                "depend on those as far from the other end",
            )

    def _large_batch(self) -> Iterator[DrawComparison]:
        size = max(_LARGE // self.sender.width, _LEAST_PEOPLE)
        held = held_evenly(size, self.sender.num_held, rng=self.own)
        levels = self.own.integers(self.num_levels, size=size)
        places = self._send(held, levels)
        numbers = self._features(held, levels, places)
        yield from _means(numbers, "messages of a large batch are not of the law")
        for feature in range(NUM_FEATURES):
            part = numbers[..., feature]
            for lag in (1, 2, 3, size // 2):
                yield _together(
                    part[:-lag], part[lag:], f"depend on those {lag} people before"
                )
            half = size // 2
            yield _together(
                part[:half],
                part[::-1][:half],
                "depend on those as far from the other end",
            )
            yield from self._pairs_of_bits(part)
        for side, found in self._about_neighbors(held, levels, places):
            yield _told(found, side)

    def _pairs_of_bits(self, numbers: Floats) -> Iterator[DrawComparison]:
        size, width = numbers.shape
        if width == 1:
            return
        if width > _MOST_COLUMNS:
            columns = self.own.choice(width, size=_MOST_COLUMNS, replace=False)
            numbers = numbers[:, np.sort(columns)]
        products = numbers.T @ numbers
        first, second = np.triu_indices(products.shape[0], 1)
        sums = products[first, second]
        worst = int(np.argmax(np.abs(sums)))
        chance = sum_tail(float(sums[worst]), float(size), BOUND**2) * sums.size
        yield DrawComparison(
            min(chance, 1.0), "two bits of a report depend on each other"
        )

    def _generators(self) -> Iterator[DrawComparison]:
        """Compares calls about the same people with one generator, and with two."""
        size = max(_TWICE // self.sender.width, _LEAST_PEOPLE)
        held = held_evenly(size, self.sender.num_held, rng=self.own)
        levels = self.own.integers(self.num_levels, size=size)
        one, two = self.own.integers(0, 2**62, size=2).tolist()
        generator = np.random.default_rng(one)
        first = self._send(held, levels, generator)
        again = self._send(held, levels, generator)
        other = self._send(held, levels, np.random.default_rng(two))
        same = self._send(held, levels, np.random.default_rng(one))
        yield DrawComparison(
            float(np.array_equal(first, same)),
            "with one seed it sends two things: it draws from something but rng",
        )
        for places, what in (
            (again, "depend on those of the call before"),
            (other, "depend on those of another generator"),
        ):
            numbers = self._features(held, levels, first)
            others = self._features(held, levels, places)
            for feature in range(NUM_FEATURES):
                yield _together(numbers[..., feature], others[..., feature], what)

    def _about_neighbors(
        self, held: Ints, levels: Ints, places: Ints
    ) -> Iterator[tuple[str, Floats]]:
        """Yields how little messages speak for what neighbors hold, where that differs."""
        rows = self.sender.rows(held)
        for side, step in (("before", 1), ("after", -1)):
            about = np.roll(rows, step, axis=0)
            told = self.ranks.telling(places, rows, about, levels, rng=self.own)
            yield side, told[about != rows]


def _means(numbers: Floats, about: str) -> Iterator[DrawComparison]:
    """Compares sums of numbers, shape (..., features), with 0."""
    flat = numbers.reshape(-1, NUM_FEATURES)
    for total in flat.sum(axis=0).tolist():
        yield DrawComparison(sum_tail(total, float(len(flat)), BOUND), about)


def _together(one: Floats, other: Floats, what: str) -> DrawComparison:
    """Compares the sum of products of numbers with 0."""
    total = float(np.sum(one * other))
    return DrawComparison(
        sum_tail(total, float(one.size), BOUND**2), f"messages {what}"
    )


def _told(numbers: Floats, side: str) -> DrawComparison:
    chance = sum_tail(float(numbers.sum()), float(numbers.size), BOUND)
    return DrawComparison(chance, f"messages speak for the value of the person {side}")
