"""What a command line and a report need to know of a statistic.

Every statistic says it beside its protocol, in `rehearsal.py`: its words, its options, and
how values in a table become a collection and its summary. `catalog` lists them.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from shuffledp.labels import StatisticLabels
from shuffledp.statistics.request import Request
from shuffledp.statistics.stage import Rehearsal

Kind: TypeAlias = Literal["text", "number", "whole", "flag", "file", "names"]


@dataclass(frozen=True)
class Option:
    """One option of a command line.

    Attributes:
        name: As it is written, without the dashes.
        kind: What is given with it; names are those of categories, or how many there are.
        help: What it does, in a sentence.
        metavar: What stands for its value in help texts.
        choices: The texts it may be, or () for any.
    """

    name: str
    kind: Kind
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Its name among the options that were given."""
        return self.name.replace("-", "_")


class Statistic(Protocol):
    """One statistic, as it is rehearsed on known values."""

    @property
    def words(self) -> StatisticLabels:
        """What people are told it is."""
        ...

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that belong to it."""
        ...

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a function that reads the values, runs a collection and sums it up.

        Raises:
            InvalidInputError: If an option makes no sense: nothing was read by then.
        """
        ...
