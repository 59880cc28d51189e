"""One bit about a number: who holds v in [low, high] says "high" the more often.

With t = (v - low) / (high - low), the message is 1 with probability

    1 / (e^eps + 1) + t (e^eps - 1) / (e^eps + 1),

else 0. On the two ends this is binary randomized response; every value in between is a
mixture of the two, so the ends are the worst pair, and the cover is theirs.

Source: Ding, Kulkarni, Yekhanin (2017), "Collecting telemetry data privately".
"""

from dataclasses import dataclass

from shuffledp.randomizers.checks import value_range
from shuffledp.randomizers.set_response import Overlaps, SetResponse


@dataclass(frozen=True, slots=True)
class OneBit(SetResponse):
    """Public parameters only.

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        value_range(self.low, self.high)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "one-bit"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"low": float(self.low), "high": float(self.high)}

    @property
    def overlaps(self) -> Overlaps:
        """Two messages, and one belongs to each end."""
        return Overlaps(0.5, 0.0, None)
