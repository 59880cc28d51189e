"""All tests of one epoch."""

from shuffledp.errors import InvalidInputError
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.canary_guessing_test import guesses_finding
from shuffledp_services.evidence.count_precision_test import precision_finding
from shuffledp_services.evidence.delivery_test import delivery_finding
from shuffledp_services.evidence.epoch_view import EpochView
from shuffledp_services.evidence.evidence import EpochFindings
from shuffledp_services.evidence.level_leakage_test import levels_finding
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles
from shuffledp_services.evidence.shuffle_order_test import (
    order_finding,
    uploads_finding,
)


def run_all_tests(
    canaries: Canaries, seen: EpochView, *, promises: PrivacyProfiles
) -> EpochFindings:
    """Runs every test on one epoch.

    Args:
        canaries: The auditor's record.
        seen: The view of the same epoch of the same task.
        promises: The certified profiles of every level of the canaries.

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
