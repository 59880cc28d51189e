"""`shuffledp reproduce`: tables and figures of the papers."""

import json
import time
from dataclasses import replace
from pathlib import Path

import click

from shuffledp.cli.console import show, width
from shuffledp.cli.number_types import WholeRange
from shuffledp.cli.shared_options import force_option
from shuffledp.cli.waiting import duration, share_bar
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.file_writing import check_folder, check_new, write_file, write_files
from shuffledp_papers.contents.papers import PAPERS
from shuffledp_papers.contents.reproduction_page import document
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort, Experiment
from shuffledp_papers.figures.result_table import result_table


@click.command("reproduce")
@click.argument("name", required=False)
@click.option(
    "--repetitions",
    # A standard error needs two repetitions.
    type=WholeRange(2, 10**6),
    help="Of the simulation; by default as many as the paper's.",
)
@click.option(
    "--quick", is_flag=True, help="Leave out what the list says; for long experiments."
)
@click.option("--seed", type=WholeRange(0), help="Of all randomness [1].")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("shuffledp-report"),
    show_default=True,
    metavar="FOLDER",
    help="Where NAME.csv, NAME.json and NAME.svg go.",
)
@click.option(
    "--document",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Without NAME: write everything in the papers and what became of it, as "
    "Markdown, from all NAME.json in the output folder.",
)
@force_option
def reproduce_command(
    name: str | None,
    repetitions: int | None,
    quick: bool,
    seed: int | None,
    output: Path,
    page: Path | None,
    force: bool,
) -> None:
    """Recompute a table or figure of a paper; without NAME, list them.

    \b
    Examples:
      shuffledp reproduce eapes-average
      shuffledp reproduce --output results --document reproduction.md
    """
    if name is None:
        if quick or repetitions is not None or seed is not None:
            raise click.UsageError(
                "Expected a NAME with --quick, --repetitions and --seed."
            )
        if page is None:
            _list()
        else:
            check_new([page], force=force)
            write_file(page, document(output, page=page))
            show(f"Written: {page}")
        return
    if page is not None:
        raise click.UsageError("Expected either a NAME or --document, not both.")
    # Not a default of the option: --seed without NAME is refused.
    effort = _effort(name, repetitions, 1 if seed is None else seed, quick)
    require("matplotlib", extra="report", what="A picture")
    # Before the experiment, which may take hours: a folder may refuse files.
    names = [f"{name}.{ending}" for ending in ("csv", "json", "svg")]
    check_folder(output, force=force, names=names)
    start = time.monotonic()
    with share_bar(name) as on_share:
        requested = replace(effort, on_share=on_share)
        result = EXPERIMENTS[name].run(requested)
    seconds = time.monotonic() - start
    described = result.to_document(name, effort, seconds)
    document_text = json.dumps(described, indent=1, allow_nan=False) + "\n"
    texts = (result.to_csv(), document_text, result.svg)
    # Shown before it is written: a full disk does not take it away.
    show(result_table(result, width=width()))
    write_files(output, dict(zip(names, texts, strict=True)))
    show(f"\nWritten to {output} after {duration(seconds)}: {', '.join(names)}")


def _list() -> None:
    """Prints the experiments, paper by paper."""
    names = max(map(len, EXPERIMENTS))
    for paper in PAPERS:
        chosen = {
            name: experiment
            for name, experiment in EXPERIMENTS.items()
            if name.startswith(f"{paper.prefix}-")
        }
        if chosen:
            show(f"{paper.reference}:")
        for name, experiment in chosen.items():
            quick = f" --quick: {experiment.quick}." if experiment.quick else ""
            show(f"  {name:{names}} {experiment.summary}{quick}")


def _effort(name: str, repetitions: int | None, seed: int, quick: bool) -> Effort:
    """Returns the settings of an experiment's run.

    Raises:
        InvalidInputError: If the experiment is unknown, or has no such setting.
    """
    if name not in EXPERIMENTS:
        raise InvalidInputError(
            f"Expected one of {', '.join(EXPERIMENTS)}, got {name!r}."
        )
    experiment: Experiment = EXPERIMENTS[name]
    # None: the experiment repeats nothing.
    if repetitions is not None and experiment.repetitions is None:
        raise InvalidInputError(
            f"Expected no --repetitions: {name} repeats nothing, whatever is random in "
            "it follows from --seed."
        )
    if quick and not experiment.quick:
        raise InvalidInputError(
            f"Expected no --quick: {name} has nothing to leave out, it is quick."
        )
    # `Effort` has 1 for experiments that repeat nothing.
    times = repetitions or experiment.repetitions or 1
    return Effort(times, seed, quick, lambda _share: None)
