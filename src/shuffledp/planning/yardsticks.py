"""Errors of other trust models, at the guarantees of a plan.

*Trusted curator.* A curator sees all values and publishes sum_i w_i x_i / sum_i w_i plus
noise. The weight w_i grows with person i's central epsilon, so that they get exactly that
epsilon: w_i = mu_i for normal noise of deviation 1, where mu_i is the largest sensitivity
that is (epsilon_i, delta)-private (Balle and Wang 2018), w_i = epsilon_i for Laplace noise
of scale 1. Weights that differ add the sampling error of a weighted sample. The curator may
also give all people the strictest guarantee. The smallest error of the four counts.
"""

from collections.abc import Callable, Iterable

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.planning.collection_design import CollectionDesign, Yardstick
from shuffledp.planning.wish import Wish, predictable
from shuffledp.population import Population
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.types import Floats

# Smaller central epsilons are rounded up to this one, so that weights are positive.
_SMALLEST = 1e-12


def yardsticks(
    best: CollectionDesign,
    wish: Wish,
    *,
    curator: float,
    error_of: Callable[[Population], float],
    local_error: Callable[[Population], float],
    fit_strictest: Callable[[Wish], Population],
    others: Iterable[Yardstick] = (),
) -> tuple[Yardstick, ...]:
    """Returns the errors of other models.

    Args:
        best: The design whose central guarantees the other models must meet.
        wish: The requirements.
        curator: The error of a trusted curator.
        error_of: Predicted error of the best design's protocol at given levels.
        local_error: Smallest predicted error of any protocol at given levels.
        fit_strictest: Returns levels that meet a wish.
        others: More yardsticks, beside the curator.
    """
    locally: dict[float, int] = {}
    for level in best.guarantee.levels:
        epsilon = max(level.epsilon_central, _SMALLEST)
        # Different levels may have the same central epsilon: their people are added.
        locally[epsilon] = locally.get(epsilon, 0) + level.count
    return (
        Yardstick(
            "trusted curator",
            curator,
            "a party that is trusted with all values, at the same central guarantees",
        ),
        *others,
        Yardstick(
            "local model, no shuffler",
            predictable(local_error, Population.from_counts(locally)),
            "the same guarantees without a shuffler: they are the levels on the devices",
        ),
        Yardstick(
            "all people at the strictest choice",
            # Levels for a target are certified for the best design's protocol only.
            predictable(
                error_of if wish.levels is None else local_error,
                fit_strictest(wish.strictest),
            ),
            "without a choice: all get what the most careful ask for",
        ),
    )


def curator_error(
    guarantee: Guarantee, *, reach_l1: float, reach_l2: float, spread: float
) -> float:
    """Returns the standard error of a trusted curator.

    Args:
        guarantee: Central epsilons and people, at a delta.
        reach_l1: Sensitivity of all published numbers in the L1 norm.
        reach_l2: Their sensitivity in the Euclidean norm.
        spread: Standard deviation of the values behind one published number.
    """
    epsilons = np.array([level.epsilon_central for level in guarantee.levels])
    counts = np.array([level.count for level in guarantee.levels], dtype=np.float64)
    return weighted_curator_error(
        np.maximum(epsilons, _SMALLEST),
        counts,
        delta=float(guarantee.delta or 1e-6),
        reach_l1=reach_l1,
        reach_l2=reach_l2,
        spread=spread,
    )


def weighted_curator_error(
    epsilons: Floats,
    counts: Floats,
    *,
    delta: float,
    reach_l1: float,
    reach_l2: float,
    spread: float,
) -> float:
    """Returns the standard error of a trusted curator, as `curator_error` does.

    Args:
        epsilons: Central, above 0, shape (targets,).
        counts: People of each, shape (targets,).
        delta: Of all of them.
        reach_l1: See `curator_error`, as for what follows.
        reach_l2: Likewise.
        spread: Likewise.
    """
    mu = sensitivity_per_deviation(epsilons, delta)
    # Normal noise of deviation 1, and Laplace noise of scale 1 (standard deviation 2^0.5).
    noises = [(mu / reach_l2, 1.0), (epsilons / reach_l1, 2.0**0.5)]
    # Each noise with personal weights, and with the strictest guarantee for all.
    errors = []
    for weights, deviation in noises:
        for curator_weights in (weights, np.full(weights.shape, weights.min())):
            errors.append(_weighted_error(curator_weights, counts, deviation, spread))
    return min(errors)


def _weighted_error(
    weights: Floats, counts: Floats, deviation: float, spread: float
) -> float:
    total = float(weights @ counts)
    # Relative variance of a weighted mean beyond that of the plain mean of all people.
    uneven = float(weights**2 @ counts) / total**2 - 1.0 / float(counts.sum())
    return float(((deviation / total) ** 2 + spread**2 * max(uneven, 0.0)) ** 0.5)
