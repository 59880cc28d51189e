"""How many people chose each level, from shuffled reports of levels.

Reports are the levels themselves, or k-ary responses over the K levels at a local budget
of their own. A response names the level held with probability `keep`, another one with
`flip`; from r_k responses that name level k,

    value_k = (r_k - n flip) / (keep - flip)

is unbiased, adds up to n, and may come out below 0. Given who chose what, its covariance is

    sum over levels l of n_l (diag(P_l) - P_l P_l') / (keep - flip)^2,

P_l being the distribution of the responses of people at level l.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import Population, check_budgets
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """How many people are at each level, known or estimated.

    Attributes:
        levels: Privacy levels, strictly increasing, shape (levels,).
        value: Unbiased numbers of people, which add up to `num_users`, shape (levels,);
            estimates may be below 0.
        covariance: Of estimates, shape (levels, levels); None if numbers are exact.
        num_users: People in all.
    """

    levels: Floats
    value: Floats
    covariance: Floats | None
    num_users: int

    def __post_init__(self) -> None:
        levels, value = self.levels, self.value
        if levels.ndim != 1 or levels.shape != value.shape or not levels.size:
            raise PopulationError("Expected one number of people for each level.")
        check_budgets(levels)
        if not np.all(np.diff(levels) > 0):
            raise PopulationError("Expected distinct levels in ascending order.")
        if self.num_users < 1:
            raise PopulationError("Expected at least one person, got none.")
        # Written this way round, it refuses NaN, too.
        if not abs(value.sum() - self.num_users) <= 1e-6 * self.num_users:
            raise PopulationError("Expected numbers of people that add up to all.")
        if self.covariance is None and not np.all(value >= 0):
            raise PopulationError("Expected at least 0 people at every level.")
        if self.covariance is not None and self.covariance.shape != levels.shape * 2:
            raise PopulationError("Expected a covariance for every pair of levels.")

    @classmethod
    def of(cls, people: Population) -> "LevelCounts":
        """Returns the exact numbers of a population."""
        counts = people.counts.astype(np.float64)
        return cls(people.epsilons, counts, None, people.num_users)

    @property
    def standard_error(self) -> Floats:
        """Of each number of people, shape (levels,); 0 if it is exact."""
        if self.covariance is None:
            return np.zeros(self.levels.size)
        error: Floats = np.sqrt(np.diag(self.covariance))
        return error

    @property
    def projected(self) -> Floats:
        """The nearest numbers >= 0 that add up to `num_users`, shape (levels,).

        They are better estimates, and biased: shares of items are computed from `value`.
        """
        return project(self.value, float(self.num_users))

    def people(self) -> Population:
        """Returns whole numbers of people to plan with, at least 1 at every level.

        Raises:
            PopulationError: If there are fewer people than levels.
        """
        spare = self.num_users - self.levels.size
        if spare < 0:
            raise PopulationError(
                f"Expected at least {self.levels.size} people, one for each level, got "
                f"{self.num_users}."
            )
        real = project(self.value - 1.0, float(spare))
        counts: NDArray[np.int64] = np.floor(real).astype(np.int64)
        # Those with the largest fractions get the people who are left.
        order = np.argsort(counts - real, kind="stable")
        counts[order[: spare - int(counts.sum())]] += 1
        return Population(self.levels, counts + 1)


def project(values: Floats, total: float) -> Floats:
    """Returns the nearest point of the simplex {x >= 0, sum x = total}, shape as `values`.

    >>> project(np.array([5.0, -1.0, 2.0]), 6.0)
    array([4.5, 0. , 1.5])
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1.0, values.size + 1.0)
    last = int(np.flatnonzero(ordered >= excess)[-1])
    nearest: Floats = np.maximum(values - excess[last], 0.0)
    return nearest


def count_levels(
    reports: Ints, levels: Floats, *, epsilon: float | None
) -> LevelCounts:
    """Counts people per level.

    Args:
        reports: Numbers of levels, in [0, K), in any order, shape (n,).
        levels: The levels themselves, shape (K,).
        epsilon: Local budget of the responses, above 0; None if levels came as they are.

    Raises:
        InvalidInputError: If a report is out of range, or responses carry no information.
    """
    K, n = levels.size, reports.size  # noqa: N806
    if reports.ndim != 1 or not n or reports.dtype.kind not in "iu":
        raise InvalidInputError("Expected a flat list of at least one report.")
    if reports.min() < 0 or reports.max() >= K:
        raise InvalidInputError(f"Expected reports of levels in [0, {K}).")
    counts = np.bincount(reports, minlength=K).astype(np.float64)
    if epsilon is None or K == 1:
        return LevelCounts(levels, counts, None, n)
    (keep,), (flip,) = KRandomizedResponse(K).densities(np.array([epsilon]))
    gap = float(keep - flip)
    if not gap > 1e-9:
        raise InvalidInputError(
            "Expected a budget for levels well above 0: otherwise nothing is known of them."
        )
    value = (counts - n * flip) / gap
    law = np.full((K, K), float(flip)) + gap * np.eye(K)
    # Variances of people there are: from numbers that are not negative.
    weight = project(value, float(n))
    covariance = np.diag(weight @ law) - (law.T * weight) @ law
    return LevelCounts(levels, value, covariance / gap**2, n)
