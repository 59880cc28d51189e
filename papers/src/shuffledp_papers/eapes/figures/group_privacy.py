"""E-APES Fact 2 for groups: the stated k mu beside an attack on k users.

10,000 users answer Algorithm 3, with the budgets of section 4.2; k of the most liberal
change their bit together. The number of ones is a sum of independent Bernoulli draws, whose
distribution is computed exactly in both worlds.
"""

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.bounds.gaussian_profile import gaussian_epsilon
from shuffledp_papers.bounds.invert import epsilon_at
from shuffledp_papers.court.count_attack import number_inside
from shuffledp_papers.court.worlds import hockey_stick
from shuffledp_papers.eapes.figures.three_groups import (
    DELTA,
    NUM_USERS,
    ThreeGroups,
)
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

SIZES = (1, 2, 5, 10, 20, 50)
# Probability that may be cut off, at either end, in each world.
_CUT = 1e-20


def group_distributions(setting: ThreeGroups, size: int) -> tuple[Floats, Floats]:
    """Returns the distributions of the number of ones, if a group holds 0 or 1.

    All others hold 0. The group are users of the most liberal level.
    """
    people = setting.people
    lies = np.exp(-np.logaddexp(0.0, people.epsilons))
    counts = np.array(people.counts)
    # The last level is the most liberal one.
    counts[-1] -= size
    start, others = number_inside(lies, counts)
    both = []
    for probability in (float(lies[-1]), 1.0 - float(lies[-1])):
        first, own = number_inside(np.array([probability]), np.array([size]))
        distribution = np.zeros(start + others.size + size + 1)
        sums = np.convolve(others, own)
        distribution[start + first : start + first + sums.size] = sums
        both.append(distribution)
    return both[0], both[1]


def run(effort: Effort) -> ComputedFigure:
    """Returns attacks and stated epsilons; nothing is drawn at random."""
    setting = ThreeGroups("f_c", 0.54, 0.1)
    rows: list[dict[str, Cell]] = []
    for size in effort.each(SIZES):
        distributions = group_distributions(setting, size)

        def divergence(
            epsilon: float, both: tuple[Floats, Floats] = distributions
        ) -> float:
            # Less the largest error of the cut: the attack stays a lower bound.
            exact = hockey_stick(*both, epsilon)
            return max(exact - (1.0 + float(np.exp(epsilon))) * _CUT, 0.0)

        mu = size * setting.mu
        attack = epsilon_at(divergence, DELTA)
        stated = gaussian_epsilon(mu, DELTA)
        rows.append(
            {
                "group": size,
                "attack": attack,
                "k mu": mu,
                "stated epsilon": stated,
                "exceeded": stated < attack,
            }
        )
    return ComputedFigure(
        setting={"people": NUM_USERS, "budgets": "0.1, 0.5, 1", "delta": DELTA},
        table=Table.from_records(rows),
    )
