"""E-APES Figure 3: composition of trade-off functions and of (epsilon, delta).

Left: composition with a mechanism that fails altogether with probability delta moves the
curve toward the origin. Right: ten mechanisms that are (1 / sqrt(10), 0)-private, exactly;
their normal limit, G_1; and the best (epsilon, 0.001) for the exact curve.
"""

import math

import numpy as np
from scipy.optimize import brentq

from shuffledp_papers.eapes.extreme_pair import extreme_pair
from shuffledp_papers.eapes.figures.figure_2 import gaussian_curve
from shuffledp_papers.eapes.figures.trade_off_curves import (
    ALPHA,
    trade_off_panels,
    trade_off_table,
)
from shuffledp_papers.eapes.trade_off import (
    TradeOff,
    composed,
    private_trade_off,
    trade_off,
)
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort

TIMES, DELTA = 10, 1e-3
_FAILS = 0.2


def ten_times() -> TradeOff:
    """Returns the trade-off function of ten (1 / sqrt(10), 0)-private mechanisms."""
    pair = extreme_pair(1.0 / math.sqrt(TIMES), 0.0)
    first, second = np.ones(1), np.ones(1)
    for _ in range(TIMES):
        # With delta 0, only the two middle outcomes of the extreme pair have mass.
        first, second = composed(first, pair[0][1:3]), composed(second, pair[1][1:3])
    return trade_off(first, second)


def failing() -> tuple[TradeOff, TradeOff]:
    """Returns the curves of a 1-private mechanism, alone and with one that may fail."""
    plain, broken = extreme_pair(1.0, 0.0), extreme_pair(0.0, _FAILS)
    both = (composed(*pair) for pair in zip(plain, broken, strict=True))
    return trade_off(*plain), trade_off(*both)


def run(effort: Effort) -> ComputedFigure:
    """Returns the curves; nothing is drawn at random."""
    exact = ten_times()
    # The epsilon at which the exact curve has this delta; at the sum of the ten epsilons,
    # sqrt(10), delta is 0.
    epsilon = brentq(lambda x: exact.delta(x) - DELTA, 0.0, math.sqrt(TIMES), xtol=1e-9)
    alone, together = failing()
    effort.on_share(1.0)
    best = f"({epsilon:.2f}, {DELTA:g})-private"
    left = {
        "(1, 0)-private": alone(ALPHA),
        f"with a chance of {_FAILS:g} to fail": together(ALPHA),
    }
    right = {
        "ten mechanisms, exact": exact(ALPHA),
        "normal limit, 1-GDP": gaussian_curve(1.0, ALPHA),
        best: private_trade_off(ALPHA, epsilon=float(epsilon), delta=DELTA),
    }
    curves = {"a chance to fail": left, "ten mechanisms": right}
    gap = float(np.max(np.abs(exact(ALPHA) - gaussian_curve(1.0, ALPHA))))
    return ComputedFigure(
        setting={
            "mechanisms": TIMES,
            "epsilon of each": "1 / sqrt(10)",
            "delta": DELTA,
        },
        table=trade_off_table(curves),
        values={"times": TIMES, "gap": gap},
        panels=trade_off_panels(curves),
        numbers=(float(epsilon),),
    )
