"""All tests of one epoch."""

from shuffledp.audit.collection.canaries import Canaries
from shuffledp.audit.collection.delivery import delivery_finding
from shuffledp.audit.collection.evidence import EpochFindings
from shuffledp.audit.collection.guesses import guesses_finding
from shuffledp.audit.collection.levels import levels_finding
from shuffledp.audit.collection.order import order_finding, uploads_finding
from shuffledp.audit.collection.precision import precision_finding
from shuffledp.audit.collection.promises import Promises
from shuffledp.audit.collection.seen import Seen
from shuffledp.errors import InvalidInputError


def examine(canaries: Canaries, seen: Seen, *, promises: Promises) -> EpochFindings:
    """Returns what every test found in one epoch.

    Args:
        canaries: The auditor's record.
        seen: What came out of the same epoch of the same task.
        promises: What the certificate states for every level of the canaries.

    Raises:
        InvalidInputError: If they are of different tasks or epochs, or do not fit.
    """
    if canaries.task != seen.task:
        raise InvalidInputError(
            f"Expected canaries of task {seen.task}, got {canaries.task}."
        )
    if canaries.epoch != seen.epoch:
        raise InvalidInputError(
            f"Expected canaries of epoch {seen.epoch}, got {canaries.epoch}."
        )
    return EpochFindings(
        seen.epoch,
        (
            guesses_finding(canaries, seen, promises=promises),
            order_finding(canaries, seen),
            uploads_finding(canaries, seen),
            delivery_finding(canaries, seen),
            levels_finding(canaries, seen),
            precision_finding(canaries, seen),
        ),
    )
