"""A click group whose commands are imported when they are called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click


class LazyCommand(NamedTuple):
    """A command that is not loaded yet.

    Attributes:
        location: Its import path, as "module:name".
        help: The first line of its own help, for lists of commands.
    """

    location: str
    help: str


class LazyGroup(click.Group):
    """A click group that lists commands without loading them."""

    def __init__(
        self, *args: Any, entries: Mapping[str, LazyCommand], **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self._entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns all names in the order of `entries`."""
        # click itself would sort them by name.
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns a command, or returns None for an unknown name."""
        if cmd_name not in self._entries:
            return None
        module, _, name = self._entries[cmd_name].location.partition(":")
        # Only now: NumPy, SciPy and readers of tables take a second to load.
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Lists all commands without loading one."""
        # click's own list would load every command for the first line of its help.
        with formatter.section("Commands"):
            formatter.write_dl([(name, e.help) for name, e in self._entries.items()])
