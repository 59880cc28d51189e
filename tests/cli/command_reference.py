"""Writes docs/reference/commands.md: every command and option, as `--help` has them."""

import textwrap
from collections.abc import Iterator
from typing import Any

import click

from shuffledp.cli.main import app

HEAD = """# Every command and its options

Written by `scripts/document-commands` from what `--help` says.
[command-line.md](../how-to/command-line.md) shows how they are used.
"""


def document() -> str:
    """The whole page."""
    context = click.Context(app, info_name="shuffledp")
    return "\n".join([HEAD, *_of(app, context)])


def _of(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yields the sections of a command; options of a whole group are listed once."""
    if not isinstance(command, click.Group):
        yield from _section(command, context, frozenset())
        return
    below = [
        (found, click.Context(found, parent=context, info_name=name))
        for name in command.list_commands(context)
        if (found := command.get_command(context, name)) is not None
    ]
    leaves = [_options(found) for found, _ in below]
    shared = frozenset.intersection(*map(frozenset, leaves))
    if shared:
        yield f"## `{context.command_path}`\n\n{_first_paragraph(command.help)}\n"
        yield "\n".join(line for line in leaves[0] if line in shared) + "\n"
    for found, where in below:
        if isinstance(found, click.Group):
            yield from _of(found, where)
        else:
            yield from _section(found, where, shared)


def _section(
    command: click.Command, context: click.Context, shared: frozenset[str]
) -> Iterator[str]:
    named = [p for p in command.params if isinstance(p, click.Argument)]
    words = " ".join([context.command_path, *map(_argument, named)])
    yield f"## `{words}`\n\n{_first_paragraph(command.help)}\n"
    own = [line for line in _options(command) if line not in shared]
    if own:
        yield "\n".join(own) + "\n"


def _options(command: click.Command) -> list[str]:
    return [_option(p) for p in command.params if isinstance(p, click.Option)]


def _argument(argument: click.Argument) -> str:
    kind: Any = argument.type
    if isinstance(kind, click.Choice):
        return "|".join(map(str, kind.choices))
    name = argument.metavar or (argument.name or "").upper()
    several = "..." if argument.nargs != 1 and not name.endswith("...") else ""
    return f"{name}{several}" if argument.required else f"[{name}{several}]"


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    needed = " (required)" if option.required else ""
    said = _line(option.help)
    if option.show_default:
        said = f"{said.removesuffix('.')} [{option.default}]."
    line = f"* {names}{needed}: {said}"
    return textwrap.fill(line, 98, subsequent_indent="  ", break_on_hyphens=False)


def _first_paragraph(text: str | None) -> str:
    return textwrap.fill(_line((text or "").strip().split("\n\n")[0]), 98)


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


if __name__ == "__main__":
    print(document(), end="")
