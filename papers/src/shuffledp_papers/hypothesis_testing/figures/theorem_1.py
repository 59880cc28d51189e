"""Liu et al. (2024), Theorem 1: the trade-off function of the shuffle.

f_s(alpha) is the least type-II error that tests of type-I error alpha can have, so that
f_s(1) = 0. The figure has it for Laplace noise, printed and corrected, and the lower bound
of the accountant's certificate: a mechanism that is (epsilon, delta)-private has

    f(alpha) >= max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)).
"""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.population import Population
from shuffledp.randomizers.laplace import Laplace
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.eapes.trade_off import private_trade_off
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Table
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)
from shuffledp_papers.hypothesis_testing.type_one_errors import laplace_target_error

NUM_USERS = 50
# Quantiles of U(0.05, 1); the paper takes the most liberal user for the worst case.
_LEVELS = 50
TARGET_USER = 1.0
_EPSILONS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
_SLOPES = np.concatenate([[0.0], np.geomspace(0.3, 3.3, 41), [1e6]])


def run(effort: Effort) -> ComputedFigure:
    """Returns the function, printed and corrected; nothing is drawn at random."""
    people = population()
    setting = Setting(people, Laplace(), TARGET_USER)
    printed, mended = (
        np.array([bound.trade_off(setting, slope) for slope in _SLOPES.tolist()])
        for bound in (HypothesisTesting(), HypothesisTesting(as_printed=False))
    )
    effort.on_share(0.3)
    alphas = mended[:, 0]
    certified = certified_trade_off(people, alphas)
    effort.on_share(1.0)
    columns = (_SLOPES, alphas, printed[:, 1], mended[:, 1], certified)
    table = Table(
        ("slope t", "alpha", "printed", "mended", "certified"),
        np.column_stack(columns).tolist(),
    )
    return ComputedFigure(
        setting={
            "people": NUM_USERS,
            "local budgets": "U(0.05, 1)",
            "victim": TARGET_USER,
            "randomizer": "Laplace",
        },
        table=table,
        values={"width": 1.0 - 2.0 * laplace_target_error(TARGET_USER)},
    )


def population() -> Population:
    """Returns users at quantiles of U(0.05, 1), the most liberal ones at 1."""
    levels = 0.05 + 0.95 * (np.arange(_LEVELS) + 0.5) / _LEVELS
    levels[-1] = TARGET_USER
    return Population.from_counts(dict.fromkeys(levels.tolist(), NUM_USERS // _LEVELS))


def certified_trade_off(people: Population, alphas: Floats) -> Floats:
    """Returns a lower bound of the target user's trade-off, from certificates."""
    # Each certified (epsilon, delta) gives two lines; their maximum is a lower bound.
    bound = np.zeros(alphas.shape)
    for epsilon in _EPSILONS:
        (level,) = account(
            SingleMessage(Laplace()), people, epsilon=epsilon, levels=[TARGET_USER]
        ).levels
        proven = private_trade_off(alphas, epsilon=epsilon, delta=level.delta_central)
        bound = np.maximum(bound, proven)
    return bound
