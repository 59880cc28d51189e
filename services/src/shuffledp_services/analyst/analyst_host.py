"""Tasks hosted by an analyst's service, each with the analyst's keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shuffledp.errors import InvalidInputError
from shuffledp_services.analyst.auditor_evidence import EvidenceFile
from shuffledp_services.storage.key_files import AnalystSecrets
from shuffledp_services.wire.task import Task


@dataclass(frozen=True)
class AnalystHost:
    """Task hosted by this analyst.

    Attributes:
        task: The task.
        secrets: Secret keys of the analyst; the task names their public halves.
        former: Predecessor of the task; None if it has none.
        retained_batches: Folder that retains published batches, sealed, for an auditor;
            None to delete them, like all other batches.
        evidence: Evidence of an auditor to show; None if there is none.
    """

    task: Task
    secrets: AnalystSecrets
    former: Task | None = None
    retained_batches: Path | None = None
    evidence: EvidenceFile | None = None

    def __post_init__(self) -> None:
        task = self.task
        identities = (task.suite, task.analyst_key, task.analyst_signing_key)
        # With other keys no message could be opened, and no result signed for the task.
        if (self.secrets.suite, *self.secrets.public_keys()) != identities:
            raise InvalidInputError("Expected the secret keys that belong to the task.")


def with_evidence(
    tasks: Mapping[str, AnalystHost], audits: Sequence[EvidenceFile]
) -> dict[str, AnalystHost]:
    """Returns the same tasks, each with the evidence of an auditor about it.

    Args:
        tasks: Hosted tasks by identity.
        audits: Files of evidence.

    Raises:
        DataError: If a file cannot be read, or contains no evidence.
        InvalidInputError: If a file is about none of the tasks, or two are about one.
    """
    hosts = dict(tasks)
    for evidence_file in audits:
        # Only the task is needed here: every page reads the file again.
        about = evidence_file.read()[0].task
        identities = [i for i, host in tasks.items() if host.task.fingerprint == about]
        if not identities:
            raise InvalidInputError(
                "Expected evidence about a task of this service in "
                f"{evidence_file.path}, got {about}."
            )
        # A second file would silently take the place of the first.
        if hosts[identities[0]].evidence is not None:
            raise InvalidInputError("Expected one file of evidence for each task.")
        hosts[identities[0]] = replace(hosts[identities[0]], evidence=evidence_file)
    return hosts


def ignore_boundary(_boundary: str) -> None:
    """Boundary callback that does nothing."""
