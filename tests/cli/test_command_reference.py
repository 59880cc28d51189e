"""Agreement of the docs on the command line with the command line itself."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_line import Command
from command_reference import document

from shuffledp.cli.main import app

pytest.importorskip("shuffledp_services", reason="Needs shuffledp-services.")
pytest.importorskip("shuffledp_papers", reason="Needs shuffledp-papers.")

DOCS = Path(__file__).parents[2] / "docs"


def every_command(
    command: click.Command, context: click.Context
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield context.command_path, command
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        below = click.Context(found, parent=context, info_name=name)
        yield from every_command(found, below)


COMMANDS = dict(every_command(app, click.Context(app, info_name="shuffledp")))
# Words between the name of the program and that of a command; () is the program.
GROUPS = sorted({tuple(name.split()[1:-1]) for name in COMMANDS})


def test_the_reference_is_what_help_says() -> None:
    written = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")

    assert written == document(), "Run scripts/document-commands."


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_a_group_alone_prints_its_help_as_an_error(
    command: Command, group: tuple[str, ...]
) -> None:
    outcome = command(*group)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"Usage: {' '.join(['shuffledp', *group])} ")


def examples() -> list[tuple[str, list[str]]]:
    """The commands of docs/how-to/command-line.md, and the words that follow them."""
    text = (DOCS / "how-to" / "command-line.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    lines = blocks.replace("\\\n", " ").splitlines()
    found = []
    for line in lines:
        words = shlex.split(line.partition(" | ")[0], comments=True)
        if words:
            # Names of commands have one word after "shuffledp", or two.
            name = next(n for k in (3, 2) if (n := " ".join(words[:k])) in COMMANDS)
            found.append((name, words[len(name.split()) :]))
    return found


def test_every_command_has_an_example() -> None:
    assert len(COMMANDS) > 30
    assert set(COMMANDS) == {name for name, _ in examples()}


@pytest.mark.parametrize(("name", "words"), examples())
def test_examples_are_what_commands_take(name: str, words: list[str]) -> None:
    options = {
        spelled: option
        for option in COMMANDS[name].params
        if isinstance(option, click.Option)
        for spelled in option.opts
    }
    given = {word for word in words if word.startswith("--")}

    assert given <= set(options)
    needed = {option.opts[0] for option in options.values() if option.required}
    assert needed <= given


def test_every_option_says_what_it_is_for() -> None:
    options = [
        (name, option.opts[0], option.help)
        for name, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option)
    ]

    assert [(name, what) for name, what, said in options if not said] == []
