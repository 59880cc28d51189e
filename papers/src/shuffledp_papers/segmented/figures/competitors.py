"""Competitors of the protocol of Wang et al. (2025), each with its own accounting.

    name                    protocol                                     guarantee
    Subexp, local           subset exponential mechanism at the          local: that level
                            largest level
    Subexp, shuffle         the same, one message each, shuffled, at     the smallest level,
                            the budget that variation ratio allows       for all
    MM, shuffle             balls into bins: every item is sent, and     the smallest level,
                            uniform blanket messages                     for all
    SepMM, shuffle          balls into bins in each level alone; the     each level its own
                            plain average of the levels' estimates
    Weighted SepMM, shuffle the same, averaged with weights              each level its own

The paper leaves some of it open; our choices stand beside the lines that make them.

Errors are sums over items of squared errors about the participants; those about a
population that the participants are drawn from are larger by the sum of f (1 - f) / n.

Variation ratio is not a certificate: it holds for lambda = 1 and one item, and is false for
mechanisms with messages that are evidence for neither value, such as subsets.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, TypeAlias

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.items import ItemsRandomizer
from shuffledp.randomizers.items_counts import draw_counts, holders_by_target
from shuffledp.randomizers.subset_exponential import (
    SubsetExponential,
    best_subset_exponential,
)
from shuffledp.types import Floats, Ints
from shuffledp_papers.bounds.wang2024 import variation_ratio_delta
from shuffledp_papers.segmented.privacy import smallest_blanket

Weights: TypeAlias = Literal["equal", "published", "inverse variance"]

_WIDTH = 1e-6
_LARGEST_BUDGET = 20.0
# The search over message sizes ends after this number without an improvement.
_PATIENCE = 6


class Competitor(Protocol):
    """A protocol that collects sets, with a predicted error."""

    @property
    def name(self) -> str:
        """The name in the paper's figures."""

    def draw(
        self, sets: Ints, level_indices: Ints, *, rng: np.random.Generator
    ) -> Floats:
        """Runs a collection and returns estimated shares of items, shape (d,).

        Args:
            sets: Different items in every row, shape (n, s).
            level_indices: Each user's level in the population, shape (n,).
            rng: A simulation's generator.
        """

    def predicted_mse(self, shares: Floats) -> float:
        """Returns the expected error about participants with these shares of items."""


@dataclass(frozen=True)
class SubsetCollection:
    """One message of the subset exponential mechanism from every user.

    Attributes:
        name: In the paper's figures.
        mechanism: The local randomizer.
        num_users: n.
    """

    name: str
    mechanism: SubsetExponential
    num_users: int

    def draw(
        self, sets: Ints, level_indices: Ints, *, rng: np.random.Generator
    ) -> Floats:
        """Runs a collection and returns estimated shares; levels are not used."""
        _check_people(sets, level_indices, self.num_users)
        messages = self.mechanism.randomize(sets, rng=rng)
        counts = np.bincount(messages.ravel(), minlength=self.mechanism.num_items)
        return self.mechanism.shares(counts, self.num_users)

    def predicted_mse(self, shares: Floats) -> float:
        """Returns the expected error, the same for all shares."""
        del shares
        return self.mechanism.error(self.num_users)


@dataclass(frozen=True, eq=False)
class BallsIntoBins:
    """Every item is sent, and blanket messages; each group's estimate has a weight.

    Attributes:
        name: In the paper's figures.
        num_items: d.
        set_size: s.
        counts: Users of each group, shape (groups,).
        blankets: m of each group, shape (groups,).
        weights: Of the groups' estimates; they add up to 1, shape (groups,).
    """

    name: str
    num_items: int
    set_size: int
    counts: Ints
    blankets: Floats
    weights: Floats

    def draw(
        self, sets: Ints, level_indices: Ints, *, rng: np.random.Generator
    ) -> Floats:
        """Runs a collection and returns estimated shares, shape (d,)."""
        _check_people(sets, level_indices, int(self.counts.sum()))
        groups = self.counts.size
        holders = holders_by_target(
            sets,
            level_indices if groups > 1 else np.zeros_like(level_indices),
            num_targets=groups,
            num_items=self.num_items,
        )
        value = np.zeros(self.num_items)
        for group, people in enumerate(self.counts.tolist()):
            randomizer = self._randomizer(group)
            drawn = draw_counts(
                randomizer,
                holders[group : group + 1],
                np.ones(1),
                num_users=people,
                rng=rng,
            )
            # Blanket messages are uniform: 1 / d of their mean number falls on each item.
            mean, _ = randomizer.blanket_moments()
            share = (drawn - people * mean / self.num_items) / people
            value += self.weights[group] * share
        return value

    def predicted_mse(self, shares: Floats) -> float:
        """Returns the expected error: of blanket messages, and of unequal weights."""
        d, n = self.num_items, int(self.counts.sum())
        per_user = self.weights**2 / self.counts
        # Users are assigned to groups without replacement: hence n / (n - 1).
        uneven = float(per_user.sum()) - 1.0 / n
        error = uneven * n / max(n - 1, 1) * float(np.sum(shares * (1.0 - shares)))
        for group in range(self.counts.size):
            mean, variance = self._randomizer(group).blanket_moments()
            # Per item E N p (1 - p) + Var N p^2, with p = 1/d; times d items.
            blanket_variance = mean * (1.0 - 1.0 / d) + variance / d
            error += float(per_user[group]) * blanket_variance
        return error

    def _randomizer(self, group: int) -> ItemsRandomizer:
        m = float(self.blankets[group])
        # ceil(m) Bernoulli draws, as in Algorithm 2.
        size = self.set_size + math.ceil(m)
        return ItemsRandomizer(self.num_items, self.set_size, m, size, "bernoulli")


