"""Means by group, as ratios of sums to numbers of people, with their intervals.

Confidence intervals of T / N: Fieller (1954), Journal of the Royal Statistical Society B.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.interval import half_width, reach
from shuffledp.analyzer.projection import project_within
from shuffledp.number_range import half_range
from shuffledp.statistics.questionnaire.dishonest_shifts import (
    furthest_ratio,
    liars_messages,
    moved_by,
)
from shuffledp.statistics.questionnaire.question import (
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.types import Floats


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

    counts_people: ClassVar[bool] = False

    people: QuestionEstimate
    scaled_sum: Floats
    sum_variance: Floats
    count_variance: Floats
    low: float
    high: float
    sum_shift: Floats

    @classmethod
    def of(
        cls,
        counts: QuestionCounts,
        labels: tuple[str, ...],
        weights: Floats,
        low: float,
        high: float,
        *,
        with_skips: bool = False,
    ) -> "GroupMeanEstimate":
        """Returns means from the counts of binary digits of each group.

        Where a bucket of each digit counts those who skipped, it is the last, and there is
        one group. N is then estimated twice, as ones + zeros and as n - skips; the least
        squares are (ones + zeros + 2 (n - skips)) / 3, of a third of the variance, and
        with noise as independent of T as before.

        Args:
            counts: A group for each digit, the most significant first.
            labels: Of groups of people.
            weights: w_j, of the digits.
            low: Smallest possible number.
            high: Largest possible number.
            with_skips: Whether the last bucket of a digit counts people who skipped.
        """
        half = half_range(low, high)
        precision = np.array([1.0 / group.noise_variance for group in counts.groups])
        shares = precision / np.sum(precision)
        each = sparse.eye_array(len(labels), format="csr")
        one_sum, one_head, constant = np.array([[-1.0, 1.0]]), np.ones((1, 2)), 0.0
        if with_skips:
            one_sum = np.array([[-1.0, 1.0, 0.0]])
            one_head = np.array([[1.0, 1.0, -2.0]]) / 3.0
            constant = 2.0 * counts.num_users / 3.0
        sums = [sparse.kron(each, weight * one_sum) for weight in weights.tolist()]
        heads = [sparse.kron(each, share * one_head) for share in shares.tolist()]
        people = counts.combine(labels, tuple(heads), constant)
        sum_estimate = counts.combine(labels, tuple(sums))
        total = sum_estimate.value
        present = people.value > 0.0
        num_people = np.where(present, people.value, 1.0)
        ratio = np.where(present, np.clip(total / num_people, -1.0, 1.0), 0.0)
        at_ratio = sparse.diags_array(ratio)
        group_mean = counts.combine(
            labels,
            tuple(
                part - at_ratio @ head for part, head in zip(sums, heads, strict=True)
            ),
            -ratio * constant,
        )
        # Rounding of every number adds at most a quarter of a squared step to its sum.
        steps = 2.0 ** len(weights) - 1.0
        linear = group_mean.standard_error**2
        variance = linear + np.maximum(people.value, 0.0) / steps**2
        # Only noise: where people send answers at random, what that adds is in `variance`,
        # at the estimated ratio.
        squares = float((one_head**2).sum())
        count_variance = np.full(len(labels), squares / np.sum(precision))
        mean = low + half + half * total / num_people
        return cls(
            labels,
            np.where(present, mean, math.nan),
            np.where(present, half * np.sqrt(variance) / num_people, math.inf),
            group_mean.excess_kurtosis * (linear / variance) ** 2,
            counts.num_users,
            people,
            total,
            variance - ratio**2 * count_variance,
            count_variance,
            low,
            high,
            sum_estimate.message_shift,
            # Of a ratio there is none: see `manipulation`.
            message_shift=np.full(len(labels), math.inf),
            step=half * group_mean.step / num_people,
        )

    def manipulation(self, report_size: float, num_liars: int = 1) -> Floats:
        """Returns how far means may be from those without dishonest people, (groups,).

        It is infinite where these people could make up the whole group. Arguments and
        errors are those of `QuestionEstimate.manipulation`.
        """
        messages = liars_messages(report_size, num_liars, self.num_users)
        half = half_range(self.low, self.high)
        return half * furthest_ratio(
            self.scaled_sum,
            self.people.value,
            moved_by(messages, self.sum_shift),
            self.people.manipulation(report_size, num_liars),
            0.0,
        )

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of Fieller's confidence intervals of means, (groups, 2).

        A group whose number of people could be 0 at this confidence has the interval
        (-infinity, infinity). Quantiles are corrected as in `QuestionEstimate`.

        Args:
            confidence: Probability that an interval contains the truth, in (0, 1).
        """
        margin = half_width(
            confidence, self.standard_error, self.step, self.excess_kurtosis
        )
        # In standard errors; those of unknown means are infinite.
        square = (
            np.divide(
                margin,
                self.standard_error,
                out=np.full(margin.shape, reach(confidence)),
                where=np.isfinite(self.standard_error) & (self.standard_error > 0.0),
            )
            ** 2
        )
        people, total = self.people.value, self.scaled_sum
        # theta with (T - theta N)^2 <= square (sum_variance + theta^2 count_variance).
        leading = people**2 - square * self.count_variance
        bounded = (leading > 0.0) & (people > 0.0)
        divisor = np.where(bounded, leading, 1.0)
        root = np.sqrt(
            np.maximum(
                square * (self.sum_variance * divisor + total**2 * self.count_variance),
                0.0,
            )
        )
        ends = np.stack([total * people - root, total * people + root], axis=1)
        half = half_range(self.low, self.high)
        interval: Floats = np.where(
            bounded[:, None],
            self.low + half + half * ends / divisor[:, None],
            np.array([-math.inf, math.inf]),
        )
        return interval

    def consistent(self) -> "ConsistentGroupMeans":
        """Returns means limited to the range of numbers, and possible numbers of people.

        They are biased: see `ConsistentEstimate`. Groups are not negative, and have at most
        all people together. A mean that is NaN stays so.
        """
        groups, n = self.people, float(self.num_users)
        people = ConsistentEstimate(
            groups, project_within(groups.value, n), 0.0, n, groups.labels
        )
        means = np.clip(self.value, self.low, self.high)
        return ConsistentGroupMeans(
            self, means, self.low, self.high, self.labels, people
        )


@dataclass(frozen=True, eq=False)
class ConsistentGroupMeans(ConsistentEstimate):
    """Possible means by group, nearest to those that were estimated.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.GroupMeanQuestion("pay", ("east", "west"), 0, 1, digits=1)
    >>> noise = (sdp.PoissonNoise(50.0),)
    >>> asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=2_000)
    >>> rows, rng = np.repeat([[0, 1.0], [1, 0.0]], 1_000, axis=0), np.random.default_rng(1)
    >>> tally = asked.draw_tally({"pay": rows}, np.full(2_000, 1.0), rng=rng)
    >>> found = asked.estimate(tally, sdp.Population.from_counts({1.0: 2_000}))["pay"]
    >>> found.value.round(3).tolist(), found.consistent().value.round(3).tolist()
    ([1.005, -0.002], [1.0, 0.0])

    Attributes:
        people: Possible numbers of people of each group.
    """

    people: ConsistentEstimate
