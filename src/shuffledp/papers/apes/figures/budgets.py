"""APES (Liu et al. 2023), Figure 3: accuracy under six distributions of budgets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shuffledp.federated.settings import PAPER_SETTINGS
from shuffledp.papers.apes.figures.frameworks import (
    COLORS,
    DISTRIBUTIONS,
    PAPER_ACCURACY,
    training_under,
)
from shuffledp.papers.apes.figures.training import (
    NAMES,
    accuracies,
    setting_cells,
    setting_note,
    spread,
)
from shuffledp.papers.figures.result import Cell, Effort, Result
from shuffledp.report.picture import new_figure, svg


def run(effort: Effort) -> Result:
    """Returns accuracies under all distributions of budgets."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    names = tuple(name for name in NAMES if name != "pldp")
    found = accuracies(
        [
            training_under(name, distribution)
            for distribution in DISTRIBUTIONS
            for name in names
        ],
        repetitions=repetitions,
        seed=seed,
        on_share=on_share,
    )
    rows: list[tuple[Cell, ...]] = []
    for place, distribution in enumerate(DISTRIBUTIONS):
        for name in names:
            accuracy = found[training_under(name, distribution)]
            paper = PAPER_ACCURACY[name][place] if name in PAPER_ACCURACY else "-"
            rows.append(
                (
                    distribution,
                    NAMES[name],
                    float(accuracy.mean()),
                    spread(accuracy),
                    paper,
                )
            )
    return Result(
        title=f"APES Figure 3: accuracy and budgets, {repetitions} repetitions",
        setting=setting_cells(PAPER_SETTINGS),
        columns=("distribution", "framework", "accuracy", "spread", "paper's accuracy"),
        rows=tuple(rows),
        notes=(
            setting_note(PAPER_SETTINGS, repetitions),
            "The paper's accuracies are those of its Table 4. UniS stands for PLDP, too. "
            "What each is worth: apes-table4.",
        ),
        svg=_accuracy_picture(rows),
    )


def _accuracy_picture(rows: Sequence[Sequence[Any]]) -> str:
    figure = new_figure(8.0, 5.4)
    axes = figure.subplots()
    places = np.arange(len(DISTRIBUTIONS))
    for name, color in COLORS.items():
        chosen = [row for row in rows if row[1] == NAMES[name]]
        if not chosen:
            continue
        axes.plot(
            places,
            [row[2] for row in chosen],
            color=color,
            marker="o",
            label=NAMES[name],
        )
        if name in PAPER_ACCURACY:
            axes.plot(
                places,
                PAPER_ACCURACY[name],
                color=color,
                marker="x",
                linestyle=":",
                linewidth=0.9,
            )
    axes.plot([], [], color="#111827", marker="x", linestyle=":", label="the paper's")
    axes.set_xticks(places, DISTRIBUTIONS)
    axes.set_ylabel("accuracy (%)")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return svg(figure, "Accuracy of frameworks under six distributions of budgets")
