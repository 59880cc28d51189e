"""The example after Theorem 9.4: Laplace noise on every bit, shuffled.

Every user adds Lap(sqrt(ln(1 / delta)) / (eps sqrt(n))), the noise of the local budget
eps sqrt(n) / sqrt(ln(1 / delta)), at eps = share sqrt(ln(1 / delta)) / sqrt(n) with a share
below 1.
"""

import math

from shuffledp.accounting.account import account
from shuffledp.population import Population
from shuffledp.randomizers.laplace import Laplace
from shuffledp_papers.figures.line_plot import column_curves, draw_curves
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.table import Cell, Table, number
from shuffledp_papers.lecture_notes.figures.exponent import exponent
from shuffledp_papers.lecture_notes.mean_errors import central_error, laplace_error

PEOPLE = (1_000, 3_000, 10_000, 30_000, 100_000)
DELTAS = (1e-4, 1e-6, 1e-8, 1e-10)
# The local budget is the example's share.
BUDGET, DELTA = 0.5, 1e-6
_TITLE = "Lecture notes, after Theorem 9.4: shuffled Laplace noise on bits"


def run(effort: Effort) -> Result:
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
    setting: dict[str, Cell] = {"local epsilon": BUDGET}
    table = Table.from_records(rows)
    populations = table.where("delta", DELTA)
    by_delta = sorted(
        table.where("people", 10_000).records(), key=lambda row: -number(row["delta"])
    )
    deltas = Table.from_records(by_delta)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        keys=2,
        notes=(
            "Wanted: local epsilon times sqrt(ln(1 / delta) / n), the theorem's order "
            "with the constant 1. Standard errors; a curator's is that of Laplace noise "
            "at the wanted epsilon.",
            "The ratio is sqrt(ln(1 / delta)), whatever n is: the error is of the order "
            "sqrt(ln(1 / delta)) / (n eps).",
        ),
        svg=draw_curves(
            _TITLE,
            setting | {"delta": DELTA},
            column_curves(
                PEOPLE,
                populations,
                {
                    "epsilon, certified": "epsilon certified",
                    "epsilon, wanted": "epsilon wanted",
                    "error": "error",
                    "error of a curator": "error of a curator",
                },
                ours=("epsilon, certified",),
            ),
            horizontal="people",
            vertical="central epsilon, standard error",
            log="xy",
            description="Levels and errors of shuffled Laplace noise against people",
        ),
        comparisons=(
            Comparison(
                "power of n in the error over that of a curator",
                "0.0",
                exponent(PEOPLE, populations.numbers("ratio")),
            ),
            Comparison(
                "power of ln(1 / delta) in the same, at 10,000 people",
                "0.0",
                exponent(
                    [math.log(1.0 / delta) for delta in deltas.numbers("delta")],
                    deltas.numbers("ratio"),
                ),
                why="Printed is O(1 / (n eps)); the noise itself has the root of the "
                "logarithm.",
            ),
        ),
    )
