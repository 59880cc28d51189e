"""Enrolment: invitations for participants, and the roster for the shuffler."""

from collections.abc import Callable
from pathlib import Path

from shuffledp.errors import InvalidInputError
from shuffledp_services.storage.key_files import (
    ENROLLER_FILE,
    EnrollerSecrets,
)
from shuffledp_services.storage.new_files import NewFile, write_all_new
from shuffledp_services.storage.roster_files import roster_filename
from shuffledp_services.wire.invitation import Invitation, draw_invitations
from shuffledp_services.wire.roster import write_roster
from shuffledp_services.wire.task import Task


def min_participants(task: Task) -> int:
    """Returns the smallest number of participants whose result may be released."""
    # Named choices have a minimum each; otherwise there is one for all together.
    return sum(task.minimum) if task.choices_are_levels else task.minimum[0]


def write_enrolment(
    folder: Path,
    task: Task,
    epoch: int,
    count: int,
    output: Path,
    line: Callable[[Invitation], str] = Invitation.to_text,
) -> Path:
    """Writes invitations, readable by their owner only, and the roster of their tokens.

    Args:
        folder: Folder with the enroller's keys.
        task: Task of the invitations.
        epoch: Number of the epoch, from 1.
        count: Number of invitations.
        output: New file with one line per invitation.
        line: Formats an invitation as a line.

    Returns:
        The roster's file.

    Raises:
        InvalidInputError: If `count` is less than the task needs, `epoch` is beyond its
            last one, or the keys belong to another task.
        DataError: If a file is missing or damaged, exists already, or cannot be written.
    """
    secrets = EnrollerSecrets.load(folder / ENROLLER_FILE)
    if secrets.verify_key != task.enroller_signing_key:
        raise InvalidInputError("Expected the secret keys that belong to the task.")
    if count < min_participants(task):
        raise InvalidInputError(
            f"Expected at least {min_participants(task):,} tokens, or nothing could be "
            f"released: got {count:,}."
        )
    if epoch > task.last_epoch:
        raise InvalidInputError(
            f"Expected an epoch up to {task.last_epoch}: the allowance pays for "
            f"{task.epochs}."
        )
    invitations = draw_invitations(task, epoch, count)
    tokens = [each.token for each in invitations]
    roster = folder / roster_filename(epoch)
    content = write_roster(task, epoch, tokens, secrets.signing_key)
    lines = "".join(f"{line(each)}\n" for each in invitations)
    # Never replaced: its tokens may have been given out. Both or none: without the
    # invitations, the tokens of the roster could never be used.
    write_all_new([NewFile(roster, content), NewFile(output, lines, mode=0o600)])
    return roster
