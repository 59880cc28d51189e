"""Local privacy of all messages of one device together, by composition.

The profile of one message becomes finitely many likelihood ratios, which compose.
"""

import math

from shuffledp.accounting.epsilon_solver import round_up, smallest_certified_epsilon
from shuffledp.accounting.message_alone import check_level
from shuffledp.accounting.rounds.composed_profile import composed_ceiling
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.node_choice import loss_distribution
from shuffledp.accounting.rounds.total_budget import total_budget
from shuffledp.accounting.upper_profile import Profile
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError

# Share of delta for losses beyond the grid, whose probability is added to delta whole.
_NEGLIGIBLE = 1e-3
_SMALLEST = 1e-290
# Sets the resolution where delta is solved for: about the size of a small delta.
_USUAL_DELTA = 1e-12


def local_epsilon_of(
    device: LocalRandomizer, level: float, *, times: int, delta: float
) -> float:
    """Returns a certified epsilon, at delta, of `times` messages of one device.

    Args:
        device: The randomizer.
        level: The budget of one message.
        times: How many messages, each with randomness of its own.
        delta: In [1e-300, 1).

    Returns:
        At most times * level, if the device's privacy is pure.

    Raises:
        CertificationError: If there is none, as every message keeps its level with a
            delta only, or if a message reveals more than its level allows.
    """
    check_level(device, level)
    ceiling = math.inf
    if device.delta_local == 0.0:
        ceiling = total_budget(times, level)
        if ceiling <= delta:
            # Total variation is at most half the budget.
            return 0.0
    upper = _profile(device, level, times, delta)
    if math.isinf(ceiling):
        ceiling = composed_ceiling(upper, level, delta)
    # First guess only: a normal loss with mean and variance like those of one bit.
    mean = level * math.tanh(level / 2.0)
    spread = math.sqrt(2.0 * times * math.log(1.0 / delta))
    guess = min(times * mean + level * spread, ceiling)
    return smallest_certified_epsilon(upper, delta, ceiling=ceiling, guess=guess)


def local_delta_of(
    device: LocalRandomizer, level: float, *, times: int, epsilon: float
) -> float:
    """Returns a certified delta, at epsilon, of `times` messages of one device.

    Arguments and errors are those of `local_epsilon_of`.
    """
    check_level(device, level)
    pure = device.delta_local == 0.0
    if pure and total_budget(times, level) <= epsilon:
        return 0.0
    return min(round_up(_profile(device, level, times, _USUAL_DELTA)(epsilon)), 1.0)


def _profile(
    device: LocalRandomizer, level: float, times: int, delta: float
) -> Profile:
    """Returns a proven upper bound of the divergence of all messages together."""
    pure = device.delta_local == 0.0
    ceiling = total_budget(times, level) if pure else math.inf
    # For a budget alone this would be the optimal composition of Kairouz, Oh and
    # Viswanath (2015); a mechanism's own profile gives a smaller epsilon.
    losses = loss_distribution(
        lambda epsilon: device.local_delta(level, epsilon),
        ceiling=level if pure else math.inf,
        # Added once for every message.
        negligible=max(_NEGLIGIBLE * delta / times, _SMALLEST),
    )
    profile = composed([(losses, times)]).delta

    def upper(epsilon: float) -> float:
        try:
            return profile(epsilon) if epsilon < ceiling else 0.0
        except CertificationError:
            # No bound here in double precision: the trivial one is on the safe side.
            return 1.0

    return upper
