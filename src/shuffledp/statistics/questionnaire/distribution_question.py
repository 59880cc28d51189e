"""A question for a number: its distribution, from a tree of intervals."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arguments import expect_flag
from shuffledp.arrays import float_array
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_label
from shuffledp.number_range import half_range
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.distribution_estimate import (
    DistributionEstimate,
)
from shuffledp.statistics.questionnaire.interval_tree import (
    layer_precisions,
    layer_sizes,
    mean_distribution_variance,
)
from shuffledp.statistics.questionnaire.meaning import LATER
from shuffledp.statistics.questionnaire.question import (
    AnswerGroup,
    QuestionCounts,
)
from shuffledp.types import Ints

MOST_BINS = 1024
_FAN_OUTS = (2, 3, 4, 6, 8, 16, 32)
# Variances up to this times the smallest.
_AS_GOOD = 1.1


@dataclass(frozen=True)
class DistributionQuestion:
    """A question for a number, to estimate its distribution and quantiles.

    Every layer of a tree of intervals is a group: a person sends a message for the interval
    of each layer that holds their number.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.DistributionQuestion("income", (0, 10, 20, 30, 40, 50), fan_out=3)
    >>> [group.buckets for group in question.groups]
    [2, 5]
    >>> question.encode([0.0, 35.0, 50.0], rng=np.random.default_rng(1)).tolist()
    [[0, 0], [1, 3], [1, 4]]

    Attributes:
        name: Of the question.
        edges: Ends of bins, increasing, at least 3 and at most 1,025. A bin holds its lower
            end, and the last bin its upper end, too.
        fan_out: Intervals that one of the layer above holds, from 2 to 1,024; None: a
            planner chooses the one of the smallest error.
        skippable: Whether people may leave it out. A last bin then holds those who do: they
            send as many messages as others. The distribution is that of those who answered,
            whose number is estimated, too.
    """

    name: str
    edges: tuple[float, ...]
    fan_out: int | None = None
    skippable: bool = field(default=False, metadata={LATER: True})

    def __post_init__(self) -> None:
        check_label(self.name, "a question's name")
        edges = float_array(self.edges, "ends of bins")
        if not 3 <= edges.size <= MOST_BINS + 1:
            raise InvalidInputError(
                f"Expected 3 to {MOST_BINS + 1:,} ends of bins, got {edges.size:,}."
            )
        if not np.all(np.isfinite(edges)) or not np.all(np.diff(edges) > 0.0):
            raise InvalidInputError(
                "Expected finite ends of bins, each above the last."
            )
        object.__setattr__(self, "edges", tuple(edges.tolist()))
        if self.fan_out is not None:
            whole_number(self.fan_out, "as the fan-out", least=2, most=MOST_BINS)
        expect_flag(self.skippable, "skippable")

    @property
    def num_bins(self) -> int:
        """B, the number of bins, without one for people who leave it out."""
        return len(self.edges) - 1

    @property
    def _leaves(self) -> int:
        """The number of bins of the tree."""
        return self.num_bins + self.skippable

    @property
    def _fan(self) -> int:
        if self.fan_out is None:
            raise InvalidInputError(
                f"Expected a fan-out of {self.name}, as a plan chooses it."
            )
        return self.fan_out

    @property
    def _sizes(self) -> tuple[int, ...]:
        return layer_sizes(self._leaves, self._fan)

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """A group for each layer of the tree."""
        # Noise is divided in proportion to 1 / sqrt(weight): squares keep precisions.
        total_variance = self._distribution_variance(self._fan)
        precisions = layer_precisions(len(self._sizes))
        return tuple(
            AnswerGroup(size, 1, total_variance * precision**2)
            for size, precision in zip(self._sizes, precisions.tolist(), strict=True)
        )

    def _distribution_variance(self, fan_out: int) -> float:
        """Returns the mean variance below an edge if precisions add up to 1."""
        layers = len(layer_sizes(self._leaves, fan_out))
        variances = tuple((1.0 / layer_precisions(layers)).tolist())
        return mean_distribution_variance(self._leaves, fan_out, variances)

    def adapted(self, num_users: int, *, noise: float) -> "DistributionQuestion":
        """Returns the question with the fan-out of the smallest error.

        The error is that of the distribution function, in the mean over edges; of fan-outs
        that are about as good, the largest.
        """
        del num_users, noise
        if self.fan_out is not None:
            return self
        fans = [fan for fan in _FAN_OUTS if fan < self._leaves] or [2]
        variances = [self._distribution_variance(fan) for fan in fans]
        # More intervals per layer, and fewer messages, are worth a little more error.
        good = min(variances) * _AS_GOOD
        fan_out = max(fan for fan, v in zip(fans, variances, strict=True) if v <= good)
        return replace(self, fan_out=fan_out)

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns the interval of each layer that holds each number, shape (n, layers).

        Args:
            answers: Numbers between the first and the last edge, shape (n,); NaN for none,
                if it is skippable.
            rng: Not used: nothing is rounded.

        Raises:
            InvalidInputError: If a number is out of range.
        """
        del rng
        numbers = float_array(answers, "numbers")
        low, high = self.edges[0], self.edges[-1]
        skipped = np.isnan(numbers) & self.skippable
        numbers = np.where(skipped, low, numbers)
        if not np.all((numbers >= low) & (numbers <= high)):
            raise InvalidInputError(f"Expected numbers in [{low:g}, {high:g}].")
        bins = np.searchsorted(np.array(self.edges), numbers, side="right") - 1
        bins = np.minimum(bins, self.num_bins - 1)
        bins = np.where(skipped, self.num_bins, bins)
        layers = len(self._sizes)
        widths = self._fan ** np.arange(layers)[::-1]
        return bins[:, None] // widths

    def estimate(self, counts: QuestionCounts) -> DistributionEstimate:
        """Returns numbers of people per bin, the distribution function and quantiles."""
        return DistributionEstimate.of(
            counts, np.array(self.edges), self._fan, with_skips=self.skippable
        )


def equal_bins(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Returns the ends of bins of equal width.

    >>> equal_bins(0, 10, 4)
    (0.0, 2.5, 5.0, 7.5, 10.0)
    """
    whole_number(bins, "bins", least=2, most=MOST_BINS)
    half_range(low, high)
    return tuple(np.linspace(low, high, bins + 1).tolist())
