"""`shuffledp estimate`: a whole collection, rehearsed on known values."""

from pathlib import Path
from typing import Any

import click
import polars as pl

from shuffledp.cli import parse
from shuffledp.cli.options import (
    Settings,
    check_options,
    collection_options,
    statistic_options,
)
from shuffledp.cli.rehearse import (
    Categories,
    rehearse_frequency,
    rehearse_items,
    rehearse_mean,
    rehearse_strings,
    rehearse_sum,
)
from shuffledp.cli.run import Rehearsal, Stage, run
from shuffledp.datasets.item_sets import (
    load_msnbc_sets,
    read_item_sets,
    read_set_levels,
)
from shuffledp.datasets.msnbc import MSNBC_CATEGORIES, load_msnbc
from shuffledp.datasets.table import (
    bits_of,
    budgets_of,
    categories_of,
    numbers_of,
    read_columns,
    read_lines,
    strings_of,
)
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.protocols.collection import assign_levels
from shuffledp.protocols.mean import Mean, check_spread
from shuffledp.protocols.strings import Strings
from shuffledp.randomness import Rng
from shuffledp.report.summary import STATISTICS, Statistic, Summary
from shuffledp.types import Floats

Given = dict[str, Any]


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
        names = ("value", "level", "categories", "person", "item")
        if any(given[name] for name in names) or not given["levels"]:
            raise InvalidInputError(
                f"Expected --levels {parse.LEVEL_SHARES} with --dataset, and none of "
                f"{', '.join(f'--{name}' for name in names)}."
            )
        run((_msnbc_sets if statistic == "items" else _msnbc)(given), settings)
        return
    if statistic == "items":
        run(_items(file, given), settings)
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
        "frequency": _frequency,
        "mean": _mean,
        "sum": _sum,
        "strings": _strings,
    }
    run(rehearsals[statistic](file, given, settings), settings)


def _msnbc(given: Given) -> Rehearsal:
    parameters = _parameters(given)

    def rehearse(stage: Stage) -> Summary:
        values = load_msnbc(progress=stage.on_bytes)
        shares = parse.level_shares(given["levels"])
        return rehearse_frequency(
            stage,
            Categories(values, MSNBC_CATEGORIES),
            assign_levels(shares, values.size, rng=stage.rng),
            "MSNBC, first page of each visit",
            mechanism=given["mechanism"],
            parameters=parameters,
        )

    return rehearse


def _frequency(file: Path, given: Given, _settings: Settings) -> Rehearsal:
    text, parameters = given["categories"], _parameters(given)

    def rehearse(stage: Stage) -> Summary:
        names = None if text is None else parse.category_names(text)
        frame = _read(file, given, as_text=True)
        categories = Categories(*categories_of(frame[given["value"]], names))
        return rehearse_frequency(
            stage,
            categories,
            _levels(frame, given, stage.rng),
            _source(file, given),
            mechanism=given["mechanism"],
            parameters=parameters,
        )

    return rehearse


def _mean(file: Path, given: Given, settings: Settings) -> Rehearsal:
    low, high, spread = given["low"], given["high"], given["spread"]
    if low is None or high is None:
        raise InvalidInputError(
            "Expected --low A and --high B, the bounds of the values, with --statistic "
            "mean."
        )
    protocol = Mean(low, high, given["mechanism"] or "one-bit", settings.mode)
    check_spread(spread, low, high)

    def rehearse(stage: Stage) -> Summary:
        frame = _read(file, given)
        return rehearse_mean(
            stage,
            numbers_of(frame[given["value"]]),
            _levels(frame, given, stage.rng),
            _source(file, given),
            protocol=protocol,
            spread=spread,
            clip=given["clip"],
        )

    return rehearse


def _sum(file: Path, given: Given, _settings: Settings) -> Rehearsal:
    def rehearse(stage: Stage) -> Summary:
        frame, central = _read(file, given, as_text=True), given["central"]
        return rehearse_sum(
            stage,
            bits_of(frame[given["value"]]),
            None if central is not None else _levels(frame, given, stage.rng),
            _source(file, given),
            central=central,
        )

    return rehearse


