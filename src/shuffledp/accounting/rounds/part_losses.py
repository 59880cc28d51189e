"""Loss distributions of all messages that a person sends in one protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shuffledp.accounting.rounds.loss_distribution import (
    LossDistribution,
    connect_dots,
)

# Kinds of shuffles, and how often each takes place.
Kinds: TypeAlias = tuple[tuple[LossDistribution, int], ...]

# Beyond it, e^-epsilon is too small to be a mass.
_LARGEST_BUDGET = 600.0


@dataclass(frozen=True, eq=False)
class PartLosses:
    """Pairs of distributions that dominate what a person's messages in a protocol show.

    Attributes:
        alternatives: Kinds of shuffles that together dominate all messages, each by
            itself; none if the messages do not depend on the person.
        budget: Pure local budget of all messages together; infinite if there is none.
        cut: Bound of the probability by which, in either world, the messages may differ
            from those that the pairs stand for.
        drift: Besides, probabilities of messages are right up to a factor of e^{+-drift}.
    """

    alternatives: tuple[Kinds, ...]
    budget: float = float("inf")
    cut: float = 0.0
    drift: float = 0.0


def budget_losses(budget: float, divergence: float) -> list[Kinds]:
    """Returns the pair that a pure budget allows at most; none if it is too large.

    Args:
        budget: In nats, above 0.
        divergence: The largest total variation that this budget allows.
    """
    if budget > _LARGEST_BUDGET:
        return []
    nodes, values = np.array([0.0, budget]), np.array([divergence, 0.0])
    return [((connect_dots(nodes, values), 1),)]


def choices_of(parts: Sequence[PartLosses], *, most_shuffles: int) -> list[Kinds]:
    """Returns kinds of shuffles that dominate all parts together, each by itself.

    Args:
        parts: Independent of each other.
        most_shuffles: No choice but the first has more shuffles.
    """
    part_alternatives = [part.alternatives for part in parts if part.alternatives]
    max_choices = max(map(len, part_alternatives), default=0)
    choices: list[Kinds] = []
    for which in range(max_choices):
        # Any alternative of one part goes with any of another: a few will do.
        kinds = tuple(
            kind
            for each in part_alternatives
            for kind in each[min(which, len(each) - 1)]
        )
        if not which or sum(times for _, times in kinds) <= most_shuffles:
            choices.append(kinds)
    return choices
