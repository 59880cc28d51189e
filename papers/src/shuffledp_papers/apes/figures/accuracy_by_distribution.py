"""APES (Liu et al. 2023), Figure 3: accuracy under six distributions of budgets."""

from shuffledp.federated.apes_settings import PAPER_SETTINGS
from shuffledp.types import Floats
from shuffledp_papers.apes.figures.framework_tables import PUBLISHED, training_under
from shuffledp_papers.apes.figures.framework_training import accuracies
from shuffledp_papers.apes.figures.training_cells import (
    NAMES,
    OTHER_RATES,
    accuracy_comparisons,
    mean_curve,
    setting_cells,
    setting_notes,
    standard_error,
)
from shuffledp_papers.apes.printed import ACCURACIES, DISTRIBUTIONS
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.line_plot import Curve, Panel
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Table

# UniS stands for PLDP, too.
_NAMES = tuple(name for name in PUBLISHED if name != "pldp")
# Distributions are categories: their positions on the axis are 1, 2, ...
_AT = tuple(range(1, len(DISTRIBUTIONS) + 1))


def run(effort: Effort) -> ComputedFigure:
    """Computes accuracies under all distributions of budgets."""
    trained = accuracies(
        [training_under(name, each) for each in DISTRIBUTIONS for name in _NAMES],
        effort,
    )
    accuracy_of = {
        (name, each): trained[training_under(name, each)]
        for each in DISTRIBUTIONS
        for name in _NAMES
    }
    return ComputedFigure(
        setting=setting_cells(PAPER_SETTINGS, effort) | {"budgets": "vary"},
        table=Table.from_records(
            {
                "distribution": each,
                "framework": NAMES[name],
                "accuracy": float(accuracy.mean()),
                "standard error": standard_error(accuracy),
                "accuracy, printed": float(ACCURACIES[name][DISTRIBUTIONS.index(each)]),
            }
            for (name, each), accuracy in accuracy_of.items()
        ),
        notes=(
            *setting_notes(PAPER_SETTINGS),
            *figure_notes("apes", "apes-fig3"),
        ),
        panels=_panels(accuracy_of),
        comparisons=accuracy_comparisons(accuracy_of, why=OTHER_RATES),
    )


def _panels(accuracy_of: dict[tuple[str, str], Floats]) -> list[Panel]:
    computed = [
        mean_curve(
            NAMES[name], _AT, [accuracy_of[name, each] for each in DISTRIBUTIONS]
        )
        for name in _NAMES
    ]
    printed = [
        Curve(NAMES[name], _AT, [float(text) for text in ACCURACIES[name]])
        for name in _NAMES
    ]
    return [
        Panel(
            title,
            curves,
            horizontal="budgets",
            vertical="accuracy (%)",
            ticks=DISTRIBUTIONS,
        )
        for title, curves in (("here", computed), ("as printed", printed))
    ]
