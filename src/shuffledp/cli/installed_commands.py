"""Commands of other distributions, which declare a table each.

The value of an entry point is a mapping from groups ("" for `shuffledp` itself, "audit"
for `shuffledp audit`) to their commands.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import NamedTuple

GROUP = "shuffledp.commands"
# For those who call a command that is not installed: where it is.
SUPPLIED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "": {
        "shuffledp-services": ("explore", "task", "enrol", "serve", "device"),
        "shuffledp-papers": ("reproduce", "claims", "leaderboard"),
    },
    "audit": {"shuffledp-services": ("canaries", "collection", "dummies")},
}


class LazyCommand(NamedTuple):
    """A command that is not loaded yet.

    Attributes:
        location: Its import path, as "module:name".
        help: The first line of its own help, for lists of commands.
    """

    location: str
    help: str


CommandTable = Mapping[str, Mapping[str, LazyCommand]]


@cache
def installed_commands(group: str) -> dict[str, LazyCommand]:
    """Returns the commands that other distributions add to a group, by name."""
    # By value: an editable installation may be listed twice.
    tables = {entry.value: entry for entry in entry_points(group=GROUP)}
    commands: dict[str, LazyCommand] = {}
    for entry in tables.values():
        table: CommandTable = entry.load()
        commands |= table.get(group, {})
    return commands


def missing_commands(group: str) -> dict[str, tuple[str, ...]]:
    """Returns the commands of a group that are not installed, by distribution."""
    installed = installed_commands(group)
    missing = {
        distribution: tuple(name for name in names if name not in installed)
        for distribution, names in SUPPLIED.get(group, {}).items()
    }
    return {distribution: names for distribution, names in missing.items() if names}
