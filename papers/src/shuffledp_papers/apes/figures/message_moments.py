"""APES (Liu et al. 2023), Figures 9 and 10: variance and bias of Clip-Laplace.

Messages about the value C / 2, for several C and budgets. Laplace noise has no bias.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort, Result
from shuffledp_papers.figures.table import Cell, Table

CLIPS = (0.05, 0.1, 0.5, 1.0)
BUDGETS = (0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class MessageMoments:
    """Bias and variance of messages about the value C / 2.

    Attributes:
        clip: C.
        budget: The local budget.
        bias: Exact, by formula.
        variance: Exact, by formula.
        drawn_bias: Of simulated messages.
        drawn_variance: Of simulated messages.
    """

    clip: float
    budget: float
    bias: float
    variance: float
    drawn_bias: float
    drawn_variance: float

    @property
    def laplace(self) -> float:
        """Variance of Laplace noise."""
        # Twice the square of its scale, 2 C / eps.
        return 8.0 * self.clip**2 / self.budget**2


def run_variance(effort: Effort) -> Result:
    """Computes variances, by formula and simulated."""
    moments = _compute_moments(effort)
    title = "APES (Liu et al. 2023), Figure 9: variance of a message"
    setting = _setting(effort)
    curves = []
    for clip in CLIPS:
        own = [each for each in moments if each.clip == clip]
        variances = [each.variance for each in own]
        curves.append(Curve(f"Clip-Laplace, C = {clip:g}", BUDGETS, variances))
        laplace = [each.laplace for each in own]
        curves.append(Curve(f"Laplace, C = {clip:g}", BUDGETS, laplace))
    return Result(
        title=title,
        setting=setting,
        table=Table.from_records(
            {
                "C": each.clip,
                "epsilon": each.budget,
                "Clip-Laplace": each.variance,
                "simulated": each.drawn_variance,
                "Laplace": each.laplace,
            }
            for each in moments
        ),
        notes=figure_notes("apes", "apes-fig9"),
        svg=draw(
            title,
            setting,
            [_panel(curves, "variance of a message")],
            description=f"{title}, for four clip bounds",
        ),
        keys=2,
    )


def run_bias(effort: Effort) -> Result:
    """Computes biases, by formula and simulated."""
    moments = _compute_moments(effort)
    title = "APES (Liu et al. 2023), Figure 10: bias of a message"
    setting = _setting(effort)
    curves = [
        Curve(
            f"Clip-Laplace, C = {clip:g}",
            BUDGETS,
            # Towards 0, and so negative: a logarithmic axis needs its opposite.
            [-each.bias for each in moments if each.clip == clip],
        )
        for clip in CLIPS
    ]
    return Result(
        title=title,
        setting=setting,
        table=Table.from_records(
            {
                "C": each.clip,
                "epsilon": each.budget,
                "Clip-Laplace": each.bias,
                "simulated": each.drawn_bias,
                "standard error": math.sqrt(each.variance / effort.repetitions),
            }
            for each in moments
        ),
        notes=figure_notes("apes", "apes-fig10"),
        svg=draw(
            title,
            setting,
            [_panel(curves, "minus the bias")],
            description=f"{title}, for four clip bounds",
        ),
        keys=2,
    )


def _setting(effort: Effort) -> dict[str, Cell]:
    return {"value": "C / 2", "draws": effort.repetitions}


def _panel(curves: list[Curve], vertical: str) -> Panel:
    return Panel("", curves, horizontal="local epsilon", vertical=vertical, log="xy")


def _compute_moments(effort: Effort) -> list[MessageMoments]:
    rng = np.random.default_rng(effort.seed)
    moments = []
    for clip in CLIPS:
        # The paper does not print its value; at 0 there would be no bias.
        randomizer, value = ClipLaplace(clip), clip / 2.0
        for budget in BUDGETS:
            mean, variance = randomizer.moments(np.array([budget]), np.array([value]))
            drawn = randomizer.decode(
                randomizer.randomize(
                    np.full(effort.repetitions, value),
                    np.full(effort.repetitions, budget),
                    rng=rng,
                )
            )
            moments.append(
                MessageMoments(
                    clip,
                    budget,
                    float(mean[0, 0]) - value,
                    float(variance[0, 0]),
                    float(drawn.mean()) - value,
                    float(drawn.var()),
                )
            )
            effort.on_share(len(moments) / (len(CLIPS) * len(BUDGETS)))
    return moments
