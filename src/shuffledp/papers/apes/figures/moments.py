"""APES (Liu et al. 2023), Figures 9 and 10: variance and bias of Clip-Laplace.

The value stands at C / 2, half way to the end, since at 0 there is no bias; the paper does
not print where its own stands. Laplace noise has scale 2 C / eps, and no bias.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shuffledp.papers.figures.result import Effort, OnShare, Result
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.report.picture import new_figure, svg

CLIPS = (0.05, 0.1, 0.5, 1.0)
BUDGETS = (0.05, 0.1, 0.2, 0.5, 1.0)
_COLORS = ("#1f5fa8", "#d9730d", "#2e7d4f", "#8a3ea0")


def run_variance(effort: Effort) -> Result:
    """Returns variances, by formula and simulated."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    rows = _rows(repetitions, seed, on_share)
    return Result(
        title=f"Variance of Clip-Laplace at C / 2, {repetitions:,} draws",
        setting={"value": "C / 2", "draws": repetitions},
        columns=("C", "epsilon", "Clip-Laplace", "simulated", "Laplace"),
        rows=tuple(row[:5] for row in rows),
        notes=(
            "Clip-Laplace's variance stays below C^2 / 3, that of a uniform message; "
            "Laplace's is 8 C^2 / eps^2.",
        ),
        svg=_picture(rows, 2, 4, "variance of a message"),
    )


def run_bias(effort: Effort) -> Result:
    """Returns biases, by formula and simulated."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    rows = _rows(repetitions, seed, on_share)
    return Result(
        title=f"Bias of Clip-Laplace at C / 2, {repetitions:,} draws",
        setting={"value": "C / 2", "draws": repetitions},
        columns=("C", "epsilon", "Clip-Laplace", "simulated", "standard error"),
        rows=tuple(
            (c, e, b, sb, math.sqrt(v / repetitions)) for c, e, v, _, _, b, sb in rows
        ),
        notes=(
            "Small budgets pull messages to the middle: the bias tends to -C / 2. "
            "Laplace has none. Calibration (eq. 1) is needed, and removes it for equal "
            "values only: see apes-fig6.",
        ),
        svg=_picture(
            [(c, e, -b) for c, e, *_, b, _ in rows], 2, None, "minus the bias"
        ),
    )


def _rows(
    repetitions: int, seed: int, on_share: OnShare
) -> list[tuple[float, float, float, float, float, float, float]]:
    rng = np.random.default_rng(seed)
    rows = []
    for clip in CLIPS:
        randomizer, value = ClipLaplace(clip), clip / 2.0
        for budget in BUDGETS:
            mean, variance = randomizer.moments(np.array([budget]), np.array([value]))
            drawn = randomizer.decode(
                randomizer.randomize(
                    np.full(repetitions, value), np.full(repetitions, budget), rng=rng
                )
            )
            rows.append(
                (
                    clip,
                    budget,
                    float(variance[0, 0]),
                    float(drawn.var()),
                    8.0 * clip**2 / budget**2,
                    float(mean[0, 0]) - value,
                    float(drawn.mean()) - value,
                )
            )
            on_share(len(rows) / (len(CLIPS) * len(BUDGETS)))
    return rows


def _picture(
    rows: Sequence[Sequence[Any]], column: int, laplace: int | None, label: str
) -> str:
    figure = new_figure(7.0, 4.4)
    axes = figure.subplots()
    for color, clip in zip(_COLORS, CLIPS, strict=True):
        chosen = [row for row in rows if row[0] == clip]
        at = [row[1] for row in chosen]
        axes.plot(
            at,
            [row[column] for row in chosen],
            color=color,
            marker="o",
            markersize=3.5,
            label=f"Clip-Laplace, C = {clip:g}",
        )
        if laplace is not None:
            axes.plot(
                at,
                [row[laplace] for row in chosen],
                color=color,
                linestyle=":",
                label=f"Laplace, C = {clip:g}",
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("local epsilon")
    axes.set_ylabel(label)
    axes.legend(frameon=False, fontsize=9, ncols=2)
    return svg(
        figure, f"The {label} of Clip-Laplace against epsilon, for four clip bounds"
    )
