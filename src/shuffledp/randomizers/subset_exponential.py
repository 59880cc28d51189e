"""Subset exponential mechanism (PrivSet): the message is a set of k of the d items.

A user holds s items. Message sets that intersect the user's set are e^eps times as likely
as those that do not. With one item per user it is subset selection.

With M = C(d - s, k) / C(d, k), the share of disjoint sets, a message intersects with
probability

    h = (1 - M) / (1 - M + M e^-eps),

and is uniform given whether it intersects. It contains an item of the user's set, or
one outside of it, with probability

    keep = h (k / d) / (1 - M),
    flip = keep (1 - M') + (1 - h) k / (d - s),

where M' = C(d - s - 1, k - 1) / C(d - 1, k - 1) is the share of disjoint sets among those
with one given item outside the user's set. For n users, the sum over items of squared
errors is (s keep (1 - keep) + (d - s) flip (1 - flip)) / (n (keep - flip)^2), for all
values.

Source: Wang, Huang, Nie, Wang, Xu, Yang (2018), "PrivSet: Set-valued data analyses with
local differential privacy", INFOCOM.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.population import MAX_BUDGET
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.items import ItemsRandomizer
from shuffledp.randomizers.subsets import uniform_subsets
from shuffledp.randomness import Rng, bernoulli_draws, check_rng, stream_of
from shuffledp.types import Floats, Ints

MAX_ITEMS = 2**20


@dataclass(frozen=True, slots=True)
class SubsetExponential:
    """Public parameters only.

    Attributes:
        num_items: d, at least 2.
        set_size: s, from 1 to d - 1: how many items each user holds.
        subset_size: k, from 1 to d - s: how many items a message names.
        epsilon: The local budget, from 0 to 700.
    """

    num_items: int
    set_size: int
    subset_size: int
    epsilon: float

    def __post_init__(self) -> None:
        d = whole_number(self.num_items, "items", least=2, most=MAX_ITEMS)
        s = whole_number(self.set_size, "items per person", least=1, most=d - 1)
        whole_number(self.subset_size, "items per message", least=1, most=d - s)
        if not 0.0 <= as_number(self.epsilon, "epsilon") <= MAX_BUDGET:
            raise InvalidInputError(
                f"Expected a budget from 0 to {MAX_BUDGET:g}, got {self.epsilon:g}."
            )

    @property
    def intersection_probability(self) -> float:
        """The probability that a message names an item of the user's set, h."""
        disjoint = self._disjoint_share()
        return (1.0 - disjoint) / (1.0 - disjoint + disjoint * math.exp(-self.epsilon))

    def densities(self) -> tuple[float, float]:
        """Returns keep and flip: probabilities of naming an item in the set, or outside."""
        d, s, k = self.num_items, self.set_size, self.subset_size
        disjoint, intersects = self._disjoint_share(), self.intersection_probability
        # Of the sets with one given item outside of the user's set.
        others_disjoint = _fraction_of_disjoint(d - 1, s, k - 1)
        keep = intersects * k / d / (1.0 - disjoint)
        flip = keep * (1.0 - others_disjoint) + (1.0 - intersects) * k / (d - s)
        return keep, flip

    @property
    def total_variation(self) -> float:
        """Total variation of messages of two people who share as few items as possible."""
        d, s, k = self.num_items, self.set_size, self.subset_size
        disjoint = self._disjoint_share()
        # Sets that miss the items of one and meet those of the other.
        only_one = disjoint - _fraction_of_disjoint(d, min(2 * s, d), k)
        decay = math.exp(-self.epsilon)
        return (
            -math.expm1(-self.epsilon) * only_one / (1.0 - disjoint + disjoint * decay)
        )

    def error(self, num_users: int) -> float:
        """Returns the sum over items of squared errors about the n participants."""
        keep, flip = self.densities()
        if not keep - flip > 1e-9:
            return math.inf
        d, s = self.num_items, self.set_size
        variance = s * keep * (1.0 - keep) + (d - s) * flip * (1.0 - flip)
        return variance / (num_users * (keep - flip) ** 2)

    def randomize(self, sets: Ints, *, rng: Rng) -> Ints:
        """Draws one set of k items per person, shape (n, k).

        Args:
            sets: Different items in [0, d) in every row, shape (n, s).
            rng: The only source of randomness.

        Raises:
            InvalidInputError: If an item is out of range, or a set holds one twice.
        """
        check_rng(rng)
        d, s, k = self.num_items, self.set_size, self.subset_size
        # The same checks; with "bernoulli", no set may lack an item.
        checked = ItemsRandomizer(d, s, 0.0, s, "bernoulli").check_sets(sets)
        ordered = np.sort(checked, axis=1).astype(np.int64)
        n = ordered.shape[0]
        common = np.zeros(n, dtype=np.int64)
        intersects = bernoulli_draws(np.full(n, self.intersection_probability), rng=rng)
        max_common = min(s, k)
        cumulative = np.cumsum(_overlap_distribution(d, s, k))
        intersecting = np.flatnonzero(intersects)
        uniforms = stream_of(rng, intersecting).random(intersecting.size)
        indices = np.searchsorted(cumulative / cumulative[-1], uniforms, "right")
        common[intersecting] = 1 + np.minimum(indices, max_common - 1)
        messages = np.empty((n, k), dtype=np.int64)
        for shared in range(max_common + 1):
            users = np.flatnonzero(common == shared)
            if not users.size:
                continue
            user_items, user_stream = ordered[users], stream_of(rng, users)
            inside = uniform_subsets(users.size, shared, s, rng=user_stream)
            messages[users, :shared] = np.take_along_axis(user_items, inside, axis=1)
            # The r-th item outside of the set: every smaller one inside shifts it.
            ranks = uniform_subsets(users.size, k - shared, d - s, rng=user_stream)
            shifts = user_items - np.arange(s)
            for column in range(k - shared):
                rank = ranks[:, column]
                before = (shifts <= rank[:, None]).sum(axis=1)
                messages[users, shared + column] = rank + before
        return messages

    def shares(self, counts: Ints, num_users: int) -> Floats:
        """Returns unbiased shares of the people who hold each item, shape (d,).

        Args:
            counts: How many messages name each item, shape (d,).
            num_users: How many people sent one.
        """
        keep, flip = self.densities()
        return (counts / num_users - flip) / (keep - flip)

    def _disjoint_share(self) -> float:
        return _fraction_of_disjoint(self.num_items, self.set_size, self.subset_size)


