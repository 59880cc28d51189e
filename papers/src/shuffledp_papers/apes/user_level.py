"""From one coordinate to a whole gradient: APES, and S-APES by Proposition 1.

If one coordinate keeps (eps_c, delta_c) after the shuffle, k of them are stated to keep

    eps = eps_c sqrt(2 k ln(1 / delta')) + k eps_c (e^eps_c - 1),
    delta = delta' + k delta_c,

k = d for APES and k = 2 b for S-APES, which sends the b largest of d noisy coordinates.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Lemma 2, Proposition 1.
"""

import math
from dataclasses import dataclass, field

from shuffledp.errors import InvalidInputError
from shuffledp_papers.apes.amplification import ApesNumerical
from shuffledp_papers.bounds.bound import (
    PublishedBound,
    Setting,
    check_delta,
    check_epsilon,
    require,
)


@dataclass(frozen=True)
class SparsifiedApes(PublishedBound, row="apes-sparsified"):
    """Proposition 1, on top of a bound for one coordinate.

    Attributes:
        selected: b, the number of coordinates that S-APES selects.
        coordinates: d > b.
        per_coordinate: The bound for eps_c; Table 3 uses the numerical one.
        share: Part of delta that goes to 2 b delta_c; the rest is delta'. The paper's
            choice is about 0.4.
        as_printed: Whether the logarithm is that of delta or of delta'.
    """

    selected: int
    coordinates: int
    per_coordinate: PublishedBound = field(default_factory=ApesNumerical)
    share: float = 0.4
    as_printed: bool = True

    # Its premises are false: b epsilon per report, and Theorem 4 for one coordinate.

    def __post_init__(self) -> None:
        if not 0 < self.selected < self.coordinates:
            raise InvalidInputError(
                f"Expected 0 < b < d, got b = {self.selected} and d = {self.coordinates}."
            )
        if not 0.0 < self.share < 1.0:
            raise InvalidInputError(f"Expected 0 < share < 1, got {self.share:g}.")

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions if the bound per coordinate does."""
        self.per_coordinate.check(setting)

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the user-level epsilon that Proposition 1 states for this delta."""
        # As printed; the selection depends on the data, so that all d coordinates leak.
        times = 2 * self.selected
        # 2 b coordinates have share * delta together, composition the remainder.
        slack = (1.0 - self.share) * delta
        inner = self.per_coordinate.epsilon(setting, self.share * delta / times)
        # Proposition 1 is printed with ln(1 / delta) in place of ln(1 / delta').
        return composed_epsilon(
            inner, times=times, slack=delta if self.as_printed else slack
        )


def composed_epsilon(epsilon: float, *, times: int, slack: float) -> float:
    """Returns the epsilon of advanced composition (Lemma 2) for `times` coordinates.

    >>> round(composed_epsilon(0.057, times=7850, slack=1e-8), 1)
    56.9

    Args:
        epsilon: eps_c of one coordinate, >= 0.
        times: k >= 1.
        slack: delta' in (0, 1).
    """
    epsilon, slack = check_epsilon(epsilon), check_delta(slack)
    require(times >= 1, "at least 1 coordinate", f"{times}")
    spread = epsilon * math.sqrt(2.0 * times * math.log(1.0 / slack))
    return spread + times * epsilon * math.expm1(epsilon)
