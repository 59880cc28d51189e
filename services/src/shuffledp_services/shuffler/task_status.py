"""Status document of a task, as `GET /tasks/ID` returns it, encoded once per change."""

import json
from typing import Any, NamedTuple

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.task_record import HandoverAttempts
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.upload_format import report_size


class TaskStatus(NamedTuple):
    """Status of a task, the same for all readers.

    Attributes:
        state: The current state.
        people: Report counts of the current step: exact for the operator, else rounded.
        refused: Numbers of refused reports by reason.
        challenge: The challenge of the operator's next command.
        attempts: The progress of the hand-over.
    """

    # A tuple, as tuples compare identical members without reading them: a state and its
    # task are large.

    state: ShufflerState
    people: tuple[int, ...]
    refused: dict[str, int]
    challenge: bytes
    attempts: HandoverAttempts

    def encode(self) -> bytes:
        """Returns the JSON document."""
        return json.dumps(
            self._document(), ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode()

    def _document(self) -> dict[str, Any]:
        state, attempts = self.state, self.attempts
        return {
            "task": state.task.to_dict(),
            "digest": state.task.fingerprint,
            "canonical": state.task.to_json().decode(),
            "epoch": state.epoch,
            "stage": state.stage.name.lower(),
            "phase": state.phase.value,
            "plan": state.plan and state.plan.to_dict(),
            "messages_per_report": state.step.messages_per_report,
            "report_size": report_size(state.step),
            "enrolment": state.enrolment and state.enrolment.to_dict(),
            "deadline": state.deadline,
            "people": list(self.people),
            "shortfalls": [str(each) for each in state.shortfalls(self.people)],
            "refused": dict(sorted(self.refused.items())),
            "challenge": to_text(self.challenge),
            "hand_over": {
                "attempts": attempts.failed,
                "refused": attempts.refused and attempts.refused.value,
                "analyst_full": attempts.full,
            },
        }


class EncodedStatus:
    """Caches the encoded public document."""

    def __init__(self) -> None:
        self._status: TaskStatus | None = None
        self._content = b""

    def encode(self, status: TaskStatus) -> bytes:
        """Returns the document of a status: the same bytes object until it changes."""
        # Compares large members by identity first.
        if status != self._status:
            self._content, self._status = status.encode(), status
        return self._content
