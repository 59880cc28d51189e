"""Files of rosters, one per epoch, in the folder of a shuffler."""

import re
from collections.abc import Callable
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp_services.storage.key_files import read_file
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.roster import Roster, read_roster
from shuffledp_services.wire.task import Task

_FILENAME = re.compile(r"roster-([1-9][0-9]{0,9})\.bin")


def roster_filename(epoch: int) -> str:
    """Returns the name of an epoch's roster file."""
    return f"roster-{epoch}.bin"


def roster_reader(folder: Path, task: Task) -> Callable[[int], Roster | None]:
    """Returns a function that reads the roster of an epoch from a folder."""

    def read(epoch: int) -> Roster | None:
        path = folder / roster_filename(epoch)
        if not path.exists():
            return None
        try:
            return read_roster(read_file(path), task)
        except Refusal as error:
            raise DataError(f"Expected a roster in {path}: {error}") from error

    return read


def last_roster_epoch(folder: Path) -> int:
    """Returns the last epoch with a roster file in a folder; 0 if there is none."""
    # By name alone: a damaged roster counts, too.
    matches = (_FILENAME.fullmatch(path.name) for path in folder.iterdir())
    return max((int(match[1]) for match in matches if match), default=0)
