"""A task, and the keys of the analyst who serves it."""

from dataclasses import dataclass

from shuffledp.errors import InvalidInputError
from shuffledp.service.secrets import AnalystSecrets
from shuffledp.service.wire.task import Task


@dataclass(frozen=True)
class AnalystHost:
    """A task that this analyst serves.

    Attributes:
        task: The task.
        secrets: Hers: the task names their public halves.
        former: The task whose place it takes; None if it takes none.
    """

    task: Task
    secrets: AnalystSecrets
    former: Task | None = None

    def __post_init__(self) -> None:
        task = self.task
        named = (task.suite, task.analyst_key, task.analyst_signing_key)
        if (self.secrets.suite, *self.secrets.public_keys()) != named:
            raise InvalidInputError("Expected the secret keys that belong to the task.")


def nothing(_boundary: str) -> None:
    """Is told what was reached, and does nothing."""
