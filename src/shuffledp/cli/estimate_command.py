"""`shuffledp estimate`: a whole collection, simulated on known values."""

from pathlib import Path
from typing import Any

import click

from shuffledp.cli import parse
from shuffledp.cli.collection_run import run
from shuffledp.cli.number_types import WHOLE
from shuffledp.cli.options import (
    Settings,
    collection_options,
    own_options,
    statistic_options,
)
from shuffledp.cli.shared_options import spark_option
from shuffledp.errors import DataError, InvalidInputError, MissingValueError
from shuffledp.extras import require_feature
from shuffledp.statistics.request import Request
from shuffledp.statistics.statistic_catalog import REHEARSALS, statistic_named


@click.command("estimate")
@click.argument("file", required=False, type=click.Path())
@click.option(
    "--statistic",
    type=click.Choice(REHEARSALS),
    default=REHEARSALS[0],
    show_default=True,
    help="How often each category occurs; the mean of numbers; how many people hold a 1; "
    "how many hold each string of a list; how many hold each item, of a few per person; "
    "all answers to the questions of a file.",
)
@click.option(
    "--value",
    metavar="COLUMN",
    help="The column with each person's value; of items each row's, of which a person may "
    "have several.",
)
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
    "or None, where --categories, --candidates or --questions name no such value [refuse].",
)
@click.option(
    "--seed", type=WHOLE, help="Repeat a simulation; by default, fresh randomness."
)
@spark_option
@statistic_options
@collection_options
def estimate_command(
    file: str | None,
    statistic: str,
    spark: str | None,
    settings: Settings,
    **given: Any,
) -> None:
    """Rehearse a collection on known values: of one kind, or answers to many questions.

    Every person's value is randomized at their level, as it would be on their device; the
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
        --mechanism "local-hashing(buckets=5)"
      shuffledp estimate --dataset msnbc --levels 0.5:0.25,1.0:0.5,2.0:0.25 --delta 1e-8
      shuffledp estimate answers.parquet --value answer --level epsilon --spark 'local[*]'

    \b
    The mean of numbers between two bounds:
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
      shuffledp estimate visits.csv --statistic items --person visitor --value page \\
        --level epsilon --set-size 4
      shuffledp estimate --dataset msnbc --statistic items --levels 0.5:0.5,1.0:0.5

    \b
    All answers to a questionnaire, in one report and with one certificate? Questions are in
    a TOML file, answers in columns of the questions' names; an empty cell is a question
    that was left out, which a number can be with skippable = true. Several answers of a
    cell are divided by semicolons. A level is a central epsilon here, too.
      shuffledp estimate city.csv --statistic questionnaire --questions city.toml \\
        --level epsilon
      shuffledp estimate city.csv --statistic questionnaire --questions city.toml \\
        --levels 1.0:1 --seed 1 --output city-report
    A question whose answers are in other columns:
      [questions.pay]
      kind = "group-mean"
      people = ["east", "west"]
      low = 0
      high = 9000
      columns = ["region", "income"]
    """
    chosen_statistic = statistic_named(statistic)
    request = _request(file, settings, given, own_options(chosen_statistic, given))
    try:
        if spark is None:
            run(chosen_statistic.rehearsal(request), settings)
        else:
            _run_on_spark(spark, statistic, request, file, settings)
    # Readers of tables do not know --missing, which other commands lack.
    except MissingValueError as error:
        raise DataError(
            f"{error} Leave such people out with --missing drop."
        ) from error


def _run_on_spark(
    url: str, statistic: str, request: Request, file: str | None, settings: Settings
) -> None:
    if file is None:
        raise InvalidInputError("Expected FILE with --spark, and no --dataset.")
    engine = require_feature("spark", what="--spark")
    with engine.on_spark(url) as spark:
        run(engine.rehearsal_on_spark(spark, statistic, request, file), settings)


def _request(
    file: str | None, settings: Settings, given: dict[str, Any], own: dict[str, Any]
) -> Request:
    """Returns the request with the columns of values and levels.

    Raises:
        InvalidInputError: If options contradict each other.
    """
    # Statistics without built-in data have no such parameter.
    if (file is None) == (own.get("dataset") is None):
        raise InvalidInputError("Expected either FILE or --dataset, and not both.")
    value, level, levels = given["value"], given["level"], given["levels"]
    # All that speaks of columns: a built-in data set has none to choose from.
    columns = {"value": value, "level": level, "missing": given["missing"]} | {
        key: own.get(key) for key in ("categories", "person")
    }
    if file is None and (any(columns.values()) or not levels):
        raise InvalidInputError(
            f"Expected --levels {parse.LEVEL_SHARES} with --dataset, and none of "
            f"{', '.join(f'--{name}' for name in columns)}."
        )
    # With --level, --levels lists the levels that may occur; without it, shares to draw.
    dealt = level is None and levels is not None
    return Request(
        people=None if file is None else Path(file),
        value=value,
        level=level,
        shares=parse.level_shares(levels) if dealt else None,
        allowed=tuple(parse.level_list(levels)) if levels and level else None,
        missing="drop" if given["missing"] == "drop" else "refuse",
        mode=settings.mode,
        given=own,
    )
