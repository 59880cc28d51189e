"""Query to the accountant, and checks of its parameters."""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.population import MAX_USERS
from shuffledp.types import Ints

# Integrals return no bound below 1e-306: much smaller deltas are never certified.
MIN_DELTA = 1e-300
# Shuffles of one person that can be composed: rounds times coordinates.
MAX_TIMES = 10**8


@dataclass(frozen=True, eq=False)
class AccountingQuery:
    """Levels, one privacy parameter and the number of collections to certify.

    Attributes:
        named: Positions of the levels to report, keyed by the name of the quantile that
            each stands for, or by the position itself.
        counts: Users of every level, in the order of the positions, shape (levels,).
        delta: Report the smallest epsilons at this delta; None if epsilon is given.
        epsilon: Report the smallest deltas at this epsilon; None if delta is given.
        absent: Number of other users who may be absent or collude.
        rounds: Number of collections in which the same users take part.
        coordinates: Messages per user and round, each shuffled apart.
    """

    named: dict[str | int, int]
    counts: Ints
    delta: float | None
    epsilon: float | None
    absent: int = 0
    rounds: int = 1
    coordinates: int = 1

    @property
    def positions(self) -> list[int]:
        """Positions of the levels to report, ascending, each once."""
        return sorted(set(self.named.values()))


def check_either(delta: float | None, epsilon: float | None) -> None:
    """Raises InvalidInputError unless exactly one is given, and in range."""
    if (delta is None) == (epsilon is None):
        got = "neither" if delta is None else "both"
        raise InvalidInputError(f"Expected either delta or epsilon, got {got}.")
    if delta is not None:
        check_delta(delta)
    if epsilon is not None and not (math.isfinite(epsilon) and epsilon >= 0.0):
        raise InvalidInputError(f"Expected a finite epsilon >= 0, got {epsilon:g}.")


def check_delta(delta: float) -> None:
    """Raises InvalidInputError unless a certificate may state this delta."""
    if not MIN_DELTA <= as_number(delta, "delta") < 1.0:
        reason = ""
        if delta == 0.0:
            reason = ": at 0 nothing but the local budget holds"
        elif delta >= 1.0:
            reason = ": from 1 on nothing is promised"
        elif delta > 0.0:
            reason = ": smaller ones are beyond double precision"
        raise InvalidInputError(
            f"Expected {MIN_DELTA:g} <= delta < 1, got {delta:g}{reason}."
        )


def check_whole(
    number: int, what: str, *, least: int, most: int = int(MAX_USERS)
) -> None:
    """Raises InvalidInputError unless `number` is an integer in [least, most]."""
    # True is an int in Python, and no number of people.
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if is_whole and number > most:
        raise InvalidInputError(f"Expected at most {most:,} {what}.")
    if not is_whole or number < least:
        raise InvalidInputError(
            f"Expected a whole number of {what}, at least {least}, got {number!r}."
        )


def check_rounds(rounds: int, coordinates: int = 1) -> None:
    """Raises InvalidInputError unless both are integers in [1, MAX_TIMES]."""
    check_whole(rounds, "rounds", least=1, most=MAX_TIMES)
    check_whole(coordinates, "coordinates", least=1, most=MAX_TIMES)
