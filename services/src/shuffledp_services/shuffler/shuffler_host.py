"""Task with the keys and rosters of the shuffler that collects it."""

from collections.abc import Callable
from dataclasses import dataclass

from shuffledp.errors import InvalidInputError
from shuffledp_services.storage.key_files import ShufflerSecrets
from shuffledp_services.wire.roster import Roster
from shuffledp_services.wire.task import Task


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


def ignore_boundary(_boundary: str) -> None:
    """Does nothing at a durable boundary."""
