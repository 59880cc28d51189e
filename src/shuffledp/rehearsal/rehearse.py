"""A whole collection rehearsed on known values: from a data frame, or a table in a file.

`shuffledp estimate` is the same on the command line.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shuffledp.datasets.fetch import Progress
from shuffledp.datasets.frames import Frame, Source
from shuffledp.datasets.missing import Missing
from shuffledp.errors import DataError, InvalidInputError, MissingValueError
from shuffledp.option_text import in_python
from shuffledp.randomness import Rng, SystemRandom
from shuffledp.rehearsal.rehearsed import Rehearsed
from shuffledp.statistics.arguments import checked_arguments
from shuffledp.statistics.rehearsal_stage import OnStep, Rehearsal, Stage
from shuffledp.statistics.request import Request
from shuffledp.statistics.statistic_catalog import REHEARSALS, statistic_named
from shuffledp.statistics.summary import Summary
from shuffledp.types import Mode

# People who made up their data with the same seed must not meet the same random numbers.
_STREAM = 20_230_417


def rehearse(
    frame: Any,
    *,
    value: str | None = None,
    level: str | None = None,
    statistic: str | None = None,
    levels: Mapping[float, float] | Sequence[float] | None = None,
    targets: str | float | Mapping[float, float] | None = None,
    missing: Missing = "refuse",
    mode: Mode = "agnostic",
    delta: float = 1e-6,
    confidence: float = 0.95,
    seed: int | None = None,
    **options: Any,
) -> Rehearsed:
    """Rehearses a collection on values that are known, as `shuffledp estimate` does.

    Every value is randomized at its user's level, as a device would do; the messages are
    shuffled; the statistic is estimated and compared with the truth; and the
    guarantee of every level is certified. A warning says if levels depend on values.

    >>> import polars as pl
    >>> people = pl.DataFrame({
    ...     "answer": ["bike", "bike", "train", "walk"] * 500,
    ...     "epsilon": [1.0] * 1000 + [2.0] * 1000,
    ... })
    >>> result = rehearse(people, value="answer", level="epsilon", seed=1)
    >>> result.to_frame().columns
    ['category', 'estimate', 'standard_error', 'low', 'high', 'truth']
    >>> [row.name for row in result.summary.rows]
    ['bike', 'train', 'walk']
    >>> questions = {"answer": {"options": ["bike", "train", "walk"]}}
    >>> several = rehearse(people, questions=questions, targets="epsilon", seed=1)
    >>> several.estimates["answer"].value.round(-2).tolist()
    [1000.0, 500.0, 500.0]

    Args:
        frame: A row per person (of sets: a row per person and item): a data frame of
            Polars, pandas, Arrow, DuckDB or another library that narwhals knows; a mapping
            of columns; or the path of a table: .csv, .tsv, .txt, .jsonl, .ndjson, .parquet
            or .pq.
        value: The column with each person's value; of items each row's.
        level: The column with each person's local budget in nats.
        statistic: One of frequency, mean, sum, strings, items and questionnaire, as text;
            by default a questionnaire, if `questions` are given, or else frequency.
        levels: Without `level`, {privacy level: share of the people}, dealt out at
            random; with it, the levels that may occur.
        targets: Instead of levels, where people choose central epsilons: a column of
            targets, {target: share of the people}, or the target of all people.
        missing: "refuse" or "drop" people without a value or level: null, NaN or blank,
            and in files also NA, N/A, null or None. In a frame those are answers.
        mode: "agnostic", where levels travel apart from messages, or "stratified".
        delta: At which the guarantee is stated, in (0, 1).
        confidence: Of the intervals, in (0, 1).
        seed: Repeats a simulation; by default it draws from the operating system.
        options: The statistic's own, as the command line has them: `categories` (how
            many, or their names) and `mechanism` of a frequency; `low`, `high` and `clip`
            of a mean; `central` of a sum; `candidates` (a list, or a file) of strings;
            `person` and `set_size` of items; `questions` (a TOML file, a mapping or
            a list) of a questionnaire, each answered in a column of its name; and others.

    Returns:
        The result. It prints, has `to_frame()`, `plot()` and `report(path)`, and is
        displayed in a notebook.

    Raises:
        InvalidInputError: If a parameter, level or value is out of range.
        DataError: If the table is empty or unreadable, or lacks a column.
        MissingValueError: If a value or level is missing and `missing` is "refuse".
    """
    for name, column in (("value", value), ("level", level)):
        if not isinstance(column, str | None):
            raise InvalidInputError(
                f"Expected {name} to name a column, got {type(column).__name__}."
            )
    source = _source(frame)
    chosen_statistic = statistic_named(
        _usual_of(options) if statistic is None else statistic
    )
    if targets is not None:
        level, levels = _in_place_of_levels(targets, level, levels)
    dealt = isinstance(levels, Mapping)
    # Shares take the place of a column of levels; a list restricts that column.
    if levels is not None and not (_are_numbers(levels) and dealt == (level is None)):
        raise InvalidInputError(
            "Expected levels={EPSILON: SHARE, ...}, or levels=[EPSILON, ...] with level."
        )
    request = Request(
        people=source,
        value=value,
        level=level,
        shares=levels if isinstance(levels, Mapping) else None,
        allowed=tuple(levels) if isinstance(levels, Sequence) else None,
        missing=missing,
        mode=mode,
        given=checked_arguments(chosen_statistic, options),
    )
    try:
        # As on the command line: the same people and seed give the same numbers.
        return Rehearsed(
            perform(
                chosen_statistic.rehearsal(request),
                mode=mode,
                delta=delta,
                confidence=confidence,
                seed=seed,
            )
        )
    # Before its base class DataError: this message names a remedy.
    except MissingValueError as error:
        raise MissingValueError(
            f'{error} Leave such people out with missing="drop".'
        ) from error
    # Errors name options; here they are spelled as Python's arguments.
    except (InvalidInputError, DataError) as error:
        raise type(error)(in_python(error)) from error


def _source(frame: Any) -> Source:
    # A text is a path: read like the tables of the command line.
    if isinstance(frame, str | Path):
        return Path(frame)
    if not isinstance(frame, Mapping):
        return Frame(frame)
    columns = [_column(name, values) for name, values in frame.items()]
    try:
        return Frame(pl.DataFrame(columns))
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(
            "Expected a mapping of different names to columns of equal length."
        ) from error


def _column(name: object, values: Any) -> pl.Series:
    """Returns a column of a mapping; whole numbers among others are numbers, too."""
    if not isinstance(name, str):
        raise DataError(f"Expected names of columns as texts, got {name!r:.40}.")
    with suppress(TypeError, ValueError, pl.exceptions.PolarsError):
        return pl.Series(name, values)
    with suppress(TypeError, ValueError, pl.exceptions.PolarsError):
        if all(type(value) in (int, float, type(None)) for value in values):
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
    raise DataError(
        f"Expected column {name!r:.40} as a list of values of one kind, such as texts only."
    )


def _usual_of(options: Mapping[str, Any]) -> str:
    """Returns the statistic that takes the questions given, or else the first of all."""
    for name in REHEARSALS:
        for parameter in statistic_named(name).parameters:
            if parameter.kind == "described questions" and parameter.name in options:
                return name
    return REHEARSALS[0]


def _in_place_of_levels(
    targets: object, level: str | None, levels: object
) -> tuple[str | None, Mapping[float, float] | None]:
    """Returns a column of targets, or the share of people at each."""
    if level is not None or levels is not None:
        raise InvalidInputError("Expected either targets or levels, and not both.")
    if isinstance(targets, str):
        return targets, None
    if isinstance(targets, Mapping):
        return None, targets
    if isinstance(targets, int | float) and not isinstance(targets, bool):
        return None, {float(targets): 1.0}
    raise InvalidInputError(
        "Expected targets as the name of a column, {TARGET: SHARE, ...}, or a number, got "
        f"{type(targets).__name__}."
    )


def perform(
    rehearsal: Rehearsal,
    *,
    mode: Mode,
    delta: float,
    confidence: float,
    seed: int | None,
    on_bytes: Progress = lambda _done, _all: None,
    on_step: OnStep = lambda _step: None,
) -> Summary:
    """Runs a rehearsal from beginning to end.

    Args:
        rehearsal: Loads people, runs the collection and sums it up.
        mode: "agnostic" or "stratified".
        delta: At which the guarantee is stated, in (0, 1).
        confidence: Of the intervals, in (0, 1).
        seed: Repeats a simulation; None draws from the operating system.
        on_bytes: Called with (bytes done, bytes in all) of a download.
        on_step: Called with the name of a step before it begins.

    Raises:
        InvalidInputError: If the seed is not a whole number from 0, or anything else is out
            of range.
    """
    # True is an int in Python, and no seed.
    is_whole = isinstance(seed, int) and not isinstance(seed, bool)
    if seed is not None and not (is_whole and seed >= 0):
        raise InvalidInputError(f"Expected a seed >= 0, got {seed}.")
    rng: Rng = (
        SystemRandom() if seed is None else np.random.default_rng([seed, _STREAM])
    )
    stage = Stage(
        rng,
        mode=mode,
        delta=delta,
        confidence=confidence,
        seed=seed,
        on_bytes=on_bytes,
        on_step=on_step,
    )
    return rehearsal(stage)


def _are_numbers(levels: object) -> bool:
    """Returns whether this is {number: number} or a list of numbers."""
    if isinstance(levels, Mapping):
        return _are_numbers([*levels, *levels.values()])
    return isinstance(levels, Sequence) and all(
        isinstance(level, int | float) for level in levels
    )
