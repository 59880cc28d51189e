"""Grid of collections, as a table in TOML beside the code."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.population import Population
from shuffledp.randomizers.catalog import build
from shuffledp.randomizers.mechanism_text import read_mechanism
from shuffledp.statistics.single_message import SingleMessage
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.toml_tables import read_table


@dataclass(frozen=True)
class GridPoint:
    """One collection, and the delta at which epsilons of it are compared.

    >>> point = GridPoint("laplace", "0.5:1,2:9999", 1e-6, 1)
    >>> str(point), point.population.num_users
    ('laplace, 0.5:1,2:9999, delta 1e-06', 10000)

    Attributes:
        randomizer: Of all devices, as `--mechanism` takes it.
        people: Levels and counts, as `--levels` takes them.
        delta: In (0, 1).
        rounds: Number of collections with the same people and independent randomness.
    """

    randomizer: str
    people: str
    delta: float
    rounds: int

    def __str__(self) -> str:
        rounds = "" if self.rounds == 1 else f", {self.rounds} rounds"
        return f"{self.randomizer}, {self.people}, delta {plain(self.delta)}{rounds}"

    @cached_property
    def population(self) -> Population:
        """Levels and counts of all people."""
        pairs = (pair.split(":") for pair in self.people.split(","))
        return Population.from_counts({float(at): int(count) for at, count in pairs})

    @cached_property
    def protocol(self) -> SingleMessage:
        """One message per person, whose levels travel apart from messages."""
        mechanism = read_mechanism(self.randomizer)
        return SingleMessage(build(mechanism.name, mechanism.parameters))

    @property
    def setting(self) -> Setting:
        """The collection as published bounds take it, for the worst target user."""
        return Setting(self.population, self.protocol.randomizer)


@dataclass(frozen=True)
class Family:
    """Every combination of randomizers, people, deltas and rounds.

    Attributes:
        randomizers: As `--mechanism` takes them.
        people: Number of people at each level, whose text is a number.
        deltas: In (0, 1).
        rounds: Numbers of collections.
    """

    randomizers: tuple[str, ...]
    people: tuple[Mapping[str, int], ...]
    deltas: tuple[float, ...]
    rounds: tuple[int, ...]

    @property
    def points(self) -> list[GridPoint]:
        """The collections, in the order of the lists."""
        return [
            GridPoint(randomizer, _text(people), delta, rounds)
            for randomizer, people, delta, rounds in product(
                self.randomizers, self.people, self.deltas, self.rounds
            )
        ]


@dataclass(frozen=True)
class Grid:
    """All collections.

    Attributes:
        version: Counts up whenever a collection is added, changed or removed.
        families: At least one.
    """

    version: int
    families: tuple[Family, ...]

    def __post_init__(self) -> None:
        if len(set(self.points)) != len(self.points):
            raise InvalidInputError("Expected every collection of the grid once.")

    @property
    def points(self) -> list[GridPoint]:
        """The collections of all families."""
        return [point for family in self.families for point in family.points]


def read_grid() -> Grid:
    """Returns the grid of this version."""
    return read_table(Grid, "leaderboard", "grid.toml")


def _text(people: Mapping[str, int]) -> str:
    return ",".join(f"{level}:{count}" for level, count in people.items())
