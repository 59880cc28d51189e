"""`shuffledp task`: a new task, and what its operator does."""

import asyncio
from pathlib import Path
from typing import Any, Literal, get_args

import click
from rich.markup import escape
from rich.table import Table

from shuffledp.cli import parse
from shuffledp.cli.console import show, working
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.service.wire.question import Question
from shuffledp.statistics.catalog import SURVEYS, survey_named
from shuffledp.statistics.survey import survey_in
from shuffledp.statistics.survey_terms import Term
from shuffledp.types import Mode

FOLDER = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
SHUFFLER = click.option(
    "--shuffler", required=True, metavar="URL", help="Where the shuffler answers."
)


@click.group("task")
def task_group() -> None:
    """A question that real people answer: create it; close and begin its epochs.

    \b
    1. The analyst creates a task:   shuffledp task create survey ...
    2. She keeps analyst.json, gives shuffler.json to whoever runs the shuffler, and
       publishes task.json: what people agree to when they answer.
    3. Tokens for people:            shuffledp enrol survey --count 1000
    4. Both run their service:       shuffledp serve --help
    5. Enough people answered:       shuffledp task close survey --shuffler URL
    6. Once more, a month later:     shuffledp task next survey --shuffler URL
    """


_KINDS = {name: survey_named(name) for name in SURVEYS}
_TYPES = {"texts": str, "number": float, "whole number": int}


def _term_options(command: Any) -> Any:
    """Adds an option for every term of any statistic, and whose it is."""
    owners: dict[Term, list[str]] = {}
    for name, kind in _KINDS.items():
        for term in kind.terms:
            owners.setdefault(term, []).append(name)
    # Applied from the bottom up, as options are.
    for term, names in reversed(owners.items()):
        usual = f" [{term.options[0]}]" if term.options else ""
        help_text = f"{' and '.join(names).capitalize()}: {term.help}{usual}."
        many = term.kind == "texts"
        command = click.option(
            f"--{term.option}",
            term.name,
            type=click.Choice(term.options) if term.options else _TYPES[term.kind],
            multiple=many,
            metavar="NAME" if many else None,
            help=help_text,
        )(command)
    return command


@task_group.command("create")
@FOLDER
@click.option("--name", required=True, help="What people call it.")
@click.option("--question", required=True, metavar="TEXT", help="As people read it.")
@click.option(
    "--statistic",
    type=click.Choice(SURVEYS),
    default=SURVEYS[0],
    show_default=True,
    help=f"{'; '.join(kind.asks for kind in _KINDS.values()).capitalize()}.",
)
@_term_options
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="agnostic",
    show_default=True,
    help="Agnostic: people hide among everybody, and the analyst learns how many chose a "
    "level, no more. Stratified: among their own level.",
)
@click.option(
    "--levels",
    metavar="EPSILON,...",
    help="Privacy levels on offer: local budgets.",
)
@click.option(
    "--targets",
    metavar="EPSILON,...",
    help=f"Instead, for {', '.join(n for n, kind in _KINDS.items() if kind.central)}: "
    "central epsilons on offer.",
)
@click.option(
    "--minimum",
    required=True,
    metavar="PEOPLE[,...]",
    help="Nothing is released before every level has so many people: one number for "
    "all levels, or one for each. With --targets: in all.",
)
@click.option(
    "--promise",
    metavar="EPSILON,...",
    help="Central epsilon that each level is promised per epoch [what the minimum keeps].",
)
@click.option("--delta", type=float, default=1e-6, show_default=True)
@click.option(
    "--absent",
    type=int,
    default=0,
    show_default=True,
    help="How many of those who answer may collude or send noise; they hide nobody.",
)
@click.option(
    "--epochs",
    type=int,
    default=10,
    show_default=True,
    help="How often it may be asked: the allowance is as many promises.",
)
@click.option(
    "--suite",
    type=click.Choice(["x25519", "x-wing"]),
    default="x25519",
    show_default=True,
    help="How messages are sealed; x-wing also against quantum computers, and 20 times "
    "longer.",
)
def create_command(folder: Path, **given: Any) -> None:
    """Write FOLDER: the task, and secret keys for the two parties.

    \b
    Examples
      shuffledp task create commuting --name Commuting \\
        --question "How do you get to work?" \\
        --category bike --category train --category car --category walk \\
        --levels 0.5,1,2 --minimum 1000 --epochs 12
      shuffledp task create sleep --name Sleep --statistic mean --low 0 --high 14 \\
        --question "How many hours did you sleep?" --levels 0.5,1 --minimum 2000,500 \\
        --promise 0.05,0.15 --delta 1e-7 --suite x-wing

    Promises that the smallest number of people cannot keep are refused.
    """
    from shuffledp.service.creation import create_task  # Needs the extra.
    from shuffledp.service.wire.sealing import Suite

    choices = _choices(given)
    promise = given["promise"]
    with working("draw keys and certify the smallest number of people"):
        task = create_task(
            folder,
            name=given["name"],
            question=_question(given),
            choices=choices,
            minimum=_minimum(given["minimum"], len(choices)),
            promise=promise and tuple(parse.number_list(promise, "--promise")),
            delta=given["delta"],
            absent=given["absent"],
            epochs=given["epochs"],
            suite=Suite(given["suite"]),
        )
    table = Table(title=escape(f"{task.name} ({task.identity})"))
    wanted = "people needed" if task.names_choices else "people needed in all"
    for title in (task.choice_word, wanted, "promised per epoch", "allowance"):
        table.add_column(title, justify="right")
    # Where choices are not named, one minimum counts for all together.
    least = task.minimum if task.names_choices else task.minimum[:1] * len(choices)
    for choice, people, epsilon, allowance in zip(
        task.choices, least, task.promise, task.allowance, strict=True
    ):
        table.add_row(f"{choice:g}", f"{people:,}", f"{epsilon:g}", f"{allowance:g}")
    show(
        table,
        f"Central epsilons, at delta {task.delta:g} per epoch.\n\n"
        f"{folder / 'task.json'}      for everybody\n"
        f"{folder / 'shuffler.json'}  secret: for whoever runs the shuffler, alone\n"
        f"{folder / 'analyst.json'}   secret: for the analyst, alone",
    )


