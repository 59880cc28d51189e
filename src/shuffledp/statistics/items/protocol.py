"""Shares of people who hold each item, from sets sent at central targets.

Users send each of their items with a probability that their target sets, and blanket
messages, uniform items: a group of counts, whose buckets are the items.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.counts.sending_rates import positions_of
from shuffledp.accounting.exposure import Exposure
from shuffledp.accounting.items.items_parameters import ItemsParameters
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.counts import CountsChannel
from shuffledp.analyzer.items import ItemsEstimate
from shuffledp.arrays import as_whole, float_array, unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, parameters_of
from shuffledp.population import Population
from shuffledp.randomizers.items import ItemsRandomizer, Noise, poisson_cap
from shuffledp.randomizers.items_counts import (
    check_target_holders,
    draw_counts,
    holders_by_target,
)
from shuffledp.randomizers.message_counts import check_message_counts, count_messages
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.items.items_channel import items_channel
from shuffledp.statistics.tallying import Seen, check_generator, checked, tally_of
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints

# Probability that the cap cuts a user's blanket messages, if no report size is given.
_CUT = 1e-12


@dataclass(frozen=True)
class Items:
    """A randomizer of sets, a shuffle of all messages, and unbiased shares of items.

    >>> import numpy as np, shuffledp as sdp
    >>> rng, people = np.random.default_rng(4), sdp.Population.from_counts({1.0: 5_000})
    >>> items = sdp.Items(3, 1, (1.0,), (1.0,), blanket=0.1)
    >>> sets = np.repeat([0, 0, 0, 1, 2], 1_000)[:, None]
    >>> reports = items.randomize(sets, np.full(5_000, 1.0), rng=rng)
    >>> items.estimate(sdp.shuffle(reports, rng=rng), people).value.round(2)
    array([0.6, 0.2, 0.2])

    Attributes:
        num_items: d, at least 2; items are 0, ..., d - 1.
        set_size: s, from 1 to d: the number of items of each user.
        targets: Central epsilons that people may choose from, strictly increasing.
        rates: Probability to send an item, of each target, in [0, 1].
        blanket: m >= 0, blanket messages per person in the mean.
        report_size: Messages per person with dummies; by default at most 1 in 10^12 is cut.
        noise: "poisson", where a set may hold fewer than s items (entries -1 are no
            items), or "bernoulli", as published, which nothing certifies.
    """

    num_items: int
    set_size: int
    targets: tuple[float, ...]
    rates: tuple[float, ...]
    blanket: float
    report_size: int | None = None
    noise: Noise = "poisson"

    def __post_init__(self) -> None:
        _ = self.randomizer  # Checks sizes, blanket and noise.
        parameters = self.parameters
        # Of one type: equal parameters have equal identities.
        object.__setattr__(self, "targets", parameters.targets)
        object.__setattr__(self, "rates", parameters.rates)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Items":
        """Returns the protocol with this identity's record."""
        names = ("set_size", "targets", "rates", "blanket", "report_size")
        terms = parameters_of(record, "items", *names)
        noise = record["mechanism"].removesuffix("-items")
        return cls(terms.pop("items"), **terms, noise=noise)

    @property
    def parameters(self) -> ItemsParameters:
        """The public parameters that devices need and that are certified."""
        return ItemsParameters(
            num_items=self.num_items,
            set_size=self.set_size,
            targets=self.targets,
            rates=self.rates,
            blanket=self.blanket,
            report_size=self.randomizer.report_size,
            noise=self.noise,
        )

    @property
    def randomizer(self) -> ItemsRandomizer:
        """The randomizer that devices run."""
        size = self.report_size
        if size is None:
            size = poisson_cap(self.blanket, _CUT, noise=self.noise)
            size += as_whole(self.set_size, "items per person")
        return ItemsRandomizer(
            self.num_items, self.set_size, self.blanket, size, self.noise
        )

    @property
    def identity(self) -> Identity:
        """The identity of the protocol."""
        return self.parameters.identity

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one report.

        Args:
            people: How many people chose each target.

        Raises:
            UnknownLevelError: If a target is none of the protocol's.
            InvalidInputError: If noise is "bernoulli", for which there is no certificate.
        """
        return self.parameters.exposures(people)

    def target_indices(self, targets: ArrayLike) -> Ints:
        """Returns the position of each person's target, shape as `targets`.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
        """
        return positions_of(targets, self.targets)

    def randomize(self, sets: Ints, targets: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one report of constant size per person.

        Args:
            sets: Each person's items, different items in each row, shape (n, s).
            targets: Each person's target, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
            InvalidInputError: If shapes differ, or items are out of range or repeated.
        """
        rates = np.array(self.rates)[self.target_indices(targets)]
        messages = self.randomizer.randomize(sets, rates, rng=rng)
        # All messages of all people are mixed; targets were reported apart from them.
        return Reports(self.identity, messages, None, "pool")

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts messages per item, dummies left out: additive over parts.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """
        d, size = self.num_items, self.randomizer.report_size

        def count(
            messages: NDArray[Any], groups: Ints | None, num_groups: int
        ) -> NDArray[np.int64]:
            del groups, num_groups  # All reports are one pile.
            return count_messages(messages, dummy=d, report_size=size)[None, :]

        return tally_of(shuffled, self.identity, count=count, arrangement="pool")

    def draw_tally(
        self, holders: Ints, people: Population, *, rng: np.random.Generator
    ) -> Tally:
        """Draws the tally of a whole collection from its distribution.

        Args:
            holders: People of each target who hold each item, (people.num_levels, d).
            people: How many people chose each target.
            rng: A simulation's generator.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
            InvalidInputError: If holders are not those of these people.
        """
        check_generator(rng)
        num_holders = unmasked(holders, "numbers")
        check_target_holders(num_holders, people, self.num_items)
        rates = np.array(self.rates)[self.target_indices(people.epsilons)]
        counts = draw_counts(
            self.randomizer, num_holders, rates, num_users=people.num_users, rng=rng
        )
        users = np.full((1, 1), people.num_users)
        return Tally(self.identity, np.zeros(0), users, counts[None, None, :])

    def estimate(self, seen: Seen, people: Population | ChoiceCounts) -> ItemsEstimate:
        """Estimates the share of people who hold each item.

        Args:
            seen: From `shuffle`, or a tally.
            people: How many people chose each target, known or estimated.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
            InvalidInputError: If messages do not fit the protocol, or the people.
        """
        tally = checked(seen, self.identity, self.tally)
        channel = self._channel(people)
        if tally.counts.shape != (1, 1, self.num_items) or tally.levels.size:
            raise InvalidInputError(
                f"Expected a tally of {self.num_items} items, without targets."
            )
        if people.num_users != tally.num_users:
            raise InvalidInputError(
                f"Expected reports of {people.num_users} people, got {tally.num_users}."
            )
        # A tally may come from another process: its counts are not trusted.
        counts, n = tally.counts[0, 0], tally.num_users
        check_message_counts(counts, self.randomizer.report_size, n)
        value, error, _ = channel.estimate(counts)
        return ItemsEstimate(
            value / n, error / n, n, self.identity, channel.message / n
        )

    def predicted_mse(
        self,
        people: Population | ChoiceCounts,
        shares: ArrayLike,
        *,
        about: Literal["participants", "population"] = "participants",
    ) -> float:
        """Returns the sum over items of the squared errors to expect.

        Args:
            people: The population that will take part.
            shares: The share of people who hold each item, shape (d,).
            about: Against whose shares errors are measured.
        """
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        variance = float(np.sum(self.predicted_errors(people, shares) ** 2))
        if about == "population":
            f = float_array(shares, "shares")
            variance += float(np.sum(f * (1.0 - f))) / people.num_users
        return variance

    def predicted_errors(
        self, people: Population | ChoiceCounts, shares: ArrayLike
    ) -> Floats:
        """Returns the standard errors to expect about the participants, shape (d,).

        Args:
            people: The population that will take part.
            shares: The share of people who hold each item, shape (d,).
        """
        f = float_array(shares, "shares")
        if f.size != self.num_items or not np.all((f >= 0.0) & (f <= 1.0)):
            raise InvalidInputError(f"Expected {self.num_items} shares from 0 to 1.")
        channel = self._channel(people)
        return channel.standard_errors(f) / channel.num_users

    def manipulation(
        self, people: Population | ChoiceCounts, num_liars: int = 1
    ) -> Floats:
        """Returns by how much dishonest people can move each share, shape (d,).

        Args:
            people: How many people chose each target, as published.
            num_liars: How many of them send any messages they like, all of one item.
        """
        channel, size = self._channel(people), self.randomizer.report_size
        # All messages of a report may name one item.
        shift = channel.manipulation(size, num_liars) / channel.num_users
        return np.full(self.num_items, shift)

    def holders(self, sets: Ints, targets: ArrayLike) -> NDArray[np.int64]:
        """Counts the people of each target who hold each item, shape (targets, d)."""
        return holders_by_target(
            self.randomizer.check_sets(sets),
            self.target_indices(targets),
            num_targets=len(self.targets),
            num_items=self.num_items,
        )

    def _channel(self, people: Population | ChoiceCounts) -> CountsChannel:
        return items_channel(self.randomizer, self.targets, self.rates, people)


PROTOCOL = Items
