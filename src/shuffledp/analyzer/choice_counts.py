"""Numbers of people per choice, exact or estimated from randomized responses.

Reports name the choice itself, or are k-ary responses over the K choices at a local budget
of their own. A response names the true choice with probability `keep`, each other one with
`flip`; from r_k responses that name choice k,

    value_k = (r_k - n flip) / (keep - flip)

is unbiased, adds up to n, and may come out below 0. Given the users' choices, its
covariance is

    sum over choices l of n_l (diag(P_l) - P_l P_l') / (keep - flip)^2,

P_l being the distribution of the responses of people who chose l.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.projection import project
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import Population, check_budgets
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ChoiceCounts:
    """Number of people of each choice, exact or estimated.

    Attributes:
        choices: Central targets on offer, strictly increasing, shape (choices,).
        value: Unbiased numbers of people, which add up to `num_users`, shape (choices,);
            estimates may be below 0.
        covariance: Of estimates, shape (choices, choices); None if numbers are exact.
        num_users: People in all.
    """

    choices: Floats
    value: Floats
    covariance: Floats | None
    num_users: int

    def __post_init__(self) -> None:
        choices, value = self.choices, self.value
        if choices.ndim != 1 or choices.shape != value.shape or not choices.size:
            raise PopulationError("Expected one number of people for each choice.")
        check_budgets(choices)
        if not np.all(np.diff(choices) > 0):
            raise PopulationError("Expected distinct choices in ascending order.")
        if self.num_users < 1:
            raise PopulationError("Expected at least one person, got none.")
        # Written this way round, it refuses NaN, too.
        if not abs(value.sum() - self.num_users) <= 1e-6 * self.num_users:
            raise PopulationError("Expected numbers of people that add up to all.")
        if self.covariance is None and not np.all(value >= 0):
            raise PopulationError("Expected at least 0 people for every choice.")
        if self.covariance is not None and self.covariance.shape != choices.shape * 2:
            raise PopulationError("Expected a covariance for every pair of choices.")

    @classmethod
    def of(cls, people: Population) -> "ChoiceCounts":
        """Returns the exact numbers of a population, whose levels are choices."""
        counts = people.counts.astype(np.float64)
        return cls(people.epsilons, counts, None, people.num_users)

    @property
    def standard_error(self) -> Floats:
        """The standard error of each number, shape (choices,); 0 if exact."""
        if self.covariance is None:
            return np.zeros(self.choices.size)
        error: Floats = np.sqrt(np.diag(self.covariance))
        return error

    @property
    def projected(self) -> Floats:
        """The nearest numbers >= 0 that add up to `num_users`, shape (choices,).

        They have smaller errors, and a bias: shares of items are computed from `value`.
        """
        return project(self.value, float(self.num_users))

    def scaled_to(self, num_users: int) -> "ChoiceCounts":
        """Returns choices in the same proportion, of this many people.

        >>> people = Population.from_counts({0.5: 30, 1.0: 70})
        >>> ChoiceCounts.of(people).scaled_to(50).value.tolist()
        [15.0, 35.0]
        """
        if self.num_users == num_users:
            return self
        # Numbers scale with the ratio, their covariance with its square.
        ratio = num_users / self.num_users
        covariance = None if self.covariance is None else self.covariance * ratio**2
        return ChoiceCounts(self.choices, self.value * ratio, covariance, num_users)

    def people(self) -> Population:
        """Returns whole numbers of people to plan with, at least 1 for every choice.

        Raises:
            PopulationError: If there are fewer people than choices.
        """
        num_spare = self.num_users - self.choices.size
        if num_spare < 0:
            raise PopulationError(
                f"Expected at least {self.choices.size} people, one for each choice, got "
                f"{self.num_users}."
            )
        real = project(self.value - 1.0, float(num_spare))
        counts: NDArray[np.int64] = np.floor(real).astype(np.int64)
        # The largest fractions are rounded up until all people are assigned.
        order = np.argsort(counts - real, kind="stable")
        counts[order[: num_spare - int(counts.sum())]] += 1
        return Population(self.choices, counts + 1)


def count_choices(
    reports: Ints, choices: Floats, *, epsilon: float | None
) -> ChoiceCounts:
    """Estimates the number of people of each choice.

    Args:
        reports: Number of reports that name each choice, shape (K,).
        choices: The choices on offer, shape (K,).
        epsilon: Local budget of the responses, above 0; None if choices are not
            randomized.

    Raises:
        InvalidInputError: If `reports` are not counts, or responses carry no information.
    """
    K, n = choices.size, int(reports.sum())  # noqa: N806
    if reports.shape != (K,) or reports.dtype.kind not in "iu":
        raise InvalidInputError("Expected one number of reports for each choice.")
    if n < 1 or reports.min() < 0:
        raise InvalidInputError("Expected at least one report.")
    counts = reports.astype(np.float64)
    if epsilon is None or K == 1:
        return ChoiceCounts(choices, counts, None, n)
    (keep,), (flip,) = KRandomizedResponse(K).densities(np.array([epsilon]))
    gap = float(keep - flip)
    if not gap > 1e-9:
        raise InvalidInputError(
            "Expected a budget for choices well above 0: otherwise nothing is known of "
            "them."
        )
    value = (counts - n * flip) / gap
    responses = np.full((K, K), float(flip)) + gap * np.eye(K)
    # The covariance of the module's docstring, at nonnegative counts.
    weight = project(value, float(n))
    covariance = np.diag(weight @ responses) - (responses.T * weight) @ responses
    return ChoiceCounts(choices, value, covariance / gap**2, n)