def _choices(given: dict[str, Any]) -> tuple[float, ...]:
    """Returns the levels or the targets on offer."""
    central = _KINDS[given["statistic"]].central
    wanted, other = ("targets", "levels") if central else ("levels", "targets")
    if given[wanted] is None or given[other] is not None:
        raise InvalidInputError(
            f"Expected --{wanted}, and no --{other}, with {given['statistic']}."
        )
    return tuple(parse.level_list(given[wanted]))


def _question(given: dict[str, Any]) -> Question:
    kind = _KINDS[given["statistic"]]
    for other in _KINDS.values():
        for term in other.terms:
            missing, asked = given[term.name] in (None, ()), term in kind.terms
            needed = asked and term.needed and not term.options
            if needed if missing else not asked:
                only = "" if missing else "no "
                raise InvalidInputError(
                    f"Expected {only}--{term.option} with {kind.words.name}."
                )
    terms = {}
    for term in kind.terms:
        value = given[term.name]
        if value is None and term.options:
            value = term.options[0]
        if value is not None:
            terms[term.name] = value
    return Question(given["question"], survey_in(kind, terms, given["mode"]))


def _minimum(text: str, num_levels: int) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdecimal() for part in parts):
        raise InvalidInputError(f"Expected --minimum PEOPLE[,...], got {text!r}.")
    numbers = tuple(int(part[:20]) for part in parts)
    return numbers * num_levels if len(numbers) == 1 else numbers


@task_group.command("status")
@FOLDER
@SHUFFLER
def status_command(folder: Path, shuffler: str) -> None:
    """Say how many people have answered, exactly: everybody else sees rounded numbers.

    FOLDER needs task.json and shuffler.json.
    """
    from shuffledp.service.analyst.progress import read_progress
    from shuffledp.service.secrets import load_task

    task = load_task(folder)
    now = read_progress(_operate(folder, shuffler, "status"), task)
    click.echo(f"Epoch {now.epoch}, step {now.stage}: {now.phase}.")
    for choice, people, least in zip(
        task.counted, now.people, task.minimum, strict=False
    ):
        click.echo(f"  {task.named(choice)}: {people:,} of {least:,} people")
    for said, count in now.refused:
        click.echo(f"  refused: {count:,} ({said})")


@task_group.command("close")
@FOLDER
@SHUFFLER
def close_command(folder: Path, shuffler: str) -> None:
    """Close the open step: shuffle what came in, and hand it to the analyst.

    Refused while a level has fewer people than the task promises. FOLDER needs task.json
    and shuffler.json. Waits some seconds for the analyst's answer.
    """
    from shuffledp.service.operate import refused_for

    now = _operate(folder, shuffler, "close")
    if reason := refused_for(now):
        raise DataError(
            f"The step is closed, and the analyst refused its batch: {reason}. Without a "
            "remedy, drop it: shuffledp task abandon."
        )
    place = str(now.get("phase")), str(now.get("stage"))
    click.echo(_CLOSED.get(place, "The step is closed.").format(epoch=_epoch(now)))


@task_group.command("abandon")
@FOLDER
@SHUFFLER
def abandon_command(folder: Path, shuffler: str) -> None:
    """Drop a closed batch that the analyst refused, unopened.

    She refuses one when a level has too little left, for instance. Nothing is spent; what
    people sent is lost. The step is open again for everybody; or, if she had a batch of it
    already, the next epoch can begin.
    """
    now = _operate(folder, shuffler, "abandon")
    is_open = now.get("phase") == "open"
    then = "the step is open again" if is_open else "the next epoch can begin"
    click.echo(f"The batch was dropped; {then}.")


@task_group.command("next")
@FOLDER
@SHUFFLER
def next_command(folder: Path, shuffler: str) -> None:
    """Begin the next epoch, once this one is delivered; people need new tokens for it."""
    now = _operate(folder, shuffler, "epochs")
    click.echo(f"Epoch {_epoch(now)} is open.")


_WAITING = (
    "Epoch {epoch}: closed. The analyst does not have it yet; the shuffler goes on "
    "trying."
)
_CLOSED = {
    ("delivered", "answer"): "Epoch {epoch}: delivered; the analyst has it.",
    (
        "delivered",
        "choice",
    ): "Epoch {epoch}: choices are delivered; no plan follows: the epoch is over.",
    (
        "open",
        "answer",
    ): "Choices are closed; people now send their answers; then close again.",
    ("closed", "answer"): _WAITING,
    ("closed", "choice"): _WAITING,
}


def _operate(
    folder: Path, shuffler: str, what: Literal["status", "close", "abandon", "epochs"]
) -> dict[str, Any]:
    from shuffledp.service.operate import operate  # Needs the extra.

    return asyncio.run(operate(folder, shuffler, what))


def _epoch(now: dict[str, Any]) -> int:
    epoch = now.get("epoch")
    # What the shuffler says goes to a terminal.
    if not isinstance(epoch, int):
        raise DataError("Expected the shuffler to name an epoch.")
    return epoch
