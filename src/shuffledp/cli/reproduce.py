"""`shuffledp reproduce`: tables and figures of the papers."""

import tempfile
from pathlib import Path

import click

from shuffledp.cli.console import share_bar, show
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.papers.figures.catalog import EXPERIMENTS
from shuffledp.papers.figures.table import result_table
from shuffledp.report.files import write_text


@click.command("reproduce")
@click.argument("name", required=False)
@click.option(
    "--repetitions",
    type=click.IntRange(2, 10**6),
    help="Of the simulation; by default as many as the paper's.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("shuffledp-report"),
    show_default=True,
    metavar="FOLDER",
    help="Where NAME.csv and NAME.svg go.",
)
def reproduce_command(
    name: str | None, repetitions: int | None, seed: int, output: Path
) -> None:
    """Compute a table or figure of a paper anew; without NAME, list them.

    \b
    Example:
      shuffledp reproduce eapes-average
    """
    if name is None:
        width = max(len(known) for known in EXPERIMENTS)
        for known, experiment in EXPERIMENTS.items():
            click.echo(f"{known:{width}} {experiment.summary}")
        return
    if name not in EXPERIMENTS:
        raise InvalidInputError(
            f"Expected one of {', '.join(EXPERIMENTS)}, got {name!r}."
        )
    require("matplotlib", extra="report", what="A picture")
    experiment = EXPERIMENTS[name]
    # A folder that cannot be written to is found out before anything takes long.
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=output):
        pass
    with share_bar(name) as on_share:
        result = experiment.run(repetitions or experiment.repetitions, seed, on_share)
    write_text(output / f"{name}.csv", result.to_csv())
    write_text(output / f"{name}.svg", result.svg)
    show(result_table(result))
    show(f"\nWritten to {output}: {name}.csv, {name}.svg")
