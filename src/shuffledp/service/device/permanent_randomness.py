"""Randomness of real participants: always the same for the same answer.

A device that draws anew when it is asked again gives away a second message, which is worth
a second local level; and a server that keeps a message and answers with an error can ask as
often as it likes. So a report is randomized with a pseudorandom function of what it says,

    stream = AES-256-CTR, seeded by (secret of the device, context)          KeyedRandom
    context = HMAC-SHA256(secret of the link, task, epoch, step, plan, level, answer)

and whoever asks again gets the same message. The secret of the link alone would not do: the
enroller knows it. Neither would that of the device alone: a household shares devices. The
participants' page does the same in JavaScript (`page/coins.js`).
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import KeyedRandom
from shuffledp.service.device.device_state import DeviceState
from shuffledp.service.device.encode import choice_places
from shuffledp.service.wire.invitation import Invitation
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.step import Step
from shuffledp.statistics.survey import EpochStage
from shuffledp.types import Floats

_DOMAIN = b"shuffledp coins 1"


@dataclass(frozen=True, eq=False)
class PermanentRandomness:
    """What participants' reports are randomized with.

    Attributes:
        state: Of the device that they share.
        invitations: One for each participant.
        allow_changes: Whether they accept that another answer than before costs them one
            more whole local level.
    """

    state: DeviceState = field(repr=False)
    invitations: Sequence[Invitation] = field(repr=False)
    allow_changes: bool = False

    def streams(self, step: Step, values: NDArray[Any], choices: Floats) -> KeyedRandom:
        """Returns a stream for each participant, once the device remembers its answer.

        Args:
            step: What is answered.
            values: What they hold, n of it.
            choices: What they choose of what the task offers, shape (n,).

        Raises:
            Refusal: If the step is of another epoch or task than the invitations are, or
                contradicts what the device took part in before.
            InvalidInputError: If somebody's answer is not the one that was sent before.
            DataError: If the device's state cannot be written.
        """
        if len(values) != len(self.invitations):
            raise InvalidInputError("Expected one invitation per participant.")
        if any(each.task != step.task.digest for each in self.invitations):
            raise Refusal(Reason.UNKNOWN_TASK, "Expected the task of the links.")
        if any(each.epoch != step.epoch for each in self.invitations):
            raise Refusal(
                Reason.WRONG_EPOCH,
                f"Expected links of epoch {step.epoch}, which is open: each link is good "
                "for one epoch.",
            )
        contexts = coin_contexts(
            step,
            [each.secret for each in self.invitations],
            choice_places(step.task, choices),
            values,
        )
        self.state.remember(
            step,
            [each.token for each in self.invitations],
            contexts,
            allow_changes=self.allow_changes,
        )
        rows = np.frombuffer(b"".join(contexts), np.uint8).reshape(len(contexts), -1)
        return KeyedRandom(self.state.secret, rows)


def coin_contexts(
    step: Step,
    secrets: Sequence[bytes],
    places: NDArray[np.int64],
    values: NDArray[Any],
) -> list[bytes]:
    """Returns what each participant's stream depends on, besides the device: 32 bytes.

    Args:
        step: What is answered.
        secrets: Of the links.
        places: Positions of the chosen levels, shape (n,).
        values: What participants hold, n of it; items of a set in ascending order.
    """
    begin = b"".join(
        (
            _DOMAIN,
            step.task.digest,
            step.epoch.to_bytes(4, "big"),
            bytes([step.stage]),
            step.plan_digest,
        )
    )
    # As numbers of 8 bytes, so that JavaScript writes the same; 0 has one sign.
    rows = (np.asarray(values).reshape(len(values), -1) + 0.0).astype(">f8")
    if step.stage is EpochStage.CHOICE:
        rows = rows[:, :0]  # Levels alone are reported.
    return [
        hmac.digest(secret, begin + place.to_bytes(2, "big") + row.tobytes(), "sha256")
        for secret, place, row in zip(secrets, places.tolist(), rows, strict=True)
    ]
