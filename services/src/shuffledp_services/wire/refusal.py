"""Refusals, with one reason code for all services, problem documents and counters."""

from dataclasses import dataclass
from enum import StrEnum

from shuffledp.errors import ShuffledpError


class Reason(StrEnum):
    """Reason code, as problem documents and counters name it."""

    MALFORMED = "malformed"
    TOO_LARGE = "too-large"
    WRONG_SIZE = "wrong-size"
    WRONG_ORDER = "wrong-order"
    UNKNOWN_TASK = "unknown-task"
    WRONG_EPOCH = "wrong-epoch"
    WRONG_STAGE = "wrong-stage"
    NOT_OPEN = "not-open"
    UNKNOWN_LEVEL = "unknown-level"
    TOKEN_FORGED = "token-forged"
    TOKEN_SPENT = "token-spent"
    MESSAGE_REPEATED = "message-repeated"
    SIGNATURE_FORGED = "signature-forged"
    ALREADY_DELIVERED = "already-delivered"
    PLAN_REFUSED = "plan-refused"
    TOO_FEW_PEOPLE = "too-few-people"
    ALLOWANCE_SPENT = "allowance-spent"
    UNREADABLE = "unreadable"
    SKIPPED = "skipped"
    NOT_FOUND = "not-found"
    STORAGE = "storage-full"


_STATUS_AND_TITLE = {
    Reason.MALFORMED: (400, "The message cannot be read"),
    Reason.TOO_LARGE: (413, "The body is larger than the task allows"),
    Reason.WRONG_SIZE: (400, "A report is not of the task's size"),
    Reason.WRONG_ORDER: (400, "Messages are not sorted, or one comes twice"),
    Reason.UNKNOWN_TASK: (404, "This task is not known here"),
    Reason.WRONG_EPOCH: (409, "Another epoch is collected now"),
    Reason.WRONG_STAGE: (409, "Another step of the collection is open now"),
    Reason.NOT_OPEN: (409, "Nothing is collected now"),
    Reason.UNKNOWN_LEVEL: (400, "This privacy level is not offered"),
    Reason.TOKEN_FORGED: (403, "The token was not issued for this task and epoch"),
    Reason.TOKEN_SPENT: (409, "The token was used before"),
    Reason.MESSAGE_REPEATED: (409, "The same sealed message was sent before"),
    Reason.SIGNATURE_FORGED: (403, "The signature is not the expected party's"),
    Reason.ALREADY_DELIVERED: (409, "Another batch of this epoch was delivered before"),
    Reason.PLAN_REFUSED: (422, "The plan breaks the rule of the task"),
    Reason.TOO_FEW_PEOPLE: (409, "A level has fewer people than the task promises"),
    Reason.ALLOWANCE_SPENT: (409, "A level has too little left"),
    Reason.UNREADABLE: (422, "A message cannot be opened"),
    Reason.SKIPPED: (409, "The epoch was skipped"),
    Reason.NOT_FOUND: (404, "There is nothing here"),
    # 507: the sender should try again later.
    Reason.STORAGE: (507, "The report could not be stored"),
}


@dataclass(frozen=True)
class Problem:
    """Problem document of RFC 9457.

    Attributes:
        reason: Its type.
        status: The HTTP status code.
        title: Explanation of the type.
        detail: The expected input; never any content of a report.
    """

    reason: Reason
    status: int
    title: str
    detail: str

    def to_dict(self) -> dict[str, str | int]:
        """Returns the document's members."""
        return {
            "type": f"urn:shuffledp:problem:{self.reason.value}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }


class Refusal(ShuffledpError):  # noqa: N818 - it is an answer
    """Refusal of a message by a party; its text is shown to the sender."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason

    @property
    def problem(self) -> Problem:
        """The problem document of this refusal."""
        status, title = _STATUS_AND_TITLE[self.reason]
        return Problem(self.reason, status, title, str(self))
