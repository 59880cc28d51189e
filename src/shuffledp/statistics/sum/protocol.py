"""The number of people who say yes: one bit each, with calibrated noise.

A person whose bit is x sends x with probability 1 - p and a uniform bit with
probability p. From the sum of the messages of n people with the same p,

    estimate = (sum y - n p / 2) / (1 - p);

the lecture notes by Di Wang print p / 2 for n p / 2 in eq. (9.5). The noise of all devices
together hides one person: for a given central epsilon of each level, `calibrate` chooses p.

Source: Cheu, Smith, Ullman, Zeber, Zhilyaev (2019), "Distributed differential privacy via
shuffling", arXiv:1808.01394.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.calibration.calibration import largest_budgets
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.exposure import Exposure, SingleMessages
from shuffledp.analyzer.interval import half_width
from shuffledp.arguments import expect_instance
from shuffledp.arrays import level_array, one_each, unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, check_mode, parameters_of
from shuffledp.labels import Display, StatisticLabels
from shuffledp.population import Population, check_budgets
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.tallying import Seen, checked, tally_of
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints, Mode

WORDS = StatisticLabels(
    name="sum",
    title="Sum",
    asked="How many people say yes",
    row="about",
    rows="sums",
    display=Display("sum", axis="sum", is_single=True, shift_unit="people"),
)


@dataclass(frozen=True)
class SumEstimate:
    """An estimated number of people.

    >>> import shuffledp as sdp
    >>> estimate = sdp.SumEstimate(2_995.0, 64.0, 74.0, 10_000, "agnostic")
    >>> [round(end) for end in estimate.interval(0.95)]
    [2870, 3120]

    Attributes:
        value: Unbiased; it may come out below 0 or above the number of people.
        standard_error: As an estimate of the sum over the people who took part.
        population_error: As n times the share in a population they were drawn from.
        num_users: People in the collection, n.
        mode: "agnostic" or "stratified".
        identity: Of the protocol that estimated it.
        step: By how much one message moves the sum, at most, for intervals.
    """

    value: float
    standard_error: float
    population_error: float
    num_users: int
    mode: Mode
    identity: Identity | None = None
    step: float = 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Returns the ends of a two-sided interval for the sum over the participants."""
        margin = float(half_width(confidence, self.standard_error, self.step))
        return self.value - margin, self.value + margin


@dataclass(frozen=True)
class BinarySum:
    """One bit per person, a shuffle, and an unbiased sum.

    >>> import numpy as np, shuffledp as sdp
    >>> rng = np.random.default_rng(5)
    >>> total, levels = sdp.BinarySum(), np.repeat([1.0, 2.0], 5_000)
    >>> reports = total.randomize(rng.random(10_000) < 0.3, levels, rng=rng)
    >>> people = sdp.Population.from_budgets(levels)
    >>> estimate = total.estimate(sdp.shuffle(reports, rng=rng), people)
    >>> print(f"{estimate.value:.0f} +- {estimate.standard_error:.0f}")
    2995 +- 64

    Attributes:
        mode: "agnostic" unlinks levels from messages; "stratified" keeps each level with
            its message.
    """

    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        check_mode(self.mode)

    @property
    def randomizer(self) -> OneBit:
        """The randomizer that devices run."""
        # For bits, this is binary randomized response of budget log(2 / p - 1).
        return OneBit(0.0, 1.0)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "BinarySum":
        """Returns the protocol with this identity's record."""
        parameters_of(record)
        return cls(record["mode"])

    @property
    def identity(self) -> Identity:
        """The identity of the protocol."""
        return Identity.of(WORDS.name, self.randomizer.mechanism, {}, self.mode)

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one message."""
        return (SingleMessages("one message", self.randomizer, self.mode, people),)

    @property
    def _mean(self) -> Mean:
        return Mean(0.0, 1.0, self.mode)

    def noise_share(self, levels: ArrayLike) -> Floats:
        """Returns p, the probability that a message is uniform, shape as `levels`.

        Args:
            levels: Local budgets in nats, shape (n,).
        """
        epsilons = level_array(levels)
        check_budgets(epsilons)
        # As devices use it: rounded up, so that the level is kept.
        minimum, _ = self.randomizer.drawn(epsilons)
        return minimum

    def calibrate(
        self, targets: Mapping[float, int], *, delta: float, absent: int = 0
    ) -> Calibration:
        """Returns the largest local budgets, and so the smallest p, that keep targets.

        Args:
            targets: {central epsilon: people}.
            delta: At which they are stated, in (0, 1).
            absent: How many of the other people may be absent or collude.
        """
        # The accountant chooses p, in place of a formula with an unknown constant.
        return largest_budgets(Promise(self, delta, absent), targets)

    def randomize(self, bits: ArrayLike, levels: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one randomized bit per person.

        Args:
            bits: 0 or 1, shape (n,).
            levels: Each person's local budget in nats, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            InvalidInputError: If shapes differ, or a bit or a level is out of range.
        """
        as_integers = unmasked(bits, "bits")
        # Truth values count as bits; `one_each` takes whole numbers only.
        if as_integers.dtype == np.bool_:
            as_integers = as_integers.astype(np.uint8)
        integers, epsilons = one_each(as_integers, levels, what="bits")
        if integers.size and (integers.min() < 0 or integers.max() > 1):
            raise InvalidInputError("Expected bits to be 0 or 1.")
        # Messages of a mean of zeros and ones, with the identity of the sum.
        reports = self._mean.randomize(integers, epsilons, rng=rng)
        return replace(reports, identity=self.identity)

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts people and ones: additive over parts.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """
        return tally_of(shuffled, self.identity, count=self._mean.count)

    def draw_tally(
        self, holders: Ints, people: Population, *, rng: np.random.Generator
    ) -> Tally:
        """Draws the tally of a whole collection from its distribution.

        Args:
            holders: How many people of each level hold 0 and 1, shape (levels, 2).
            people: The population that takes part.
            rng: A simulation's generator.
        """
        tally = self._mean.draw_tally([0.0, 1.0], holders, people, rng=rng)
        return replace(tally, identity=self.identity)

    def manipulation(self, people: Population, num_liars: int = 1) -> float:
        """Returns by how much dishonest people can move the sum.

        Args:
            people: Levels and counts, as published.
            num_liars: How many of them send any messages they like.
        """
        expect_instance(people, Population)
        return people.num_users * self._mean.manipulation(people, num_liars)

    def estimate(self, seen: Seen, people: Population) -> SumEstimate:
        """Estimates how many people hold 1, from shuffled reports.

        Args:
            seen: From `shuffle`, or a tally.
            people: The population that took part.

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            InvalidInputError: If reports are another protocol's or none of its messages,
                or do not come from as many people per level as expected.
        """
        tally = checked(seen, self.identity, self.tally)
        # Messages are those of a mean of zeros and ones, whose estimator is used.
        mean_tally = replace(tally, identity=self._mean.identity)
        # Bits have the largest spread of their mean; `estimate` lowers 0.5 to it.
        estimate = self._mean.estimate(mean_tally, people, spread=0.5)
        n = people.num_users
        return SumEstimate(
            value=n * estimate.value,
            standard_error=n * estimate.standard_error,
            population_error=n * estimate.population_error,
            num_users=n,
            mode=self.mode,
            identity=self.identity,
            step=n * estimate.step,
        )


PROTOCOL = BinarySum
