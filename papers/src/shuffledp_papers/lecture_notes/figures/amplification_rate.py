"""Theorem 9.4: its rate, the theorem with constants, and a certificate.

The rate has its constant set to 1. The certificate is that of binary randomized response.
"""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.population import Population
from shuffledp.randomizers.one_bit import OneBit
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.feldman2021 import Feldman2021Closed, Feldman2021Numerical
from shuffledp_papers.figures.line_plot import Panel, column_curves, draw
from shuffledp_papers.figures.result import Comparison, Effort, Result
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
_TITLE = "Lecture notes, Theorem 9.4: amplification by shuffling"


def run(effort: Effort) -> Result:
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
    setting: dict[str, Cell] = {"delta": DELTA, "certified for": "randomized response"}
    exact, claimed = _adaptive(effort)
    table = Table.from_records(rows)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        keys=2,
        notes=(
            "Rate: the constant of (9.3) taken for 1. Outside the condition, local epsilon "
            "<= ln(n / (16 ln(2 / delta))), the theorem states nothing.",
            f"{_ASKED} people asked one after the other, every question depending on all "
            f"answers before, local epsilon {_ASKED_BUDGET:g}: at epsilon "
            f"{_ASKED_EPSILON:g} the numerical version claims delta = {claimed:.4g}; the "
            f"largest exact one of {effort.repetitions} drawn protocols is {exact:.4g}.",
        ),
        svg=draw(
            _TITLE,
            setting,
            [_panel(budget, table) for budget in BUDGETS],
            description="Central epsilon against the number of people, log-log",
        ),
        comparisons=(
            Comparison(
                "power of n in the certified epsilon (local epsilon 0.5)",
                "-0.5",
                exponent(
                    PEOPLE, table.where("local epsilon", 0.5).numbers("certified")
                ),
                within=0.05,
            ),
            Comparison(
                "power of e^eps_0 in the closed form at 100,000 people (2 against 4)",
                "0.5",
                _growth(table),
                within=0.2,
            ),
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


def _panel(budget: float, table: Table) -> Panel:
    return Panel(
        f"local epsilon {budget:g}",
        column_curves(
            PEOPLE,
            table.where("local epsilon", budget),
            {
                "rate (9.3), constant 1": "rate (9.3)",
                "closed form": "closed form",
                "numerical clones": "numerical",
                "certified": "certified",
            },
            ours=("certified",),
        ),
        horizontal="people",
        vertical="central epsilon",
        log="xy",
    )
