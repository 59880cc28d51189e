"""A group whose commands are imported when somebody asks for them, and not before.

A command brings NumPy, SciPy and tables with it: a second of loading, for those who only
want to see which commands there are.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click


class LazyCommand(NamedTuple):
    """A command that is not loaded yet.

    Attributes:
        location: Where it lies, as "module:name".
        help: What a list of commands says of it: the first line of its own help.
    """

    location: str
    help: str


class LazyGroup(click.Group):
    """A click group that knows names and lines of help of commands it has not loaded."""

    def __init__(
        self, *args: Any, entries: Mapping[str, LazyCommand], **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self._entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns all names, in their order."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a command; None if there is none of this name."""
        if cmd_name not in self._entries:
            return None
        module, _, name = self._entries[cmd_name].location.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Lists all commands without loading one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, e.help) for name, e in self._entries.items()])
