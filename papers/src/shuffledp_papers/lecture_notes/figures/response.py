"""Errors of a mean of bits: randomized responses and a curator's noise.

The simulation draws the number of responses that are 1, applies the printed estimator, and
draws the curator's Laplace noise.
"""

import numpy as np

from shuffledp.randomizers.one_bit import OneBit
from shuffledp_papers.figures.line_plot import column_curves, draw_curves
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.figures.exponent import exponent
from shuffledp_papers.lecture_notes.mean_errors import (
    central_error,
    local_rate,
    printed_rate,
    response_error,
    response_estimate,
)

NUM_USERS = 10_000
SHARE = 0.3
BUDGETS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_TITLE = "Lecture notes, section 9.1: the mean of bits"


def run(effort: Effort) -> Result:
    """Returns errors at every budget."""
    rng = np.random.default_rng(effort.seed)
    ones = round(SHARE * NUM_USERS)
    counts = np.array([[NUM_USERS - ones, ones]])
    rows: list[dict[str, Cell]] = []
    inside = 0.0
    for budget in effort.each(BUDGETS):
        errors = np.array(
            [
                response_estimate(_ones(counts, budget, rng=rng), NUM_USERS, budget)
                - SHARE
                for _ in range(effort.repetitions)
            ]
        )
        noise = rng.laplace(0.0, 1.0 / (NUM_USERS * budget), size=effort.repetitions)
        # (9.1) holds in the mean only: P(|Laplace| <= scale) = 1 - 1 / e.
        inside += float(np.mean(np.abs(noise) <= 1.0 / (NUM_USERS * budget)))
        rows.append(
            {
                "epsilon": budget,
                "responses, simulated": float(np.sqrt(np.mean(errors**2))),
                "responses, exact": response_error(NUM_USERS, budget),
                "1 / (sqrt(n) eps)": local_rate(NUM_USERS, budget),
                "1 / sqrt(n eps), printed": printed_rate(NUM_USERS, budget),
                "curator, simulated": float(np.sqrt(np.mean(noise**2))),
                "curator, exact": central_error(NUM_USERS, budget),
            }
        )
    setting: dict[str, Cell] = {"people": NUM_USERS, "share of ones": SHARE}
    table = Table.from_records(rows)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        notes=(
            "Root mean squared errors about the participants.",
            "The printed rate falls with the root of epsilon; the error falls with "
            "epsilon itself, as the variance printed beside it, 1 / (n eps^2), says.",
        ),
        svg=draw_curves(
            _TITLE,
            setting,
            column_curves(
                BUDGETS,
                table,
                {
                    "exact": "responses, exact",
                    "simulated": "responses, simulated",
                    "printed: 1 / sqrt(n eps)": "1 / sqrt(n eps), printed",
                    "right: 1 / (sqrt(n) eps)": "1 / (sqrt(n) eps)",
                    "curator, exact": "curator, exact",
                },
                ours=("exact",),
                points=("simulated",),
            ),
            horizontal="epsilon",
            vertical="root mean squared error",
            log="xy",
            description="Errors of a mean of bits against the budget, log-log",
        ),
        comparisons=(
            Comparison(
                "power of epsilon in the error of responses (epsilon up to 0.4)",
                "-0.5",
                # Above 0.4, sinh(eps / 2) is no longer close to eps / 2.
                exponent(BUDGETS[:4], table.numbers("responses, simulated")[:4]),
                why="The variance is of order 1 / (n eps^2), as printed, and its root of "
                "order 1 / (sqrt(n) eps): epsilon stands outside of the root.",
            ),
            Comparison(
                "share of runs with a curator's error of at most 1 / (n eps), eq. (9.1)",
                "1.00",
                inside / len(BUDGETS),
                why="Holds in the mean only: a Laplace number exceeds its scale with "
                "chance 1 / e.",
            ),
        ),
    )


def _ones(counts: np.ndarray, budget: float, *, rng: np.random.Generator) -> float:
    sums = OneBit().draw_sums(np.array([0.0, 1.0]), counts, np.array([budget]), rng=rng)
    return float(sums[0, 1])
