"""Points below and above the privacy profile of a target user."""

from dataclasses import dataclass

from shuffledp.accounting.statement import RestsOn
from shuffledp.errors import CertificationError


@dataclass(frozen=True)
class ProfileBounds:
    """Points below and above the privacy profile of a target user.

    Attributes:
        lower: (epsilon, delta) that an attack violates.
        upper: (epsilon, delta) that is certified.
        rests_on: Theorem that gives the certificate.
        slack: Share of the certified delta that is numerical margin, in one collection.

    Raises:
        CertificationError: If the two bounds contradict each other.
    """

    lower: tuple[float, float]
    upper: tuple[float, float]
    rests_on: RestsOn = "device"
    slack: float = 0.0

    def __post_init__(self) -> None:
        for attacked, certified in zip(self.lower, self.upper, strict=True):
            # Written this way round, it refuses NaN, too.
            if not attacked <= certified:
                raise CertificationError(
                    f"The bounds contradict each other ({attacked!r} > {certified!r}): "
                    "the numbers are too extreme for double precision."
                )
