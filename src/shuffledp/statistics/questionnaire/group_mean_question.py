"""A question for a number and a group: the mean, and the number of people, by group.

Numbers are rounded to digits as in `NumberQuestion`; every digit has two buckets for each
group of people. With w_j for the weight of digit j, T is the sum over j of
w_j (ones - zeros), the sum of a group's numbers scaled to [-1, 1]; every digit also counts
the group's people, N = ones + zeros. With V_j for the noise variance of a bucket,

    var T = sum over j of 2 V_j w_j^2,  var N = 2 / (sum over j of 1 / V_j),  cov(T, N) = 0

if digits are weighted by 1 / V_j in N. No message of its own is needed for N: noise of
deviation 1 / mu is divided best with V_j = 2 / (mu^2 w_j), at which var T = var N =
4 / mu^2. That is the error of Gaussian noise of a trusted curator on (T, N), whose
sensitivity is 2: one number may change from -1 to 1, or one person from group to group.

Confidence intervals of T / N: Fieller (1954), Journal of the Royal Statistical Society B.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from shuffledp.analyzer.interval import reach
from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import as_whole, float_array
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_labels
from shuffledp.randomizers.checks import value_range
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.question import (
    AnswerGroup,
    QuestionCounts,
    QuestionEstimate,
    liars_messages,
)
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class GroupMeanEstimate(QuestionEstimate):
    """Means by group, as ratios of unbiased sums to unbiased numbers of people.

    A ratio has a bias of about var N / N^2 times the mean's distance from the middle of
    the range. Where the estimated number of people is not above 0, `value` is NaN and
    `standard_error` infinite; `standard_error` is by the delta method.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.GroupMeanQuestion("pay", ("east", "west"), 0, 1, digits=1)
    >>> noise = (sdp.PoissonNoise(50.0),)
    >>> asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=2_000)
    >>> rows, rng = np.repeat([[0, 1.0], [1, 0.0]], 1_000, axis=0), np.random.default_rng(1)
    >>> tally = asked.draw_tally({"pay": rows}, np.full(2_000, 1.0), rng=rng)
    >>> found = asked.estimate(tally, sdp.Population.from_counts({1.0: 2_000}))["pay"]
    >>> found.value.round(1).clip(0.0).tolist()
    [1.0, 0.0]
    >>> found.people.standard_error.tolist()
    [10.0, 10.0]

    Attributes:
        people: Unbiased numbers of people of each group.
        scaled_sum: T, sums of numbers scaled to [-1, 1], shape (groups,).
        sum_variance: Of T - N value, without the noise of N, shape (groups,).
        count_variance: Of N, only noise, shape (groups,).
        low: Smallest possible number.
        high: Largest possible number.
        sum_shift: By how much one message moves T at most, shape (groups,).
    """

    people: QuestionEstimate
    scaled_sum: Floats
    sum_variance: Floats
    count_variance: Floats
    low: float
    high: float
    sum_shift: Floats

    def manipulation(self, report_size: float, num_liars: int = 1) -> Floats:
        """Returns how far means may be from those without dishonest people, (groups,).

        It is infinite where these people could make up the whole group. Arguments and
        errors are those of `QuestionEstimate.manipulation`.
        """
        messages = liars_messages(report_size, num_liars, self.num_users)
        number, total = self.people.value, self.scaled_sum
        moved = self.people.manipulation(report_size, num_liars)
        left = number - moved
        known = left > 0.0
        safe = np.where(known, left, 1.0)
        ratio = total / np.where(known, number, 1.0)
        # (T + a) / (N + b) is furthest from T / N at an end of both.
        furthest = np.zeros(total.size)
        for end in (
            total - messages * self.sum_shift,
            total + messages * self.sum_shift,
        ):
            for divisor in (safe, np.where(known, number + moved, 1.0)):
                furthest = np.maximum(furthest, np.abs(end / divisor - ratio))
        half = value_range(self.low, self.high)
        return np.where(known, half * furthest, math.inf)

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of Fieller's confidence intervals of means, (groups, 2).

        A group whose number of people could be 0 at this confidence has the interval
        (-infinity, infinity). Quantiles are corrected as in `QuestionEstimate`.

        Args:
            confidence: Probability that an interval contains the truth, in (0, 1).
        """
        z = reach(confidence)
        longer = max(z**3 - 3.0 * z, 0.0) / 24.0 * self.excess_kurtosis
        square = (z + longer) ** 2
        number, total = self.people.value, self.scaled_sum
        # theta with (T - theta N)^2 <= square (sum_variance + theta^2 count_variance).
        leading = number**2 - square * self.count_variance
        bounded = (leading > 0.0) & (number > 0.0)
        safe = np.where(bounded, leading, 1.0)
        root = np.sqrt(
            np.maximum(
                square * (self.sum_variance * safe + total**2 * self.count_variance),
                0.0,
            )
        )
        ends = np.stack([total * number - root, total * number + root], axis=1)
        half = value_range(self.low, self.high)
        interval: Floats = np.where(
            bounded[:, None],
            self.low + half + half * ends / safe[:, None],
            np.array([-math.inf, math.inf]),
        )
        return interval


