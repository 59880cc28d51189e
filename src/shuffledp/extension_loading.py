"""Loading of third-party code that was named explicitly.

Nothing is imported because a file names it: a location comes from the command line, a name
of the group `shuffledp.mechanisms` from an installed package.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInputError, ShuffledpError

GROUP = "shuffledp.mechanisms"


@contextmanager
def expecting(expectation: str) -> Iterator[None]:
    """Converts every exception of third-party code into one sentence.

    Args:
        expectation: The expected behavior, for the message.

    Raises:
        InvalidInputError: If it raises anything but errors of ours.
    """
    try:
        yield
    # Ours are sentences already, and Ctrl-C is not a failure of the third-party code.
    except (ShuffledpError, KeyboardInterrupt):
        raise
    # SystemExit, too: its exit code would pass for a verdict of the command.
    except BaseException as error:
        raise InvalidInputError(
            f"Expected {expectation}, got {type(error).__name__}: {error}"
        ) from error


def load_named(location: str) -> Any:
    """Imports an object by "module:name"; the working folder comes first.

    Raises:
        InvalidInputError: If there is no such module or name.
    """
    module, _, name = location.partition(":")
    # An installed command starts with its own folder on the path, not the working one.
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    with expecting(f"{location!r} to be a module and what it has, as module:name"):
        loaded: Any = importlib.import_module(module)
        for part in name.split("."):
            loaded = getattr(loaded, part)
    return loaded


def installed_mechanism(mechanism: str) -> EntryPoint | None:
    """Returns the entry point of an installed mechanism; nothing is imported.

    Raises:
        InvalidInputError: If packages declare different ones.
    """
    # By value: several declarations of the same object do not conflict.
    declared = {
        entry.value: entry for entry in entry_points(group=GROUP, name=mechanism)
    }
    if len(declared) > 1:
        raise InvalidInputError(
            f"Expected one installed mechanism {mechanism!r}, got "
            f"{', '.join(sorted(declared))}."
        )
    return next(iter(declared.values()), None)


def load_installed(entry: EntryPoint) -> Any:
    """Imports the class, or the object, that an installed package declares.

    Raises:
        InvalidInputError: If it cannot be imported.
    """
    with expecting(f"the installed mechanism {entry.value} to be imported"):
        return entry.load()
