"""What the accountant says about sets of items: one entry per privacy level."""

from dataclasses import dataclass
from typing import Any

from shuffledp.version import __version__

_FORMAT = "shuffledp-items-guarantee-1"


@dataclass(frozen=True)
class ItemsLevelGuarantee:
    """The central guarantee of the people at one privacy level.

    Everything the analyst sees is (epsilon_central, delta)-differentially private for each
    of them: that is proven. It is not (epsilon_central_lower, delta)-differentially
    private: an attack shows it.

    Attributes:
        level: The central epsilon they asked for; what they get stands below.
        count: People at this level.
        send_chance: Chance to send each item they hold.
        epsilon_central: Certified, at the guarantee's delta.
        epsilon_central_lower: What an attack shows, at the same delta.
    """

    level: float
    count: int
    send_chance: float
    epsilon_central: float
    epsilon_central_lower: float


@dataclass(frozen=True)
class ItemsGuarantee:
    """A certified statement about one collection of sets of items.

    Attributes:
        num_users: People in the collection.
        absent: How many of the others may be absent or collude, whoever they are.
        num_items: d.
        set_size: s, the most items that anybody holds.
        blanket: m, blanket messages per person in the mean.
        report_size: Messages per person, dummies included.
        delta: At which all epsilons hold.
        delta_cut: Part of it that pays for blanket messages that do not fit into reports.
        levels: One entry per level, in ascending order.
        theorem: What the upper bounds rest on.
        assumptions: In plain words, what must hold for the statement to hold.
        numerics: In plain words, how the numbers are kept on the safe side.
        version: Of shuffledp.
    """

    num_users: int
    absent: int
    num_items: int
    set_size: int
    blanket: float
    report_size: int
    delta: float
    delta_cut: float
    levels: tuple[ItemsLevelGuarantee, ...]
    theorem: str
    assumptions: tuple[str, ...]
    numerics: tuple[str, ...]
    version: str = __version__

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "items among Poisson blanket messages"

    @property
    def certified(self) -> bool:
        """True: nothing that is not proven is returned as an ItemsGuarantee."""
        return True

    @property
    def send_chances(self) -> tuple[float, ...]:
        """Chance to send an item, of each level."""
        return tuple(level.send_chance for level in self.levels)

    @property
    def worst(self) -> ItemsLevelGuarantee:
        """The level whose people are protected least."""
        return max(self.levels, key=lambda level: level.epsilon_central)

    @property
    def kept(self) -> bool:
        """Does everybody get what she asked for, up to the rounding of the sixth digit?"""
        return all(
            level.epsilon_central <= level.level * (1.0 + 1.1e-5)
            for level in self.levels
        )

    def level(self, level: float) -> ItemsLevelGuarantee:
        """Returns the entry of one level.

        Raises:
            KeyError: If nobody chose it.
        """
        for entry in self.levels:
            if entry.level == level:
                return entry
        raise KeyError(level)

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON."""
        return {
            "format": _FORMAT,
            "mechanism": self.mechanism,
            "certified": self.certified,
            "num_users": self.num_users,
            "absent": self.absent,
            "num_items": self.num_items,
            "set_size": self.set_size,
            "blanket": self.blanket,
            "report_size": self.report_size,
            "delta": self.delta,
            "delta_cut": self.delta_cut,
            "levels": [
                {
                    "level": entry.level,
                    "count": entry.count,
                    "send_chance": entry.send_chance,
                    "epsilon_central": entry.epsilon_central,
                    "epsilon_central_lower": entry.epsilon_central_lower,
                }
                for entry in self.levels
            ],
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
            "numerics": list(self.numerics),
            "version": self.version,
        }