@dataclass(frozen=True)
class GroupMeanQuestion:
    """A question for a group and a number, to estimate the mean by group.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.GroupMeanQuestion("pay", ("east", "west"), 0, 3, digits=2)
    >>> question.encode([[0, 1.0], [1, 2.0]], rng=np.random.default_rng(1)).tolist()
    [[0, 1], [3, 2]]

    Attributes:
        name: Of the question.
        people: Groups of people, as different texts, at least 2.
        low: Smallest possible number.
        high: Largest possible number.
        digits: J, as of `NumberQuestion`; a planner chooses for groups of equal size.
    """

    name: str
    people: tuple[str, ...]
    low: float
    high: float
    digits: int | None = None

    def __post_init__(self) -> None:
        people = check_labels(expect_list(self.people, "groups", of="texts"), "groups")
        object.__setattr__(self, "people", people)
        if len(people) < 2 or len(set(people)) < len(people):
            raise InvalidInputError("Expected at least 2 groups, as different texts.")
        # Raises if a term of the number is out of range.
        _ = self._number

    @property
    def _number(self) -> NumberQuestion:
        return NumberQuestion(self.name, self.low, self.high, self.digits)

    @property
    def _weights(self) -> Floats:
        parts = [group.error_weight for group in self._number.groups]
        return np.sqrt(2.0 * np.array(parts))

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """Two buckets per group of people for each digit, the most significant first."""
        return tuple(
            AnswerGroup(2 * len(self.people), 1, group.error_weight)
            for group in self._number.groups
        )

    def adapted(self, num_users: int, *, noise: float) -> "GroupMeanQuestion":
        """Returns the question with a number of digits: see `Question.adapted`."""
        in_group = max(as_whole(num_users, "people") // len(self.people), 1)
        return replace(self, digits=self._number.adapted(in_group, noise=noise).digits)

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns buckets of digits, 2 x group + digit, shape (n, digits).

        Args:
            answers: The position of each person's group, from 0, and their number, shape
                (n, 2). The number of groups stands for no answer; the number beside it has
                to be in range, too, and counts nowhere.
            rng: See `Question.encode`.

        Raises:
            InvalidInputError: If the shape is another, or an answer is out of range.
        """
        rows = np.asarray(answers)
        if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iuf":
            raise InvalidInputError("Expected rows of a group's position and a number.")
        none = len(self.people)
        position = float_array(rows[:, 0], "positions of groups")
        if not np.all(
            (position >= 0) & (position <= none) & (position == np.floor(position))
        ):
            raise InvalidInputError(
                f"Expected positions of groups from 0 to {none - 1}, or {none} for no "
                "answer."
            )
        digits = self._number.encode(rows[:, 1], rng=rng)
        group = position.astype(np.int64)[:, None]
        return np.where(group < none, 2 * group + digits, 2 * none)

    def estimate(self, counts: QuestionCounts) -> GroupMeanEstimate:
        """Returns the mean of each group's numbers."""
        expect_instance(counts, QuestionCounts)
        half, labels = value_range(self.low, self.high), self.people
        weights = self._weights
        precision = np.array([1.0 / group.noise_variance for group in counts.groups])
        shares = precision / np.sum(precision)
        each = sparse.eye_array(len(labels), format="csr")
        sums = [sparse.kron(each, [[-weight, weight]]) for weight in weights.tolist()]
        heads = [sparse.kron(each, [[share, share]]) for share in shares.tolist()]
        people = counts.combine(labels, tuple(heads))
        sum_estimate = counts.combine(labels, tuple(sums))
        total = sum_estimate.value
        present = people.value > 0.0
        number = np.where(present, people.value, 1.0)
        ratio = np.where(present, np.clip(total / number, -1.0, 1.0), 0.0)
        at_ratio = sparse.diags_array(ratio)
        group_mean = counts.combine(
            labels,
            tuple(
                part - at_ratio @ head for part, head in zip(sums, heads, strict=True)
            ),
        )
        # Rounding of every number adds at most a quarter of a squared step to its sum.
        steps = 2.0 ** len(weights) - 1.0
        linear = group_mean.standard_error**2
        variance = linear + np.maximum(people.value, 0.0) / steps**2
        # Only noise: where people send answers at random, what that adds is in `variance`,
        # at the estimated ratio.
        count_variance = np.full(len(labels), 2.0 / np.sum(precision))
        mean = self.low + half + half * total / number
        return GroupMeanEstimate(
            labels,
            np.where(present, mean, math.nan),
            np.where(present, half * np.sqrt(variance) / number, math.inf),
            group_mean.excess_kurtosis * (linear / variance) ** 2,
            counts.num_users,
            people,
            total,
            variance - ratio**2 * count_variance,
            count_variance,
            self.low,
            self.high,
            sum_estimate.message_shift,
            # Of a ratio there is none: see `manipulation`.
            message_shift=np.full(len(labels), math.inf),
        )
