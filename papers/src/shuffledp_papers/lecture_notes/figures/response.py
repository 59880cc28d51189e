"""Errors of a mean of bits: randomized responses and a curator's noise.

The simulation draws the number of responses that are 1, applies the printed estimator, and
draws the curator's Laplace noise.
"""

import numpy as np

from shuffledp.randomizers.one_bit import OneBit
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
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


def run(effort: Effort) -> ComputedFigure:
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
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={"people": NUM_USERS, "share of ones": SHARE},
        table=table,
        numbers=(
            # Above 0.4, sinh(eps / 2) is no longer close to eps / 2.
            exponent(BUDGETS[:4], table.numbers("responses, simulated")[:4]),
            inside / len(BUDGETS),
        ),
    )


def _ones(counts: np.ndarray, budget: float, *, rng: np.random.Generator) -> float:
    sums = OneBit().draw_sums(np.array([0.0, 1.0]), counts, np.array([budget]), rng=rng)
    return float(sums[0, 1])
