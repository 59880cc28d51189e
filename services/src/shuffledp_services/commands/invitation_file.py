"""Files of invitations, as `shuffledp enrol` writes them."""

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.datasets.table import read_lines
from shuffledp.errors import DataError

if TYPE_CHECKING:
    from shuffledp_services.wire.invitation import Invitation
    from shuffledp_services.wire.task import Task


def invitations_in(path: Path, count: int, task: "Task") -> "list[Invitation]":
    """Returns the first `count` invitations in a file of `shuffledp enrol`.

    Raises:
        DataError: If there are fewer, a token occurs twice, or a line is not a link to this
            task; the message names the line.
    """
    # Imported here: services need an extra.
    from shuffledp_services.wire.invitation import Invitation
    from shuffledp_services.wire.refusal import Refusal

    # `read_lines` refuses an empty file; here it is one with too few links.
    empty = path.is_file() and not path.stat().st_size
    lines = () if empty else read_lines(path)
    if len(lines) < count:
        wanted = "1 link" if count == 1 else f"{count:,} links"
        raise DataError(f"Expected {wanted} in {path}, found {len(lines):,}.")
    invitations: dict[bytes, Invitation] = {}
    for number, line in enumerate(lines[:count], start=1):
        # Errors name a line and repeat none: it holds the secret of a person.
        location = f"line {number:,} of {path}"
        try:
            invitation = Invitation.read(line)
        except Refusal as error:
            raise DataError(
                f"Expected a link in {location}, whole and alone."
            ) from error
        if invitation.task != task.digest:
            raise DataError(f"Expected a link to this very task in {location}.")
        if invitation.token in invitations:
            raise DataError(
                f"Expected every link once: {location} repeats another one."
            )
        invitations[invitation.token] = invitation
    return list(invitations.values())
