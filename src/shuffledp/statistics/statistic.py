"""The interface of a statistic to a command line and a report.

Every statistic implements it beside its protocol, in `rehearsal.py`: its labels, its
options, and a rehearsal of the values in a table. `statistic_catalog` lists them.
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
        """Its title and labels, as they are displayed."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its own parameters of a rehearsal."""
        ...

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a function that reads the values, runs a collection and sums it up.

        Raises:
            InvalidInputError: If an option makes no sense, before values are read.
        """
        ...
