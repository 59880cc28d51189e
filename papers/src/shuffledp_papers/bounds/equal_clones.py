"""Number of clones if all users run the same randomizer: a binomial distribution."""

import functools
import math

import numpy as np

from shuffledp_papers.bounds.two_counts import CloneCount, binomial_window, divergence


@functools.lru_cache(maxsize=64)
def equal_clones(num_others: int, probability: float) -> CloneCount:
    """Returns Binomial(num_others, probability), tails of 1e-307 left out."""
    if num_others == 0 or probability <= 0.0:
        return CloneCount(0, np.ones(1))
    if probability >= 1.0:
        return CloneCount(num_others, np.ones(1))
    return CloneCount(*binomial_window(num_others, probability))


def reduced_delta(
    epsilon: float, *, num_users: int, clone: float, same: float, other: float
) -> float:
    """Returns the divergence of the two counts that a clone argument reduces to.

    Args:
        epsilon: In nats, >= 0.
        num_users: The target user included.
        clone: Probability that another user imitates the target user, for either value.
        same: Probability that the target user's message counts for the value they hold.
        other: Probability that it counts for the other value.
    """
    # The message alone has divergence same - e^epsilon other, and the shuffled messages
    # have no more.
    if not same > other or same <= math.exp(epsilon) * other:
        return 0.0
    clones = equal_clones(num_users - 1, clone)
    return divergence(clones, same=same, other=other, epsilon=epsilon)
