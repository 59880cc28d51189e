"""Counts of people per bucket: messages into buckets among messages of noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.counts.counts_parameters import (
    CountGroup,
    CountsParameters,
    read_groups,
)
from shuffledp.accounting.counts.sending_rates import positions_of
from shuffledp.accounting.exposure import Exposure
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.counts import CountsChannel, CountsEstimate
from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import float_array
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, parameters_of
from shuffledp.population import Population
from shuffledp.randomizers.bucket_messages import BucketMessages
from shuffledp.randomness import Rng
from shuffledp.reports import Arrangement, Reports, ShuffledReports
from shuffledp.shuffler.dummies import Dummies
from shuffledp.statistics.counts.counts_channel import channel_of
from shuffledp.statistics.counts.counts_tally import (
    checked_counts,
    counted_messages,
    counts_by_group,
    tally_of_one_shuffle,
)
from shuffledp.statistics.counts.drawn_counts import draw_counts
from shuffledp.statistics.counts.local_floor import randomized_answers
from shuffledp.statistics.counts.noise_draws import bucket_messages, check_jumps
from shuffledp.statistics.counts.shuffler_dummies import dummies_of
from shuffledp.statistics.tallying import Seen, check_generator, checked, tally_of
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class Counts:
    """A randomizer of answers, a shuffle of all messages, and unbiased counts.

    >>> import numpy as np, shuffledp as sdp
    >>> rng, people = np.random.default_rng(4), sdp.Population.from_counts({1.0: 5_000})
    >>> group = sdp.CountGroup(3, 1, sdp.GeometricNoise(0.64, pairs=800.0, shape=8.0))
    >>> counts = sdp.Counts((group,), (1.0,), (1.0,), honest=5_000)
    >>> answers = np.repeat([0, 0, 0, 1, 2], 1_000)[:, None]
    >>> reports = counts.randomize(answers, np.full(5_000, 1.0), rng=rng)
    >>> estimate = counts.estimate(sdp.shuffle(reports, rng=rng), people)
    >>> estimate.value[0].round(-1).tolist()
    [3000.0, 1000.0, 1000.0]
    >>> sdp.account(counts, people, delta=1e-6).levels[0].epsilon_central
    0.923922

    Attributes:
        groups: Buckets of each question, and their noise.
        targets: Central epsilons that people may choose from, strictly increasing.
        rates: Probability to send an answer, of each target, in [0, 1].
        honest: People who are sure to take part honestly; they add the noise. 1 where the
            shuffler adds it.
        report_size: Messages of a report, noise that does not fit being cut; None where
            sizes vary with Poisson or geometric noise, or slots fix them.
        meaning: Of the buckets: a text that reports and guarantees carry, or None.
        local_epsilon: What shuffler and analyst together learn at most; groups then have
            one answer, which devices randomize first. None: they may learn everything.
    """

    groups: tuple[CountGroup, ...]
    targets: tuple[float, ...]
    rates: tuple[float, ...]
    honest: int
    report_size: int | None = None
    meaning: str | None = None
    local_epsilon: float | None = None

    def __post_init__(self) -> None:
        parameters = self.parameters
        for name in ("groups", "targets", "rates", "honest"):
            object.__setattr__(self, name, getattr(parameters, name))
        object.__setattr__(self, "report_size", parameters.size)
        check_jumps(parameters)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Counts":
        """Returns the protocol with this identity's record."""
        names, optional_names = (
            ("groups", "targets", "rates", "honest"),
            ("report_size", "meaning"),
        )
        terms = parameters_of(
            record, *names, optional=(*optional_names, "local_epsilon")
        )
        return cls(read_groups(terms.pop("groups")), **terms)

    @property
    def parameters(self) -> CountsParameters:
        """The public parameters that devices need and that are certified."""
        optional = (self.report_size, self.meaning, self.local_epsilon)
        return CountsParameters(
            self.groups, self.targets, self.rates, self.honest, *optional
        )

    @cached_property
    def randomizer(self) -> BucketMessages:
        """The randomizer that devices run."""
        return bucket_messages(self.parameters)

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
        """
        return self.parameters.exposures(people)

    def randomize(self, answers: Ints, targets: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one report per person.

        Args:
            answers: Buckets of each group in turn, counted from 0 within the group and
                different in a row, or -1 for no answer, shape (n, most).
            targets: Each person's target, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
            InvalidInputError: If shapes differ, or buckets are out of range or repeated.
        """
        rates = np.array(self.rates)[positions_of(targets, self.targets)]
        if self.local_epsilon is not None:
            answers = self.randomizer.check_answers(answers)
            answers = randomized_answers(self.parameters, answers, rng=rng)
        messages = self.randomizer.randomize(answers, rates, rng=rng)
        # All messages of all people are mixed; targets were reported apart from them.
        return Reports(self.identity, messages, None, self._arrangement)

    def draw_dummies(self, *, rng: Rng) -> Dummies:
        """Runs at the shuffler: draws the noise of one collection, for `shuffle`.

        Args:
            rng: `SystemRandom()` at a real shuffler, or `DummySeed.random` if an auditor
                is to draw the same later.

        Raises:
            InvalidInputError: If devices draw the noise.
        """
        return dummies_of(self.parameters, rng=rng)

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts messages + and - per bucket, dummies left out: additive over parts.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """

        def count(
            messages: NDArray[Any], groups: Ints | None, num_groups: int
        ) -> NDArray[np.int64]:
            del groups, num_groups  # All reports are one pile.
            return counted_messages(self.parameters, messages)[None, :]

        return tally_of(
            shuffled, self.identity, count=count, arrangement=self._arrangement
        )

    @property
    def _arrangement(self) -> Arrangement:
        if self.parameters.noise_by_shuffler:
            return "loose with dummies"
        return "loose" if self.randomizer.report_size is None else "pool"

    def draw_tally(
        self,
        holders: Sequence[Ints],
        people: Population,
        *,
        rng: np.random.Generator,
    ) -> Tally:
        """Draws the tally of a whole collection from its distribution.

        Args:
            holders: For each group, people of each target in each bucket, shape
                (people.num_levels, buckets).
            people: How many people chose each target.
            rng: A simulation's generator.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
            InvalidInputError: If holders are not those of these people.
        """
        check_generator(rng)
        expect_instance(people, Population)
        rates = np.array(self.rates)[positions_of(people.epsilons, self.targets)]
        group_holders = expect_list(holders, "groups of holders", size=len(self.groups))
        counts = draw_counts(self.parameters, group_holders, people, rates, rng=rng)
        return tally_of_one_shuffle(self.parameters, people.num_users, counts)

    def estimate(self, seen: Seen, people: Population | ChoiceCounts) -> CountsEstimate:
        """Estimates the number of people in each bucket.

        Args:
            seen: From `shuffle`, or a tally.
            people: How many people chose each target; or choices, which were counted.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
            InvalidInputError: If messages do not fit the protocol, or the people.
        """
        tally = checked(seen, self.identity, self.tally)
        counts = checked_counts(self.parameters, tally)
        expect_instance(people, Population, ChoiceCounts)
        if people.num_users != tally.num_users:
            raise InvalidInputError(
                f"Expected reports of {people.num_users} people, got {tally.num_users}."
            )
        estimates = []
        for group, group_counts in counts_by_group(self.parameters, counts):
            channel = self.channel(group, people)
            estimate = channel.estimate(group_counts @ [1, -1])
            estimates.append((*estimate, channel.message))
        values, errors, excess, steps = zip(*estimates, strict=True)
        n = people.num_users
        return CountsEstimate(values, errors, excess, n, self.identity, steps)

    def manipulation(
        self, people: Population | ChoiceCounts, num_liars: int = 1
    ) -> tuple[Floats, ...]:
        """Returns by how much dishonest people can move each count, in people.

        A report may have all its messages + or all - on one bucket; without a limit where
        reports have no fixed size. Where the shuffler adds the noise, a report has its
        answers only, all of them +.

        Args:
            people: How many people chose each target, as published.
            num_liars: How many of them send any messages they like.
        """
        # A liar who sends - in the place of + moves a count by two per message.
        signs = 1.0 if self.parameters.noise_by_shuffler else 2.0
        span = signs * self.max_messages
        channels = [self.channel(group, people) for group in self.groups]
        return tuple(
            np.full(group.buckets, channel.manipulation(span, num_liars))
            for group, channel in zip(self.groups, channels, strict=True)
        )

    @property
    def max_messages(self) -> float:
        """The most messages of a report; infinite where nothing limits them."""
        if self.parameters.noise_by_shuffler:
            return float(self.randomizer.most)
        # Reports without a fixed size hold any number of messages: no limit is proven.
        return self.randomizer.report_size or math.inf

    def predicted_errors(
        self, people: Population, shares: Sequence[Floats]
    ) -> tuple[Floats, ...]:
        """Returns standard errors to expect, in people, of each group's buckets.

        Args:
            people: The population that will take part.
            shares: For each group, shares of people per bucket, shape (buckets,).
        """
        group_shares = expect_list(shares, "groups of shares", size=len(self.groups))
        return tuple(
            self.channel(group, people).standard_errors(float_array(f, "shares"))
            for group, f in zip(self.groups, group_shares, strict=True)
        )

    def channel(
        self, group: CountGroup, people: Population | ChoiceCounts
    ) -> CountsChannel:
        """Returns how counts of a group depend on these people.

        Raises:
            UnknownLevelError: If a target is not one of the protocol's.
            InvalidInputError: If numbers of people are estimates.
        """
        return channel_of(self.parameters, group, people)


PROTOCOL = Counts
