"""How many people say yes: one bit each, and no more noise than the crowd needs.

A person whose bit is x sends x with chance 1 - p and a fair coin with chance p. From the
sum of the messages of n people with the same p,

    estimate = (sum y - n p / 2) / (1 - p);

the lecture notes by Di Wang print p / 2 for n p / 2 in eq. (9.5). The devices' noise
need only hide one person among all: where each level should be worth a given epsilon after
the shuffle, `calibrate` lets the accountant choose p, instead of a formula with an unknown
constant. The bit is binary randomized response of budget log(2 / p - 1).

Source: Cheu, Smith, Ullman, Zeber, Zhilyaev (2019), "Distributed differential privacy via
shuffling", arXiv:1808.01394.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accounting.calibration import largest_budgets
from shuffledp.accounting.promise import Calibration, Promise
from shuffledp.analyzer.interval import reach
from shuffledp.arrays import level_array, one_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population, check_budgets
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import Reports, ShuffledReports
from shuffledp.statistics.mean import Mean
from shuffledp.statistics.single_message import check_mode
from shuffledp.types import Floats, Mode


@dataclass(frozen=True)
class SumEstimate:
    """An estimated number of people.

    Attributes:
        value: Unbiased; it may come out below 0 or above the number of people.
        standard_error: As an estimate of the sum over the people who took part.
        population_error: As n times the share in a population they were drawn from.
        num_users: People in the collection, n.
        mode: "agnostic" or "stratified".
    """

    value: float
    standard_error: float
    population_error: float
    num_users: int
    mode: Mode

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Returns the ends of a two-sided interval for the sum over the participants."""
        wide = reach(confidence) * self.standard_error
        return self.value - wide, self.value + wide


@dataclass(frozen=True)
class BinarySum:
    """One bit per person, a shuffle, and an unbiased sum.

    Attributes:
        mode: "agnostic" unlinks levels from messages; "stratified" keeps each level with
            its message.
    """

    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        check_mode(self.mode)

    @property
    def randomizer(self) -> OneBit:
        """What the devices run."""
        return OneBit(0.0, 1.0)

    @property
    def _mean(self) -> Mean:
        return Mean(0.0, 1.0, "one-bit", self.mode)

    def noise_share(self, levels: ArrayLike) -> Floats:
        """Returns p, the chance that a message is a fair coin, shape as `levels`.

        Args:
            levels: Local budgets in nats, shape (n,).
        """
        epsilons = level_array(levels)
        check_budgets(epsilons)
        least, _ = self.randomizer.drawn(epsilons)
        return least

    def calibrate(
        self, targets: Mapping[float, int], *, delta: float, absent: int = 0
    ) -> Calibration:
        """Returns the largest local budgets, and so the smallest p, that keep targets.

        Args:
            targets: {central epsilon: people}.
            delta: At which they are stated, in (0, 1).
            absent: How many of the other people may be absent or collude.
        """
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
        as_integers = np.asarray(bits)
        if as_integers.dtype == np.bool_:
            as_integers = as_integers.astype(np.uint8)
        integers, epsilons = one_each(as_integers, levels, what="bits")
        if integers.size and (integers.min() < 0 or integers.max() > 1):
            raise InvalidInputError("Expected bits to be 0 or 1.")
        return self._mean.randomize(integers, epsilons, rng=rng)

    def estimate(self, shuffled: ShuffledReports, people: Population) -> SumEstimate:
        """Estimates how many people hold 1, from what the shuffler let through.

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            InvalidInputError: If messages are out of range, were shuffled for the other
                mode, or do not come from as many people per level as expected.
        """
        # Bits differ as much as numbers of their mean can: whatever is more is cut down.
        estimate = self._mean.estimate(shuffled, people, spread=0.5)
        n = people.num_users
        return SumEstimate(
            value=n * estimate.value,
            standard_error=n * estimate.standard_error,
            population_error=n * estimate.population_error,
            num_users=n,
            mode=self.mode,
        )
