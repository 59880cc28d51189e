"""From the options of `estimate` to a rehearsal: where values and levels come from."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from shuffledp.cli import parse
from shuffledp.cli.options import Settings
from shuffledp.cli.rehearse import (
    Categories,
    rehearse_frequency,
    rehearse_items,
    rehearse_mean,
    rehearse_strings,
    rehearse_sum,
)
from shuffledp.cli.run import Rehearsal, Stage
from shuffledp.datasets.item_sets import load_msnbc_sets
from shuffledp.datasets.item_tables import read_item_sets
from shuffledp.datasets.missing import Missing
from shuffledp.datasets.msnbc import MSNBC_CATEGORIES, load_msnbc
from shuffledp.datasets.spellings import spelling_warnings
from shuffledp.datasets.table import (
    Table,
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
from shuffledp.randomizers.numbers import number_randomizer
from shuffledp.randomness import Rng
from shuffledp.report.summary import Summary
from shuffledp.statistics.collection import assign_levels
from shuffledp.statistics.mean.protocol import Mean, check_spread
from shuffledp.statistics.strings.protocol import Strings
from shuffledp.types import Floats

Given = dict[str, Any]


def msnbc_rehearsal(given: Given) -> Rehearsal:
    """Returns a rehearsal of frequencies on real visits."""
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


def frequency_rehearsal(file: Path, given: Given, _settings: Settings) -> Rehearsal:
    """Returns a rehearsal of frequencies in a column."""
    text, parameters = given["categories"], _parameters(given)

    def rehearse(stage: Stage) -> Summary:
        names = None if text is None else parse.category_names(text)
        table = _read(file, given, known=names if isinstance(names, tuple) else ())
        categories = Categories(*categories_of(table[given["value"]], names))
        found = categories.names if names is None else ()
        return rehearse_frequency(
            stage.noting(table.notes, spelling_warnings(found, "Categories")),
            categories,
            _levels(table, given, stage.rng),
            _source(file, given),
            mechanism=given["mechanism"],
            parameters=parameters,
        )

    return rehearse


def mean_rehearsal(file: Path, given: Given, settings: Settings) -> Rehearsal:
    """Returns a rehearsal of the mean of a column."""
    low, high, spread = given["low"], given["high"], given["spread"]
    if low is None or high is None:
        raise InvalidInputError(
            "Expected --low A and --high B, the bounds of the values, with --statistic "
            "mean."
        )
    protocol = Mean(
        low,
        high,
        settings.mode,
        number_randomizer(given["mechanism"] or "one-bit", low, high),
    )
    check_spread(spread, low, high)

    def rehearse(stage: Stage) -> Summary:
        table = _read(file, given)
        return rehearse_mean(
            stage.noting(table.notes),
            numbers_of(table[given["value"]]),
            _levels(table, given, stage.rng),
            _source(file, given),
            protocol=protocol,
            spread=spread,
            clip=given["clip"],
        )

    return rehearse


def sum_rehearsal(file: Path, given: Given, _settings: Settings) -> Rehearsal:
    """Returns a rehearsal of the sum of a column of bits."""

    def rehearse(stage: Stage) -> Summary:
        table, central = _read(file, given), given["central"]
        return rehearse_sum(
            stage.noting(table.notes),
            bits_of(table[given["value"]]),
            None if central is not None else _levels(table, given, stage.rng),
            _source(file, given),
            central=central,
        )

    return rehearse


def strings_rehearsal(file: Path, given: Given, settings: Settings) -> Rehearsal:
    """Returns a rehearsal of the strings of a column."""
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
        known = candidates or ()
        table = _read(file, given, known=known)
        strings = strings_of(table[given["value"]], known)
        warnings = spelling_warnings({*strings, *known}, "Strings")
        return rehearse_strings(
            stage.noting(table.notes, warnings),
            strings,
            _levels(table, given, stage.rng),
            _source(file, given),
            protocol=protocol,
            candidates=candidates,
            false_discovery_rate=0.05 if rate is None else rate,
        )

    return rehearse


def items_rehearsal(file: Path, given: Given) -> Rehearsal:
    """Returns a rehearsal of sets, one row per person and item."""
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
            level=level,
            set_size=given["set_size"],
            items=None if text is None else parse.category_names(text),
            missing=_missing(given),
            rng=stage.rng,
        )
        levels = held.levels
        if levels is None:
            shares = parse.level_shares(given["levels"])
            levels = assign_levels(shares, held.sets.shape[0], rng=stage.rng)
        else:
            _check_allowed(levels, given)
        found = held.names[: held.num_real] if text is None else ()
        stage = stage.noting(held.notes, spelling_warnings(found, "Items"))
        source = f"{file.name}, column {item}"
        return rehearse_items(stage, held, levels, source, *caveats)

    return rehearse


def msnbc_sets_rehearsal(given: Given) -> Rehearsal:
    """Returns a rehearsal of sets on real visits."""
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


def _missing(given: Given) -> Missing:
    return "drop" if given["missing"] == "drop" else "refuse"


def _read(file: Path, given: Given, known: Collection[str] = ()) -> Table:
    """Reads the columns of values and levels."""
    value, level = given["value"], given["level"]
    columns = [value] if level is None else [value, level]
    return read_columns(file, columns, missing=_missing(given), known=known)


def _levels(table: Table, given: Given, rng: Rng) -> Floats:
    """Returns everybody's level: from a column, or dealt out."""
    level, levels = given["level"], given["levels"]
    if level is None:
        return assign_levels(parse.level_shares(levels), table.num_users, rng=rng)
    epsilons = budgets_of(table[level])
    _check_allowed(epsilons, given)
    return epsilons


def _check_allowed(epsilons: Floats, given: Given) -> None:
    """Raises UnknownLevelError if a level is none of those that may occur."""
    if given["levels"] is not None:
        allowed = Population.from_budgets(parse.level_list(given["levels"]))
        allowed.level_indices(epsilons)
