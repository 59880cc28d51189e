"""The mean of bounded numbers of people at different privacy levels."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.exposure import Exposure, SingleMessages
from shuffledp.analyzer.channel import Channel
from shuffledp.analyzer.manipulation import mean_shift
from shuffledp.analyzer.mean import MeanEstimate, agnostic_mean, stratified_mean
from shuffledp.arguments import expect_instance, expect_mapping
from shuffledp.arrays import float_array, one_number_each
from shuffledp.identity import Identity, check_mode, described, parameters_of
from shuffledp.number_range import half_range
from shuffledp.population import Population
from shuffledp.randomizers.foreign_mechanism import rebuild
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.mean.mean_labels import WORDS
from shuffledp.statistics.mean.moments import (
    averages_of,
    check_sums,
    message_span,
    power_sums,
    shifted_moments,
)
from shuffledp.statistics.mean.prediction import MeanPrediction, check_spread
from shuffledp.statistics.mean.value_range import ValueRange, check_randomizer
from shuffledp.statistics.tallying import (
    Seen,
    check_generator,
    check_holders,
    check_people,
    checked,
    drawn_tally,
    senders,
    tally_of,
)
from shuffledp.tally import Tally
from shuffledp.types import Ints, Mode


@dataclass(frozen=True, init=False)
class Mean:
    """A randomizer of numbers, a shuffle, and an estimate of the mean.

    >>> import numpy as np, shuffledp as sdp
    >>> rng = np.random.default_rng(4)
    >>> mean, levels = sdp.Mean(0, 10), np.repeat([1.0, 2.0], 5_000)
    >>> reports = mean.randomize(rng.uniform(2, 6, 10_000), levels, rng=rng)
    >>> people = sdp.Population.from_budgets(levels)
    >>> estimate = mean.estimate(sdp.shuffle(reports, rng=rng), people)
    >>> print(f"{estimate.value:.1f} +- {estimate.standard_error:.1f}")
    4.1 +- 0.1

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        mode: "agnostic" unlinks levels from messages: users hide among all users, and the
            estimate is unbiased if levels and values are independent. "stratified" keeps
            them together: levels may depend on values, and users hide among their own.
        randomizer: Runs on devices; `OneBit` by default, which has the smallest error at
            levels up to about 2. `GridResponse` has the smallest at equal central
            guarantees, for which levels may be larger: `plan_mean` knows people and
            targets, and its `recommended.protocol` is the mean to run. `Laplace` is that of
            Algorithm 2 of E-APES; `ClipLaplace` that of APES, biased where values differ;
            `Gaussian` promises a level with delta_local only. Its range is [low, high], or
            as wide.
    """

    low: float
    high: float
    mode: Mode
    randomizer: NumberRandomizer

    def __init__(
        self,
        low: float,
        high: float,
        mode: Mode = "agnostic",
        randomizer: NumberRandomizer | None = None,
    ) -> None:
        half_range(low, high)
        check_mode(mode)
        if randomizer is None:
            # The smallest error at small levels; others gain where levels are large.
            randomizer = OneBit(low, high)
        check_randomizer(randomizer, low, high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "mode", mode)
        object.__setattr__(self, "randomizer", randomizer)

    @classmethod
    def from_record(cls, record: dict[str, Any], mechanism: Any = None) -> "Mean":
        """Returns the protocol with this identity's record.

        Args:
            record: Of its identity.
            mechanism: The class of a mechanism that is not this library's, or an object.
        """
        terms = parameters_of(record, "low", "high", "randomizer")
        inner = expect_mapping(terms["randomizer"], "parameters of a randomizer")
        randomizer = rebuild(record["mechanism"], inner, mechanism)
        return cls(terms["low"], terms["high"], record["mode"], randomizer)

    @property
    def identity(self) -> Identity:
        """The identity of the randomizer, the range of values and the mode."""
        inner = self.randomizer
        terms = {
            # In floats: Mean(0, 1) and Mean(0.0, 1.0) are one protocol.
            "low": float(self.low),
            "high": float(self.high),
            "randomizer": described(inner),
        }
        return Identity.of(WORDS.name, inner.mechanism, terms, self.mode)

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one message."""
        return (SingleMessages("one message", self.randomizer, self.mode, people),)

    @property
    def _range(self) -> ValueRange:
        inner = self.randomizer
        return ValueRange(self.low, self.high, inner.low, inner.high)

    @property
    def _unit(self) -> "Mean":
        """The same protocol for values from -1 to 1; messages are the same."""
        return Mean(-1.0, 1.0, self.mode, self.randomizer.unit)

    def randomize(self, values: ArrayLike, levels: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one randomized message per person.

        Args:
            values: Numbers in [low, high], shape (n,).
            levels: Each person's local budget in nats, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            InvalidInputError: If shapes differ, or a value or a level is out of range.
        """
        numbers, epsilons = one_number_each(values, levels)
        scaled_numbers = self._range.moved(numbers)
        messages = self.randomizer.randomize(scaled_numbers, epsilons, rng=rng)
        return Reports(self.identity, messages, epsilons)

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Adds up messages and their squares, as whole numbers: additive over parts.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """
        return tally_of(shuffled, self.identity, count=self.count)

    def count(
        self, messages: NDArray[Any], groups: Ints | None, num_groups: int
    ) -> NDArray[Any]:
        """Returns number, sum and sum of squares of each group, (num_groups, 3).

        Args:
            messages: From `randomize`, in any order.
            groups: Each message's group, shape (n,); None for a single group.
            num_groups: How many groups there are.
        """
        self.randomizer.check_messages(messages)
        return power_sums(messages, groups, num_groups)

    def draw_tally(
        self,
        values: ArrayLike,
        holders: Ints,
        people: Population,
        *,
        rng: np.random.Generator,
    ) -> Tally:
        """Draws the tally of a whole collection from its distribution.

        >>> import numpy as np, shuffledp as sdp
        >>> people = sdp.Population.from_counts({1.0: 10**9})
        >>> tally = sdp.Mean(0, 10).draw_tally(
        ...     [2, 7], np.array([[6 * 10**8, 4 * 10**8]]), people,
        ...     rng=np.random.default_rng(1),
        ... )
        >>> round(sdp.Mean(0, 10).estimate(tally, people).value, 2)
        4.0

        Args:
            values: Different numbers in [low, high], shape (values,).
            holders: Numbers of people of each level who hold each, shape (levels, values).
            people: The population that takes part.
            rng: A simulation's generator.

        Raises:
            InvalidInputError: If holders do not match people, or messages are too many.
        """
        check_generator(rng)
        numbers = self._range.moved(float_array(values, "values"))
        counts = check_holders(holders, people, numbers.size)
        sums = self.randomizer.draw_sums(numbers, counts, people.epsilons, rng=rng)
        return drawn_tally(self.identity, people, sums)

    def estimate(
        self, seen: Seen, people: Population, *, spread: float | None = None
    ) -> MeanEstimate:
        """Estimates the mean from shuffled messages.

        Args:
            seen: From `shuffle`, or a tally.
            people: The population that took part.
            spread: Standard deviation of the values, where it is known.

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            InvalidInputError: If reports do not fit the protocol, or the people per level.
        """
        known_spread = check_spread(spread, self.low, self.high)
        tally = checked(seen, self.identity, self.tally)
        check_people(tally, people)
        check_sums(tally.counts[0], senders(tally)[0], self.randomizer)
        middle, half = self._range.middle, self._range.half
        # None: the error is the largest possible, as bits do not show the spread.
        scaled = None if known_spread is None else known_spread / half
        # Between -1 and 1 no range is too wide, too narrow or too far from 0.
        unit = self._unit
        averages, variances = averages_of(tally.counts[0], unit.randomizer)
        channel, span = unit.channel(people), message_span(unit.randomizer)
        if self.mode == "agnostic":
            average, variance = float(averages[0]), float(variances[0])
            estimate = agnostic_mean(
                average, variance, channel, spread=scaled, span=span
            )
        else:
            estimate = stratified_mean(
                averages, variances, channel, spread=scaled, span=span
            )
        return replace(estimate.in_units(middle, half), identity=self.identity)

    def manipulation(self, people: Population, num_liars: int = 1) -> float:
        """Returns by how much this many dishonest people can move the estimate.

        Args:
            people: Levels and counts, as published.
            num_liars: How many of them send any messages they like.
        """
        # Messages of unbounded noise may be very far out, and move it as far.
        unit, half = self._unit, self._range.half
        span, channel = message_span(unit.randomizer), unit.channel(people)
        return half * mean_shift(channel, span, mode=self.mode, num_liars=num_liars)

    def channel(self, people: Population) -> Channel:
        """Returns how messages of these people depend on their values."""
        expect_instance(people, Population)
        moments = shifted_moments(self.randomizer, self._range.shift)
        counts = people.counts.astype(np.float64)
        linear = self.randomizer.unbiased
        return Channel(moments, people.epsilons, counts, self.low, self.high, linear)

    def predicted_error(
        self, people: Population, *, mean: float | None = None, spread: float = 0.0
    ) -> float:
        """Returns the standard error to expect, before anything is collected.

        Args:
            people: The population that will take part.
            mean: Of the values; by default the middle of the range.
            spread: Their standard deviation.

        Raises:
            InvalidInputError: If messages carry no information, or values are impossible.
        """
        value, half = self._range.scaled(mean), self._range.half
        scaled_spread = (check_spread(spread, self.low, self.high) or 0.0) / half
        return half * self.unit_prediction(people).error(value, scaled_spread)

    def predicted_bias(self, people: Population, *, mean: float | None = None) -> float:
        """Returns the bias limit to expect if all values are equal; 0 if unbiased."""
        value = self._range.scaled(mean)
        return self._range.half * self.unit_prediction(people).bias(value)

    def unit_prediction(self, people: Population) -> MeanPrediction:
        """Returns errors to expect at several means, as if values were from -1 to 1.

        Args:
            people: The population that will take part.
        """
        return MeanPrediction(self._unit.channel(people), self.mode)


PROTOCOL = Mean
