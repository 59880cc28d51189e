"""The best of all attacks on a concrete collection.

Others all hold one value: the victim's first, or one between (the second follows by
symmetry). For each, the counting and the additive attack; for few people and cells the
exact law instead.
"""

import numpy as np

from shuffledp.papers.court.additive import additive_divergence
from shuffledp.papers.court.count_attack import threshold_divergence
from shuffledp.papers.court.enumeration import enumerated_divergence, response_worlds
from shuffledp.papers.court.noise_cells import (
    Tails,
    clip_laplace_tails,
    clipped_edges,
    gaussian_tails,
    laplace_tails,
    noise_worlds,
    unbounded_edges,
)
from shuffledp.papers.court.worlds import Worlds
from shuffledp.types import Floats, Ints

# Reach of the outermost edges, in scales of the noise.
_LAPLACE_REACH, _GAUSSIAN_REACH = 60.0, 12.0


def attack(worlds: Worlds, epsilon: float) -> float:
    """Returns the larger of what counting and adding prove."""
    return max(
        threshold_divergence(worlds, epsilon), additive_divergence(worlds, epsilon)
    )


def laplace_attack(
    epsilons: Floats, counts: Ints, victim: float, epsilon: float
) -> float:
    """Returns the divergence reached under Laplace noise.

    Args:
        epsilons: Budgets of the others, shape (groups,).
        counts: How many others have each, shape (groups,).
        victim: Her budget.
        epsilon: In nats, >= 0.
    """
    scales = 1.0 / np.append(epsilons, victim)
    edges = unbounded_edges(scales, reach=_LAPLACE_REACH)
    return _noise_attack(
        laplace_tails(np.array([victim])),
        laplace_tails(epsilons),
        counts,
        edges=edges,
        values=(0.0, 1.0),
        epsilon=epsilon,
    )


def gaussian_attack(
    deviations: Floats, counts: Ints, victim: float, epsilon: float
) -> float:
    """Returns the divergence reached under normal noise of these standard deviations."""
    edges = unbounded_edges(np.append(deviations, victim), reach=_GAUSSIAN_REACH)
    return _noise_attack(
        gaussian_tails(np.array([victim])),
        gaussian_tails(deviations),
        counts,
        edges=edges,
        values=(0.0, 1.0),
        epsilon=epsilon,
    )


def clip_laplace_attack(
    epsilons: Floats, counts: Ints, victim: float, epsilon: float
) -> float:
    """Returns the divergence reached under Clip-Laplace noise on [-1, 1]."""
    return _noise_attack(
        clip_laplace_tails(np.array([victim])),
        clip_laplace_tails(epsilons),
        counts,
        edges=clipped_edges(np.append(epsilons, victim)),
        values=(-1.0, 1.0),
        epsilon=epsilon,
    )


def response_attack(
    num_categories: int,
    epsilons: Floats,
    counts: Ints,
    victim: float,
    epsilon: float,
    *,
    exactly: bool = False,
) -> float:
    """Returns the divergence reached under k-ary response.

    Args:
        num_categories: k.
        epsilons: Budgets of the others, shape (groups,).
        counts: How many others have each, shape (groups,).
        victim: Her budget.
        epsilon: In nats, >= 0.
        exactly: Whether to enumerate, for 60 people at most.
    """
    found = 0.0
    for held in range(min(num_categories, 3)):
        budgets = np.repeat(epsilons, counts) if exactly else epsilons
        worlds = response_worlds(num_categories, budgets, victim, others_hold=held)
        if exactly:
            found = max(found, enumerated_divergence(worlds, epsilon))
        else:
            grouped = Worlds(worlds.first, worlds.second, worlds.others, counts)
            found = max(found, attack(grouped, epsilon))
    return found


def _noise_attack(
    victim: Tails,
    others: Tails,
    counts: Ints,
    *,
    edges: Floats,
    values: tuple[float, float],
    epsilon: float,
) -> float:
    found = 0.0
    for others_hold in (values[0], 0.5 * (values[0] + values[1])):
        worlds = noise_worlds(
            victim,
            others,
            counts,
            edges=edges,
            values=values,
            others_hold=others_hold,
        )
        found = max(found, attack(worlds, epsilon))
    return found
