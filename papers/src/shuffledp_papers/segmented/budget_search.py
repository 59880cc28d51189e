"""Step 2 of Algorithm 1 for families of randomizers: the largest budgets, the best m.

For a given m every target takes the largest local budget at which its users keep their
target. m is then chosen for the least predicted error. Two families:

* k-ary response, blanket messages uniform: shares of categories;
* numbers in [0, 1] on a grid, two-sided geometric noise (Laplace noise on the grid),
  blanket messages 1/2 plus noise of a separate budget: the mean.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Algorithm 1, line 6, and section 5.2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.checks import whole_number
from shuffledp.types import Floats
from shuffledp_papers.response_table import response_table
from shuffledp_papers.segmented.best_blanket import best_blanket
from shuffledp_papers.segmented.segmented_messages import (
    MessageScores,
    SegmentedMessages,
)

Privacy: TypeAlias = Literal["stated", "certified"]

# The bisection of local budgets: its upper end, and its relative width.
_MOST_BUDGET = 14.0
_WIDTH = 1e-3


@dataclass(frozen=True, eq=False)
class RandomizerFamily:
    """Randomizers by local budget, with blanket messages and scores for all of them.

    Attributes:
        name: For tables.
        table: Returns R of a local budget, shape (values, messages).
        omega: Distribution of a blanket message, shape (messages,).
        scores: Scores of messages and values.
        least: The smallest local budget.
    """

    name: str
    table: Callable[[float], Floats]
    omega: Floats
    scores: MessageScores
    least: float


def kary_family(num_categories: int) -> RandomizerFamily:
    """Returns k-ary response, for shares of categories."""
    k = whole_number(num_categories, "categories", least=2, most=256)
    # A message scores 1 in its own category: means of scores are shares.
    scores = MessageScores(np.eye(k), np.eye(k))
    return RandomizerFamily(
        f"{k}-ary response",
        partial(response_table, k),
        np.full(k, 1.0 / k),
        scores,
        1e-3,
    )


def noise_family(
    *, cells: int = 8, reach: int = 15, blanket_budget: float = 1.5
) -> RandomizerFamily:
    """Returns geometric noise on numbers in [0, 1], for their mean.

    Args:
        cells: Number of steps of the grid from 0 to 1, even.
        reach: Messages are clipped to [-reach, 1 + reach].
        blanket_budget: Of the noise of blanket messages; the smallest local budget.
    """
    size = whole_number(cells, "cells", least=2, most=64)
    far = whole_number(reach, "reach", least=1, most=64) * size
    # From 20 on, noise that `reach` clips has weights below e^-20 of the largest.
    if size % 2 or not blanket_budget * reach >= 20.0:
        raise InvalidInputError(
            "Expected an even number of cells, and blanket_budget * reach >= 20."
        )
    messages = np.arange(-far, size + far + 1)

    def noisy(budget: float, points: Floats) -> Floats:
        decay = math.exp(-budget / size)
        weights = decay ** np.abs(messages[None, :] - points[:, None])
        # Clipping: the tail beyond either end falls on it.
        weights[:, [0, -1]] /= 1.0 - decay
        noise: Floats = weights / weights.sum(axis=1, keepdims=True)
        return noise

    values = np.arange(size + 1.0)
    scores = MessageScores(messages[:, None] / size, values[:, None] / size)
    # Blanket messages are noise about 1/2, a point of the grid as `cells` is even.
    omega = noisy(blanket_budget, np.array([size / 2.0]))[0]
    return RandomizerFamily(
        "geometric noise",
        lambda budget: noisy(budget, values),
        omega,
        scores,
        blanket_budget,
    )


def largest_budget(
    family: RandomizerFamily,
    people: Population,
    level: int,
    *,
    blanket: float,
    delta: float,
    privacy: Privacy,
) -> float:
    """Returns, to a thousandth, the largest local budget at which a target is kept.

    Args:
        family: Randomizers by local budget.
        people: Central targets, and the number of users who chose each.
        level: Position of the target.
        blanket: m > 0.
        delta: At which targets are kept.
        privacy: "stated" by Theorem 2, or "certified".

    Raises:
        CertificationError: If even the smallest budget misses it.
    """
    target = float(people.epsilons[level])

    def is_kept(budget: float) -> bool:
        # Both deltas read this level's table only; the others fill the shape.
        tables = (family.table(budget),) * people.num_levels
        protocol = SegmentedMessages(people, tables, family.omega, blanket)
        if privacy == "stated":
            return protocol.stated_delta(level, target) <= delta
        return protocol.certified_delta(level, target, delta=delta) <= delta

    low, high = family.least, _MOST_BUDGET
    if not is_kept(low):
        raise CertificationError(
            f"No budget from {low:g} on keeps {target:g} with m = {blanket:g}."
        )
    # delta grows with the local budget: where the upper end keeps the target, all do.
    if is_kept(high):
        return high
    while high - low > _WIDTH * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_kept(middle) else (low, middle)
    # The end at which the target was checked to be kept.
    return low


def segmented_messages(
    family: RandomizerFamily,
    people: Population,
    *,
    blanket: float,
    delta: float,
    privacy: Privacy,
) -> tuple[SegmentedMessages, tuple[float, ...]]:
    """Returns the protocol of a given m, and every target's local budget.

    Raises:
        CertificationError: If a target cannot be kept.
    """
    # By Lemma 2 a target's budget does not depend on the others': each is found alone.
    budgets = tuple(
        largest_budget(
            family, people, level, blanket=blanket, delta=delta, privacy=privacy
        )
        for level in range(people.num_levels)
    )
    tables = tuple(family.table(budget) for budget in budgets)
    return SegmentedMessages(people, tables, family.omega, blanket), budgets


def best_messages(
    family: RandomizerFamily,
    people: Population,
    *,
    delta: float,
    privacy: Privacy,
    shares: Floats,
    between: tuple[float, float] = (0.02, 1.0),
) -> SegmentedMessages:
    """Returns the protocol at the m of the least predicted error.

    Args:
        family: Randomizers by local budget.
        people: Central targets, and the number of users who chose each.
        delta: At which targets are kept.
        privacy: "stated" by Theorem 2, or "certified".
        shares: Of the values, for which the error is predicted, shape (values,).
        between: Ends of the search for m.

    Raises:
        CertificationError: If no m keeps all targets.
    """

    def at(blanket: float) -> SegmentedMessages:
        protocol, _ = segmented_messages(
            family, people, blanket=blanket, delta=delta, privacy=privacy
        )
        return protocol

    def error(blanket: float) -> float:
        try:
            return family.scores.error(at(blanket), shares)
        except CertificationError:
            # An m at which a target is missed is never the best one.
            return math.inf

    # Errors are as coarse as budgets, which are found to a thousandth.
    return at(best_blanket(error, between, close=0.02))
