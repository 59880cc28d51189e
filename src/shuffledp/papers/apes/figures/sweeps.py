"""APES (Liu et al. 2023), Figures 4 and 5: accuracy against C and against b / d."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shuffledp.federated.settings import PAPER_SETTINGS
from shuffledp.papers.apes.figures.training import (
    Training,
    accuracies,
    certificate,
    certified_cell,
    error_bar,
    setting_cells,
    setting_note,
    spread,
    statement,
)
from shuffledp.papers.figures.result import Cell, Effort, Result
from shuffledp.report.picture import new_figure, svg
from shuffledp.types import Floats

CLIPS = (0.01, 0.03, 0.1, 0.3, 1.0)
SHARES = (0.02, 0.05, 0.1, 0.2)
_NOISES = {"apes": "Clip-Laplace", "unis": "Laplace"}
_SELECTIONS = {
    "s-apes": "top-b, as published",
    "s-apes-threshold": "threshold",
    "random-sparsification": "random",
}
_COLORS = ("#1f5fa8", "#d9730d", "#57606a", "#2e7d4f")


def run_figure_4(effort: Effort) -> Result:
    """Returns accuracies with Clip-Laplace and Laplace messages, for several C."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    trainings = {
        (clip, name): Training(name, replace(PAPER_SETTINGS, clip=clip))
        for clip in CLIPS
        for name in _NOISES
    }
    found = accuracies(
        trainings.values(), repetitions=repetitions, seed=seed, on_share=on_share
    )
    rows: list[tuple[Cell, ...]] = [
        (
            clip,
            _NOISES[name],
            float(found[training].mean()),
            spread(found[training]),
        )
        for (clip, name), training in trainings.items()
    ]
    return Result(
        title=f"APES Figure 4: accuracy and clip bound, {repetitions} repetitions",
        setting=setting_cells(PAPER_SETTINGS),
        columns=("C", "noise", "accuracy", "spread"),
        rows=tuple(rows),
        notes=(
            setting_note(PAPER_SETTINGS, repetitions),
            "C varies, all else does not. The paper prints a figure without numbers; its "
            "best is Clip-Laplace at C = 0.1. The certificate does not depend on C.",
        ),
        svg=_picture(rows, tuple(_NOISES.values()), "C", logarithmic=True),
    )


def run_figure_5(effort: Effort) -> Result:
    """Returns accuracies of three ways to keep few messages, for several b / d."""
    repetitions = effort.repetitions
    seed = effort.seed
    on_share = effort.on_share
    trainings = {
        (share, name): Training(name, replace(PAPER_SETTINGS, share=share))
        for share in SHARES
        for name in _SELECTIONS
    }
    whole = Training("apes", PAPER_SETTINGS)
    found = accuracies(
        [*trainings.values(), whole],
        repetitions=repetitions,
        seed=seed,
        on_share=on_share,
    )
    rows = [
        _row(share, _SELECTIONS[name], training, found[training], seed)
        for (share, name), training in trainings.items()
    ]
    rows.append(_row(1.0, "APES", whole, found[whole], seed))
    return Result(
        title=f"APES Figure 5: accuracy and sparsification, {repetitions} repetitions",
        setting=setting_cells(PAPER_SETTINGS),
        columns=("b / d", "kept", "accuracy", "spread", "publ.", "certified"),
        rows=tuple(rows),
        notes=(
            setting_note(PAPER_SETTINGS, repetitions),
            "b / d varies, all else does not. publ. and certified: central epsilon of one "
            "person after all rounds, the largest of all; publ. is the paper's statement "
            "and not proven. (local): no central guarantee is proven for top-b, which "
            "couples coordinates; what the device keeps by itself.",
            "random: every coordinate is kept with chance b / d, by a coin of its own, and "
            "certified as a device that does so.",
        ),
        svg=_picture(rows, (*_SELECTIONS.values(), "APES"), "b / d"),
    )


def _row(
    share: float, kept: str, training: Training, accuracy: Floats, seed: int
) -> tuple[Cell, ...]:
    guarantee = certificate(training, seed, training.setting.rounds)
    published = statement(training, seed, training.setting.rounds).user
    return (
        share,
        kept,
        float(accuracy.mean()),
        spread(accuracy),
        "-" if published is None else published,
        certified_cell(guarantee),
    )


def _picture(
    rows: Sequence[Sequence[Any]],
    names: Sequence[str],
    label: str,
    *,
    logarithmic: bool = False,
) -> str:
    """Draws accuracy against the first column, one line per name in the second."""
    figure = new_figure(7.0, 4.6)
    axes = figure.subplots()
    for name, color in zip(names, _COLORS, strict=False):
        chosen = [row for row in rows if row[1] == name]
        if len(chosen) == 1:
            axes.axhline(float(chosen[0][2]), color=color, linestyle=":", label=name)
            continue
        axes.errorbar(
            [float(row[0]) for row in chosen],
            [float(row[2]) for row in chosen],
            yerr=[error_bar(row[3]) for row in chosen],
            color=color,
            marker="o",
            capsize=3,
            label=name,
        )
    if logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel("accuracy (%)")
    axes.legend(frameon=False)
    return svg(figure, f"Accuracy against {label}")
