"""What all messages of one device keep together, without anybody to hide among.

The profile of one message becomes finitely many likelihood ratios, which compose. For a
budget alone that would be the optimal composition of Kairouz, Oh and Viswanath (2015); a
mechanism's own profile gives less.
"""

import math

from shuffledp.accounting.rounds.composed_profile import total_budget
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.loss_distribution import loss_distribution
from shuffledp.accounting.solve import smallest_certified_epsilon
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError

# A composed loss beyond which probability is charged whole: this part of delta in all.
_NEGLIGIBLE = 1e-3
_SMALLEST = 1e-290


def local_composition(
    device: LocalRandomizer, level: float, *, times: int, delta: float
) -> float:
    """Returns a certified epsilon, at delta, of so many messages of one device.

    Args:
        device: What it runs; with pure local privacy.
        level: The budget of one message.
        times: How many messages, each with randomness of its own.
        delta: In [1e-300, 1).

    Returns:
        At most times * level.
    """
    ceiling = total_budget(times, level)
    if ceiling <= delta:
        # Total variation is at most half the budget.
        return 0.0
    losses = loss_distribution(
        lambda epsilon: device.local_delta(level, epsilon),
        ceiling=level,
        negligible=max(_NEGLIGIBLE * delta / times, _SMALLEST),
    )
    profile = composed([(losses, times)]).delta

    def upper(epsilon: float) -> float:
        try:
            return profile(epsilon) if epsilon < ceiling else 0.0
        except CertificationError:
            return 1.0

    # As if the loss were normal, of mean and variance like that of one bit.
    mean = level * math.tanh(level / 2.0)
    spread = math.sqrt(2.0 * times * math.log(1.0 / delta))
    guess = min(times * mean + level * spread, ceiling)
    return smallest_certified_epsilon(upper, delta, ceiling=ceiling, guess=guess)
