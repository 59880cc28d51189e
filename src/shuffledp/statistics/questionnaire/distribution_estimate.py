"""Estimated distribution of a number: bins, distribution function, ranges, quantiles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.interval import checked_confidence
from shuffledp.analyzer.projection import project_monotone
from shuffledp.arguments import expect_instance
from shuffledp.statistics.questionnaire.distribution_ranges import (
    bins_between,
    checked_shares,
    monotone_quantiles,
    quantile_intervals,
)
from shuffledp.statistics.questionnaire.interval_tree import consistent_bins
from shuffledp.statistics.questionnaire.question import (
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.statistics.questionnaire.share_estimate import (
    LEAST_ANSWERS,
    ShareEstimate,
)
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class DistributionEstimate(QuestionEstimate):
    """Numbers of people per bin, which add up to all people who answered.

    Where people may skip, so that the number of those who answered is estimated, shares are
    ratios: their errors are by the delta method, and infinite where no one may have
    answered.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.DistributionQuestion("age", (0, 20, 40, 60, 80), fan_out=2)
    >>> noise = (sdp.PoissonNoise(100.0), sdp.PoissonNoise(100.0))
    >>> asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=8_000)
    >>> ages, rng = np.repeat([10.0, 30.0, 50.0, 70.0], 2_000), np.random.default_rng(1)
    >>> tally = asked.draw_tally({"age": ages}, np.full(8_000, 1.0), rng=rng)
    >>> found = asked.estimate(tally, sdp.Population.from_counts({1.0: 8_000}))["age"]
    >>> found.quantiles([0.25, 0.5]).round().tolist()
    [20.0, 40.0]
    >>> found.quantile_intervals([0.6]).tolist()
    [[40.0, 60.0]]

    Attributes:
        edges: Ends of bins, shape (bins + 1,).
        counts: That it was estimated from.
        matrices: Least-squares coefficients of each layer's counts, each of shape
            (bins, nodes); a last row is that of people who skipped.
        shares: Coefficients of the known number of all people, shape (bins,), and perhaps
            of those who skipped.
    """

    edges: Floats
    counts: QuestionCounts
    matrices: tuple[Floats, ...]
    shares: Floats

    @classmethod
    def of(
        cls,
        counts: QuestionCounts,
        edges: Floats,
        fan_out: int,
        *,
        with_skips: bool = False,
    ) -> "DistributionEstimate":
        """Returns the estimate from counts of all layers of a tree.

        Args:
            counts: A group for each layer, the bins last.
            edges: Ends of bins.
            fan_out: Children of a node.
            with_skips: Whether a last bin counts people who skipped.
        """
        expect_instance(counts, QuestionCounts)
        variances = tuple(group.noise_variance for group in counts.groups)
        # Without noise on any layer, all layers say the same.
        if min(variances) <= 0.0:
            variances = (1.0,) * len(variances)
        matrices, shares = consistent_bins(
            edges.size - 1 + with_skips, fan_out, variances
        )
        labels = tuple(
            f"{low:g} to {high:g}"
            for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        )
        inner_bins = slice(0, edges.size - 1)
        bins = counts.combine(
            labels,
            tuple(matrix[inner_bins] for matrix in matrices),
            counts.num_users * shares[inner_bins],
        )
        return cls(
            **vars(bins), edges=edges, counts=counts, matrices=matrices, shares=shares
        )

    def distribution(self) -> QuestionEstimate:
        """Returns the share of people below each inner edge, shape (bins - 1,).

        It is the share of those who answered.
        """
        n, inner = self.num_users, self.edges.size - 2
        labels = tuple(f"below {edge:g}" for edge in self.edges[1:-1].tolist())
        below = tuple(np.cumsum(m, axis=0)[:inner] / n for m in self.matrices)
        constant = np.cumsum(self.shares)[:inner]
        shares = self.counts.combine(labels, below, constant)
        if not self.with_skips:
            return shares
        part = max(self.answered.value[0], LEAST_ANSWERS) / n
        ratios = shares.value / part
        # The linear part of below / answered, at the estimated ratios: with -skips for the
        # number of those who answered, but for a constant.
        linear = self.counts.combine(
            labels,
            tuple(
                (low + np.outer(ratios, matrix[-1]) / n) / part
                for low, matrix in zip(below, self.matrices, strict=True)
            ),
        )
        return ShareEstimate.of(shares, self.answered, linear)

    @property
    def with_skips(self) -> bool:
        """Whether people may have skipped the question."""
        return self.shares.size == self.edges.size

    @property
    def answered(self) -> QuestionEstimate:
        """The number of people who answered, shape (1,): without skips all, exactly."""
        rows = tuple(-m[-1:] * self.with_skips for m in self.matrices)
        skipped = self.num_users * float(self.shares[-1]) * self.with_skips
        return self.counts.combine(("answered",), rows, self.num_users - skipped)

    def between(self, low: float, high: float) -> QuestionEstimate:
        """Returns the number of people between two edges.

        Args:
            low: One of the edges.
            high: A later one.

        Raises:
            InvalidInputError: If they are not edges in this order.
        """
        inside = bins_between(self.edges, low, high)
        rows = tuple(m[inside].sum(axis=0, keepdims=True) for m in self.matrices)
        constant = self.num_users * float(self.shares[inside].sum())
        return self.counts.combine((f"{low:g} to {high:g}",), rows, constant)

    def consistent(self) -> "ConsistentDistribution":
        """Returns the nearest distribution function that is possible, and its bins.

        It never falls, and is in [0, 1]. It is nearer to the true one, in the mean square
        over edges, and biased: see `ConsistentEstimate`. So are the bins that it leaves.
        """
        n, below = self.num_users, project_monotone(self.distribution().value)
        answered = float(np.clip(self.answered.value[0], 0.0, n))
        bins = answered * np.diff(below, prepend=0.0, append=1.0)
        return ConsistentDistribution(self, bins, 0.0, float(n), self.labels, below)

    def quantiles(self, shares: ArrayLike) -> Floats:
        """Returns numbers below which given shares of people are, shape as `shares`.

        The estimated distribution function is made monotone and interpolated in bins.

        Args:
            shares: In (0, 1), shape (q,).

        Raises:
            InvalidInputError: If a share is out of range.
        """
        return monotone_quantiles(
            self.edges, self.distribution().value, checked_shares(shares)
        )

    def quantile_ends(
        self, shares: ArrayLike, report_size: float, num_liars: int = 1
    ) -> Floats:
        """Returns between which numbers quantiles are without dishonest people, (q, 2).

        A larger distribution function has smaller quantiles, and dishonest people move it
        at each edge by at most their `manipulation`.

        Args:
            shares: In (0, 1), shape (q,).
            report_size: Messages of a report; infinite if sizes vary.
            num_liars: How many people send any messages they like.

        Raises:
            InvalidInputError: If a share is out of range, or there are not as many people.
        """
        wanted_shares, below = checked_shares(shares), self.distribution()
        # Infinite where all who answered may be dishonest: any number is possible then.
        shift = below.manipulation(report_size, num_liars)
        # Where the function is flat, either end of the flat part may be the quantile.
        ends = (
            monotone_quantiles(
                self.edges, below.value + shift, np.nextafter(wanted_shares, 0.0)
            ),
            monotone_quantiles(
                self.edges, below.value - shift, np.nextafter(wanted_shares, 1.0)
            ),
        )
        return np.stack(ends, axis=1)

    def quantile_intervals(self, shares: ArrayLike, confidence: float = 0.95) -> Floats:
        """Returns confidence intervals of quantiles, shape (q, 2).

        An interval ends at edges: it holds the quantile with at least the confidence, as
        the intervals of the distribution function at the two edges next to it hold theirs.

        Args:
            shares: In (0, 1), shape (q,).
            confidence: Of each interval, in (0, 1).

        Raises:
            InvalidInputError: If a share or the confidence is out of range.
        """
        wanted_shares = checked_shares(shares)
        ends = self.distribution().interval(checked_confidence(confidence))
        return quantile_intervals(self.edges, ends, wanted_shares)


@dataclass(frozen=True, eq=False)
class ConsistentDistribution(ConsistentEstimate):
    """The possible distribution that is nearest to an unbiased one.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.DistributionQuestion("age", (0, 20, 40, 60, 80), fan_out=2)
    >>> noise = (sdp.PoissonNoise(100.0), sdp.PoissonNoise(100.0))
    >>> asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=8_000)
    >>> ages, rng = np.repeat([10.0, 50.0], 4_000), np.random.default_rng(2)
    >>> tally = asked.draw_tally({"age": ages}, np.full(8_000, 1.0), rng=rng)
    >>> found = asked.estimate(tally, sdp.Population.from_counts({1.0: 8_000}))["age"]
    >>> found.distribution().value.round(4).tolist()
    [0.4993, 0.4989, 0.9997]
    >>> found.consistent().distribution().value.round(4).tolist()
    [0.4991, 0.4991, 0.9997]

    Attributes:
        raw: The unbiased distribution.
        below: Share of people below each inner edge, shape (bins - 1,).
    """

    raw: DistributionEstimate
    below: Floats

    def distribution(self) -> ConsistentEstimate:
        """Returns the share of people below each inner edge, shape (bins - 1,)."""
        unbiased = self.raw.distribution()
        return ConsistentEstimate(unbiased, self.below, 0.0, 1.0, unbiased.labels)

    @property
    def answered(self) -> ConsistentEstimate:
        """The number of people who answered, shape (1,)."""
        unbiased = self.raw.answered
        return ConsistentEstimate(
            unbiased,
            np.array([self.value.sum()]),
            self.lowest,
            self.highest,
            unbiased.labels,
        )

    def between(self, low: float, high: float) -> ConsistentEstimate:
        """Returns the number of people between two edges: see `DistributionEstimate`."""
        unbiased = self.raw.between(low, high)
        bins = self.value[bins_between(self.raw.edges, low, high)]
        total = np.array([bins.sum()])
        return ConsistentEstimate(
            unbiased, total, self.lowest, self.highest, unbiased.labels
        )

    def quantiles(self, shares: ArrayLike) -> Floats:
        """Returns numbers below which given shares of people are, shape as `shares`.

        Args:
            shares: In (0, 1), shape (q,).

        Raises:
            InvalidInputError: If a share is out of range.
        """
        function = np.concatenate([[0.0], self.below, [1.0]])
        numbers: Floats = np.interp(checked_shares(shares), function, self.raw.edges)
        return numbers

    def quantile_intervals(self, shares: ArrayLike, confidence: float = 0.95) -> Floats:
        """Returns the intervals of the unbiased estimate: see `DistributionEstimate`."""
        return self.raw.quantile_intervals(shares, confidence)
