"""Task with the keys and rosters of the shuffler that collects it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.storage.key_files import ShufflerSecrets, read_file
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.roster import Roster, read_roster
from shuffledp_services.wire.task import Task

_ROSTER = re.compile(r"roster-([1-9][0-9]{0,9})\.bin")


@dataclass(frozen=True)
class ShufflerHost:
    """Task that this shuffler collects.

    Attributes:
        task: The task.
        secrets: The shuffler's; the task names the public half of the signing key.
        rosters: Returns the roster of an epoch; None while there is none.
        last_roster: Returns the last epoch that has a roster, valid or damaged; 0 if none
            has.
        former: The task that this one succeeds, if any.
    """

    task: Task
    secrets: ShufflerSecrets
    rosters: Callable[[int], Roster | None]
    last_roster: Callable[[], int]
    former: Task | None = None

    def __post_init__(self) -> None:
        # Receipts and batches signed by another key would be refused.
        if self.secrets.verify_key != self.task.shuffler_signing_key:
            raise InvalidInputError("Expected the secret keys that belong to the task.")


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


def last_roster_finder(folder: Path) -> Callable[[], int]:
    """Returns a function that finds the last epoch with a roster file in a folder."""

    def find() -> int:
        # By name alone: a damaged roster counts, too.
        matches = (_ROSTER.fullmatch(path.name) for path in folder.iterdir())
        return max((int(match[1]) for match in matches if match), default=0)

    return find


def ignore_boundary(_boundary: str) -> None:
    """Does nothing at a durable boundary."""
