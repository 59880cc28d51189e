"""The example after Theorem 9.4: Laplace noise on every bit, shuffled.

Every user adds Lap(sqrt(ln(1 / delta)) / (eps sqrt(n))), the noise of the local budget
eps sqrt(n) / sqrt(ln(1 / delta)), at eps = share sqrt(ln(1 / delta)) / sqrt(n) with a share
below 1.
"""

import math

from shuffledp.accounting.account import account
from shuffledp.population import Population
from shuffledp.randomizers.laplace import Laplace
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table, number
from shuffledp_papers.lecture_notes.figures.exponent import exponent
from shuffledp_papers.lecture_notes.mean_errors import central_error, laplace_error

PEOPLE = (1_000, 3_000, 10_000, 30_000, 100_000)
DELTAS = (1e-4, 1e-6, 1e-8, 1e-10)
# The local budget is the example's share.
BUDGET, DELTA = 0.5, 1e-6


def run(effort: Effort) -> ComputedFigure:
    """Returns levels and errors for every number of users, and for every delta."""
    pairs = [(n, DELTA) for n in PEOPLE]
    pairs += [(10_000, delta) for delta in DELTAS if delta != DELTA]
    rows: list[dict[str, Cell]] = []
    for n, delta in effort.each(pairs):
        # The central epsilon for which the example's noise has this local budget.
        epsilon = BUDGET * math.sqrt(math.log(1.0 / delta) / n)
        people = Population.from_counts({BUDGET: n})
        (level,) = account(Laplace(), people, delta=delta).levels
        # Printed is 1 / (n eps); the noise has sqrt(ln(1 / delta)) / (n eps).
        error = laplace_error(n, BUDGET)
        rows.append(
            {
                "people": n,
                "delta": delta,
                "epsilon wanted": epsilon,
                "epsilon certified": level.epsilon_central,
                "error": error,
                "error of a curator": central_error(n, epsilon),
                "ratio": error / central_error(n, epsilon),
                "sqrt(ln(1 / delta))": math.sqrt(math.log(1.0 / delta)),
            }
        )
    table = Table.from_records(rows)
    populations = table.where("delta", DELTA)
    by_delta = sorted(
        table.where("people", 10_000).records(), key=lambda row: -number(row["delta"])
    )
    deltas = Table.from_records(by_delta)
    return ComputedFigure(
        setting={"local epsilon": BUDGET},
        table=table,
        numbers=(
            exponent(PEOPLE, populations.numbers("ratio")),
            exponent(
                [math.log(1.0 / delta) for delta in deltas.numbers("delta")],
                deltas.numbers("ratio"),
            ),
        ),
        pictured=populations,
        picture_setting={"local epsilon": BUDGET, "delta": DELTA},
    )
