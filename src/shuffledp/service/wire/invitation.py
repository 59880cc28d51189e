"""What the enroller hands to one participant: the part of a link behind its `#`.

    token=TOKEN&secret=SECRET&epoch=1&task=SHA-256

token    is sent with every report: the shuffler knows its digest
secret   is never sent: it is one of the two keys of the participant's randomness
epoch    is the only one that the link is good for
task     is the digest of the task that the participant agrees to
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from shuffledp.service.wire.canonical import from_text, to_text
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.step import MAX_EPOCH
from shuffledp.service.wire.task import Task
from shuffledp.service.wire.tokens import TOKEN_SIZE, draw_tokens

SECRET_SIZE = 32

_FORM = re.compile(
    r"(?:.*#)?token=([\w-]+)&secret=([\w-]+)&epoch=([1-9]\d{0,9})&task=([0-9a-f]{64})",
    re.ASCII,
)


@dataclass(frozen=True)
class Invitation:
    """What one participant is given for one epoch.

    Attributes:
        task: SHA-256 of the task.
        epoch: From 1.
        token: 32 random bytes.
        secret: 32 random bytes, drawn apart from the token.
    """

    task: bytes
    epoch: int
    token: bytes = field(repr=False)
    secret: bytes = field(repr=False)

    def to_text(self) -> str:
        """Returns what stands behind the `#` of a link."""
        return (
            f"token={to_text(self.token)}&secret={to_text(self.secret)}"
            f"&epoch={self.epoch}&task={self.task.hex()}"
        )

    @classmethod
    def read(cls, text: str) -> "Invitation":
        """Reads a link, or what stands behind its `#`.

        Raises:
            Refusal: If it is neither.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None or int(match[3]) > MAX_EPOCH:
            raise Refusal(
                Reason.MALFORMED, "Expected a token, a secret, an epoch and a task."
            )
        return cls(
            bytes.fromhex(match[4]),
            int(match[3]),
            from_text(match[1], TOKEN_SIZE, "a token"),
            from_text(match[2], SECRET_SIZE, "a secret"),
        )


def draw_invitations(
    task: Task, epoch: int, count: int, *, entropy: Callable[[int], bytes] = os.urandom
) -> list[Invitation]:
    """Returns new invitations.

    Args:
        task: That people are invited to.
        epoch: From 1.
        count: How many, at least 1.
        entropy: Returns so many random bytes.

    Raises:
        InvalidInputError: If the number is out of range.
    """
    tokens = draw_tokens(count, entropy=entropy)
    secrets = draw_tokens(count, entropy=entropy)
    return [
        Invitation(task.digest, epoch, token, secret)
        for token, secret in zip(tokens, secrets, strict=True)
    ]
