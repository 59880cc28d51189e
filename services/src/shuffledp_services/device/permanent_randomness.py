"""Permanent randomness of real participants: the same answer gives the same messages.

A device that redraws when it is asked again reveals a second message, which costs a second
local epsilon; and a server that stores a message but answers with an error can ask as often
as it likes. So a report is randomized with a pseudorandom function of its content,

    stream = AES-256-CTR, seeded by (secret of the device, context)          KeyedRandom
    context = HMAC-SHA256(secret of the link, task, epoch, step, plan, level, answer)

and a repeated request gets the same message. The secret of the link alone would not
suffice: the enroller knows it. Neither would that of the device alone: a household shares
devices. The participants' page does the same (`device/src/permanent-randomness.ts`).
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import KeyedRandom
from shuffledp.statistics.survey import EpochStage
from shuffledp.types import Floats
from shuffledp_services.device.device_state import DeviceState
from shuffledp_services.device.encode import choice_indices
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import Step

_DOMAIN = b"shuffledp coins 1"


@dataclass(frozen=True, eq=False)
class PermanentRandomness:
    """Source of the permanent randomness of participants who share a device.

    Attributes:
        state: State of the device.
        invitations: One invitation per participant.
        allow_changes: Whether participants accept that a changed answer costs them one
            more whole local epsilon.
    """

    state: DeviceState = field(repr=False)
    invitations: Sequence[Invitation] = field(repr=False)
    allow_changes: bool = False

    def streams(self, step: Step, values: NDArray[Any], choices: Floats) -> KeyedRandom:
        """Records the answers on the device, and returns one stream per participant.

        Args:
            step: Step of the answers.
            values: Values of the n participants.
            choices: Choices of the participants, shape (n,).

        Raises:
            Refusal: If the invitations are for another epoch or task, or the step
                contradicts one that the device took part in before.
            InvalidInputError: If an answer differs from the one that was sent before.
            DataError: If the device's state cannot be written.
        """
        if len(values) != len(self.invitations):
            raise InvalidInputError("Expected one invitation per participant.")
        # A link names its task: a server cannot exchange the task behind it.
        if any(each.task != step.task.digest for each in self.invitations):
            raise Refusal(Reason.UNKNOWN_TASK, "Expected the task of the links.")
        if any(each.epoch != step.epoch for each in self.invitations):
            raise Refusal(
                Reason.WRONG_EPOCH,
                f"Expected links of epoch {step.epoch}, which is open: each link is good "
                "for one epoch.",
            )
        contexts = stream_contexts(
            step,
            [each.secret for each in self.invitations],
            choice_indices(step.task, choices),
            values,
        )
        # Recorded before a message is drawn: see `device_state`.
        self.state.remember(
            step,
            [each.token for each in self.invitations],
            contexts,
            allow_changes=self.allow_changes,
        )
        rows = np.frombuffer(b"".join(contexts), np.uint8).reshape(len(contexts), -1)
        return KeyedRandom(self.state.secret, rows)


def stream_contexts(
    step: Step,
    secrets: Sequence[bytes],
    indices: NDArray[np.int64],
    values: NDArray[Any],
) -> list[bytes]:
    """Returns the context of each participant's stream, 32 bytes per participant.

    The stream depends on the context and on the secret of the device.

    Args:
        step: Step of the answers.
        secrets: Secrets of the participants' links.
        indices: Indices of the chosen levels, shape (n,).
        values: Values of the n participants; items of a set in ascending order, NaN for
            numbers that were skipped.
    """
    begin = b"".join(
        (
            # Every field but the values has a fixed size, so that no two contexts
            # coincide.
            _DOMAIN,
            step.task.digest,
            step.epoch.to_bytes(4, "big"),
            bytes([step.stage]),
            step.plan_digest,
        )
    )
    # 8-byte floats, as JavaScript writes them; adding 0.0 turns -0.0 into 0.0.
    numbers = np.asarray(values).reshape(len(values), -1) + 0.0
    # NaN, a number that was skipped, has many spellings; the wire has one of them.
    rows = np.where(np.isnan(numbers), np.nan, numbers).astype(">f8")
    if step.stage is EpochStage.CHOICE:
        rows = rows[:, :0]  # This step reports only levels.
    return [
        # Keyed by the link: the device's secret is the same for all who share the
        # device.
        hmac.digest(secret, begin + index.to_bytes(2, "big") + row.tobytes(), "sha256")
        for secret, index, row in zip(secrets, indices.tolist(), rows, strict=True)
    ]
