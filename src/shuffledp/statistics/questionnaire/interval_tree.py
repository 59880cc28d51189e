"""A tree of intervals over bins, and the least-squares counts that agree with all of it.

The bottom layer has a node for each of B bins. A node of every other layer covers
`fan_out` neighbors of the layer below, the last one perhaps fewer; the root, all bins, is
left out: it holds all people, whose number is known.

Counts y of all nodes, with a noise variance per layer, are combined to counts h of bins, so
that the sum of (y - M h)^2 / variance is smallest among those that add up to n; M says
which bins a node covers. Every linear combination of h then has the smallest variance of
all unbiased ones (Gauss and Markov).

Source: Hay, Rastogi, Miklau and Suciu (2010), "Boosting the Accuracy of Differentially
Private Histograms Through Consistency"; layers of different noise are weighted here.
"""

from functools import lru_cache

import numpy as np
from scipy import linalg

from shuffledp.types import Floats


def layer_sizes(num_bins: int, fan_out: int) -> tuple[int, ...]:
    """Returns the number of nodes of every layer, from the top one to the bins.

    >>> layer_sizes(10, 4)
    (3, 10)

    Args:
        num_bins: B, at least 2.
        fan_out: Children of a node, at least 2.
    """
    sizes = [num_bins]
    while sizes[0] > fan_out:
        sizes.insert(0, -(-sizes[0] // fan_out))
    return tuple(sizes)


def layer_precisions(num_layers: int) -> Floats:
    """Returns the share of each layer in the sum of all precisions (1 / variance).

    A layer adds up to the one above, which needs less precision of its own. The growth
    is about the best for distribution functions at fan-outs from 2 to 8, by trial.
    """
    precisions = 1.15 ** np.arange(num_layers)
    shares: Floats = precisions / precisions.sum()
    return shares


def cover_matrix(num_bins: int, fan_out: int, layer: int) -> Floats:
    """Returns which bins each node of a layer covers, shape (nodes, num_bins).

    Args:
        num_bins: B.
        fan_out: Children of a node.
        layer: Position in `layer_sizes`.
    """
    sizes = layer_sizes(num_bins, fan_out)
    width = fan_out ** (len(sizes) - 1 - layer)
    nodes = np.arange(num_bins) // width
    covers: Floats = (np.arange(sizes[layer])[:, None] == nodes).astype(np.float64)
    return covers


@lru_cache(maxsize=8)
def consistent_bins(
    num_bins: int, fan_out: int, variances: tuple[float, ...]
) -> tuple[tuple[Floats, ...], Floats]:
    """Returns the least-squares coefficients of each layer's counts, and of n.

    Args:
        num_bins: B.
        fan_out: Children of a node.
        variances: Of the counts of each layer, above 0.

    Returns:
        For each layer, a matrix of shape (num_bins, nodes); and the coefficient of the
        number of all people, shape (num_bins,).
    """
    covers = [cover_matrix(num_bins, fan_out, layer) for layer in range(len(variances))]
    # In units of the largest precision: solutions do not depend on it.
    precisions = min(variances) / np.array(variances)
    normal = sum(
        precision * cover.T @ cover
        for precision, cover in zip(precisions, covers, strict=True)
    )
    factor = linalg.cho_factor(normal)
    all_bins = linalg.cho_solve(factor, np.ones(num_bins))
    total = float(all_bins.sum())
    matrices = []
    for precision, cover in zip(precisions, covers, strict=True):
        free = linalg.cho_solve(factor, precision * cover.T)
        # Moved along `all_bins` so that bins add up to 0, whatever the counts.
        matrices.append(free - np.outer(all_bins, free.sum(axis=0)) / total)
    shares: Floats = all_bins / total
    return tuple(matrices), shares


def mean_distribution_variance(
    num_bins: int, fan_out: int, variances: tuple[float, ...]
) -> float:
    """Returns the variance of the people below an edge, in the mean over inner edges.

    Arguments are those of `consistent_bins`.
    """
    matrices, _ = consistent_bins(num_bins, fan_out, variances)
    below = [np.cumsum(matrix, axis=0)[:-1] for matrix in matrices]
    return float(
        sum(
            variance * np.mean((matrix**2).sum(axis=1))
            for variance, matrix in zip(variances, below, strict=True)
        )
    )