def _strings(file: Path, given: Given, settings: Settings) -> Rehearsal:
    names = {"bits": "num_bits", "hashes": "num_hashes", "cohorts": "num_cohorts"}
    chosen = {
        name: given[option]
        for option, name in names.items()
        if given[option] is not None
    }
    protocol = Strings(mode=settings.mode, **chosen)
    rate = given["false_discovery_rate"]

    def rehearse(stage: Stage) -> Summary:
        path = given["candidates"]
        candidates = None if path is None else read_lines(path)
        frame = _read(file, given, as_text=True)
        return rehearse_strings(
            stage,
            strings_of(frame[given["value"]]),
            _levels(frame, given, stage.rng),
            _source(file, given),
            protocol=protocol,
            candidates=candidates,
            false_discovery_rate=0.05 if rate is None else rate,
        )

    return rehearse


def _items(file: Path, given: Given) -> Rehearsal:
    person, item, level = given["person"], given["item"], given["level"]
    text = given["categories"]
    caveats: tuple[str, ...] = ()
    if text is None:
        caveats = (
            "Items are those of the column: a real analyst must know hers beforehand.",
        )
    missing = not (person and item) or not (level or given["levels"])
    if missing or given["value"]:
        raise InvalidInputError(
            "Expected --person COLUMN and --item COLUMN, and --level COLUMN or --levels "
            f"{parse.LEVEL_SHARES}, with --statistic items, and no --value."
        )

    def rehearse(stage: Stage) -> Summary:
        held = read_item_sets(
            file,
            person=person,
            item=item,
            set_size=given["set_size"],
            items=None if text is None else parse.category_names(text),
            rng=stage.rng,
        )
        if level is None:
            shares = parse.level_shares(given["levels"])
            levels = assign_levels(shares, held.sets.shape[0], rng=stage.rng)
        else:
            levels = read_set_levels(file, person=person, level=level)
            _check_allowed(levels, given)
        source = f"{file.name}, column {item}"
        return rehearse_items(stage, held, levels, source, *caveats)

    return rehearse


def _msnbc_sets(given: Given) -> Rehearsal:
    size = given["set_size"]

    def rehearse(stage: Stage) -> Summary:
        shares = parse.level_shares(given["levels"])
        held = load_msnbc_sets(
            set_size=4 if size is None else size,
            rng=stage.rng,
            progress=stage.on_bytes,
        )
        levels = assign_levels(shares, held.sets.shape[0], rng=stage.rng)
        return rehearse_items(
            stage, held, levels, "MSNBC, kinds of pages of each visit"
        )

    return rehearse


def _parameters(given: Given) -> Given:
    names = ("subset_size", "buckets", "variant")
    return {name: given[name] for name in names if given[name] is not None}


def _source(file: Path, given: Given) -> str:
    return f"{file.name}, column {given['value']}"


def _read(file: Path, given: Given, *, as_text: bool = False) -> pl.DataFrame:
    """Reads the columns of values and levels."""
    value, level = given["value"], given["level"]
    columns = [value] if level is None else [value, level]
    text = [value] if as_text and value != level else []
    return read_columns(file, columns, as_text=text)


def _levels(frame: pl.DataFrame, given: Given, rng: Rng) -> Floats:
    """Returns everybody's level: from a column, or dealt out."""
    level, levels = given["level"], given["levels"]
    if level is None:
        return assign_levels(parse.level_shares(levels), frame.height, rng=rng)
    epsilons = budgets_of(frame[level])
    _check_allowed(epsilons, given)
    return epsilons


def _check_allowed(epsilons: Floats, given: Given) -> None:
    """Raises UnknownLevelError if a level is none of those that may occur."""
    if given["levels"] is not None:
        allowed = Population.from_budgets(parse.level_list(given["levels"]))
        allowed.level_indices(epsilons)
