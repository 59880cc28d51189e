"""APES (Liu et al. 2023), Figures 9 and 10: variance and bias of Clip-Laplace.

Messages about the value C / 2, for several C and budgets. Laplace noise has no bias.
"""

import math
from collections.abc import Iterator

import numpy as np

from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.types import Floats
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

CLIPS = (0.05, 0.1, 0.5, 1.0)
BUDGETS = (0.05, 0.1, 0.2, 0.5, 1.0)


def run_variance(effort: Effort) -> ComputedFigure:
    """Computes variances, by formula and simulated."""
    table = Table.from_records(
        {
            "C": clip,
            "epsilon": budget,
            "Clip-Laplace": variance,
            "simulated": float(drawn.var()),
            # Twice the square of the scale of Laplace noise, 2 C / eps.
            "Laplace": 8.0 * clip**2 / budget**2,
        }
        for clip, budget, _, variance, drawn in _messages(effort)
    )
    curves = [
        Curve(f"{name}, C = {clip:g}", BUDGETS, table.where("C", clip).column(name))
        for clip in CLIPS
        for name in ("Clip-Laplace", "Laplace")
    ]
    return _figure(effort, table, curves, "variance of a message")


def run_bias(effort: Effort) -> ComputedFigure:
    """Computes biases, by formula and simulated."""
    table = Table.from_records(
        {
            "C": clip,
            "epsilon": budget,
            "Clip-Laplace": bias,
            "simulated": float(drawn.mean()) - clip / 2.0,
            "standard error": math.sqrt(variance / effort.repetitions),
        }
        for clip, budget, bias, variance, drawn in _messages(effort)
    )
    curves = [
        Curve(
            f"Clip-Laplace, C = {clip:g}",
            BUDGETS,
            # Towards 0, and so negative: a logarithmic axis needs its opposite.
            [-bias for bias in table.where("C", clip).numbers("Clip-Laplace")],
        )
        for clip in CLIPS
    ]
    return _figure(effort, table, curves, "minus the bias")


def _figure(
    effort: Effort, table: Table, curves: list[Curve], vertical: str
) -> ComputedFigure:
    panel = Panel("", curves, horizontal="local epsilon", vertical=vertical, log="xy")
    setting: dict[str, Cell] = {"value": "C / 2", "draws": effort.repetitions}
    return ComputedFigure(setting=setting, table=table, panels=[panel])


def _messages(effort: Effort) -> Iterator[tuple[float, float, float, float, Floats]]:
    """Yields C, budget, exact bias, exact variance and draws of messages about C / 2."""
    rng = np.random.default_rng(effort.seed)
    for clip, budget in effort.each([(c, e) for c in CLIPS for e in BUDGETS]):
        # The paper does not print its value; at 0 there would be no bias.
        randomizer, value = ClipLaplace(clip), clip / 2.0
        mean, variance = randomizer.moments(np.array([budget]), np.array([value]))
        values, budgets = (np.full(effort.repetitions, x) for x in (value, budget))
        drawn = randomizer.decode(randomizer.randomize(values, budgets, rng=rng))
        yield clip, budget, float(mean[0, 0]) - value, float(variance[0, 0]), drawn
