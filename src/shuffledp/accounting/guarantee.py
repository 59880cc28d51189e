"""What the accountant says: for every level, a certified bound and an attack beside it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LevelGuarantee:
    """The central guarantee of the people at one privacy level.

    Everything the analyst sees is (epsilon_central, delta_central)-differentially private
    for each of them: that is proven. It is not (epsilon_central_lower,
    delta_central_lower)-differentially private: an attack shows it. One of the two
    parameters was given, and is the same in both statements.

    Attributes:
        epsilon_local: The budget on the device, in nats.
        count: People at this level.
        hides_among: People among whom each of them hides, herself included.
        quantile: Which part of the population this level stands for, where there are
            too many levels to report ("minimum", "median", ...), else None.
    """

    epsilon_local: float
    count: int
    hides_among: int
    epsilon_central: float
    epsilon_central_lower: float
    delta_central: float
    delta_central_lower: float
    quantile: str | None = None


@dataclass(frozen=True)
class Guarantee:
    """A certified statement about one collection.

    Attributes:
        mechanism: The local randomizer.
        parameters: Its public parameters.
        num_users: People in the collection.
        delta: The delta that was asked for, or None.
        epsilon: The epsilon that was asked for, or None.
        levels: One entry per level, or, for very many levels, per quantile.
        theorem: What the upper bounds rest on.
        assumptions: In plain words, what must hold for the statement to hold.
    """

    mechanism: str
    parameters: dict[str, int | float | str]
    num_users: int
    delta: float | None
    epsilon: float | None
    levels: tuple[LevelGuarantee, ...]
    theorem: str
    assumptions: tuple[str, ...]

    @property
    def certified(self) -> bool:
        """True: nothing that is not proven is returned as a Guarantee."""
        return True

    @property
    def worst(self) -> LevelGuarantee:
        """The reported level whose people are protected least."""
        return max(
            self.levels, key=lambda level: (level.epsilon_central, level.delta_central)
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON."""
        asked = "epsilon" if self.delta is None else "delta"
        solved = "delta" if self.delta is None else "epsilon"
        return {
            "mechanism": self.mechanism,
            "parameters": self.parameters,
            "certified": self.certified,
            asked: self.epsilon if self.delta is None else self.delta,
            "num_users": self.num_users,
            "levels": [
                {
                    "epsilon_local": level.epsilon_local,
                    "count": level.count,
                    "hides_among": level.hides_among,
                    f"{solved}_central": getattr(level, f"{solved}_central"),
                    f"{solved}_central_lower": getattr(
                        level, f"{solved}_central_lower"
                    ),
                }
                | ({} if level.quantile is None else {"quantile": level.quantile})
                for level in self.levels
            ],
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
        }
