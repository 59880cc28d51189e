"""Step 2 of Algorithm 1 for families of randomizers: the largest budgets, the best m.

For a given m every target takes the largest local budget at which its people get what they
asked for; by Lemma 2 that does not depend on the others' budgets. m is then chosen for the
least predicted error. Two families:

* k-ary response, blanket messages uniform: shares of categories;
* numbers in [0, 1] on a grid, two-sided geometric noise (Laplace noise on the grid),
  blanket messages 1/2 and the noise of a budget of their own: the mean.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Algorithm 1, line 6, and section 5.2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.papers.segmented.any_randomizer import Scores, SegmentedMessages
from shuffledp.papers.segmented.search import best_blanket
from shuffledp.population import Population
from shuffledp.randomizers.checks import whole_number
from shuffledp.types import Floats

Privacy: TypeAlias = Literal["stated", "certified"]

# Local budgets that are tried, and to which part they are found.
_MOST_BUDGET = 14.0
_CLOSE = 1e-3


@dataclass(frozen=True, eq=False)
class Family:
    """Randomizers by local budget, with blanket messages and scores for all of them.

    Attributes:
        name: In plain words.
        table: Returns R of a local budget, shape (values, messages).
        omega: The law of a blanket message, shape (messages,).
        scores: What is estimated.
        least: The smallest budget there is.
    """

    name: str
    table: Callable[[float], Floats]
    omega: Floats
    scores: Scores
    least: float


def kary_family(num_categories: int) -> Family:
    """Returns k-ary response, and shares of categories."""
    k = whole_number(num_categories, "categories", least=2, most=256)

    def table(budget: float) -> Floats:
        weights = np.full((k, k), math.exp(-budget))
        np.fill_diagonal(weights, 1.0)
        found: Floats = weights / weights.sum(axis=1, keepdims=True)
        return found

    scores = Scores(np.eye(k), np.eye(k))
    return Family(f"{k}-ary response", table, np.full(k, 1.0 / k), scores, 1e-3)


def noise_family(
    *, cells: int = 8, reach: int = 15, blanket_budget: float = 1.5
) -> Family:
    """Returns noisy numbers in [0, 1], and their mean.

    Args:
        cells: How many steps of the grid there are from 0 to 1, an even number.
        reach: Messages are from -reach to 1 + reach; what is farther falls on these.
        blanket_budget: Of the noise of blanket messages: no level may have less.
    """
    size = whole_number(cells, "cells", least=2, most=64)
    far = whole_number(reach, "reach", least=1, most=64) * size
    if size % 2 or not blanket_budget * reach >= 20.0:
        raise InvalidInputError(
            "Expected an even number of cells, and messages so far that noise of the "
            "blanket's budget ends before."
        )
    places = np.arange(-far, size + far + 1)

    def noisy(budget: float, points: Floats) -> Floats:
        decay = math.exp(-budget / size)
        weights = decay ** np.abs(places[None, :] - points[:, None])
        weights[:, [0, -1]] /= 1.0 - decay
        found: Floats = weights / weights.sum(axis=1, keepdims=True)
        return found

    held = np.arange(size + 1.0)
    scores = Scores(places[:, None] / size, held[:, None] / size)
    omega = noisy(blanket_budget, np.array([size / 2.0]))[0]
    return Family(
        "geometric noise",
        lambda budget: noisy(budget, held),
        omega,
        scores,
        blanket_budget,
    )


def largest_budget(
    family: Family,
    people: Population,
    level: int,
    *,
    blanket: float,
    delta: float,
    privacy: Privacy,
) -> float:
    """Returns about the largest local budget at which a target is kept.

    Args:
        family: What people of the target run.
        people: Central targets, and how many people chose each.
        level: Position of the target.
        blanket: m > 0.
        delta: At which targets are kept.
        privacy: "stated" by Theorem 2, or "certified".

    Raises:
        CertificationError: If not even the smallest budget keeps it.
    """
    target = float(people.epsilons[level])

    def kept(budget: float) -> bool:
        tables = (family.table(budget),) * people.num_levels
        protocol = SegmentedMessages(people, tables, family.omega, blanket)
        if privacy == "stated":
            return protocol.stated_delta(level, target) <= delta
        return protocol.certified_delta(level, target, delta=delta) <= delta

    low, high = family.least, _MOST_BUDGET
    if not kept(low):
        raise CertificationError(
            f"No budget from {low:g} on keeps {target:g} with m = {blanket:g}."
        )
    if kept(high):
        return high
    while high - low > _CLOSE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


def segmented_messages(
    family: Family,
    people: Population,
    *,
    blanket: float,
    delta: float,
    privacy: Privacy,
) -> tuple[SegmentedMessages, tuple[float, ...]]:
    """Returns what runs for a given m, and every target's local budget.

    Raises:
        CertificationError: If a target cannot be kept.
    """
    budgets = tuple(
        largest_budget(
            family, people, level, blanket=blanket, delta=delta, privacy=privacy
        )
        for level in range(people.num_levels)
    )
    tables = tuple(family.table(budget) for budget in budgets)
    return SegmentedMessages(people, tables, family.omega, blanket), budgets


def best_messages(
    family: Family,
    people: Population,
    *,
    delta: float,
    privacy: Privacy,
    shares: Floats,
    between: tuple[float, float] = (0.02, 1.0),
) -> SegmentedMessages:
    """Returns what runs at the m of the least predicted error.

    Args:
        family: Randomizers by budget.
        people: Central targets, and how many people chose each.
        delta: At which targets are kept.
        privacy: "stated" by Theorem 2, or "certified".
        shares: Of the values, for which the error is predicted, shape (values,).
        between: Where m is searched for.

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
            return math.inf

    # Budgets are found to a thousandth, and so are errors.
    return at(best_blanket(error, between, close=0.02))
