"""`shuffledp estimate`: a whole collection, rehearsed on known values."""

from collections.abc import Callable
from pathlib import Path

import click

from shuffledp.cli import parse
from shuffledp.cli.options import Settings, collection_options
from shuffledp.cli.run import People, run
from shuffledp.datasets.fetch import Progress
from shuffledp.datasets.msnbc import MSNBC_CATEGORIES, load_msnbc
from shuffledp.datasets.table import budgets_of, categories_of, read_columns
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.protocols.collection import assign_levels
from shuffledp.randomness import Rng


@click.command("estimate")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--value", metavar="COLUMN", help="The column with each person's value.")
@click.option(
    "--level", metavar="COLUMN", help="The column with each person's epsilon."
)
@click.option(
    "--categories",
    metavar="K|NAMES",
    help="How many values there are (0 to K-1), or their names; by default those that "
    "occur in the column.",
)
@click.option(
    "--dataset",
    type=click.Choice(["msnbc"]),
    help="Instead of FILE: the first page of 989,818 visits to a news site. Read from the "
    "folder that SHUFFLEDP_DATA names, or downloaded once.",
)
@click.option(
    "--levels",
    metavar=parse.LEVEL_SHARES,
    help="Privacy levels and the share of people at each, dealt out at random. With "
    "--level: the levels that may occur, as EPSILON,...",
)
@click.option(
    "--seed", type=int, help="Repeat a simulation; by default, fresh randomness."
)
@collection_options
def estimate_command(
    file: Path | None,
    value: str | None,
    level: str | None,
    categories: str | None,
    dataset: str | None,
    levels: str | None,
    settings: Settings,
) -> None:
    """Rehearse a collection on known values: how often does each category occur?

    Every person's value is randomized at her level, as it would be on her device; the
    messages are shuffled; frequencies are estimated and compared with the truth; and the
    guarantee of every level is certified.

    \b
    Examples:
      shuffledp estimate survey.csv --value answer --level epsilon --delta 1e-6
      shuffledp estimate survey.csv --value answer --levels 0.5:0.25,1.0:0.5,2.0:0.25
      shuffledp estimate --dataset msnbc --levels 0.5:0.25,1.0:0.5,2.0:0.25 --delta 1e-8
    """
    if (file is None) == (dataset is None):
        raise InvalidInputError("Expected either FILE or --dataset, and not both.")
    if file is None:
        if value or level or categories or not levels:
            raise InvalidInputError(
                f"Expected --levels {parse.LEVEL_SHARES} with --dataset, and none of "
                "--value, --level, --categories."
            )
        run("MSNBC, first page of each visit", _msnbc(levels), settings)
        return
    if not value or not (level or levels):
        raise InvalidInputError(
            "Expected --value COLUMN, and --level COLUMN or --levels "
            f"{parse.LEVEL_SHARES}, with FILE."
        )
    run(
        f"{file.name}, column {value}",
        _table(file, value, level, categories, levels),
        settings,
    )


def _msnbc(levels: str) -> Callable[[Rng, Progress], People]:
    def load(rng: Rng, progress: Progress) -> People:
        shares = parse.level_shares(levels)
        values = load_msnbc(progress=progress)
        return People(
            values, assign_levels(shares, values.size, rng=rng), MSNBC_CATEGORIES
        )

    return load


def _table(
    file: Path,
    value: str,
    level: str | None,
    categories: str | None,
    levels: str | None,
) -> Callable[[Rng, Progress], People]:
    def load(rng: Rng, _progress: Progress) -> People:
        given = None if categories is None else parse.category_names(categories)
        columns = [value] if level is None else [value, level]
        frame = read_columns(file, columns, as_text=value if value != level else None)
        values, names = categories_of(frame[value], given)
        if level is None:
            shares = parse.level_shares(levels or "")
            return People(values, assign_levels(shares, values.size, rng=rng), names)
        epsilons = budgets_of(frame[level])
        if levels is not None:
            allowed = Population.from_budgets(parse.level_list(levels))
            allowed.level_indices(epsilons)
        return People(values, epsilons, names)

    return load
