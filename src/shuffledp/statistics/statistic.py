"""What a command line and a report need to know of a statistic.

Every statistic says it beside its protocol, in `rehearsal.py`: its words, its options, and
how values in a table become a collection and its summary. `catalog` lists them.
"""

from typing import Protocol

from shuffledp.labels import StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.statistics.rehearsal_stage import Rehearsal
from shuffledp.statistics.request import Request


class Statistic(Protocol):
    """One statistic, as it is rehearsed on known values."""

    @property
    def words(self) -> StatisticLabels:
        """What people are told it is."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of a rehearsal that belong to it."""
        ...

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a function that reads the values, runs a collection and sums it up.

        Raises:
            InvalidInputError: If an option makes no sense: nothing was read by then.
        """
        ...
