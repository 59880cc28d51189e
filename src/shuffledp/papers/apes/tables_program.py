"""How the tables of APES were computed: a program for equal clones, on a coarse grid.

The epsilons of Tables 3 and 4 are not Theorem 4 but the two counts behind it, evaluated by
what fits the authors' program of Feldman, McMillan, Talwar (2021): C ~ Binomial(n - 1, p),
p = S / (n - 1), whose values are gone through in blocks of 100, from the mean to both ends.
A block counts with its chance, times the divergence at its lower end, where that is
largest; and 10 halvings between 0 and the closed form find epsilon. So it is rounded up
twice, by about 1 percent. With

    delta_s = 1e-8,   delta_c = tanh(e / 2) delta_s,   delta' = 3.6e-5 - k delta_c,

k = 7850 coordinates, or 2 b = 3140 for S-APES, and advanced composition this gives what the
tables print, to 2 percent; where nothing is left for delta' - for all coordinates at
budgets up to 1 - it is 1e-8. `shuffledp reproduce apes-candidates` tries others.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Tables 3 and 4. Its way to
its numbers is inferred from them here; the paper does not tell it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.binomial import binomial_weight
from shuffledp.errors import OutsidePreconditions
from shuffledp.papers.apes.user_level import composed_epsilon
from shuffledp.papers.bounds.bound import check_delta, require
from shuffledp.papers.bounds.two_counts import CloneCount, divergence

BLOCK = 100
HALVINGS = 10
DELTA_SHUFFLE = 1e-8
DELTA_USER = 3.6e-5
_LEAST_SLACK = 1e-8


@dataclass(frozen=True)
class Clones:
    """The crowd as the program sees it.

    Attributes:
        people: n >= 2, the victim included.
        sum_of_chances: S, of all others to be a clone; in (0, n - 1).
        budget: The victim's local budget, > 0.
    """

    people: int
    sum_of_chances: float
    budget: float

    def __post_init__(self) -> None:
        require(self.people >= 2, "at least 2 people", f"{self.people}")
        inside = 0.0 < self.sum_of_chances < self.people - 1.0
        require(inside, "a sum of chances in (0, n - 1)", f"{self.sum_of_chances:g}")
        require(self.budget > 0.0, "a budget > 0", f"{self.budget:g}")


def program_epsilon(
    clones: Clones, *, delta: float, block: int = BLOCK, halvings: int = HALVINGS
) -> float:
    """Returns the epsilon that the program prints for this delta.

    >>> crowd = Clones(10_000, 9_999 * math.exp(-1.0), 1.0)
    >>> round(program_epsilon(crowd, delta=1e-8), 4)
    0.0697

    Args:
        clones: The crowd.
        delta: In (0, 1).
        block: So many totals of C count as their lowest.
        halvings: Of the bracket.

    Raises:
        OutsidePreconditions: If the closed form, where the search begins, does not hold.
    """
    delta = check_delta(delta)
    low, high = 0.0, _closed_form(clones, delta)
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if _delta(clones, middle, delta, block) < delta:
            high = middle
        else:
            low = middle
    return high


def table_epsilon(coordinate: float, *, coordinates: int, budget: float) -> float:
    """Returns the epsilon of a whole update that the tables print, from one coordinate's.

    Args:
        coordinate: eps_c, at delta_s = 1e-8.
        coordinates: k, composed: d, or 2 b.
        budget: The largest local budget.
    """
    return composed_epsilon(
        coordinate, times=coordinates, slack=table_slack(coordinates, budget)
    )


def table_slack(coordinates: int, budget: float) -> float:
    """Returns delta', what is left of 3.6e-5 after k coordinates; at least 1e-8."""
    spent = coordinates * math.tanh(budget / 2.0) * DELTA_SHUFFLE
    return max(DELTA_USER - spent, _LEAST_SLACK)


def _closed_form(clones: Clones, delta: float) -> float:
    """Returns the program's closed form, with n e^-eps_0 = n p."""
    crowd = clones.people * clones.sum_of_chances / (clones.people - 1.0)
    bracket = 8.0 * math.sqrt(math.log(4.0 / delta) / crowd) + 8.0 / crowd
    if crowd < 16.0 * math.log(4.0 / delta):
        raise OutsidePreconditions(
            f"Expected a crowd of at least 16 ln(4 / delta), got {crowd:g}."
        )
    decay = math.exp(-clones.budget)
    return math.log1p((1.0 - decay) / (1.0 + decay / (1.0 + bracket)) * bracket)


def _delta(clones: Clones, epsilon: float, limit: float, block: int) -> float:
    """Returns the program's divergence; more than the limit if it is not below it."""
    others = clones.people - 1
    chance, mean = clones.sum_of_chances / others, clones.sum_of_chances
    weights = binomial_weight(np.arange(others + 1.0), others, chance)
    other = math.exp(-clones.budget) / (1.0 + math.exp(-clones.budget))
    total = used = 0.0
    for low, high in _blocks(math.ceil(mean), others, block):
        if total > limit:
            return math.inf
        # What is left counts in full, once it is less than what was found.
        if 1.0 - used < total:
            return total + 1.0 - used
        mass = float(weights[low : high + 1].sum())
        lowest = CloneCount(low, np.ones(1))
        total += mass * divergence(
            lowest, same=1.0 - other, other=other, epsilon=epsilon
        )
        used += mass
    return total


def _blocks(middle: int, largest: int, block: int) -> Iterator[tuple[int, int]]:
    """Yields ends of blocks of totals, above and below the middle in turn."""
    for number in range(1, math.ceil((largest + 1) / block)):
        above = middle + (number - 1) * block + (number > 1), middle + number * block
        below = middle - number * block, middle - (number - 1) * block - 1
        for low, high in (above, below):
            if low <= largest and high >= 0:
                yield max(low, 0), min(high, largest)
