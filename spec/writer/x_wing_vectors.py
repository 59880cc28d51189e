"""Vectors of the suite x-wing: a task, and a message sealed with stated randomness."""

from dataclasses import replace
from typing import Any

import numpy as np

from known_sealing import seal_with_x_wing
from shuffledp_services.wire.canonical import sha256, to_text
from shuffledp_services.wire.sealing import Suite, public_key_of
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import write_messages
from vector_parties import ANALYST_PRIVATE, EPOCH, color_task

# The seed of ML-KEM-768, then the key of X25519.
_PRIVATE = b"".join(
    [*(sha256(b"test seed of ML-KEM %d" % half) for half in range(2)), ANALYST_PRIVATE]
)
_RANDOMNESS = b"".join(
    sha256(b"test randomness of X-Wing %d" % half) for half in range(2)
)


def x_wing_vectors() -> dict[str, Any]:
    """Returns the task, the keys, and the message from its bytes to the sealed ones."""
    task = x_wing_task()
    step = Step(task, EPOCH)
    (plain,) = write_messages(np.array([1]))
    shared, sealed = seal_with_x_wing(_RANDOMNESS, task.analyst_key, step.info(), plain)
    return {
        "task": task.to_json().decode(),
        "epoch": EPOCH,
        "private_key": to_text(_PRIVATE),
        "public_key": to_text(task.analyst_key),
        "info": to_text(step.info()),
        "plain": to_text(plain),
        "randomness": to_text(_RANDOMNESS),
        "shared_secret": to_text(shared),
        "enc": to_text(sealed[:1120]),
        "sealed": to_text(sealed),
    }


def x_wing_task() -> Task:
    """Returns the task about three colors, with a key of this suite."""
    return replace(
        color_task(task_id=bytes(range(48, 64))),
        suite=Suite.X_WING,
        analyst_key=public_key_of(Suite.X_WING, _PRIVATE),
    )
