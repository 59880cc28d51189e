"""A task, and the keys of the analyst who serves it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shuffledp.errors import InvalidInputError
from shuffledp.service.analyst.evidence_shown import EvidenceFile
from shuffledp.service.storage.key_files import AnalystSecrets
from shuffledp.service.wire.task import Task


@dataclass(frozen=True)
class AnalystHost:
    """A task that this analyst serves.

    Attributes:
        task: The task.
        secrets: Hers: the task names their public halves.
        former: The task whose place it takes; None if it takes none.
        kept: Where batches that were published are kept, sealed, for an auditor; None to
            delete them, as all others are.
        evidence: What an auditor handed over, to be shown; None if nobody did.
    """

    task: Task
    secrets: AnalystSecrets
    former: Task | None = None
    kept: Path | None = None
    evidence: EvidenceFile | None = None

    def __post_init__(self) -> None:
        task = self.task
        named = (task.suite, task.analyst_key, task.analyst_signing_key)
        if (self.secrets.suite, *self.secrets.public_keys()) != named:
            raise InvalidInputError("Expected the secret keys that belong to the task.")


def with_evidence(
    tasks: Mapping[str, AnalystHost], audits: Sequence[EvidenceFile]
) -> dict[str, AnalystHost]:
    """Returns the same tasks, each with what an auditor handed over about it.

    Args:
        tasks: By identity.
        audits: Files that are there.

    Raises:
        DataError: If one cannot be read, or is no evidence.
        InvalidInputError: If it is about none of the tasks, or two are about one.
    """
    found = dict(tasks)
    for shown in audits:
        about = shown.read()[0].task
        named = [i for i, host in tasks.items() if host.task.fingerprint == about]
        if not named:
            raise InvalidInputError(
                f"Expected evidence about a task of this service in {shown.path}, got "
                f"{about}."
            )
        if found[named[0]].evidence is not None:
            raise InvalidInputError("Expected one file of evidence for each task.")
        found[named[0]] = replace(found[named[0]], evidence=shown)
    return found


def nothing(_boundary: str) -> None:
    """Is told what was reached, and does nothing."""
