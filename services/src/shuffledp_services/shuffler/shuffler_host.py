"""Task with the keys and rosters of the shuffler that collects it."""

from collections.abc import Callable
from dataclasses import dataclass

from shuffledp.errors import InvalidInputError
from shuffledp_services.shuffler.batch_dummies import BatchDummies
from shuffledp_services.storage.key_files import DummySecrets, ShufflerSecrets
from shuffledp_services.wire.roster import Roster
from shuffledp_services.wire.step import Step
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
        dummies: The secret of its dummies, where the shuffler adds the noise.
    """

    task: Task
    secrets: ShufflerSecrets
    rosters: Callable[[int], Roster | None]
    last_roster: Callable[[], int]
    former: Task | None = None
    dummies: DummySecrets | None = None

    def __post_init__(self) -> None:
        # Receipts and batches signed by another key would be refused.
        if self.secrets.verify_key != self.task.shuffler_signing_key:
            raise InvalidInputError("Expected the secret keys that belong to the task.")
        known = self.dummies
        commitment = None if known is None else known.commitment
        # Noise from another secret would not be the one that the parties agreed to.
        if commitment != self.task.dummy_commitment:
            raise InvalidInputError(
                "Expected the secret of the dummies to which the task commits."
            )

    def batch_dummies(self, step: Step) -> BatchDummies | None:
        """Returns the dummies of a step's batch, not drawn yet; None if it has none."""
        if step.dummies is None or self.dummies is None:
            return None
        return BatchDummies(step, self.dummies.seed(step.epoch))


def ignore_boundary(_boundary: str) -> None:
    """Does nothing at a durable boundary."""
