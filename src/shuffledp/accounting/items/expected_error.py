"""The error to expect of estimated shares of items.

With D = n_1 lambda_1 + ... + n_K lambda_K, an item held by a share f of people, and targets
that have nothing to do with sets, the estimate (C - n m / d) / D has the variance

    ( n f mean lambda (1 - lambda) + f (1 - f) var(lambda) n^2 / (n - 1) + n m / d ) / D^2

(means over people): who sends, who happened to choose which target, and blanket messages.
"""

from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.counts.sending_rates import check_probability
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population


def items_mean_squared_error(
    people: Population,
    send_probabilities: Sequence[float],
    *,
    num_items: int,
    set_size: int,
    blanket: float,
) -> float:
    """Returns the predicted squared error of a share, the mean over items.

    Args:
        people: How many people ask for each target.
        send_probabilities: lambda of each target, in [0, 1].
        num_items: d.
        set_size: s.
        blanket: m.

    Raises:
        InvalidInputError: If no user sends an item.
    """
    probabilities = np.array(
        [check_probability(probability) for probability in send_probabilities]
    )
    counts = people.counts.astype(np.float64)
    # Full sets and equally common items have the largest mean variance over items.
    n, f = float(counts.sum()), set_size / num_items
    signal = float(counts @ probabilities)
    if signal <= 0.0:
        raise InvalidInputError(
            "Expected a person who sends items: with targets of 0 there is only noise."
        )
    sampling_noise = float(counts @ (probabilities * (1.0 - probabilities))) / n
    spread = float(counts @ (probabilities - signal / n) ** 2) / n
    # One person has no spread: then n - 1 must not divide by 0.
    variance = n * f * sampling_noise + f * (1.0 - f) * spread * n * n / max(
        n - 1.0, 1.0
    )
    return (variance + n * blanket / num_items) / signal**2
