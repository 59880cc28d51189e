"""E-APES section 4.2, frequency estimation: Algorithm 3 on a bit of density 0.3.

Algorithm 3 is binary randomized response with the unbiased estimate (A - B) / (n - 2 B),
A the sum of the messages and B = sum 1 / (1 + e^eps_i); `Frequency(2)` is the same.
"""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp_papers.eapes.figures.three_groups import DELTA, NUM_USERS, SETTINGS
from shuffledp_papers.eapes.figures.two_panels import root_mean_square, two_panels
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

DENSITY = 0.3


def run(effort: Effort) -> ComputedFigure:
    """Returns errors and guarantees at every setting."""
    rng = np.random.default_rng(effort.seed)
    protocol = Frequency(2)
    bits = (np.arange(NUM_USERS) < DENSITY * NUM_USERS).astype(np.uint8)
    rows: list[dict[str, Cell]] = []
    for point in effort.each(SETTINGS):
        people = point.people
        guarantee = account(protocol, people, delta=DELTA)
        # B of Algorithm 3: the expected number of flipped bits.
        ignored = float((people.counts / (1.0 + np.exp(people.epsilons))).sum())
        errors, covered, published = [], 0, []
        for _ in range(effort.repetitions):
            levels = rng.permutation(people.budgets())
            shuffled = shuffle(protocol.randomize(bits, levels, rng=rng), rng=rng)
            estimate = protocol.estimate(shuffled, people)
            errors.append(float(estimate.value[1]) - DENSITY)
            low, high = estimate.interval()[1].tolist()
            covered += low <= DENSITY <= high
            total = float(shuffled.messages.sum())
            # The estimate of Algorithm 3, (A - B) / (n - 2 B), less the truth.
            published.append((total - ignored) / (NUM_USERS - 2.0 * ignored) - DENSITY)
        simulated = root_mean_square(np.array(published))
        rows.append(
            {
                **point.cells([level.epsilon_central for level in guarantee.levels]),
                "Algorithm 3": simulated[0],
                "Frequency": float(np.sqrt(np.mean(np.square(errors)))),
                "predicted": protocol.predicted_error(people, share=DENSITY),
                "in interval": covered / effort.repetitions,
                "Algorithm 3 low": simulated[1],
                "Algorithm 3 high": simulated[2],
                "attack": max(
                    level.epsilon_central_lower for level in guarantee.levels
                ),
            }
        )
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={
            "people": NUM_USERS,
            "delta": DELTA,
            "density": DENSITY,
            "repetitions": effort.repetitions,
        },
        table=table,
        notes=(
            *figure_notes("eapes", "guarantees", delta=DELTA),
            *figure_notes("eapes", "eapes-frequency", density=DENSITY),
        ),
        panels=two_panels(
            table,
            error="error of the share",
            errors={"Algorithm 3, simulated": "Algorithm 3", "predicted": "predicted"},
        ),
    )
