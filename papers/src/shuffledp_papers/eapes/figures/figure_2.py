"""E-APES Figure 2: trade-off functions of (epsilon, delta) and Gaussian privacy."""

import math

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.bounds.gaussian_profile import gaussian_trade_off
from shuffledp_papers.eapes.trade_off import private_trade_off
from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Cell, Effort, Result

EPSILON, DELTA = 1.0, 0.1
MUS = (0.0, 0.5, 1.0, 3.0, 6.0)
# The figure has a point at every hundredth, the table at every twentieth.
_EVERY = 5
_TITLE = "E-APES Figure 2: trade-off functions, (epsilon, delta) and Gaussian"


def gaussian_curve(mu: float, alpha: Floats) -> Floats:
    """Returns G_mu at every type-I error, of the shape of alpha."""
    return np.array([gaussian_trade_off(mu, error) for error in alpha.tolist()])


def run(effort: Effort) -> Result:
    """Returns the curves; nothing is drawn at random."""
    alpha = np.linspace(0.0, 1.0, 101)
    left = {
        f"({EPSILON:g}, {DELTA:g})-private": private_trade_off(
            alpha, epsilon=EPSILON, delta=DELTA
        ),
        f"({EPSILON:g}, {DELTA:g}), eq. (6) as printed": private_trade_off(
            alpha, epsilon=EPSILON, delta=DELTA, as_printed=True
        ),
    }
    right = {f"{mu:g}-GDP": gaussian_curve(mu, alpha) for mu in MUS}
    effort.on_share(1.0)
    setting: dict[str, Cell] = {"epsilon": EPSILON, "delta": DELTA}
    panels = [
        Panel(
            title,
            [
                Curve(name, alpha.tolist(), beta.tolist())
                for name, beta in curves.items()
            ],
            horizontal="type-I error",
            vertical="least type-II error",
        )
        for title, curves in (("f of Fact 1", left), ("G of Fact 2", right))
    ]
    columns = {**left, **right}
    # Where the two lines of f_{epsilon, delta} intersect, alpha equals beta.
    crossing = (1.0 - DELTA) / (1.0 + math.exp(EPSILON))
    return Result(
        title=_TITLE,
        setting=setting,
        columns=("type-I error", *columns),
        rows=tuple(
            zip(
                *(part[::_EVERY].tolist() for part in (alpha, *columns.values())),
                strict=True,
            )
        ),
        notes=figure_notes("eapes", "eapes-fig2", crossing=crossing),
        svg=draw(_TITLE, setting, panels, description=_TITLE),
    )
