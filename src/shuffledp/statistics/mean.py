"""The mean of bounded numbers of people at different privacy levels."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.channel import Channel
from shuffledp.analyzer.mean import MeanEstimate, agnostic_mean, stratified_mean
from shuffledp.arrays import as_number, one_number_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.checks import value_range
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import Reports, ShuffledReports
from shuffledp.statistics.single_message import check_mode, check_shuffled
from shuffledp.types import Floats, Ints, Mode

MeanMechanism: TypeAlias = Literal["one-bit", "laplace", "clip-laplace", "gaussian"]
MEAN_MECHANISMS: tuple[MeanMechanism, ...] = (
    "one-bit",
    "laplace",
    "clip-laplace",
    "gaussian",
)

# Decoded messages at a time, to bound the memory of temporaries.
_BATCH = 1 << 20


@dataclass(frozen=True)
class Mean:
    """A randomizer of numbers, a shuffle, and an estimate of the mean.

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        mechanism: What the devices run. "one-bit" has the smallest error and one finite set
            of messages for all levels, hence the best cover; "laplace" is Algorithm 2 of
            E-APES; "clip-laplace" is that of APES, whose estimate is biased where values
            differ; "gaussian" promises each level with delta_local = 1e-6 only.
        mode: "agnostic" unlinks levels from messages: everybody hides among everybody,
            and the estimate is unbiased if levels and values are independent.
            "stratified" keeps each level with its message: the estimate does not mind
            what levels depend on, and people hide among their own level only.
    """

    low: float
    high: float
    mechanism: MeanMechanism = "one-bit"
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        value_range(self.low, self.high)
        check_mode(self.mode)
        if self.mechanism not in MEAN_MECHANISMS:
            raise InvalidInputError(
                f"Expected one of {', '.join(MEAN_MECHANISMS)}, got {self.mechanism!r}."
            )

    @property
    def randomizer(self) -> NumberRandomizer:
        """What the devices run; Clip-Laplace on values minus the middle of the range."""
        if self.mechanism == "one-bit":
            return OneBit(self.low, self.high)
        if self.mechanism == "laplace":
            return Laplace(self.low, self.high)
        if self.mechanism == "gaussian":
            return Gaussian(low=self.low, high=self.high)
        return ClipLaplace(value_range(self.low, self.high))

    @property
    def _shift(self) -> float:
        """What is taken off a value on the device, and added to the estimate."""
        return self._middle if self.mechanism == "clip-laplace" else 0.0

    @property
    def _middle(self) -> float:
        return self.low / 2.0 + self.high / 2.0

    @property
    def _unit(self) -> "Mean":
        """The same for values from -1 to 1; messages are the same."""
        return Mean(-1.0, 1.0, self.mechanism, self.mode)

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
        # Written this way round, it refuses NaN, too.
        if not np.all((numbers >= self.low) & (numbers <= self.high)):
            raise InvalidInputError(
                f"Expected values to be numbers in [{self.low:g}, {self.high:g}]."
            )
        randomizer = self.randomizer
        if self._shift:
            numbers = np.clip(numbers - self._shift, randomizer.low, randomizer.high)
        messages = randomizer.randomize(numbers, epsilons, rng=rng)
        return Reports(messages, epsilons, linked=self.mode == "stratified")

    def estimate(
        self,
        shuffled: ShuffledReports,
        people: Population,
        *,
        spread: float | None = None,
    ) -> MeanEstimate:
        """Estimates the mean from what the shuffler let through.

        Args:
            shuffled: From `shuffle`.
            people: The population that took part.
            spread: Standard deviation of the values, where it is known: messages of one bit
                do not show it, and the standard error is then the largest possible.

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            InvalidInputError: If messages are out of range, were shuffled for the other
                mode, or do not come from as many people per level as expected.
        """
        known = check_spread(spread, self.low, self.high)
        indices = check_shuffled(shuffled, people, self.mode)
        middle, half = self._middle, value_range(self.low, self.high)
        scaled = None if known is None else known / half
        # Between -1 and 1 no range is too wide, too narrow or too far from 0.
        randomizer = self._unit.randomizer
        randomizer.check_messages(shuffled.messages)
        groups = indices if self.mode == "stratified" else None
        averages, variances = _averages(
            randomizer, shuffled.messages, groups, people.num_levels
        )
        channel = self._unit.channel(people)
        if groups is None:
            average, variance = float(averages[0]), float(variances[0])
            estimate = agnostic_mean(average, variance, channel, spread=scaled)
        else:
            estimate = stratified_mean(averages, variances, channel, spread=scaled)
        return estimate.in_units(middle, half)

    def channel(self, people: Population) -> Channel:
        """Returns what messages of these people tell about their values."""

        def moments(epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
            mean, variance = self.randomizer.moments(epsilons, values - self._shift)
            return mean + self._shift, variance

        counts = people.counts.astype(np.float64)
        linear = self.mechanism != "clip-laplace"
        return Channel(moments, people.epsilons, counts, self.low, self.high, linear)

    def predicted_error(
        self, people: Population, *, mean: float | None = None, spread: float = 0.0
    ) -> float:
        """Returns the standard error to expect, before anything is collected.

        Args:
            people: Who will take part.
            mean: Of the values; by default the middle of the range, where it is largest.
            spread: Their standard deviation.

        Raises:
            InvalidInputError: If messages of these people carry no information, or mean
                or spread are impossible.
        """
        value, half = self._scaled(mean), value_range(self.low, self.high)
        known = (check_spread(spread, self.low, self.high) or 0.0) / half
        # Rounding aside, a mean near an end leaves no room for a large spread.
        if known**2 > (1.0 - value) * (1.0 + value) + 1e-9:
            raise InvalidInputError(
                "Expected a spread that values of this mean can have in the range, "
                f"got {spread:g}."
            )
        channel = self._unit.channel(people)
        if self.mode == "agnostic":
            return half * float(channel.variance(value, known, solved=False) ** 0.5)
        share = people.counts / people.num_users
        parts = [
            channel.level(index).variance(value, known, solved=False)
            for index in range(people.num_levels)
        ]
        return half * float((share**2 @ np.array(parts)) ** 0.5)

    def predicted_bias(self, people: Population, *, mean: float | None = None) -> float:
        """Returns the bias limit to expect if all values are equal; 0 if unbiased.

        Args:
            people: Who will take part.
            mean: As for `predicted_error`.
        """
        channel, value = self._unit.channel(people), np.array([self._scaled(mean)])
        half = value_range(self.low, self.high)
        if self.mode == "agnostic":
            return half * channel.bias_limit(float(channel.average(value)[0]))
        limits = [
            level.bias_limit(float(level.average(value)[0]))
            for level in map(channel.level, range(people.num_levels))
        ]
        return half * float(people.counts @ np.array(limits)) / people.num_users

    def _scaled(self, mean: float | None) -> float:
        """Returns where a mean, by default the middle, is between -1 and 1."""
        value = self._middle if mean is None else as_number(mean, "mean")
        if not self.low <= value <= self.high:
            raise InvalidInputError(f"Expected a mean in the range, got {value:g}.")
        half = value_range(self.low, self.high)
        return float(np.clip((value - self._middle) / half, -1.0, 1.0))


def check_spread(spread: float | None, low: float, high: float) -> float | None:
    """Returns the spread, which cannot exceed half the range."""
    if spread is None:
        return None
    number = as_number(spread, "spread")
    if not 0.0 <= number <= value_range(low, high):
        raise InvalidInputError(
            f"Expected a spread from 0 to {value_range(low, high):g}, half the range of "
            f"the values; got {number:g}."
        )
    return number


def _averages(
    randomizer: NumberRandomizer, messages: Ints, groups: Ints | None, num_groups: int
) -> tuple[Floats, Floats]:
    """Returns average and variance of the decoded messages, of each group or of all."""
    size = 1 if groups is None else num_groups
    count, total, square = np.zeros(size), np.zeros(size), np.zeros(size)
    for start in range(0, messages.size, _BATCH):
        part = slice(start, start + _BATCH)
        away = randomizer.decode(messages[part])
        if groups is None:
            count[0] += away.size
            total[0] += away.sum()
            square[0] += away @ away
            continue
        count += np.bincount(groups[part], minlength=size)
        total += np.bincount(groups[part], away, minlength=size)
        square += np.bincount(groups[part], away**2, minlength=size)
    average = total / count
    return average, np.maximum(square / count - average**2, 0.0)
