"""A program that reproduces the tables of APES: equal clones, on a coarse grid.

The epsilons of Tables 3 and 4 are not Theorem 4 but the two counts behind it, evaluated by
the program of Feldman, McMillan, Talwar (2021): C ~ Binomial(n - 1, p), p = S / (n - 1), or
a normal number of mean and variance S, whose values are taken in blocks of 100, from the
mean to both ends; and 10 halvings between 0 and the closed form find epsilon. With

    delta_s = 1e-8,   delta_c = tanh(e / 2) delta_s,   delta' = 3.6e-5 - k delta_c,

k = 7850 coordinates, or 2 b = 3140 for S-APES, and advanced composition this gives the
printed epsilons: of APES to 0.4 percent, of S-APES to 1.5 percent. `shuffledp reproduce
apes-candidates` tries others.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Tables 3 and 4. The paper
does not describe the program. The first author's, github.com/yixuanLL/EoN, has the blocks,
the halvings and the averaged p_ij, and a normal distribution of variance S for C; delta_c
and the rest of 3.6e-5 are inferred from the printed numbers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from shuffledp.accounting.sums.binomial import binomial_weight
from shuffledp_papers.bounds.bound import check_delta, require
from shuffledp_papers.bounds.two_counts import CloneCount, divergence
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# Blocks and halvings both round epsilon up, by about 1 percent.
BLOCK = 100
HALVINGS = 10
DELTA_SHUFFLE = 1e-8
DELTA_USER = 3.6e-5
_LEAST_SLACK = 1e-8


@dataclass(frozen=True)
class Clones:
    """The other users as the program sees them: equal clones.

    Attributes:
        people: n >= 2, the target user included.
        sum_of_probabilities: S, the expected number of clones; in (0, n - 1).
        budget: The target user's local budget, > 0.
        normal: Whether C is taken for a normal number of variance S, and Theorem 4 for
            the closed form, as the first author's program does for personal budgets.
    """

    people: int
    sum_of_probabilities: float
    budget: float
    normal: bool = False

    def __post_init__(self) -> None:
        require(self.people >= 2, "at least 2 people", f"{self.people}")
        inside = 0.0 < self.sum_of_probabilities < self.people - 1.0
        require(
            inside, "a sum of chances in (0, n - 1)", f"{self.sum_of_probabilities:g}"
        )
        require(self.budget > 0.0, "a budget > 0", f"{self.budget:g}")


def program_epsilon(
    clones: Clones, *, delta: float, block: int = BLOCK, halvings: int = HALVINGS
) -> float:
    """Returns the epsilon that the program prints for this delta.

    >>> expected_clones = Clones(10_000, 9_999 * math.exp(-1.0), 1.0)
    >>> round(program_epsilon(expected_clones, delta=1e-8), 4)
    0.0697

    Args:
        clones: The other users.
        delta: In (0, 1).
        block: Number of values of C that count as their lowest.
        halvings: Number of halvings of the bracket.

    Raises:
        OutsidePreconditions: If the closed form, where the search begins, does not hold.
    """
    delta = check_delta(delta)
    # The upper end is returned: the program rounds up by the last bracket.
    low, high = 0.0, _closed_form(clones, delta)
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if _delta(clones, middle, delta, block) < delta:
            high = middle
        else:
            low = middle
    return high


def table_slack(coordinates: int, budget: float) -> float:
    """Returns delta', the remainder of 3.6e-5 after k coordinates; at least 1e-8."""
    # At a budget of 1 all 7850 coordinates spend 3.63e-5; the tables fit 1e-8 then.
    spent = coordinates * math.tanh(budget / 2.0) * DELTA_SHUFFLE
    return max(DELTA_USER - spent, _LEAST_SLACK)


def _closed_form(clones: Clones, delta: float) -> float:
    """Returns the program's closed form."""
    # n p, with p = S / (n - 1), in place of n e^-eps_0.
    expected_clones = (
        clones.people * clones.sum_of_probabilities / (clones.people - 1.0)
    )
    bracket = (
        8.0 * math.sqrt(math.log(4.0 / delta) / expected_clones) + 8.0 / expected_clones
    )
    if expected_clones < 16.0 * math.log(4.0 / delta):
        raise OutsidePreconditions(
            f"Expected a population of at least 16 ln(4 / delta), got {expected_clones:g}."
        )
    if clones.normal:
        return math.log1p(math.tanh(clones.budget / 2.0) * bracket)
    decay = math.exp(-clones.budget)
    return math.log1p((1.0 - decay) / (1.0 + decay / (1.0 + bracket)) * bracket)


def _delta(clones: Clones, epsilon: float, limit: float, block: int) -> float:
    """Returns the program's divergence; more than the limit if it is not below it."""
    others, mean = clones.people - 1, clones.sum_of_probabilities
    if clones.normal:
        # The first number of a block is left out, as in the program.
        ends = (np.arange(others + 1.0) - mean + 0.5) / math.sqrt(mean)
        below = ndtr(ends)
        weights = np.diff(below, prepend=below[0])
    else:
        weights = binomial_weight(np.arange(others + 1.0), others, mean / others)
    other = math.exp(-clones.budget) / (1.0 + math.exp(-clones.budget))
    total = used = 0.0
    for low, high in _blocks(math.ceil(mean), others, block):
        # The search only asks whether delta exceeds the limit.
        if total > limit:
            return math.inf
        # The remaining probability counts in full, once it is below the total so far.
        if 1.0 - used < total:
            return total + 1.0 - used
        mass = float(weights[low + clones.normal : high + 1].sum())
        # The divergence falls with the number of clones: the lowest one is the safe side.
        lowest = CloneCount(low, np.ones(1))
        total += mass * divergence(
            lowest, same=1.0 - other, other=other, epsilon=epsilon
        )
        used += mass
    return total


def _blocks(middle: int, largest: int, block: int) -> Iterator[tuple[int, int]]:
    """Yields ends of blocks of totals, above and below the middle in turn."""
    for number in range(1, math.ceil((largest + 1) / block)):
        # Later blocks above start one past the end of the block before.
        above = middle + (number - 1) * block + (number > 1), middle + number * block
        below = middle - number * block, middle - (number - 1) * block - 1
        for low, high in (above, below):
            if low <= largest and high >= 0:
                yield max(low, 0), min(high, largest)
