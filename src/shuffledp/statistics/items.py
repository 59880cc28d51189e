"""Which items people hold: a set each, at privacy levels that the analyst never sees.

Everybody sends each of her items with a probability that her level sets, and blanket
messages, uniform items that hide everybody's. All messages of all people are shuffled
together; levels come apart from them (`ItemsFramework`), as how many people chose each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.analyzer.items import ItemsChannel, ItemsEstimate
from shuffledp.analyzer.level_counts import LevelCounts
from shuffledp.arrays import as_number, float_array, int_array, level_array
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.population import Population
from shuffledp.randomizers.items import ItemsRandomizer, Noise, poisson_cap
from shuffledp.randomizers.items_counts import draw_counts, holders_by_level
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle_messages import MessageReports, ShuffledMessages
from shuffledp.types import Ints

# Chance that the cap cuts anybody's blanket messages, if no report size is given.
_CUT = 1e-12


@dataclass(frozen=True)
class Items:
    """Public parameters, a randomizer of sets, and unbiased shares of items.

    Attributes:
        num_items: d, at least 2; items are 0, ..., d - 1.
        set_size: s, from 1 to d: how many items everybody holds.
        levels: Privacy levels (central epsilons), strictly increasing.
        rates: Chance to send an item, of each level, in [0, 1].
        blanket: m >= 0, blanket messages per person in the mean.
        report_size: Messages per person, dummies included. By default s and as many as
            one person in 10^12 would send with Poisson noise, ceil(m) as published.
        noise: "poisson", where a set may hold fewer than s items (entries d are no
            items), or "bernoulli", as published.
    """

    num_items: int
    set_size: int
    levels: tuple[float, ...]
    rates: tuple[float, ...]
    blanket: float
    report_size: int | None = None
    noise: Noise = "poisson"

    def __post_init__(self) -> None:
        levels, rates = _numbers(self.levels, "levels"), _numbers(self.rates, "rates")
        if len(rates) != len(levels):
            raise InvalidInputError("Expected one sampling rate for each level.")
        # Checks the levels, too.
        counts = np.zeros(len(levels))
        counts[:1] = 1.0
        LevelCounts(np.array(levels), counts, None, 1)
        if not all(0.0 <= rate <= 1.0 for rate in rates):
            raise InvalidInputError("Expected sampling rates from 0 to 1.")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "rates", rates)
        _ = self.randomizer

    @property
    def randomizer(self) -> ItemsRandomizer:
        """What the devices run."""
        size = self.report_size
        if size is None:
            size = self.set_size + poisson_cap(self.blanket, _CUT, noise=self.noise)
        return ItemsRandomizer(
            self.num_items, self.set_size, self.blanket, size, self.noise
        )

    def level_indices(self, levels: ArrayLike) -> Ints:
        """Returns the position of each person's level, shape as `levels`.

        Raises:
            UnknownLevelError: If a level is not one of the protocol's.
        """
        asked, known = level_array(levels), np.array(self.levels)
        indices = np.minimum(np.searchsorted(known, asked), known.size - 1)
        if not np.array_equal(known[indices], asked):
            raise UnknownLevelError("Expected every level to be one of the protocol's.")
        return indices

    def randomize(self, sets: Ints, levels: ArrayLike, *, rng: Rng) -> MessageReports:
        """Runs on the devices: one report of constant size per person.

        Args:
            sets: What everybody holds, different items in each row, shape (n, s).
            levels: Each person's level, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            UnknownLevelError: If a level is not one of the protocol's.
            InvalidInputError: If shapes differ, items are out of range, or a set holds an
                item twice.
        """
        rates = np.array(self.rates)[self.level_indices(levels)]
        return MessageReports(self.randomizer.randomize(sets, rates, rng=rng))

    def count(self, shuffled: ShuffledMessages) -> NDArray[np.int64]:
        """Counts messages per item, dummies left out, shape (d,).

        Raises:
            InvalidInputError: If messages were not shuffled, or are not this protocol's.
        """
        if not isinstance(shuffled, ShuffledMessages):
            raise InvalidInputError(
                f"Expected ShuffledMessages, got {type(shuffled).__name__}: an analyst "
                "sees nothing that was not shuffled."
            )
        d, size, messages = (
            self.num_items,
            self.randomizer.report_size,
            shuffled.messages,
        )
        if shuffled.report_size != size:
            raise InvalidInputError(
                f"Expected reports of {size} messages, got {shuffled.report_size}."
            )
        if messages.min() < 0 or messages.max() > d:
            raise InvalidInputError(f"Expected messages in [0, {d}].")
        counts: NDArray[np.int64] = np.bincount(messages, minlength=d + 1)[:d]
        return counts

    def estimate(
        self, shuffled: ShuffledMessages, people: Population | LevelCounts
    ) -> ItemsEstimate:
        """Estimates the share of people who hold each item.

        Args:
            shuffled: From `shuffle_messages`.
            people: How many people chose each level, known or estimated.

        Raises:
            UnknownLevelError: If a level is not one of the protocol's.
            InvalidInputError: If messages are not this protocol's, or do not come from as
                many people as expected.
        """
        counts, channel = self.count(shuffled), self.channel(people)
        if channel.num_users != shuffled.num_users:
            raise InvalidInputError(
                f"Expected reports of {channel.num_users} people, got "
                f"{shuffled.num_users}."
            )
        return channel.estimate(counts)

    def estimate_counts(
        self, counts: ArrayLike, people: Population | LevelCounts
    ) -> ItemsEstimate:
        """Estimates shares from the number of messages per item, shape (d,)."""
        numbers = int_array(counts, "counts")
        if numbers.size != self.num_items or numbers.min() < 0:
            raise InvalidInputError(f"Expected {self.num_items} counts of messages.")
        return self.channel(people).estimate(numbers)

    def predicted_mse(
        self,
        people: Population | LevelCounts,
        shares: ArrayLike,
        *,
        about: Literal["participants", "population"] = "participants",
    ) -> float:
        """Returns the sum over items of the squared errors to expect.

        Args:
            people: Who will take part.
            shares: The share of people who hold each item, shape (d,).
            about: Against whose shares errors are measured.
        """
        f = float_array(shares, "shares")
        if f.size != self.num_items or not np.all((f >= 0.0) & (f <= 1.0)):
            raise InvalidInputError(f"Expected {self.num_items} shares from 0 to 1.")
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        return self.channel(people).predicted_mse(f, about=about)

    def channel(self, people: Population | LevelCounts) -> ItemsChannel:
        """Returns how counts of messages depend on shares of these people.

        Raises:
            UnknownLevelError: If a level is not one of the protocol's.
        """
        counts = LevelCounts.of(people) if isinstance(people, Population) else people
        if not isinstance(counts, LevelCounts):
            raise InvalidInputError(
                f"Expected a Population or LevelCounts, got {type(people).__name__}."
            )
        rates = np.array(self.rates)[self.level_indices(counts.levels)]
        mean, variance = self.randomizer.blanket_moments()
        return ItemsChannel(
            num_users=counts.num_users,
            num_items=self.num_items,
            level_counts=counts.value,
            level_covariance=counts.covariance,
            rates=rates,
            blanket_mean=mean,
            blanket_variance=variance,
        )

    def holders(self, sets: Ints, levels: ArrayLike) -> NDArray[np.int64]:
        """Counts the people of each level who hold each item, shape (levels, d)."""
        return holders_by_level(
            self.randomizer.check_sets(sets),
            self.level_indices(levels),
            num_levels=len(self.levels),
            num_items=self.num_items,
        )

    def draw_counts(
        self, holders: Ints, *, num_users: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draws what `count` would see, without any messages, shape (d,).

        Args:
            holders: From `holders`.
            num_users: How many people send blanket messages.
            rng: A simulation's generator.
        """
        rates = np.array(self.rates)
        return draw_counts(
            self.randomizer, holders, rates, num_users=num_users, rng=rng
        )


def _numbers(values: Sequence[float], what: str) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise InvalidInputError(f"Expected a list of {what}.")
    numbers = tuple(as_number(value, what) for value in values)
    if not numbers:
        raise InvalidInputError(f"Expected at least one of {what}, got none.")
    return numbers
