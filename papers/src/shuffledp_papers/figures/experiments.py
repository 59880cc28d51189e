"""Registry of experiments, by their names on the command line."""

from dataclasses import dataclass
from importlib import import_module

from shuffledp_papers.figures.result import Experiment
from shuffledp_papers.toml_tables import read_table


@dataclass(frozen=True)
class _ExperimentRow:
    """One experiment.

    Attributes:
        name: Name on the command line.
        summary: One line about it.
        run: Module of the paper's figures and its function, as "module.function".
        repetitions: Default number; None if it repeats nothing.
        quick: The parts that a quick run leaves out; "" if there are none.
    """

    name: str
    summary: str
    run: str
    repetitions: int | None = None
    quick: str = ""


@dataclass(frozen=True)
class _ExperimentsTable:
    experiments: tuple[_ExperimentRow, ...]


def _experiment(folder: str, row: _ExperimentRow) -> Experiment:
    # Named in TOML, so that a new figure needs no line of code here.
    module, _, function = row.run.partition(".")
    figures = import_module(f"shuffledp_papers.{folder}.figures.{module}")
    run = getattr(figures, function)
    return Experiment(row.summary, run, row.repetitions, row.quick)


EXPERIMENTS = {
    row.name: _experiment(folder, row)
    for folder in ("eapes", "apes", "lecture_notes", "hypothesis_testing", "segmented")
    for row in read_table(_ExperimentsTable, folder, "experiments.toml").experiments
}
