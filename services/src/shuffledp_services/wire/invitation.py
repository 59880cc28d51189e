"""Invitation of one participant by the enroller: the fragment of a link.

    token=TOKEN&secret=SECRET&epoch=1&task=SHA-256

token    sent with every report; the shuffler knows its digest
secret   never sent; one of the two keys of the participant's randomness
epoch    the only epoch for which the link is valid
task     the digest of the task that the participant agrees to
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from shuffledp_services.wire.canonical import from_text, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import MAX_EPOCH
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.tokens import TOKEN_SIZE, draw_tokens

SECRET_SIZE = 32

_FORM = re.compile(
    # The address before the fragment is optional.
    r"(?:.*#)?token=([\w-]+)&secret=([\w-]+)&epoch=([1-9]\d{0,9})&task=([0-9a-f]{64})",
    # Otherwise \w and \d match letters and digits of other scripts, too.
    re.ASCII,
)


@dataclass(frozen=True)
class Invitation:
    """Invitation of one participant for one epoch.

    Attributes:
        task: SHA-256 of the task.
        epoch: From 1.
        token: 32 random bytes.
        secret: 32 random bytes, independent of the token.
    """

    task: bytes
    epoch: int
    token: bytes = field(repr=False)
    secret: bytes = field(repr=False)

    def to_text(self) -> str:
        """Returns the fragment of a link, without `#`."""
        return (
            f"token={to_text(self.token)}&secret={to_text(self.secret)}"
            f"&epoch={self.epoch}&task={self.task.hex()}"
        )

    @classmethod
    def read(cls, text: str) -> "Invitation":
        """Parses a link or its fragment.

        Raises:
            Refusal: If the text is neither.
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
    """Draws new invitations.

    Args:
        task: The task.
        epoch: From 1.
        count: The number of invitations, at least 1.
        entropy: Returns the given number of random bytes.

    Raises:
        InvalidInputError: If the number is out of range.
    """
    # Separate draws: the token is sent, and must reveal nothing about the secret.
    tokens = draw_tokens(count, entropy=entropy)
    secrets = draw_tokens(count, entropy=entropy)
    return [
        Invitation(task.digest, epoch, token, secret)
        for token, secret in zip(tokens, secrets, strict=True)
    ]
