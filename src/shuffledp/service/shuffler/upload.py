"""Uploads as they are sent: read and checked, and nothing is spent yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.keyed_digests import KeyedDigests
from shuffledp.service.wire.canonical import sha256
from shuffledp.service.wire.receipt import messages_digest
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.reports import (
    HEADER_SIZE,
    choices_offered,
    read_columns,
    read_header,
    read_rows,
    report_size,
    write_header,
)
from shuffledp.service.wire.roster import Roster
from shuffledp.service.wire.tokens import TOKEN_SIZE

MAX_BAD = 16
"""Reports that are listed as refused, before the whole upload is."""

TOKEN_FORGED = "Expected a token that was issued for this task and epoch."

_TOKEN = f"S{TOKEN_SIZE}"


@dataclass(frozen=True, eq=False)
class Upload:
    """Reports that may come in if tokens and messages are fresh, and those that may not.

    Attributes:
        state: The open step.
        places: Of the former in the upload, shape (n,).
        marks: Of each token, then of its messages, shape
            (n, 1 + messages_per_report, KEYED_DIGEST_SIZE).
        choices: Positions of their choices, shape (n,).
        sealed: Their messages, bytes, shape (n, messages_per_report, sealed_size).
        refused: (position in the upload, reason) of the latter.
        digest: Of all its sealed messages, as receipts name them, 32 bytes.
    """

    state: ShufflerState
    places: NDArray[np.int64]
    marks: NDArray[np.uint8]
    choices: NDArray[np.int64]
    sealed: NDArray[np.uint8]
    refused: tuple[tuple[int, Reason], ...]
    digest: bytes


def admit(state: ShufflerState, begin: bytes, listed: Callable[[bytes], bool]) -> None:
    """Raises Refusal unless an upload may come in that begins with these bytes.

    Args:
        state: Where the task stands.
        begin: Its header and first token; fewer bytes if it has no more.
        listed: Tells whether a token is good in the state's epoch.
    """
    state.check_upload(read_header(begin))
    token = begin[HEADER_SIZE:]
    if len(token) < TOKEN_SIZE:
        size = report_size(state.step)
        raise Refusal(Reason.WRONG_SIZE, f"Expected reports of {size} bytes each.")
    if not listed(token):
        raise Refusal(Reason.TOKEN_FORGED, TOKEN_FORGED)


def read_upload(
    state: ShufflerState, body: bytes, roster: Roster, marks: KeyedDigests
) -> Upload:
    """Reads and checks an upload; nothing is spent yet.

    Args:
        state: Of the task.
        body: The upload.
        roster: Of the epoch.
        marks: Of the step.

    Raises:
        Refusal: If it is not one for this step, or more than `MAX_BAD` of its reports are
            such as nobody's device sends: they would cost as much as good ones.
    """
    state.check_upload(read_header(body))
    columns = read_columns(state.step, body)
    # Counted first, as it takes the least time.
    if len(columns.tokens) - len(np.unique(columns.tokens.view(_TOKEN))) > MAX_BAD:
        raise Refusal(Reason.TOKEN_SPENT, "Expected every token once.")
    offered = choices_offered(state.step, columns.choices)
    if np.count_nonzero(~offered) > MAX_BAD:
        raise Refusal(Reason.UNKNOWN_LEVEL, "Expected levels that the task offers.")
    digests, issued = roster.find(columns.tokens.tobytes())
    if np.count_nonzero(~issued) > MAX_BAD:
        raise Refusal(Reason.TOKEN_FORGED, TOKEN_FORGED)
    bad = np.flatnonzero(~(issued & offered)).tolist()
    places = np.flatnonzero(issued & offered)
    sealed = columns.sealed[places]
    own = (marks.of_tokens(digests[places]), marks.of_messages(sealed))
    return Upload(
        state,
        places,
        np.concatenate(own, axis=1),
        columns.choices[places],
        sealed,
        tuple(
            (p, Reason.UNKNOWN_LEVEL if issued[p] else Reason.TOKEN_FORGED) for p in bad
        ),
        messages_digest(map(sha256, columns.messages())),
    )


def read_single(
    state: ShufflerState, bodies: Sequence[bytes], roster: Roster, marks: KeyedDigests
) -> list[Upload]:
    """Reads uploads of one report each together, as `read_upload` reads each of them.

    Args:
        state: Of the task.
        bodies: Of which each `is_single`, at least one.
        roster: Of the epoch.
        marks: Of the step.

    Raises:
        Refusal: If the step takes no uploads.
    """
    header = bodies[0][:HEADER_SIZE]
    state.check_upload(read_header(header))
    joined = b"".join([header, *(body[HEADER_SIZE:] for body in bodies)])
    columns = read_rows(state.step, joined)
    offered = choices_offered(state.step, columns.choices)
    digests, issued = roster.find(columns.tokens.tobytes())
    own = (marks.of_tokens(digests), marks.of_messages(columns.sealed))
    all_marks, each = np.concatenate(own, axis=1), state.step.messages_per_report
    hashes = [sha256(message) for message in columns.messages()]
    none, first = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    found = []
    for at, good in enumerate((issued & offered).tolist()):
        rows = slice(at, at + good)
        why = Reason.UNKNOWN_LEVEL if issued[at] else Reason.TOKEN_FORGED
        found.append(
            Upload(
                state,
                first if good else none,
                all_marks[rows],
                columns.choices[rows],
                columns.sealed[rows],
                () if good else ((0, why),),
                messages_digest(hashes[at * each : (at + 1) * each]),
            )
        )
    return found


def is_single(state: ShufflerState, body: bytes) -> bool:
    """Tells whether a body is of one report for a step, as most are."""
    step = state.step
    size = HEADER_SIZE + report_size(step)
    return len(body) == size and body.startswith(write_header(step))
