"""E-APES section 4.1, claim (i): the effect of a few extreme budgets on bounds.

The paper says that its bound is robust, and that of APES loose as soon as some budgets
are close to 0. 9,900 users have budgets from Uniform 1, and 100 share one budget: 0, almost
0, the smallest of the others, or a far larger one.
"""

import numpy as np

from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp_papers.apes.amplification import ApesClosed, ApesNumerical
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.equal_noise import band, stated
from shuffledp_papers.eapes.eapes_theorem import EapesCorollary
from shuffledp_papers.figures.bound_figure import claim_cells
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table, number

PEOPLE, FEW = 10_000, 100
# Budgets are rounded: levels that many users share, as in a deployment.
DIGITS = 3
EXTREMES = (0.0, 1e-9, 1e-3, 0.05, 1.0, 2.0, 4.0, 8.0)
BOUNDS: dict[str, PublishedBound] = {
    "E-APES, Theorem 3 with C = 0": EapesCorollary(),
    "APES, Theorem 4 in closed form": ApesClosed(),
    "APES, Theorem 4 as numbers": ApesNumerical(),
    # The target user's own p_i1 in place of a mean over budgets.
    "APES, repaired": ApesNumerical(as_printed=False),
}


def people_with(extreme: float) -> Population:
    """Returns 9,900 users at quantiles of U(0.05, 1) and 100 at one budget."""
    usual = 0.05 + 0.95 * (np.arange(PEOPLE - FEW) + 0.5) / (PEOPLE - FEW)
    return Population.from_budgets(
        np.append(usual.round(DIGITS), np.full(FEW, extreme))
    )


def run(effort: Effort) -> ComputedFigure:
    """Returns bounds for every extreme budget; nothing is drawn at random."""
    rows: list[dict[str, Cell]] = []
    delta = 1.0 / PEOPLE
    for extreme in effort.each(EXTREMES):
        people = people_with(extreme)
        interval = band(ClipLaplace(), people, delta=delta)
        setting = Setting(people, ClipLaplace())
        cells: dict[str, Cell] = {
            "budget of the 100": extreme,
            "attack": interval.attack,
            "certified": interval.certified,
        }
        for name, bound in BOUNDS.items():
            claim = stated(bound, setting, delta=delta)
            cells |= claim_cells(name, claim, interval)
        rows.append(cells)
    return ComputedFigure(
        setting={
            "people": PEOPLE,
            "with the extreme budget": FEW,
            "others": "U(0.05, 1)",
            "randomizer": "clip-laplace",
            "delta": "1 / n",
        },
        table=Table.from_records(rows),
        # A logarithmic axis has no 0.
        pictured=Table.from_records(
            row | {"budget of the 100": max(number(row["budget of the 100"]), 1e-10)}
            for row in rows
        ),
    )
