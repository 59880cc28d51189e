"""Registry of experiments, by their names on the command line."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module

from shuffledp_papers.figures.computed_figure import ComputedFigure, PictureRow
from shuffledp_papers.figures.line_plot import draw
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison, Effort, Experiment, Result
from shuffledp_papers.toml_tables import read_rows


@dataclass(frozen=True)
class _PrintedNumber:
    """A number of the paper; the attributes are those of `Comparison`."""

    what: str
    printed: str
    within: float = 0.0
    why: str = ""


@dataclass(frozen=True)
class _ExperimentRow:
    """One experiment.

    Attributes:
        name: Name on the command line.
        summary: One line about it.
        run: Module of the paper's figures and its function, as "module.function".
        title: Title of the table or figure.
        repetitions: Default number; None if it repeats nothing.
        quick: The parts that a quick run leaves out; "" if there are none.
        description: Text in place of the picture; "" for the title.
        keys: Number of first columns that identify a row.
        picture: Its curves; None if the function returns panels.
        printed: Numbers of the paper that the function computes.
    """

    name: str
    summary: str
    run: str
    title: str
    repetitions: int | None = None
    quick: str = ""
    description: str = ""
    keys: int = 1
    picture: PictureRow | None = None
    printed: tuple[_PrintedNumber, ...] = ()


def _result(folder: str, row: _ExperimentRow, effort: Effort) -> Result:
    """Runs an experiment, and joins its numbers with the texts of its row."""
    # Named in TOML, so that a new figure needs no line of code here.
    module, _, function = row.run.partition(".")
    figures = import_module(f"shuffledp_papers.{folder}.figures.{module}")
    computed: ComputedFigure = getattr(figures, function)(effort)
    values, panels, title = computed.values, computed.panels, row.title
    if row.picture is not None:
        panels = row.picture.panels(computed.pictured or computed.table)
        title = row.picture.title or title
    compared = tuple(
        Comparison(
            printed.what.format(**values),
            printed.printed,
            number,
            within=printed.within,
            why=printed.why.format(**values),
        )
        for printed, number in zip(row.printed, computed.numbers, strict=True)
    )
    return Result(
        title=row.title,
        setting=computed.setting,
        table=computed.table,
        notes=computed.notes or figure_notes(folder, row.name, **values),
        svg=draw(
            title,
            computed.picture_setting or computed.setting,
            panels,
            description=row.description or row.title,
        ),
        comparisons=(*computed.comparisons, *compared),
        keys=row.keys,
    )


EXPERIMENTS = {
    row.name: Experiment(
        row.summary, partial(_result, folder, row), row.repetitions, row.quick
    )
    for folder in ("eapes", "apes", "lecture_notes", "hypothesis_testing", "segmented")
    for row in read_rows(_ExperimentRow, folder, "experiments.toml")
}