def best_subset_exponential(
    num_items: int, set_size: int, epsilon: float
) -> SubsetExponential:
    """Returns the mechanism whose message size has the least error at this budget."""

    def mechanism_of(size: int) -> SubsetExponential:
        return SubsetExponential(num_items, set_size, size, epsilon)

    # As for subset selection, the best k is at most about d / (s + 1); a few more do
    # not harm.
    max_size = min(num_items - set_size, num_items // 2 + 1)
    sizes = range(1, max_size + 1) if max_size <= 4096 else _geometric_sizes(max_size)
    return min(
        (mechanism_of(size) for size in sizes), key=lambda mechanism: mechanism.error(1)
    )


def _geometric_sizes(max_size: int) -> list[int]:
    return sorted({int(size) for size in np.geomspace(1.0, max_size, 4096)})


def _fraction_of_disjoint(num_items: int, num_given: int, size: int) -> float:
    """Returns C(d - h, k) / C(d, k), the share of k-sets without any of h given items."""
    d, h, k = num_items, num_given, size
    if k == 0:
        return 1.0
    if d - h < k:
        return 0.0
    # A product of the smaller number of factors, each (d - h - i) / (d - i).
    num_factors, larger = sorted((h, k))
    factors = np.arange(num_factors)
    return float(np.prod((d - larger - factors) / (d - factors)))


def _overlap_distribution(num_items: int, set_size: int, size: int) -> Floats:
    """Returns weights of the number of common items of message and set, from 1 on."""
    d, s, k = num_items, set_size, size
    common = np.arange(1, min(s, k) + 1)

    def log_ways(total: int, part: Floats | Ints) -> Floats:
        ways: Floats = (
            gammaln(total + 1.0) - gammaln(part + 1.0) - gammaln(total - part + 1.0)
        )
        return ways

    log = log_ways(s, common) + log_ways(d - s, k - common)
    weights: Floats = np.exp(log - log.max())
    return weights
