"""APES (Liu et al. 2023), Definition 4 and Lemma 4: messages wider than values, A > C."""

import math

import numpy as np

from shuffledp.budget_distributions import draw_budgets
from shuffledp.population import Population
from shuffledp_papers.apes.printed import PEOPLE
from shuffledp_papers.apes.wide_clip_laplace import (
    largest_divergence,
    moments,
    neighbor_divergence,
    wide_epsilon,
)
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel, column_curves
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

REACHES = (1.0, 1.5, 2.0, 4.0, 8.0, 16.0)
_DELTA = 1e-8
_BUDGET = 0.5
# Imitated and imitator: both ends of U(0.05, 1).
_PAIR = (1.0, 0.05)


def run(effort: Effort) -> ComputedFigure:
    """Computes privacy, bias and deviation for several ranges of messages."""
    rng = np.random.default_rng(effort.seed)
    setting = Setting(
        Population.from_budgets(draw_budgets("apes/uniform2", PEOPLE, rng=rng))
    )
    rows: list[dict[str, Cell]] = []
    for reach in effort.each(REACHES):
        total, epsilon = wide_epsilon(setting, _DELTA, reach=reach)
        # At the value C / 2: at 0 there is no bias.
        mean, variance = moments(0.5, epsilon=_BUDGET, reach=reach)
        rows.append(
            {
                "A / C": reach,
                "local, exact": largest_divergence(1.0, 1.0, reach=reach),
                # p_ij = e^-D_N: Lemma 4's lower bound, then the exact one.
                "p_ij, Lemma 4": math.exp(-neighbor_divergence(*_PAIR, reach=reach)),
                "p_ij, exact": math.exp(-largest_divergence(*_PAIR, reach=reach)),
                "S": total,
                "EoN numerical": epsilon,
                "bias": mean - 0.5,
                "deviation": math.sqrt(variance),
            }
        )
    # Laplace noise: no bias, scale 2 C / eps, no clones among different budgets.
    total, epsilon = wide_epsilon(setting, _DELTA, reach=math.inf)
    rows.append(
        {
            "A / C": math.inf,
            "local, exact": 1.0,
            "p_ij, Lemma 4": 0.0,
            "p_ij, exact": 0.0,
            "S": total,
            "EoN numerical": epsilon,
            "bias": 0.0,
            "deviation": math.sqrt(8.0) / _BUDGET,
        }
    )
    return ComputedFigure(
        setting={
            "people": PEOPLE,
            "budgets": "U(0.05, 1)",
            "delta": _DELTA,
            "value": "C / 2",
            "its budget": _BUDGET,
        },
        table=Table.from_records(rows),
        # Laplace noise, at an infinite A / C, has no point on the axis.
        panels=_panels(Table.from_records(rows[:-1])),
    )


def _panels(table: Table) -> list[Panel]:
    names = ("EoN numerical", "p_ij, Lemma 4", "p_ij, exact")
    biases = [abs(bias) for bias in table.numbers("bias")]
    return [
        Panel(
            "privacy",
            column_curves(REACHES, table, {name: name for name in names}),
            horizontal="A / C",
            vertical="epsilon, chance",
            log="x",
        ),
        Panel(
            "a message",
            [
                Curve("minus the bias", REACHES, biases),
                Curve("standard deviation", REACHES, table.column("deviation")),
            ],
            horizontal="A / C",
            vertical="per C",
            log="xy",
        ),
    ]
