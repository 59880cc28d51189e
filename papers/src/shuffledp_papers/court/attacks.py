"""Best attack on a concrete collection.

All other users hold one value: the target user's first, or one in between. For each, the
count attack and the additive attack; for few users and cells the exact distribution.
"""

from collections.abc import Callable

import numpy as np

from shuffledp.types import Floats, Ints
from shuffledp_papers.court.additive import additive_divergence
from shuffledp_papers.court.count_attack import threshold_divergence
from shuffledp_papers.court.enumeration import enumerated_divergence, response_worlds
from shuffledp_papers.court.noise_cells import (
    Tails,
    clip_laplace_tails,
    clipped_edges,
    gaussian_tails,
    laplace_tails,
    noise_worlds,
    unbounded_edges,
)
from shuffledp_papers.court.worlds import Worlds

# Reach of the outermost edges, in scales of the noise.
_LAPLACE_REACH, _GAUSSIAN_REACH = 60.0, 12.0


def attack(worlds: Worlds, epsilon: float) -> float:
    """Returns the larger divergence of the count attack and the additive attack."""
    return max(
        threshold_divergence(worlds, epsilon), additive_divergence(worlds, epsilon)
    )


def laplace_attack(
    epsilons: Floats, counts: Ints, target_user: float, epsilon: float
) -> float:
    """Returns the divergence reached under Laplace noise.

    Args:
        epsilons: Budgets of the others, shape (groups,).
        counts: Number of other users at each, shape (groups,).
        target_user: The target user's budget.
        epsilon: In nats, >= 0.
    """
    levels = np.append(epsilons, target_user)
    edges = unbounded_edges(1.0 / levels, reach=_LAPLACE_REACH)
    return _noise_attack(laplace_tails, levels, counts, edges, (0.0, 1.0), epsilon)


def gaussian_attack(
    deviations: Floats, counts: Ints, target_user: float, epsilon: float
) -> float:
    """Returns the divergence reached under normal noise of these standard deviations."""
    own = np.append(deviations, target_user)
    edges = unbounded_edges(own, reach=_GAUSSIAN_REACH)
    return _noise_attack(gaussian_tails, own, counts, edges, (0.0, 1.0), epsilon)


def clip_laplace_attack(
    epsilons: Floats, counts: Ints, target_user: float, epsilon: float
) -> float:
    """Returns the divergence reached under Clip-Laplace noise on [-1, 1]."""
    levels = np.append(epsilons, target_user)
    # Messages never leave [-1, 1], so that no reach is needed.
    edges = clipped_edges(levels)
    return _noise_attack(
        clip_laplace_tails, levels, counts, edges, (-1.0, 1.0), epsilon
    )


def response_attack(
    num_categories: int,
    epsilons: Floats,
    counts: Ints,
    target_user: float,
    epsilon: float,
    *,
    enumerated: bool = False,
) -> float:
    """Returns the divergence reached under k-ary response.

    Args:
        num_categories: k.
        epsilons: Budgets of the others, shape (groups,).
        counts: Number of other users at each, shape (groups,).
        target_user: The target user's budget.
        epsilon: In nats, >= 0.
        enumerated: Whether to enumerate, for at most 60 users.
    """
    largest = 0.0
    # 0 is x, 1 is x', 2 is any third category: all others are alike by symmetry.
    for category in range(min(num_categories, 3)):
        budgets = np.repeat(epsilons, counts) if enumerated else epsilons
        worlds = response_worlds(
            num_categories, budgets, target_user, others_hold=category
        )
        if enumerated:
            largest = max(largest, enumerated_divergence(worlds, epsilon))
        else:
            # Groups in place of single users, with their counts.
            grouped = Worlds(worlds.first, worlds.second, worlds.others, counts)
            largest = max(largest, attack(grouped, epsilon))
    return largest


def _noise_attack(
    tails: Callable[[Floats], Tails],
    parameters: Floats,
    counts: Ints,
    edges: Floats,
    values: tuple[float, float],
    epsilon: float,
) -> float:
    """Returns the divergence reached; the last parameter is the target user's."""
    largest = 0.0
    # The second value follows from the first by symmetry.
    for others_hold in (values[0], 0.5 * (values[0] + values[1])):
        worlds = noise_worlds(
            tails(parameters[-1:]),
            tails(parameters[:-1]),
            counts,
            edges=edges,
            values=values,
            others_hold=others_hold,
        )
        largest = max(largest, attack(worlds, epsilon))
    return largest