def subexp_local(
    people: Population, *, num_items: int, set_size: int
) -> SubsetCollection:
    """Returns the local mechanism at the largest level."""
    epsilon = float(people.epsilons[-1])
    mechanism = best_subset_exponential(num_items, set_size, epsilon)
    return SubsetCollection("Subexp, local", mechanism, people.num_users)


def subexp_shuffle(
    people: Population, *, num_items: int, set_size: int, delta: float
) -> SubsetCollection:
    """Returns the mechanism that is stated to keep the smallest level, once shuffled."""
    d, s, n = num_items, set_size, people.num_users
    target = float(people.epsilons[0])

    def stated(size: int) -> SubsetExponential:
        def keeps(epsilon: float) -> bool:
            mechanism = SubsetExponential(d, s, size, epsilon)
            ratio = math.exp(epsilon)
            delta_of_ratio = variation_ratio_delta(
                target, p=ratio, beta=mechanism.total_variation, q=ratio, num_users=n
            )
            return delta_of_ratio <= delta

        # A local budget equal to the target keeps it without any shuffle.
        low, high = target, _LARGEST_BUDGET
        while high - low > _WIDTH * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if keeps(middle) else (low, middle)
        return SubsetExponential(d, s, size, low)

    best, worse = stated(1), 0
    # The paper leaves the message size open: here it is that of the least error.
    for size in range(2, d - s + 1):
        mechanism = stated(size)
        if mechanism.error(n) < best.error(n):
            best, worse = mechanism, 0
        else:
            worse += 1
        if worse > _PATIENCE:
            break
    return SubsetCollection("Subexp, shuffle", best, n)


def balls_into_bins(
    people: Population, *, num_items: int, set_size: int, delta: float
) -> BallsIntoBins:
    """Returns the collection of all users together, at the smallest level."""
    counts = np.array([people.num_users])
    blankets = _blankets(counts, people.epsilons[:1], num_items, set_size, delta)
    return BallsIntoBins(
        "MM, shuffle", num_items, set_size, counts, blankets, np.ones(1)
    )


def separate_balls_into_bins(
    people: Population,
    *,
    num_items: int,
    set_size: int,
    delta: float,
    weights: Weights = "equal",
) -> BallsIntoBins:
    """Returns the collection of each level alone.

    Args:
        people: Levels, and the number of users who chose each.
        num_items: d.
        set_size: s.
        delta: Of every level.
        weights: "equal" for SepMM; "published" for Weighted SepMM; "inverse variance" for
            the optimal weights, which the paper does not use.
    """
    d, s, n = num_items, set_size, people.counts.astype(np.float64)
    # A level alone has n_k users: its blanket hides these only.
    blankets = _blankets(people.counts, people.epsilons, d, s, delta)
    if weights == "equal":
        raw = np.ones(n.size)
    elif weights == "published":
        # w_k ~ 1 / sqrt(d s^2 ln(1/delta) / (n_k eps_k)^2 + s / n_k), as printed.
        bound = d * s**2 * math.log(1.0 / delta) / (n * people.epsilons) ** 2 + s / n
        raw = 1.0 / np.sqrt(bound)
    elif weights == "inverse variance":
        raw = n / (blankets + s)
    else:
        raise InvalidInputError(
            "Expected weights 'equal', 'published' or 'inverse variance', got "
            f"{weights!r}."
        )
    name = "SepMM, shuffle" if weights == "equal" else "Weighted SepMM, shuffle"
    return BallsIntoBins(name, d, s, people.counts, blankets, raw / raw.sum())


def all_balls_into_bins(
    people: Population, *, num_items: int, set_size: int, delta: float
) -> list[BallsIntoBins]:
    """Returns the collections MM, SepMM and Weighted SepMM."""
    separate = partial(
        separate_balls_into_bins,
        people,
        num_items=num_items,
        set_size=set_size,
        delta=delta,
    )
    together = balls_into_bins(
        people, num_items=num_items, set_size=set_size, delta=delta
    )
    return [together, separate(), separate(weights="published")]


def _blankets(counts: Ints, levels: Floats, d: int, s: int, delta: float) -> Floats:
    """Returns m of each group, shape (groups,)."""
    # As Algorithm 2 where lambda = 1: p = infinity, beta = 1, q = d, and group privacy
    # for s items, as the error bound of the paper grows with s^2.
    pairs = zip(counts.tolist(), levels.tolist(), strict=True)
    blankets = [
        smallest_blanket(n, num_items=d, epsilon=level, delta=delta, items_per_user=s)
        for n, level in pairs
    ]
    return np.array(blankets)


def _check_people(sets: Ints, level_indices: Ints, num_users: int) -> None:
    if sets.ndim != 2 or not sets.shape[0] == level_indices.size == num_users:
        raise InvalidInputError(f"Expected sets and levels of {num_users} people.")
