"""A population: privacy levels and the number of people at each."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import first_other, level_array, without_minus_zero
from shuffledp.errors import PopulationError, UnknownLevelError
from shuffledp.types import Floats, Ints

# Its exponential is finite: doubles end at e^709.
MAX_BUDGET = 700.0
# More than there are people; doubles hold sums of counts exactly, up to 2^53.
MAX_USERS = 1e10
EXPECTED_BUDGETS = (
    "Expected every privacy budget to be a number from 0 (reveals nothing) to "
    f"{MAX_BUDGET:g} (reveals everything)"
)


@dataclass(frozen=True, eq=False)
class Population:
    """Distinct privacy levels, ascending, and the number of people at each.

    Build one with `from_counts` or `from_budgets`. Levels and counts are public: the
    analyst sees them, and every guarantee is computed from them.

    >>> people = Population.from_counts({0.5: 75, 2.0: 25})
    >>> people.num_users, people.num_levels
    (100, 2)
    >>> people.level_indices([2.0, 0.5])
    array([1, 0])

    Attributes:
        epsilons: Local budgets in nats, strictly increasing, from 0 to 700, shape
            (levels,).
        counts: People at each level, each >= 1, shape (levels,).
    """

    epsilons: Floats
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        epsilons, counts = self.epsilons, self.counts
        if not (isinstance(epsilons, np.ndarray) and isinstance(counts, np.ndarray)):
            raise PopulationError(
                "Expected arrays; build a population with from_counts or from_budgets."
            )
        if epsilons.ndim != 1 or epsilons.shape != counts.shape or epsilons.size == 0:
            raise PopulationError(
                "Expected one count for each of at least one privacy level, "
                f"got shapes {epsilons.shape} and {counts.shape}."
            )
        check_budgets(epsilons)
        if not np.all(np.diff(epsilons) > 0):
            raise PopulationError(
                "Expected distinct privacy levels in ascending order."
            )
        if not np.all(counts >= 1):
            raise PopulationError(
                f"Expected at least 1 person at every level, got {int(counts.min())}."
            )
        # In floats: a sum of 64-bit integers could overflow and pass.
        if float(counts.sum(dtype=np.float64)) > MAX_USERS:
            raise PopulationError(f"Expected at most {MAX_USERS:g} people.")
        # Read-only copies: guarantees are computed from them.
        copies = {"epsilons": without_minus_zero(epsilons), "counts": counts.copy()}
        for name, array in copies.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def from_counts(cls, counts: Mapping[float, int]) -> "Population":
        """Builds a population from `{epsilon_local: number of people}`.

        >>> Population.from_counts({2.0: 25, 0.5: 75})
        Population(0.5: 75, 2: 25)

        Raises:
            PopulationError: If a level is negative or not finite, or a count is not a
                whole number >= 1.
        """
        if not isinstance(counts, Mapping):
            raise PopulationError("Expected {epsilon_local: number of people}.")
        for level, count in counts.items():
            if not isinstance(level, Real) or isinstance(level, bool):
                raise PopulationError(
                    f"Expected every level as an int or float, got {level!r:.40}."
                )
            is_whole = isinstance(count, int | np.integer) and not isinstance(
                count, bool
            )
            # Larger counts would overflow the conversion below. 0 passes:
            # `__post_init__` has a clearer error for it.
            if not is_whole or not 0 <= count <= MAX_USERS:
                raise PopulationError(
                    f"Expected whole numbers of people up to {MAX_USERS:g}, got "
                    f"{count!r:.40}."
                )
        if not counts:
            raise PopulationError("Expected at least one privacy level, got none.")
        epsilons = level_array(list(counts), refusal=PopulationError)
        # Levels of a population are public: the error may name one.
        for level in epsilons[~possible_budgets(epsilons)][:1].tolist():
            raise PopulationError(f"{EXPECTED_BUDGETS}, got {level:g}.")
        people = np.array(list(counts.values()), dtype=np.int64)
        order = np.argsort(epsilons)
        return cls(epsilons[order], people[order])

    @classmethod
    def from_budgets(cls, budgets: ArrayLike) -> "Population":
        """Builds a population from one local budget per person, in any order.

        Any number of distinct values is fine; a million cost as little as three. Budgets
        in single precision are the decimals that they stand for: see `arrays.level_array`.

        >>> Population.from_budgets([1.0, 0.5, 1.0])
        Population(0.5: 1, 1: 2)

        Raises:
            PopulationError: If there is no budget, or one is negative, NaN or infinite.
        """
        budget_array = level_array(budgets, "budgets", PopulationError)
        if budget_array.size == 0:
            raise PopulationError("Expected at least one budget, got none.")
        check_budgets(budget_array)
        epsilons, counts = np.unique(budget_array, return_counts=True)
        return cls(epsilons, counts.astype(np.int64))

    @property
    def num_users(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def num_levels(self) -> int:
        """The number of distinct levels."""
        return int(self.epsilons.size)

    def budgets(self) -> Floats:
        """Returns one budget per person in ascending order, shape (num_users,)."""
        return np.repeat(self.epsilons, self.counts)

    def level_indices(self, levels: ArrayLike) -> Ints:
        """Returns the position in `epsilons` of each person's level, shape as `levels`.

        Levels must be equal, not only close; of those in single precision, the decimals
        that they stand for (see `arrays.level_array`).

        Raises:
            UnknownLevelError: If a level is not one of this population's.
        """
        requested = level_array(levels)
        # A level above all others would be out of bounds; it fails the comparison below.
        indices = np.searchsorted(self.epsilons, requested)
        np.minimum(indices, self.num_levels - 1, out=indices)
        if not np.array_equal(self.epsilons[indices], requested):
            raise UnknownLevelError(
                f"Expected every privacy level to be {_few(self.epsilons)}."
            )
        return indices

    def __repr__(self) -> str:
        if self.num_levels > 8:
            low, high = self.epsilons[[0, -1]]
            return (
                f"Population({self.num_users} people, {self.num_levels} levels "
                f"from {low:g} to {high:g})"
            )
        pairs = zip(self.epsilons, self.counts, strict=True)
        return f"Population({', '.join(f'{e:g}: {c}' for e, c in pairs)})"


def check_budgets(epsilons: Floats) -> None:
    """Raises PopulationError unless every budget is from 0 to 700."""
    # Written this way round, it refuses NaN, too. e^eps must stay a finite number.
    possible = possible_budgets(epsilons)
    if not np.all(possible):
        raise PopulationError(f"{EXPECTED_BUDGETS}{first_other(possible)}.")


def possible_budgets(epsilons: Floats) -> NDArray[np.bool_]:
    """Returns whether each number is a budget, from 0 to 700, shape as `epsilons`."""
    possible: NDArray[np.bool_] = (epsilons >= 0) & (epsilons <= MAX_BUDGET)
    return possible


def _few(epsilons: Floats) -> str:
    if epsilons.size <= 8:
        return "one of " + ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    return (
        f"one of the {epsilons.size} levels of the population, "
        f"{epsilons[0]:g} to {epsilons[-1]:g}"
    )
