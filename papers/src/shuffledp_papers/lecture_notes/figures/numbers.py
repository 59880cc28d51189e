"""Errors and bits of a mean of numbers: Laplace noise and one bit."""

import numpy as np

from shuffledp.population import Population
from shuffledp.randomizers.laplace import Laplace
from shuffledp.statistics.mean.protocol import Mean
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table
from shuffledp_papers.lecture_notes.figures.exponent import exponent
from shuffledp_papers.lecture_notes.mean_errors import (
    laplace_error,
    local_rate,
    one_bit_error,
    printed_rate,
)

NUM_USERS = 10_000
WIDTH = 16.0
VALUES = (4.0, 8.0, 12.0)
BUDGETS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)


def run(effort: Effort) -> ComputedFigure:
    """Returns errors at every budget."""
    rng = np.random.default_rng(effort.seed)
    # A quarter of the users at either end of VALUES, half of them in the middle.
    share = NUM_USERS // 4
    counts = np.array([[share, NUM_USERS - 2 * share, share]])
    truth = float(np.average(VALUES, weights=counts[0]))
    # Laplace noise on the values, and the library's default of one bit.
    noisy = Mean(0.0, WIDTH, randomizer=Laplace(0.0, WIDTH))
    rows: list[dict[str, Cell]] = []
    for budget in effort.each(BUDGETS):
        people = Population.from_counts({budget: NUM_USERS})
        simulated = []
        for protocol in (noisy, Mean(0.0, WIDTH)):
            errors = [
                protocol.estimate(
                    protocol.draw_tally(VALUES, counts, people, rng=rng), people
                ).value
                - truth
                for _ in range(effort.repetitions)
            ]
            simulated.append(float(np.sqrt(np.mean(np.square(errors)))))
        rows.append(
            {
                "epsilon": budget,
                "Laplace, simulated": simulated[0],
                "Laplace, exact": laplace_error(NUM_USERS, budget, width=WIDTH),
                "Laplace, bits": noisy.randomizer.bits_per_person(np.array([budget])),
                "one bit, simulated": simulated[1],
                "one bit, at most": one_bit_error(NUM_USERS, budget, width=WIDTH),
                "one bit, bits": 1.0,
                "m / (sqrt(n) eps)": local_rate(NUM_USERS, budget, width=WIDTH),
                "m / sqrt(n eps), printed": printed_rate(
                    NUM_USERS, budget, width=WIDTH
                ),
            }
        )
    table = Table.from_records(rows)
    laplace, one_bit = (
        table.numbers(f"{name}, simulated") for name in ("Laplace", "one bit")
    )
    return ComputedFigure(
        setting={"people": NUM_USERS, "m": WIDTH},
        table=table,
        numbers=(
            exponent(BUDGETS, laplace),
            # Above 0.4, tanh(eps / 2) is no longer close to eps / 2.
            2.0 * exponent(BUDGETS[:4], one_bit[:4]),
            # The second budget is 0.1.
            one_bit[1] / laplace[1],
        ),
    )
