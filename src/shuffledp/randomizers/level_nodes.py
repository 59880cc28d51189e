"""Covers of populations with very many levels, from a part of the levels.

The density of added noise at a distance is a log-concave function of the rate (Laplace,
Clip-Laplace) or of the inverse variance (Gaussian), and both grow with the budget. So
log(R(y) / omega(y)) first rises and then falls with the budget, and so does its minimum
over y: between two levels gamma is at least the smaller one of theirs
(docs/theory/covers.md).
"""

from dataclasses import replace

import numpy as np

from shuffledp.cover import Cover
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

# From this many levels on, gamma is computed at about as many nodes as stated.
MANY_LEVELS = 20_000
_NODES_BY_RANK, _NODES_BY_EPSILON = 4_096, 8_192


def level_nodes(epsilons: Floats) -> Ints:
    """Returns positions of some levels, ascending, the first and the last included.

    Args:
        epsilons: Levels, >= 0, ascending, shape (levels,).
    """
    last = epsilons.size - 1
    by_rank = np.rint(np.linspace(0, last, _NODES_BY_RANK)).astype(np.int64)
    # Where epsilons are small few levels are apart, and cover falls steeply with them.
    lowest_node = max(float(epsilons[0]), 1e-6 * float(epsilons[-1]), 1e-300)
    spaced_epsilons = np.geomspace(
        lowest_node, max(float(epsilons[-1]), lowest_node), _NODES_BY_EPSILON
    )
    by_epsilon = np.minimum(np.searchsorted(epsilons, spaced_epsilons), last)
    return np.unique(np.concatenate([by_rank, by_epsilon]))


def population_at(nodes: Ints, population: Population) -> Population:
    """Returns the population with all people at the node at or below their level."""
    counts = np.add.reduceat(population.counts, nodes)
    return Population(population.epsilons[nodes], counts)


def between_nodes(cover: Cover, nodes: Ints) -> Cover:
    """Returns the cover for all levels, from one for those at the nodes.

    Args:
        cover: With gamma at the nodes.
        nodes: Positions of some levels, ascending, the first and the last included.
    """
    at_nodes = cover.blanket_probabilities
    gamma = np.append(
        np.repeat(np.minimum(at_nodes[:-1], at_nodes[1:]), np.diff(nodes)), 0.0
    )
    gamma[nodes] = at_nodes
    return replace(cover, blanket_probabilities=gamma)
