"""A task, and the keys of the shuffler that collects it."""

from dataclasses import dataclass

from shuffledp.errors import InvalidInputError
from shuffledp.service.secrets import ShufflerSecrets
from shuffledp.service.wire.signing import verify_key_of
from shuffledp.service.wire.task import Task


@dataclass(frozen=True)
class ShufflerHost:
    """A task that this shuffler collects.

    Attributes:
        task: The task.
        secrets: Its own: the task names the public half of the signing key.
    """

    task: Task
    secrets: ShufflerSecrets

    def __post_init__(self) -> None:
        if verify_key_of(self.secrets.signing_key) != self.task.shuffler_signing_key:
            raise InvalidInputError("Expected the secret keys that belong to the task.")


def nothing(_boundary: str) -> None:
    """Is told what was reached, and does nothing."""
