"""Laplace noise of several levels: certified epsilons beside the best that blankets allow.

    python benchmarks/best_blanket.py

Takes losses for normal. The best omega that all people share is the optimum of a linear
program over its inverse in each cell; where everybody had a blanket of their own, their
densities would add up. The table is that of docs/theory/covers.md ("A blanket in steps").
"""

import math
from functools import partial

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.special import log_ndtr

import shuffledp as sdp
from shuffledp.types import Floats

_LEVELS = np.array([0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
_PEOPLE_PER_LEVEL, _DELTA = 1_250, 1e-6
# Cells of sizes of messages, from 0 on.
_EDGES = np.concatenate([[0.0], np.geomspace(1.0, 1_000.0, 90)])


def upper_tails(value: float, rates: Floats) -> Floats:
    """Returns the probability of numbers beyond each edge, shape (levels, edges)."""
    distances = rates[:, None] * (_EDGES - value)
    below = 1.0 - 0.5 * np.exp(np.minimum(distances, 0.0))
    beyond = 0.5 * np.exp(-np.maximum(distances, 0.0))
    tails: Floats = np.where(distances > 0.0, beyond, below)
    return tails


def normal_delta(epsilon: float, variance: float) -> float:
    """Returns delta of a normal loss."""
    spread = math.sqrt(variance)
    logs = log_ndtr(np.array([0.5, -0.5]) * spread - epsilon / spread)
    return math.exp(float(logs[0])) - math.exp(epsilon + float(logs[1]))


def epsilon_of(variance: float, outside: Floats) -> float:
    """Returns the epsilon of a normal loss, with what nobody hides added to its delta."""

    def excess(epsilon: float) -> float:
        near, far = outside.tolist()
        shown = max(near - math.exp(epsilon) * far, 0.0)
        delta: float = normal_delta(epsilon, variance) + shown
        return delta - _DELTA

    root: float = brentq(excess, 1e-9, 50.0)
    return root


def least_variance(differences: Floats, least: Floats) -> float:
    """Returns the variance of the loss with the best omega that all people share.

    Args:
        differences: Of the target's probabilities of cells at both ends, shape (cells,).
        least: Least probability of cells that people of each level have, shape (levels,
            cells).
    """
    levels, cells = least.shape
    # Unknown: 1 / omega of each cell, in units of these, and gamma of each level.
    units = least.max(axis=0)
    cost = np.concatenate([2.0 * differences**2 / units, np.zeros(levels)])
    at_most = np.zeros((levels, cells, cells + levels))
    each = np.arange(cells)
    at_most[:, each, each] = -least / units
    for level in range(levels):
        at_most[level, :, cells + level] = 1.0
    messages = np.concatenate([np.zeros(cells), np.full(levels, _PEOPLE_PER_LEVEL)])
    found = linprog(
        cost,
        A_ub=at_most.reshape(levels * cells, -1),
        b_ub=np.zeros(levels * cells),
        A_eq=messages[None],
        b_eq=[1.0],
        method="highs",
    )
    return math.inf if found.fun is None else float(found.fun)


def main() -> None:
    people = sdp.Population.from_counts(
        dict.fromkeys(_LEVELS.tolist(), _PEOPLE_PER_LEVEL)
    )
    certified = sdp.account(sdp.Laplace(), people, delta=_DELTA, quantiles=False).levels
    near, far = (upper_tails(value, 0.5 * _LEVELS) for value in (1.0, -1.0))
    cells_near, cells_far = -np.diff(near), -np.diff(far)
    print("| budget | certified | best shared omega | own blankets | attack |")
    print("|---" * 5 + "|")
    for index, level in enumerate(certified):
        differences = cells_near[index] - cells_far[index]
        own = 2.0 * differences**2 / (_PEOPLE_PER_LEVEL * cells_far.sum(axis=0))
        best = {"shared": math.inf, "own": math.inf}
        for reach in range(12, _EDGES.size, 3):
            outside = np.array([near[index, reach], far[index, reach]])
            if outside[0] - outside[1] > _DELTA:
                continue
            within = partial(epsilon_of, outside=outside)
            shared = least_variance(differences[:reach], cells_far[:, :reach])
            best["own"] = min(best["own"], within(float(own[:reach].sum())))
            if shared < math.inf:
                best["shared"] = min(best["shared"], within(shared))
        print(
            f"| {level.epsilon_local:g} | {level.epsilon_central:g} "
            f"| {best['shared']:.3g} | {best['own']:.3g} "
            f"| {level.epsilon_central_lower:g} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
