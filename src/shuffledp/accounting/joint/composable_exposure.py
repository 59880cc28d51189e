"""One protocol of several that the same people take part in."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.exposure import Certifiable, Exposure
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.rounds.part_losses import PartLosses
from shuffledp.accounting.statement import Statement
from shuffledp.cover import LocalRandomizer


@runtime_checkable
class ComposableExposure(Exposure, Protocol):
    """An exposure that can be certified together with those of other protocols."""

    @property
    def message_family(self) -> Hashable:
        """Equal for exposures to which the methods below answer the same."""
        ...

    def attacked(self, query: AccountingQuery) -> Statement:
        """Returns attacks, below certified numbers that need not be the best ones."""
        ...

    def part_losses(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, PartLosses]:
        """Returns the losses of all messages of a person, by the position of the level.

        Args:
            query: Levels, absent people, and number of collections.
            delta: About the size of the divergence that is asked for.
        """
        ...

    def attacked_pairs(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, tuple[AttackedPair, ...]]:
        """Returns pairs that an adversary sees of a person, by the position of the level.

        Arguments are those of `part_losses`. There are none where no attack is proven.
        """
        ...


@dataclass(frozen=True, eq=False)
class Part:
    """A protocol, and how often it takes place in a round.

    Attributes:
        protocol: The protocol or randomizer that devices run.
        exposure: All messages of a person in it.
        name: In sentences.
        times: At least 1; more if the list of protocols repeats it.
    """

    protocol: Certifiable | LocalRandomizer
    exposure: ComposableExposure
    name: str
    times: int

    def query(self, query: AccountingQuery) -> AccountingQuery:
        """Returns the query to this protocol alone."""
        # A protocol that is listed twice runs twice per round, with randomness of its
        # own.
        return replace(query, rounds=query.rounds * self.times)
