"""`shuffledp device`: answers of many people, as their devices would send them."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from shuffledp.cli.shared_options import task_option
from shuffledp.cli.waiting import share_bar
from shuffledp.datasets.item_tables import read_item_sets
from shuffledp.datasets.table import (
    bits_of,
    budgets_of,
    categories_of,
    numbers_of,
    read_columns,
    read_lines,
)
from shuffledp.errors import DataError, InvalidInputError, UnknownLevelError
from shuffledp.randomness import SystemRandom
from shuffledp.types import Floats

if TYPE_CHECKING:
    from shuffledp.service.device import Delivery
    from shuffledp.service.wire.task import Task

_COLUMNS = ("value", "person", "item")
_HINT = "tokens are good for one task and epoch: see shuffledp enrol --epoch"


@click.group("device")
def device_group() -> None:
    """Devices, simulated: randomize and seal answers, and send them to a shuffler."""


@device_group.command("send")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--value", metavar="COLUMN", help="What each person answers.")
@click.option(
    "--person", metavar="COLUMN", help="Of several answers: whose; a row each."
)
@click.option("--item", metavar="COLUMN", help="Of several answers: which.")
@click.option(
    "--level",
    required=True,
    metavar="COLUMN",
    help="Each person's privacy level, or central target, of those that the task offers.",
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
    help="One token or link per line, from `shuffledp enrol`; as many as there are people "
    "are taken from the top of the file.",
)
@click.option(
    "--receipts",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep the shuffler's receipts in a new file, a line for each upload, for "
    "`shuffledp device check`.",
)
@click.option(
    "--singly", is_flag=True, help="One upload per person, as real devices do."
)
@click.option(
    "--dummy",
    is_flag=True,
    help="Send what the analyst drops, and nobody else can tell: for people who do not "
    "want to be seen not answering.",
)
def send_command(file: Path, **given: Any) -> None:
    """Answer for everybody in FILE, a CSV or Parquet table with a row per person.

    Answers are randomized with the operating system's entropy and sealed for the analyst
    before they leave; where people choose central targets, the command waits for the plan
    between its two steps.

    \b
    Examples
      shuffledp device send survey.csv --value answer --level epsilon \\
        --shuffler http://127.0.0.1:8000 --task commuting/task.json --tokens tokens.txt
      shuffledp device send visits.csv --person visitor --item page --level epsilon \\
        --shuffler https://shuffler.example --task pages/task.json --tokens tokens.txt
    """
    from shuffledp.service.device import send  # Needs the extra.
    from shuffledp.service.encode import choice_places
    from shuffledp.service.secrets import load_task
    from shuffledp.service.uploads import SimulatedPeople
    from shuffledp.service.wire.refusal import Reason, Refusal

    task = load_task(given["path"])
    rng = SystemRandom()
    values, levels = _people(file, task, given)
    try:
        choice_places(task, levels)
    except UnknownLevelError as error:
        offered = ", ".join(f"{level:g}" for level in task.choices)
        raise UnknownLevelError(f"{error} It offers {offered}.") from error
    people = SimulatedPeople(
        values, levels, tokens_in(given["tokens"], levels.size, task)
    )
    with share_bar("send") as bar, receipts_file(given["receipts"]) as keep:
        sending = send(
            people,
            shuffler=given["shuffler"],
            identity=task.identity,
            expected=task.digest,
            rng=rng,
            reports_per_upload=1 if given["singly"] else 2000,
            dummy=given["dummy"],
            progress=lambda done, total: bar(done / total),
            keep=keep,
        )
        try:
            delivery = asyncio.run(sending)
        except Refusal as refusal:
            if refusal.reason is Reason.TOKEN_FORGED:
                raise DataError(f"{refusal} ({_HINT})") from refusal
            raise
    _show(delivery, levels.size)


@device_group.command("check")
@click.argument("receipts", type=click.Path(path_type=Path, dir_okay=False))
@task_option
@click.option("--analyst", required=True, metavar="URL", help="Where results are.")
def check_command(receipts: Path, path: Path, analyst: str) -> None:
    """Check RECEIPTS, and that their messages counted.

    They are a file that the participant's page saved, or `shuffledp device send`. The
    shuffler signed what it took in; the result is signed by the analyst, and names the list
    of the messages that it was computed from. The whole list is downloaded: nobody is asked
    about one message. Should the task's keys have been replaced since, the present
    task.json will do as well.
    """
    from shuffledp.service.checking import (  # Needs the extra.
        former_task,
        missing_messages,
    )
    from shuffledp.service.secrets import load_task
    from shuffledp.service.wire.inclusion import KeptReceipt
    from shuffledp.statistics.survey import EpochStage

    task = load_task(path)
    try:
        lines = receipts.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"Could not read {receipts}.") from error
    if not lines:
        raise DataError(f"Expected receipts in {receipts}, got none.")
    lines = list(dict.fromkeys(lines))  # One that was saved twice is one.
    named = [KeptReceipt.task_of(line) for line in lines]
    tasks = {
        digest: asyncio.run(former_task(digest, task, analyst)) for digest in set(named)
    }
    kept = [
        KeptReceipt.read(line, tasks[digest])
        for digest, line in zip(named, lines, strict=True)
    ]
    many = "this receipt" if len(kept) == 1 else f"all {len(kept):,} receipts"
    click.echo(f"The task's shuffler signed {many}.")
    answers = [each for each in kept if each.receipt.stage == EpochStage.ANSWER]
    if len(answers) < len(kept):
        click.echo("Choices are in no list: messages are listed for answers alone.")
    for epoch in sorted({each.receipt.epoch for each in answers}):
        concerned = [each for each in answers if each.receipt.epoch == epoch]
        messages = sum(len(each.messages) for each in concerned)
        missing = 0
        for digest, of in tasks.items():
            own = [each for each in concerned if each.receipt.task == digest]
            if own:
                missing += asyncio.run(missing_messages(own, of, analyst))
        if missing:
            raise DataError(
                f"{missing:,} of {messages:,} messages are missing in the batch that "
                f"the result of epoch {epoch:,} was computed from, though the shuffler "
                "signed that it keeps them."
            )
        click.echo(
            f"The signed result of epoch {epoch:,} counts "
            + ("its message." if messages == 1 else f"all {messages:,} messages.")
        )


@contextmanager
def receipts_file(path: Path | None) -> Iterator[Callable[[bytes], object]]:
    """Gives what keeps receipts; their file is there before anything is sent.

    Raises:
        DataError: If there is a file already, or nothing can be written.
    """
    if path is None:
        yield lambda _: None
        return
    try:
        # Whoever reads it knows who took part, and which messages were hers.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        file = os.fdopen(handle, "wb", buffering=0)
    except OSError as error:
        raise DataError(f"Expected to write receipts to a new file {path}.") from error
    try:
        with file:
            yield file.write
    finally:
        # Nothing was taken in: there is nothing to keep.
        if not path.stat().st_size:
            path.unlink()


def _show(delivery: "Delivery", people: int) -> None:
    """Says what became of the reports.

    Raises:
        DataError: If none was accepted.
    """
    from shuffledp.service.wire.refusal import Reason

    refused = [
        f"{count:,} were refused: {reason.value}"
        + (f" ({_HINT})." if reason is Reason.TOKEN_FORGED else ".")
        for reason, count in sorted(delivery.refused.items())
    ]
    said = [f"{delivery.accepted:,} of {people:,} reports were accepted.", *refused]
    if not delivery.accepted:
        raise DataError(" ".join(said))
    for line in said:
        click.echo(line)


def _people(
    file: Path, task: "Task", given: dict[str, Any]
) -> tuple[np.ndarray[Any, Any], Floats]:
    """Returns everybody's value and level."""
    form = task.question.survey.form
    wanted = ("person", "item") if form.kind == "some of" else ("value",)
    if any((given[name] is None) == (name in wanted) for name in _COLUMNS):
        options = " and ".join(f"--{name}" for name in wanted)
        raise InvalidInputError(f"Expected {options} for this task, and nothing else.")
    if form.kind == "some of":
        held = read_item_sets(
            file,
            person=given["person"],
            item=given["item"],
            level=given["level"],
            set_size=form.most,
            items=form.options,
            rng=SystemRandom(),
        )
        assert held.levels is not None  # They were asked for.
        return held.sets, held.levels
    named = [given["value"], given["level"]]
    table = read_columns(file, named, known=form.options)
    column, levels = table[given["value"]], budgets_of(table[given["level"]])
    if form.kind == "one of":
        return categories_of(column, form.options)[0], levels
    return (bits_of if form.kind == "yes or no" else numbers_of)(column), levels


def tokens_in(path: Path, count: int, task: "Task") -> list[bytes]:
    """Returns so many tokens from the top of a file of tokens or links.

    Raises:
        DataError: If it has fewer, or others, or links to another task.
    """
    from shuffledp.service.wire.canonical import from_text
    from shuffledp.service.wire.refusal import Refusal
    from shuffledp.service.wire.tokens import TOKEN_SIZE

    empty = path.is_file() and not path.stat().st_size
    lines = () if empty else read_lines(path)
    if len(lines) < count:
        raise DataError(f"Expected {count:,} tokens in {path}, found {len(lines):,}.")
    links = [
        line.rpartition("#token=")[2].partition("&task=") for line in lines[:count]
    ]
    if any(digest not in ("", task.fingerprint) for _, _, digest in links):
        raise DataError(f"Expected links to this very task in {path}.")
    try:
        return [from_text(token, TOKEN_SIZE, "a token") for token, _, _ in links]
    except Refusal as error:
        raise DataError(f"Expected tokens in {path}, one per line.") from error
