"""`shuffledp estimate`: a whole collection, rehearsed on known values."""

from pathlib import Path
from typing import Any

import click

from shuffledp.cli import parse
from shuffledp.cli.options import (
    Settings,
    check_options,
    collection_options,
    statistic_options,
)
from shuffledp.cli.run import run
from shuffledp.cli.sources import (
    frequency_rehearsal,
    items_rehearsal,
    mean_rehearsal,
    msnbc_rehearsal,
    msnbc_sets_rehearsal,
    strings_rehearsal,
    sum_rehearsal,
)
from shuffledp.errors import DataError, InvalidInputError, MissingValueError
from shuffledp.report.summary import STATISTICS, Statistic


@click.command("estimate")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    default="frequency",
    show_default=True,
    help="How often each category occurs; the mean of numbers; how many people hold a 1; "
    "how many hold each string of a list; how many hold each item, of a few per person.",
)
@click.option("--value", metavar="COLUMN", help="The column with each person's value.")
@click.option(
    "--level", metavar="COLUMN", help="The column with each person's epsilon."
)
@click.option(
    "--levels",
    metavar=parse.LEVEL_SHARES,
    help="Privacy levels and the share of people at each, dealt out at random. With "
    "--level: the levels that may occur, as EPSILON,...",
)
@click.option(
    "--missing",
    type=click.Choice(["refuse", "drop"]),
    help="What to do about people without a value or level: nothing, NA, N/A, NaN, null "
    "or None, where --categories or --candidates name no such value [refuse].",
)
@click.option(
    "--seed", type=int, help="Repeat a simulation; by default, fresh randomness."
)
@statistic_options
@collection_options
def estimate_command(
    file: Path | None, statistic: Statistic, settings: Settings, **given: Any
) -> None:
    """Rehearse a collection on known values: categories, numbers, bits, strings or sets.

    Every person's value is randomized at her level, as it would be on her device; the
    messages are shuffled; the statistic is estimated and compared with the truth; and the
    guarantee of every level is certified.

    FILE ends in .csv, .tsv or .txt (separated by commas, semicolons, tabs or bars), in
    .jsonl or .ndjson (a JSON object per line), or in .parquet or .pq. White space around
    a value does not count.

    \b
    Examples. How often does each category occur?
      shuffledp estimate survey.csv --value answer --level epsilon --delta 1e-6
      shuffledp estimate survey.csv --value answer --levels 0.5:0.25,1.0:0.5,2.0:0.25
      shuffledp estimate survey.csv --value answer --level epsilon \\
        --mechanism local-hashing --buckets 5
      shuffledp estimate --dataset msnbc --levels 0.5:0.25,1.0:0.5,2.0:0.25 --delta 1e-8

    \b
    What is the mean of numbers between two bounds?
      shuffledp estimate survey.csv --statistic mean --value age --low 0 --high 110 \\
        --level epsilon
      shuffledp estimate survey.csv --statistic mean --value income --low 0 --high 9000 \\
        --clip --mechanism laplace --level epsilon

    \b
    How many people hold a 1?
      shuffledp estimate survey.csv --statistic sum --value smokes --level epsilon
      shuffledp estimate survey.csv --statistic sum --value smokes --central 0.5

    \b
    How many people hold each string of a list?
      shuffledp estimate survey.csv --statistic strings --value homepage \\
        --candidates homepages.txt --level epsilon

    \b
    How many people hold each item, of several per person, a row each? Here a level is the
    central epsilon that a person asks for, after the shuffle.
      shuffledp estimate visits.csv --statistic items --person visitor --item page \\
        --level epsilon --set-size 4
      shuffledp estimate --dataset msnbc --statistic items --levels 0.5:0.5,1.0:0.5
    """
    check_options(statistic, given)
    if statistic == "items" and settings.mode != "agnostic":
        raise InvalidInputError(
            "Expected --mode agnostic with --statistic items: messages of sets never carry "
            "a level."
        )
    if (file is None) == (given["dataset"] is None):
        raise InvalidInputError("Expected either FILE or --dataset, and not both.")
    if file is None:
        _rehearse_dataset(statistic, settings, given)
        return
    try:
        _rehearse_file(file, statistic, settings, given)
    except MissingValueError as error:
        raise DataError(
            f"{error} Leave such people out with --missing drop."
        ) from error


def _rehearse_dataset(
    statistic: Statistic, settings: Settings, given: dict[str, Any]
) -> None:
    names = ("value", "level", "missing", "categories", "person", "item")
    if any(given[name] for name in names) or not given["levels"]:
        raise InvalidInputError(
            f"Expected --levels {parse.LEVEL_SHARES} with --dataset, and none of "
            f"{', '.join(f'--{name}' for name in names)}."
        )
    rehearsal = msnbc_sets_rehearsal if statistic == "items" else msnbc_rehearsal
    run(rehearsal(given), settings)


def _rehearse_file(
    file: Path, statistic: Statistic, settings: Settings, given: dict[str, Any]
) -> None:
    if statistic == "items":
        run(items_rehearsal(file, given), settings)
        return
    if given["central"] is not None:
        if not given["value"] or given["level"] or given["levels"]:
            raise InvalidInputError(
                "Expected --value COLUMN with --central, and neither --level nor "
                "--levels: everybody gets the same noise."
            )
    elif not given["value"] or not (given["level"] or given["levels"]):
        raise InvalidInputError(
            "Expected --value COLUMN, and --level COLUMN or --levels "
            f"{parse.LEVEL_SHARES}, with FILE."
        )
    rehearsals = {
        "frequency": frequency_rehearsal,
        "mean": mean_rehearsal,
        "sum": sum_rehearsal,
        "strings": strings_rehearsal,
    }
    run(rehearsals[statistic](file, given, settings), settings)
