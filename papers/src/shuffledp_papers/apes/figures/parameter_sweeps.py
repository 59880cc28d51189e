"""APES (Liu et al. 2023), Figures 4 and 5: accuracy against C and against b / d."""

from dataclasses import replace

from shuffledp.federated.apes_settings import PAPER_SETTINGS
from shuffledp.types import Floats
from shuffledp_papers.apes.figures.framework_training import (
    Training,
    accuracies,
    certificate,
    statement,
)
from shuffledp_papers.apes.figures.training_cells import (
    level_curve,
    mean_curve,
    setting_cells,
    setting_notes,
    standard_error,
)
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Panel
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

CLIPS = (0.01, 0.03, 0.1, 0.3, 1.0)
SHARES = (0.02, 0.05, 0.1, 0.2)
_NOISES = {"apes": "Clip-Laplace", "unis": "Laplace"}
_SELECTIONS = {
    "s-apes": "top-b, as published",
    "s-apes-threshold": "threshold (ours)",
    "random-sparsification": "random",
}


def run_figure_4(effort: Effort) -> ComputedFigure:
    """Computes accuracies with Clip-Laplace and Laplace messages, for several C."""
    trainings = {
        (clip, name): Training(name, replace(PAPER_SETTINGS, clip=clip))
        for clip in CLIPS
        for name in _NOISES
    }
    accuracy_of = accuracies(trainings.values(), effort)
    means = {key: float(accuracy_of[each].mean()) for key, each in trainings.items()}
    curves = [
        mean_curve(noise, CLIPS, [accuracy_of[trainings[clip, name]] for clip in CLIPS])
        for name, noise in _NOISES.items()
    ]
    return ComputedFigure(
        setting=setting_cells(PAPER_SETTINGS, effort) | {"C": "varies"},
        table=Table.from_records(
            {
                "C": clip,
                "noise": _NOISES[name],
                "accuracy": means[clip, name],
                "standard error": standard_error(accuracy_of[training]),
            }
            for (clip, name), training in trainings.items()
        ),
        notes=(
            *setting_notes(PAPER_SETTINGS),
            *figure_notes("apes", "apes-fig4", ahead=_ahead(means)),
        ),
        panels=[Panel("", curves, horizontal="C", vertical="accuracy (%)", log="x")],
        numbers=[max(CLIPS, key=lambda clip: means[clip, "apes"])],
    )


def _ahead(means: dict[tuple[float, str], float]) -> str:
    """Returns the values of C at which Laplace noise has the higher accuracy."""
    ahead = [clip for clip in CLIPS if means[clip, "unis"] > means[clip, "apes"]]
    return ", ".join(f"{clip:g}" for clip in ahead) or "none of these"


def run_figure_5(effort: Effort) -> ComputedFigure:
    """Computes accuracies of three selections of coordinates, for several b / d."""
    trainings = {
        (share, name): Training(name, replace(PAPER_SETTINGS, share=share))
        for share in SHARES
        for name in _SELECTIONS
    }
    whole = Training("apes", PAPER_SETTINGS)
    accuracy_of = accuracies([*trainings.values(), whole], effort)
    rows = [
        _row(share, _SELECTIONS[name], training, accuracy_of[training], effort.seed)
        for (share, name), training in trainings.items()
    ]
    # b = d: without a selection, S-APES is APES.
    rows.append(_row(1.0, "APES", whole, accuracy_of[whole], effort.seed))
    curves = [
        mean_curve(
            selection, SHARES, [accuracy_of[trainings[share, name]] for share in SHARES]
        )
        for name, selection in _SELECTIONS.items()
    ]
    curves.append(level_curve("APES, all coordinates", SHARES, accuracy_of[whole]))
    ahead = sum(
        accuracy_of[trainings[share, "s-apes"]].mean()
        > accuracy_of[trainings[share, "random-sparsification"]].mean()
        for share in SHARES
    )
    return ComputedFigure(
        setting=setting_cells(PAPER_SETTINGS, effort) | {"b / d": "varies"},
        table=Table.from_records(rows),
        notes=(
            *setting_notes(PAPER_SETTINGS),
            *figure_notes("apes", "apes-fig5", ahead=ahead, shares=len(SHARES)),
        ),
        panels=[Panel("", curves, horizontal="b / d", vertical="accuracy (%)")],
    )


def _row(
    share: float, selection: str, training: Training, accuracy: Floats, seed: int
) -> dict[str, Cell]:
    promise = certificate(training, seed, training.setting.rounds)
    central, local = promise.central, promise.local
    return {
        "b / d": share,
        "kept": selection,
        "accuracy": float(accuracy.mean()),
        "standard error": standard_error(accuracy),
        "training, stated": statement(training, seed, training.setting.rounds).user,
        "training, certified": central.worst.epsilon_central if central else None,
        "training, local": local.worst.epsilon_all if local else None,
    }
