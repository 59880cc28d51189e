"""What counts of noisy messages in four regions show of one person, to 1e-12.

All others hold 0. Many people's noise is narrow, few people's is wide, and the target's
is between. The event: all narrow messages but a few lie in the middle region, one message
lies in the ring to its right, none in the ring to its left. Nothing is shared with the
accountant.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.stats import multinomial

Distribution = Callable[[float], float]


@dataclass(frozen=True)
class Crowd:
    """People whose noise has one distribution, and how many they are."""

    distribution: Distribution
    number: int


def shown(
    narrow: Crowd,
    wide: Crowd,
    target: Distribution,
    *,
    epsilon: float,
    middle: float,
    ring: float,
) -> float:
    """Returns P - e^epsilon Q of the event, the target holding 1 or -1.

    Args:
        narrow: Most of the others.
        wide: The others.
        target: The distribution function of the target's noise.
        epsilon: >= 0.
        middle: Where the middle region ends, on either side.
        ring: Where the rings end.
    """
    probabilities = [
        _probability(narrow, wide, _regions(target, value, middle, ring), middle, ring)
        for value in (1.0, -1.0)
    ]
    return probabilities[0] - math.exp(epsilon) * probabilities[1]


def _regions(
    distribution: Distribution, value: float, middle: float, ring: float
) -> list[float]:
    """Probabilities of the middle, the right ring, the left one, and what is beyond."""
    ends = [distribution(end - value) for end in (-ring, -middle, middle, ring)]
    inside = [ends[2] - ends[1], ends[3] - ends[2], ends[1] - ends[0]]
    return [*inside, max(1.0 - sum(inside), 0.0)]


def _probability(
    narrow: Crowd, wide: Crowd, target: list[float], middle: float, ring: float
) -> float:
    chances = [
        _regions(each.distribution, 0.0, middle, ring) for each in (narrow, wide)
    ]
    total = 0.0
    # Narrow messages outside of the middle, those of them in the right ring, and where
    # the target's message is. Eight outside are next to impossible.
    for outside, in_ring, where in itertools.product(range(8), (0, 1), (0, 1, 3)):
        filled = outside - (where == 0)
        more = 1 - in_ring - (where == 1)
        if in_ring > outside or filled < 0 or more < 0:
            continue
        counts = [narrow.number - outside, in_ring, 0, outside - in_ring]
        others = [filled, more, 0, wide.number - filled - more]
        total += (
            float(multinomial.pmf(counts, narrow.number, chances[0]))
            * float(multinomial.pmf(others, wide.number, chances[1]))
            * target[where]
        )
    return total
