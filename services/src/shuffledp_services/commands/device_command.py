"""`shuffledp device`: simulated devices that answer a task."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from shuffledp.cli.waiting import share_bar
from shuffledp.datasets.answer_tables import read_answers
from shuffledp.datasets.column_values import (
    bits_of,
    budgets_of,
    categories_of,
    numbers_of,
)
from shuffledp.datasets.item_tables import read_item_sets
from shuffledp.datasets.table import read_columns
from shuffledp.errors import DataError, InvalidInputError, UnknownLevelError
from shuffledp.types import Floats
from shuffledp_services.commands.device_check import check_command
from shuffledp_services.commands.invitation_file import invitations_in
from shuffledp_services.commands.receipts_file import receipts_file
from shuffledp_services.commands.service_options import ca_option

if TYPE_CHECKING:
    from shuffledp.statistics.survey import Form
    from shuffledp_services.device.simulated_devices import Delivery
    from shuffledp_services.wire.task import Task

_STATE = "device.db"
_HINTS = {
    "token-forged": "tokens are good for one task and epoch: see shuffledp enrol --epoch",
    "token-spent": "a report with the same token was accepted before, and stays",
}


@click.group("device")
def device_group() -> None:
    """Devices, simulated: randomize and seal answers, and send them to a shuffler."""


device_group.add_command(check_command)


@device_group.command("send")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--value",
    multiple=True,
    metavar="COLUMN",
    help="What each person answers; of several questions once for each, in their order. "
    "There a cell may be empty, or hold several answers, divided by semicolons; a number "
    "has to be stated unless the task says that it may be skipped.",
)
@click.option(
    "--person",
    metavar="COLUMN",
    help="Where people hold several items: whose the row's value is.",
)
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
    help="One link per line, from `shuffledp enrol`; as many as there are people are taken "
    "from the top of the file.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="What the devices keep for good: a secret, and what they sent [device.db beside "
    "the tokens].",
)
@click.option(
    "--allow-changed-answers",
    is_flag=True,
    help="Send other answers than before, though the first may have been recorded: each "
    "costs one more whole local level.",
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
@ca_option
def send_command(file: Path, **given: Any) -> None:
    """Answer for all people in FILE, a CSV or Parquet table with a row per person.

    Answers are randomized and sealed for the analyst before they leave; where people
    choose central targets, the command waits for the plan between its two steps.

    Randomness is permanent: it depends on a secret of the devices, which the operating
    system draws once, and on that of each link. Sending again gives away nothing new: it
    is the same randomized answer, or is refused. Links are good for one epoch, and no
    device takes part in more epochs than the task has.
    A plan is followed only if the analyst signed it, it keeps the task's rule for plans,
    and no other was answered in its epoch.

    Exits with 0 if every report was accepted, with 1 if some were and others refused, and
    with 2 if none was.

    \b
    Examples
      shuffledp device send survey.csv --value answer --level epsilon \\
        --shuffler http://127.0.0.1:8000 --task commuting/task.json --tokens tokens.txt
      shuffledp device send visits.csv --person visitor --value page --level epsilon \\
        --shuffler https://shuffler.example --task pages/task.json --tokens tokens.txt
    """
    # Imported here: devices need the extra of services.
    from shuffledp_services.device.device_state import DeviceState
    from shuffledp_services.device.encode import choice_indices
    from shuffledp_services.device.permanent_randomness import PermanentRandomness
    from shuffledp_services.device.simulated_devices import send
    from shuffledp_services.device.uploads import SimulatedPeople
    from shuffledp_services.storage.key_files import load_task
    from shuffledp_services.wire.refusal import Reason, Refusal

    task = load_task(given["path"])
    values, levels = _people(file, task, given)
    # Before tokens are read and anything is sent.
    try:
        choice_indices(task, levels)
    except UnknownLevelError as error:
        offered = ", ".join(f"{level:g}" for level in task.choices)
        raise UnknownLevelError(f"{error} It offers {offered}.") from error
    invitations = invitations_in(given["tokens"], levels.size, task)
    people = SimulatedPeople(values, levels, [each.token for each in invitations])
    with (
        # First: a file that cannot be written is refused before a state is begun.
        receipts_file(given["receipts"]) as keep,
        # Beside the tokens, so that a second run with them finds the first one.
        DeviceState(given["state"] or given["tokens"].with_name(_STATE)) as state,
        share_bar("send") as bar,
    ):
        rng = PermanentRandomness(
            state, invitations, allow_changes=given["allow_changed_answers"]
        )
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
            ca=given["ca"],
        )
        try:
            delivery = asyncio.run(sending)
        except Refusal as refusal:
            # The reason alone does not say that another epoch's tokens look forged.
            if refusal.reason is Reason.TOKEN_FORGED:
                raise DataError(f"{refusal} ({_HINTS[refusal.reason]})") from refusal
            raise
    _show(delivery, levels.size)
    if delivery.refused:
        sys.exit(1)


def _show(delivery: "Delivery", people: int) -> None:
    """Prints the numbers of accepted and refused reports.

    Raises:
        DataError: If none was accepted.
    """
    refused = []
    for reason, count in sorted(delivery.refused.items()):
        hint = f" ({_HINTS[reason]})" if reason in _HINTS else ""
        refused.append(f"{count:,} were refused: {reason.value}{hint}.")
    lines = [f"{delivery.accepted:,} of {people:,} reports were accepted.", *refused]
    # As an error the exit code is 2; it is 1 if only some are refused.
    if not delivery.accepted:
        raise DataError(" ".join(lines))
    for line in lines:
        click.echo(line)


def _people(
    file: Path, task: "Task", given: dict[str, Any]
) -> tuple[np.ndarray[Any, Any], Floats]:
    """Returns the value and the level of each person."""
    form = task.question.survey.form
    # A set takes several rows: each names its person and one item.
    held = form.kind == "some of"
    if not given["value"] or (given["person"] is not None) != held:
        options = "--value and --person" if held else "--value and no --person"
        raise InvalidInputError(f"Expected {options} for this task.")
    if len(given["value"]) > 1 and form.kind != "several":
        raise InvalidInputError("Expected one --value: this task has one question.")
    if held:
        item_sets = read_item_sets(
            file,
            person=given["person"],
            item=given["value"][0],
            level=given["level"],
            set_size=form.most,
            items=form.options,
            # The choice among too many items adds no privacy. Seeded by the task, a second
            # run makes the same choice: its answers are not refused as changed ones.
            rng=np.random.default_rng(list(task.digest)),
        )
        assert item_sets.levels is not None  # They were asked for.
        # Permanent randomness depends on the order of items in a row.
        return np.sort(item_sets.sets, axis=1), item_sets.levels
    if form.kind == "several":
        return _answers_of(file, form.parts, given)
    (value,) = given["value"]
    # An answer such as "NA" is a value if the task offers it.
    table = read_columns(file, [value, given["level"]], known=form.options)
    column, levels = table[value], budgets_of(table[given["level"]])
    if form.kind == "one of":
        return categories_of(column, form.options)[0], levels
    return (bits_of if form.kind == "yes or no" else numbers_of)(column), levels


def _answers_of(
    file: Path, parts: Sequence["Form"], given: dict[str, Any]
) -> tuple[np.ndarray[Any, Any], Floats]:
    """Returns people's answers to several questions, and their levels."""
    columns = given["value"]
    if len(columns) != len(parts):
        raise InvalidInputError(
            f"Expected a --value for each of {len(parts)} questions, got {len(columns)}."
        )
    pairs = list(zip(columns, parts, strict=True))
    numbers = {column: part.ends for column, part in pairs if part.ends is not None}
    if len(numbers) < sum(part.ends is not None for part in parts):
        raise InvalidInputError("Expected a column of its own for each question.")
    skippable = [column for column, part in pairs if part.skippable]
    picked = [column for column, part in pairs if part.ends is None]
    questions = [(part.options, part.most) for part in parts if part.ends is None]
    return read_answers(
        file,
        picked,
        questions,
        level=given["level"],
        numbers=numbers,
        skippable=skippable,
    )
