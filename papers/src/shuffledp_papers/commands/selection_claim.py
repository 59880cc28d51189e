"""The claim of Liu et al. (2023), Proposition 1, about S-APES, for `account --s-apes`.

This module neither certifies the selection of the largest coordinates nor attacks it.
"""

from dataclasses import dataclass
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage
from shuffledp_papers.apes.local import report_budget, selection_loss
from shuffledp_papers.apes.user_level import SparsifiedApes
from shuffledp_papers.bounds.bound import Setting


@dataclass(frozen=True)
class SelectionClaim:
    """The claim of the proposition about one person's whole update.

    Attributes:
        bound: With its numbers of coordinates.
        delta: At which it is stated.
        printed: Epsilon, with ln(1 / delta).
        corrected: Epsilon, with ln(1 / delta').
        level: The largest of the people's levels.
    """

    bound: SparsifiedApes
    delta: float
    printed: float
    corrected: float
    level: float

    @property
    def local(self) -> float:
        """The local epsilon of a report that the paper states."""
        # b times the level, for b selected coordinates.
        return report_budget(self.level, coordinates=self.bound.selected)

    @property
    def local_shown(self) -> float:
        """The privacy loss of that report for one pair of updates, a lower bound."""
        return selection_loss(self.level, coordinates=self.bound.coordinates)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "source": self.bound.source,
            "proven": str(self.bound.proven),
            "selected": self.bound.selected,
            "coordinates": self.bound.coordinates,
            "delta": self.delta,
            "epsilon_printed": self.printed,
            "epsilon_corrected": self.corrected,
            "level": self.level,
            "epsilon_local": self.local,
            "epsilon_local_shown": self.local_shown,
        }

    def __str__(self) -> str:
        # A larger loss of one pair refutes a local epsilon; a smaller one proves nothing.
        more = "more than" if self.local_shown > self.local else "which does not refute"
        # In a sentence of its own and in no table of comparisons: nothing certifies the
        # selection, and no attack stands beside it.
        return (
            f"{self.bound.source}, states epsilon = {self.printed:.4g} for all messages of "
            f"a person who sends the {self.bound.selected:,} largest of "
            f"{self.bound.coordinates:,} coordinates, at delta = {self.delta:g}; "
            f"{self.corrected:.4g} with delta' in its logarithm. This is "
            f"{self.bound.proven}. {self.bound.note} Before the shuffle, at level "
            f"{self.level:g}, one pair of updates shows a loss of {self.local_shown:,.4g}, "
            f"{more} the {self.local:,.4g} stated. "
            "The table above is of another mechanism, which sends all."
        )


def stated_of_selection(
    selection: str,
    protocol: SingleMessage,
    people: Population,
    *,
    delta: float | None,
) -> SelectionClaim:
    """Returns the claim of Proposition 1.

    Args:
        selection: "B/D": the B largest of D coordinates.
        protocol: That of one coordinate, with Clip-Laplace.
        people: All levels and their numbers of people.
        delta: Of the whole update.

    Raises:
        InvalidInputError: If a number is missing or out of range.
        OutsidePreconditions: If the proposition does not apply to these people.
    """
    if delta is None:
        raise InvalidInputError("Expected --delta with --s-apes.")
    numbers = selection.split("/")
    # `isdecimal` alone takes other scripts' digits.
    if len(numbers) != 2 or not all(
        part.strip().isdecimal() and part.isascii() for part in numbers
    ):
        raise InvalidInputError(
            f"Expected --s-apes as B/D, such as 1570/7850, got {selection!r}."
        )
    selected, coordinates = (int(part) for part in numbers)
    setting = Setting(people, protocol.randomizer)
    printed = SparsifiedApes(selected, coordinates)
    # The printed formula has ln(1 / delta) where its proof needs ln(1 / delta').
    corrected = SparsifiedApes(selected, coordinates, as_printed=False)
    return SelectionClaim(
        printed,
        delta,
        printed.epsilon(setting, delta),
        corrected.epsilon(setting, delta),
        setting.largest_budget,
    )
