"""E-APES Figure 2: trade-off functions of (epsilon, delta) and Gaussian privacy."""

import math

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.bounds.gaussian_profile import gaussian_trade_off
from shuffledp_papers.eapes.figures.trade_off_curves import (
    ALPHA,
    trade_off_panels,
    trade_off_table,
)
from shuffledp_papers.eapes.trade_off import private_trade_off
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort

EPSILON, DELTA = 1.0, 0.1
MUS = (0.0, 0.5, 1.0, 3.0, 6.0)


def gaussian_curve(mu: float, alpha: Floats) -> Floats:
    """Returns G_mu at every type-I error, of the shape of alpha."""
    return np.array([gaussian_trade_off(mu, error) for error in alpha.tolist()])


def run(effort: Effort) -> ComputedFigure:
    """Returns the curves; nothing is drawn at random."""
    left = {
        f"({EPSILON:g}, {DELTA:g})-private": private_trade_off(
            ALPHA, epsilon=EPSILON, delta=DELTA
        ),
        f"({EPSILON:g}, {DELTA:g}), eq. (6) as printed": private_trade_off(
            ALPHA, epsilon=EPSILON, delta=DELTA, as_printed=True
        ),
    }
    right = {f"{mu:g}-GDP": gaussian_curve(mu, ALPHA) for mu in MUS}
    effort.on_share(1.0)
    curves = {"f of Fact 1": left, "G of Fact 2": right}
    return ComputedFigure(
        setting={"epsilon": EPSILON, "delta": DELTA},
        table=trade_off_table(curves),
        # Where the two lines of f_{epsilon, delta} intersect, alpha equals beta.
        values={"crossing": (1.0 - DELTA) / (1.0 + math.exp(EPSILON))},
        panels=trade_off_panels(curves),
    )
