"""`shuffledp device`: answers of many people, as their devices would send them."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from shuffledp.cli.console import share_bar
from shuffledp.datasets.item_sets import read_item_sets, read_set_levels
from shuffledp.datasets.table import (
    bits_of,
    budgets_of,
    categories_of,
    numbers_of,
    read_columns,
    read_lines,
)
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.randomness import SystemRandom
from shuffledp.types import Floats

if TYPE_CHECKING:
    from shuffledp.service.wire.task import Task


@click.group("device")
def device_group() -> None:
    """Devices, simulated: randomize and seal answers, and send them to a shuffler."""


@device_group.command("send")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--value", metavar="COLUMN", help="What each person answers.")
@click.option("--person", metavar="COLUMN", help="Items: who; a row per item.")
@click.option("--item", metavar="COLUMN", help="Items: which.")
@click.option(
    "--level", required=True, metavar="COLUMN", help="Each person's privacy level."
)
@click.option("--shuffler", required=True, metavar="URL", help="Where it answers.")
@click.option(
    "--task",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="TASK.JSON",
    help="The public file of the task, from whoever asks the question. The shuffler's own "
    "word would not do: it could name a key that it can open answers with.",
)
@click.option(
    "--tokens",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="One token per line, from `shuffledp enrol`.",
)
@click.option(
    "--singly", is_flag=True, help="One upload per person, as real devices do."
)
def send_command(file: Path, **given: Any) -> None:
    """Answer for everybody in FILE, a CSV or Parquet table with a row per person.

    Answers are randomized with the operating system's entropy and sealed for the analyst
    before they leave; for items, the command waits for the plan between its two steps.

    \b
    Examples
      shuffledp device send survey.csv --value answer --level epsilon \\
        --shuffler http://127.0.0.1:8000 --task commuting/task.json --tokens tokens.txt
      shuffledp device send visits.csv --person visitor --item page --level epsilon \\
        --shuffler https://shuffler.example --task pages/task.json --tokens tokens.txt
    """
    from shuffledp.service.device import Crowd, send  # Needs the extra.
    from shuffledp.service.encode import level_places
    from shuffledp.service.secrets import load_task

    task = load_task(given["path"])
    rng = SystemRandom()
    values, levels = _people(file, task, given)
    level_places(task, levels)
    crowd = Crowd(values, levels, _tokens(given["tokens"], levels.size))
    with share_bar("send") as bar:
        delivery = asyncio.run(
            send(
                crowd,
                shuffler=given["shuffler"],
                identity=task.identity,
                expected=task.digest,
                rng=rng,
                reports_per_upload=1 if given["singly"] else 2000,
                progress=lambda done, total: bar(done / total),
            )
        )
    click.echo(f"{delivery.accepted:,} of {levels.size:,} reports were accepted.")
    for reason, count in sorted(delivery.refused.items()):
        click.echo(f"{count:,} were refused: {reason.value}.")


def _people(
    file: Path, task: "Task", given: dict[str, Any]
) -> tuple[np.ndarray[Any, Any], Floats]:
    """Returns everybody's value and level."""
    question = task.question
    sets = given["person"] and given["item"] and not given["value"]
    single = given["value"] and not (given["person"] or given["item"])
    if not (sets if task.has_items else single):
        wanted = "--person and --item" if task.has_items else "--value"
        raise InvalidInputError(f"Expected {wanted} for this task, and nothing else.")
    if task.has_items:
        held = read_item_sets(
            file,
            person=given["person"],
            item=given["item"],
            set_size=question.set_size,
            items=question.categories,
            rng=SystemRandom(),
        )
        who = {"person": given["person"], "level": given["level"]}
        return held.sets, read_set_levels(file, **who)
    named = [given["value"]] if question.statistic == "frequency" else []
    table = read_columns(file, [given["value"], given["level"]], as_text=named)
    column, levels = table[given["value"]], budgets_of(table[given["level"]])
    if question.statistic == "frequency":
        return categories_of(column, question.categories)[0], levels
    return (bits_of if question.statistic == "sum" else numbers_of)(column), levels


def _tokens(path: Path, count: int) -> list[bytes]:
    from shuffledp.service.wire.canonical import from_text
    from shuffledp.service.wire.refusal import Refusal
    from shuffledp.service.wire.tokens import TOKEN_SIZE

    lines = read_lines(path)
    if len(lines) < count:
        raise DataError(f"Expected {count:,} tokens in {path}, found {len(lines):,}.")
    try:
        return [from_text(line, TOKEN_SIZE, "a token") for line in lines[:count]]
    except Refusal as error:
        raise DataError(f"Expected tokens in {path}, one per line.") from error
