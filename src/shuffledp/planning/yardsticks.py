"""Errors of other models of trust, at the guarantees of a plan.

*Trusted curator.* She sees all values and publishes sum_i w_i x_i / sum_i w_i plus noise,
w_i the larger the larger a person's central epsilon, so that everybody gets exactly hers:
w_i = mu_i for normal noise of deviation 1, where mu_i is the largest sensitivity that is
(epsilon_i, delta)-private (Balle and Wang 2018), w_i = epsilon_i for Laplace noise of scale
1. Weights that differ cost what a weighted sample costs. She may also give everybody the
strictest guarantee, and takes the best of the four.
"""

from collections.abc import Callable

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.planning.collection_design import CollectionDesign, Yardstick
from shuffledp.planning.plan import Wish, predictable
from shuffledp.population import Population
from shuffledp.randomizers.gaussian import sensitivity_per_deviation
from shuffledp.types import Floats

_SMALLEST = 1e-12


def yardsticks(
    best: CollectionDesign,
    wish: Wish,
    *,
    curator: float,
    error_of: Callable[[Population], float],
    local_error: Callable[[Population], float],
    fit_strictest: Callable[[Wish], Population],
) -> tuple[Yardstick, ...]:
    """Returns the errors of other models.

    Args:
        best: The option whose central guarantees the others must give, too.
        wish: What was asked for.
        curator: The error of a trusted curator.
        error_of: Predicted error of the best protocol at these levels.
        local_error: That of whatever is best at these levels.
        fit_strictest: Levels that keep a wish.
    """
    locally: dict[float, int] = {}
    for level in best.guarantee.levels:
        epsilon = max(level.epsilon_central, _SMALLEST)
        locally[epsilon] = locally.get(epsilon, 0) + level.count
    return (
        Yardstick(
            "trusted curator",
            curator,
            "somebody who is trusted with all values, at the same central guarantees",
        ),
        Yardstick(
            "local model, no shuffler",
            predictable(local_error, Population.from_counts(locally)),
            "the same guarantees without a shuffler: they are the levels on the devices",
        ),
        Yardstick(
            "everybody at the strictest choice",
            # What keeps a target is certified for the best protocol only.
            predictable(
                error_of if wish.levels is None else local_error,
                fit_strictest(wish.strictest),
            ),
            "nobody chooses: all get what the most careful ask for",
        ),
    )


def curator_error(
    guarantee: Guarantee, *, reach_l1: float, reach_l2: float, spread: float
) -> float:
    """Returns the standard error of a trusted curator.

    Args:
        guarantee: Central epsilons and people, at a delta.
        reach_l1: By how much one value can move the sum of all published numbers'
            absolute values.
        reach_l2: The same in the Euclidean norm.
        spread: Standard deviation of the values behind one published number.
    """
    epsilons = np.array([level.epsilon_central for level in guarantee.levels])
    counts = np.array([level.count for level in guarantee.levels], dtype=np.float64)
    epsilons = np.maximum(epsilons, _SMALLEST)
    mu = sensitivity_per_deviation(epsilons, float(guarantee.delta or 1e-6))
    noises = [(mu / reach_l2, 1.0), (epsilons / reach_l1, 2.0**0.5)]
    found = []
    for weights, deviation in noises:
        for chosen in (weights, np.full(weights.shape, weights.min())):
            found.append(_weighted_error(chosen, counts, deviation, spread))
    return min(found)


def _weighted_error(
    weights: Floats, counts: Floats, deviation: float, spread: float
) -> float:
    total = float(weights @ counts)
    # People differ, and some count more than others.
    uneven = float(weights**2 @ counts) / total**2 - 1.0 / float(counts.sum())
    return float(((deviation / total) ** 2 + spread**2 * max(uneven, 0.0)) ** 0.5)
