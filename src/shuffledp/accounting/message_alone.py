"""The guarantee of a device's message alone, without any others."""

from shuffledp.accounting.epsilon_solver import smallest_certified_epsilon
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError

# Far beyond e^709, where a ratio of probabilities overflows: nothing is kept.
_MOST_EPSILON = 1e6


def local_epsilon(randomizer: LocalRandomizer, level: float, delta: float) -> float:
    """Returns a certified epsilon, at `delta`, of one message alone.

    Raises:
        CertificationError: If there is none.
    """

    def alone(epsilon: float) -> float:
        return randomizer.local_delta(level, epsilon)

    high = max(level, 1e-6)
    while alone(high) > delta:
        high *= 2.0
        if high > _MOST_EPSILON:
            raise CertificationError(
                f"At delta {delta:g} the device of level {level:g} promises nothing."
            )
    return smallest_certified_epsilon(alone, delta, ceiling=high, guess=level)


def check_level(randomizer: LocalRandomizer, level: float) -> None:
    """Raises CertificationError unless the densities satisfy the level's guarantee."""
    # Both with room for rounding: a device that just keeps its level is not refused.
    promised = randomizer.delta_local * (1.0 + 1e-6)
    if randomizer.local_delta(level, level * (1.0 + 1e-9)) > promised:
        raise CertificationError(
            f"The densities of {randomizer.mechanism} at level {level:g} show more than "
            "the level promises."
        )
