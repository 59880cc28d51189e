"""Theorem 9.4: its rate, the theorem with constants, and a certificate.

The rate has its constant set to 1. The certificate is that of binary randomized response.
"""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.population import Population
from shuffledp.randomizers.one_bit import OneBit
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.feldman2021 import Feldman2021Closed, Feldman2021Numerical
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.figures.exponent import exponent
from shuffledp_papers.lecture_notes.lower_bound import adaptive_tables
from shuffledp_papers.lecture_notes.sequential_randomizers import (
    condition_holds,
    exact_delta,
    printed_epsilon,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

PEOPLE = (1_000, 3_000, 10_000, 30_000, 100_000)
BUDGETS = (0.5, 1.0, 2.0, 4.0)
DELTA = 1e-6
# Few enough users for all lists of sequential answers to be enumerated.
_ASKED, _ASKED_BUDGET, _ASKED_EPSILON = 4, 1.0, 0.4


def run(effort: Effort) -> ComputedFigure:
    """Returns central epsilons for every local one and every number of users."""
    rows: list[dict[str, Cell]] = []
    for budget in BUDGETS:
        for n in PEOPLE:
            people = Population.from_counts({budget: n})
            # One randomizer for all; numerical clones also hold for adaptive ones.
            guarantee = account(OneBit(), people, delta=DELTA)
            rows.append(
                {
                    "local epsilon": budget,
                    "people": n,
                    "people: outside the condition": not condition_holds(
                        n, budget, DELTA
                    ),
                    "rate (9.3)": printed_epsilon(n, budget, DELTA),
                    "closed form": _stated(Feldman2021Closed(), people),
                    "numerical": _stated(Feldman2021Numerical(), people),
                    "certified": guarantee.levels[0].epsilon_central,
                }
            )
            effort.on_share(len(rows) / (len(BUDGETS) * len(PEOPLE)))
    exact, claimed = _adaptive(effort)
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={"delta": DELTA, "certified for": "randomized response"},
        table=table,
        values={
            "asked": _ASKED,
            "budget": _ASKED_BUDGET,
            "epsilon": _ASKED_EPSILON,
            "claimed": claimed,
            "exact": exact,
            "repetitions": effort.repetitions,
        },
        numbers=(
            exponent(PEOPLE, table.where("local epsilon", 0.5).numbers("certified")),
            _growth(table),
        ),
    )


def _stated(bound: PublishedBound, people: Population) -> float | None:
    try:
        return bound.epsilon(Setting(people), DELTA)
    # Outside of its condition the theorem states no epsilon.
    except OutsidePreconditions:
        return None


def _adaptive(effort: Effort) -> tuple[float, float]:
    """Returns the largest exact delta of drawn protocols, and the claimed delta."""
    rng = np.random.default_rng(effort.seed)
    # Neighboring data sets: the last user's bit differs.
    values, changed = (0, 0, 1, 0), (0, 0, 1, 1)
    largest = max(
        exact_delta(
            adaptive_tables(_ASKED, _ASKED_BUDGET, rng=rng),
            values,
            changed,
            epsilon=_ASKED_EPSILON,
        )
        for _ in range(effort.repetitions)
    )
    people = Population.from_counts({_ASKED_BUDGET: _ASKED})
    return largest, Feldman2021Numerical().delta(Setting(people), _ASKED_EPSILON)


def _growth(table: Table) -> float:
    # ln of the ratio between local epsilons 2 and 4, per unit of local epsilon.
    most = table.where("people", PEOPLE[-1])
    small, large = (
        most.where("local epsilon", budget).numbers("closed form")
        for budget in (2.0, 4.0)
    )
    return float(np.log(np.divide(large, small)).item() / 2.0)
