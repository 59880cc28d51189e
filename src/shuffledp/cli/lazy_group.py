"""A click group whose commands are imported when they are called."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from shuffledp.cli.former_spellings import command_successor
from shuffledp.cli.installed_commands import (
    LazyCommand,
    installed_commands,
    missing_commands,
)
from shuffledp.extras import how_to_install


class LazyGroup(click.Group):
    """A click group that lists commands without loading them.

    Other distributions may add commands to a group that states its `path`.
    """

    def __init__(
        self, *args: Any, entries: Mapping[str, LazyCommand], path: str, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self._path = path
        # An installed distribution never replaces a command of this one.
        self._entries = {**installed_commands(path), **entries}
        order = [*entries, *installed_commands(path)]
        self._names = list(dict.fromkeys(order))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns all names in the order of `entries`, then those of others."""
        # click itself would sort them by name.
        return self._names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns a command, or returns None for an unknown name.

        Raises:
            click.UsageError: If it comes with a distribution that is not installed.
        """
        if cmd_name not in self._entries:
            for distribution, names in missing_commands(self._path).items():
                if cmd_name in names:
                    raise click.UsageError(
                        f"`{ctx.command_path} {cmd_name}` comes with another package: "
                        f"{how_to_install(distribution)}."
                    )
            return None
        module, _, name = self._entries[cmd_name].location.partition(":")
        # Only now: NumPy, SciPy and readers of tables take a second to load.
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the command of these arguments; an error suggests one of a near name."""
        # click looks for near names among the commands that it holds: here there are none.
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        successor = command_successor(name)
        if successor is not None:
            raise click.UsageError(
                f"No such command {name!r}. Write {ctx.command_path} {successor}."
            )
        close = get_close_matches(name, self._names, n=1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise click.UsageError(
            f"No such command {name!r}.{meant} See `{ctx.command_path} -h`."
        )

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Lists all commands without loading one, and those that are not installed."""
        # click's own list would load every command for the first line of its help.
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self._entries[name].help) for name in self._names]
            )
        missing = missing_commands(self._path)
        if missing:
            with formatter.section("With other packages"):
                formatter.write_dl(
                    [(name, ", ".join(commands)) for name, commands in missing.items()]
                )
