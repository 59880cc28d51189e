"""E-APES section 4.2, the average: Figures 6 and 7.

Values are drawn from N(50, sigma^2) and clipped to [20, 80]. Algorithm 2 adds Laplace noise
of scale 60 / eps_i, as published; the other protocol is one bit per user, at the same
certified guarantees.
"""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.calibration.calibration import largest_budgets
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.population import Population
from shuffledp.randomizers.laplace import Laplace
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.types import Floats
from shuffledp_papers.eapes.figures.three_groups import DELTA, NUM_USERS, SETTINGS
from shuffledp_papers.eapes.figures.two_panels import root_mean_square, two_panels
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

# The paper does not print sigma.
LOW, HIGH, CENTER, SIGMA = 20.0, 80.0, 50.0, 10.0


def run(effort: Effort) -> ComputedFigure:
    """Returns errors and guarantees at every setting."""
    rng = np.random.default_rng(effort.seed)
    rows: list[dict[str, Cell]] = []
    for point in effort.each(SETTINGS):
        people = point.people
        laplace = Mean(LOW, HIGH, randomizer=Laplace(LOW, HIGH))
        guarantee = account(laplace, people, delta=DELTA)
        central = [level.epsilon_central for level in guarantee.levels]
        one_bit = Mean(LOW, HIGH)
        counts = people.counts.tolist()
        # Local budgets at which one bit has, at each level, the guarantee of Algorithm 2.
        targets = dict(zip(central, counts, strict=True))
        fitted = largest_budgets(Promise(one_bit, DELTA), targets).people
        errors = np.array(
            [
                [
                    _published(people, values, rng),
                    _one_bit(one_bit, fitted, values, rng),
                ]
                for values in _values(effort.repetitions, rng)
            ]
        )
        laplace_error, bit_error = (root_mean_square(column) for column in errors.T)
        bit_predicted = one_bit.predicted_error(fitted, mean=CENTER, spread=SIGMA)
        rows.append(
            {
                **point.cells(central),
                "Laplace": laplace_error[0],
                "Laplace predicted": laplace.predicted_error(people),
                "one bit": bit_error[0],
                "one bit predicted": bit_predicted,
                # Of mean squared errors.
                "ratio": (bit_error[0] / laplace_error[0]) ** 2,
                "Laplace low": laplace_error[1],
                "Laplace high": laplace_error[2],
                "one bit low": bit_error[1],
                "one bit high": bit_error[2],
            }
        )
    table = Table.from_records(rows)
    return ComputedFigure(
        setting={
            "people": NUM_USERS,
            "delta": DELTA,
            "sigma": SIGMA,
            "repetitions": effort.repetitions,
        },
        table=table,
        notes=(
            *figure_notes("eapes", "guarantees", delta=DELTA),
            *figure_notes("eapes", "eapes-average", sigma=SIGMA),
        ),
        panels=two_panels(
            table,
            error="error of the average",
            errors={
                "Laplace, Algorithm 2": "Laplace",
                "one bit, same guarantee": "one bit",
            },
        ),
    )


def _values(repetitions: int, rng: np.random.Generator) -> list[Floats]:
    drawn = rng.normal(CENTER, SIGMA, (repetitions, NUM_USERS))
    return list(np.clip(drawn, LOW, HIGH))


def _published(people: Population, values: Floats, rng: np.random.Generator) -> float:
    """Returns the error of Algorithm 2, whose shuffle does not change a sum."""
    # The mean of the messages less the mean of the values is the mean of the noise.
    noise = rng.laplace(size=values.size) * ((HIGH - LOW) / people.budgets())
    return float(noise.mean())


def _one_bit(
    protocol: Mean, fitted: Population, values: Floats, rng: np.random.Generator
) -> float:
    # Budgets are dealt at random: they tell nothing of the values.
    levels = rng.permutation(fitted.budgets())
    shuffled = shuffle(protocol.randomize(values, levels, rng=rng), rng=rng)
    return protocol.estimate(shuffled, fitted).value - float(values.mean())
