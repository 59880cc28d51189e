"""A question for a number: its mean, from counts of binary digits.

A number of [low, high] is rounded at random to a whole number of J binary digits, without
bias. Every digit is a group of two buckets, "1" and "0": every person sends one message for
each digit, whatever the number, so that the size of a report tells nothing of it.

The number, scaled to [-1, 1], is the sum over j of 2^j / (2^J - 1) for a digit 1, and of
-2^j / (2^J - 1) for a digit 0. With V_j for the noise variance of a bucket of digit j, in
people squared, the noise on the sum of these numbers has the variance
sum over j of 4^j (2 V_j) / (2^J - 1)^2.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.arguments import expect_flag, expect_instance
from shuffledp.arrays import float_array
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_label
from shuffledp.number_range import half_range
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomness import Rng, bernoulli_draws, check_rng
from shuffledp.statistics.questionnaire.group_mean_estimate import GroupMeanEstimate
from shuffledp.statistics.questionnaire.meaning import LATER
from shuffledp.statistics.questionnaire.question import (
    AnswerGroup,
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.types import Floats, Ints

MOST_DIGITS = 24


@dataclass(frozen=True, eq=False)
class NumberEstimate(QuestionEstimate):
    """The unbiased mean of a number.

    >>> import numpy as np, shuffledp as sdp
    >>> error = {"standard_error": np.array([0.1]), "excess_kurtosis": np.zeros(1)}
    >>> error["message_shift"] = error["step"] = np.array([0.01])
    >>> terms = {"num_users": 100, "low": 0.0, "high": 1.0}
    >>> raw = sdp.NumberEstimate(("mean",), np.array([1.03]), **error, **terms)
    >>> raw.consistent().value.tolist()
    [1.0]

    Attributes:
        low: Smallest possible number.
        high: Largest possible number.
    """

    counts_people: ClassVar[bool] = False

    low: float
    high: float

    def consistent(self) -> ConsistentEstimate:
        """Returns the mean, limited to the range of numbers: see `ConsistentEstimate`."""
        projection = np.clip(self.value, self.low, self.high)
        return ConsistentEstimate(self, projection, self.low, self.high, self.labels)


@dataclass(frozen=True)
class NumberQuestion:
    """A question for a number, to estimate its mean.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.NumberQuestion("age", 0, 100, digits=2)
    >>> question.encode([0.0, 100.0], rng=np.random.default_rng(1)).tolist()
    [[0, 0], [1, 1]]
    >>> question = sdp.NumberQuestion("age", 0, 100, digits=2, skippable=True)
    >>> question.encode([100.0, np.nan], rng=np.random.default_rng(1)).tolist()
    [[1, 1], [2, 2]]

    Attributes:
        name: Of the question.
        low: Smallest possible number.
        high: Largest possible number.
        digits: J, binary digits to which a number is rounded, from 1 to 24. Rounding adds
            at most (high - low) / (2^J - 1) / 2 to the standard deviation of one number.
            None: a planner chooses as many as the number of people is worth.
        skippable: Whether people may leave it out. Every digit then has a third bucket, for
            those who do: they send as many messages as others. The estimate is the mean of
            those who answered, a `GroupMeanEstimate` of one group; its `people` is their
            number, which is estimated, too.
    """

    name: str
    low: float
    high: float
    digits: int | None = None
    skippable: bool = field(default=False, metadata={LATER: True})

    def __post_init__(self) -> None:
        check_label(self.name, "a question's name")
        half_range(self.low, self.high)
        if self.digits is not None:
            whole_number(self.digits, "binary digits", least=1, most=MOST_DIGITS)
        expect_flag(self.skippable, "skippable")

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """Two buckets for each digit, the most significant one first; three with skips."""
        buckets = 3 if self.skippable else 2
        return tuple(
            AnswerGroup(buckets, 1, 0.5 * weight**2)
            for weight in self._weights.tolist()
        )

    @property
    def _places(self) -> Ints:
        """Exponents of the digits, the most significant one first."""
        if self.digits is None:
            raise InvalidInputError(
                f"Expected a number of digits of {self.name}, as a plan chooses it."
            )
        return np.arange(self.digits)[::-1]

    @property
    def _steps(self) -> int:
        return int(2 ** (self._places[0] + 1)) - 1

    @property
    def _weights(self) -> Floats:
        weights: Floats = np.exp2(self._places) / self._steps
        return weights

    def adapted(self, num_users: int, *, noise: float) -> "NumberQuestion":
        """Returns the question with a number of digits: see `Question.adapted`.

        Rounding then adds at most 2% to the error of the sum of all numbers.
        """
        if self.digits is not None:
            return self
        # Half a step for each of n people, at most a fifth of the noise.
        steps = 2.5 * math.sqrt(num_users) / noise
        digits = min(math.ceil(math.log2(steps + 1.0)), MOST_DIGITS)
        return replace(self, digits=max(digits, 1))

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns the digits of numbers that are rounded at random, shape (n, digits).

        Args:
            answers: Numbers in [low, high], shape (n,); NaN for none, if it is skippable.
            rng: See `Question.encode`.

        Raises:
            InvalidInputError: If a number is out of range.
        """
        numbers = float_array(answers, "numbers")
        skipped = np.isnan(numbers) & self.skippable
        numbers = np.where(skipped, self.low, numbers)
        if not np.all((numbers >= self.low) & (numbers <= self.high)):
            raise InvalidInputError(
                f"Expected numbers in [{self.low:g}, {self.high:g}]."
            )
        check_rng(rng)
        # Halves, as high - low may be more than the largest double.
        half = half_range(self.low, self.high)
        scaled = (numbers / 2.0 - self.low / 2.0) / half * self._steps
        below = np.clip(np.floor(scaled), 0.0, self._steps)
        above = bernoulli_draws(np.clip(scaled - below, 0.0, 1.0), rng=rng)
        rounded = np.minimum(below.astype(np.int64) + above, self._steps)
        digits: Ints = rounded[:, None] >> self._places & 1
        return np.where(skipped[:, None], 2, digits)

    def estimate(self, counts: QuestionCounts) -> NumberEstimate | GroupMeanEstimate:
        """Returns the mean of the numbers, of those who answered."""
        expect_instance(counts, QuestionCounts)
        if self.skippable:
            return GroupMeanEstimate.of(
                counts,
                ("mean",),
                self._weights,
                self.low,
                self.high,
                with_skips=True,
            )
        n, half = counts.num_users, half_range(self.low, self.high)
        coefficients = tuple(
            weight / n * np.array([[-1.0, 1.0]]) for weight in self._weights.tolist()
        )
        # The mean of numbers that are scaled to [-1, 1].
        scaled = counts.combine(("mean",), coefficients)
        # Rounding of every number adds at most a quarter of a squared step of 2 / steps.
        variance = scaled.standard_error**2
        total = variance + 1.0 / self._steps**2 / n
        # An overflow is refused below.
        with np.errstate(over="ignore"):
            value = self.low + half + half * scaled.value
            error = half * np.sqrt(total)
        if not np.all(np.isfinite(value) & np.isfinite(error)):
            raise InvalidInputError(
                f"Expected a range of {self.name} well below the largest number."
            )
        return NumberEstimate(
            scaled.labels,
            value,
            error,
            scaled.excess_kurtosis * (variance / total) ** 2,
            n,
            self.low,
            self.high,
            message_shift=half * scaled.message_shift,
            step=half * scaled.step,
        )
