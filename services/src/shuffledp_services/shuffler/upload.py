"""Parsing and checks of uploads, before any token is spent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.keyed_digests import KeyedDigests
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.receipt import messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Roster
from shuffledp_services.wire.tokens import TOKEN_SIZE
from shuffledp_services.wire.upload_format import (
    HEADER_SIZE,
    choices_offered,
    read_columns,
    read_header,
    read_rows,
    report_size,
    write_header,
)

MAX_BAD = 16
"""Malformed reports that an upload may have; with more, the whole upload is refused."""

TOKEN_FORGED = "Expected a token that was issued for this task and epoch."

_TOKEN = f"S{TOKEN_SIZE}"


@dataclass(frozen=True, eq=False)
class Upload:
    """Parsed upload: n valid reports, and the refused ones.

    Attributes:
        state: The open step.
        positions: Of the valid reports in the upload, shape (n,).
        keyed_digests: Of each token, then of its messages, shape
            (n, 1 + messages_per_report, KEYED_DIGEST_SIZE).
        choices: Indices of the valid reports' choices, shape (n,).
        sealed: Their messages, bytes, shape (n, messages_per_report, sealed_size).
        refused: (position in the upload, reason) of each refused report.
        digest: Of all sealed messages, as receipts name it, 32 bytes.
    """

    state: ShufflerState
    positions: NDArray[np.int64]
    keyed_digests: NDArray[np.uint8]
    choices: NDArray[np.int64]
    sealed: NDArray[np.uint8]
    refused: tuple[tuple[int, Reason], ...]
    digest: bytes


def admit(state: ShufflerState, begin: bytes, listed: Callable[[bytes], bool]) -> None:
    """Raises Refusal unless an upload that begins with these bytes may come in.

    Args:
        state: The current state.
        begin: Its header and first token; fewer bytes if it has no more.
        listed: Tells whether a token is valid in the state's epoch.
    """
    _check_header(state, begin)
    # The token comes first in a report, so that strangers are refused early.
    token = begin[HEADER_SIZE:]
    if len(token) < TOKEN_SIZE:
        size = report_size(state.step)
        raise Refusal(Reason.WRONG_SIZE, f"Expected reports of {size} bytes each.")
    if not listed(token):
        raise Refusal(Reason.TOKEN_FORGED, TOKEN_FORGED)


def read_upload(
    state: ShufflerState, body: bytes, roster: Roster, keyed_digests: KeyedDigests
) -> Upload:
    """Parses and checks an upload.

    Args:
        state: The current state.
        body: The upload.
        roster: Of the epoch.
        keyed_digests: Of the step.

    Raises:
        Refusal: If the upload is not for this step, or more than `MAX_BAD` of its reports
            are malformed in a way that no device produces.
    """
    _check_header(state, body)
    columns = read_columns(state.step, body)
    # Malformed reports cost as much to process as valid ones: refuse an upload of many.
    # The cheapest check comes first.
    if len(columns.tokens) - len(np.unique(columns.tokens.view(_TOKEN))) > MAX_BAD:
        raise Refusal(Reason.TOKEN_SPENT, "Expected every token once.")
    offered = choices_offered(state.step, columns.choices)
    if np.count_nonzero(~offered) > MAX_BAD:
        raise Refusal(Reason.UNKNOWN_LEVEL, "Expected levels that the task offers.")
    token_digests, issued = roster.find(columns.tokens.tobytes())
    if np.count_nonzero(~issued) > MAX_BAD:
        raise Refusal(Reason.TOKEN_FORGED, TOKEN_FORGED)
    refused = np.flatnonzero(~(issued & offered)).tolist()
    positions = np.flatnonzero(issued & offered)
    sealed = columns.sealed[positions]
    digest_columns = (
        keyed_digests.of_tokens(token_digests[positions]),
        keyed_digests.of_messages(sealed),
    )
    return Upload(
        state,
        positions,
        np.concatenate(digest_columns, axis=1),
        columns.choices[positions],
        sealed,
        tuple(
            (p, Reason.UNKNOWN_LEVEL if issued[p] else Reason.TOKEN_FORGED)
            for p in refused
        ),
        messages_digest(map(sha256, columns.messages())),
    )


def read_single(
    state: ShufflerState,
    bodies: Sequence[bytes],
    roster: Roster,
    keyed_digests: KeyedDigests,
) -> list[Upload]:
    """Parses several uploads of one report at once, with the result of `read_upload`.

    Args:
        state: The current state.
        bodies: At least one upload; `is_single` holds for each.
        roster: Of the epoch.
        keyed_digests: Of the step.

    Raises:
        Refusal: If the step takes no uploads.
    """
    header = bodies[0][:HEADER_SIZE]
    _check_header(state, header)
    # One upload of many rows, as the header is the same: the arrays are built once.
    joined = b"".join([header, *(body[HEADER_SIZE:] for body in bodies)])
    columns = read_rows(state.step, joined)
    offered = choices_offered(state.step, columns.choices)
    token_digests, issued = roster.find(columns.tokens.tobytes())
    digest_columns = (
        keyed_digests.of_tokens(token_digests),
        keyed_digests.of_messages(columns.sealed),
    )
    digests = np.concatenate(digest_columns, axis=1)
    per_report = state.step.messages_per_report
    hashes = [sha256(message) for message in columns.messages()]
    none, first = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    uploads = []
    for index, valid in enumerate((issued & offered).tolist()):
        # One row, or none.
        rows = slice(index, index + valid)
        reason = Reason.UNKNOWN_LEVEL if issued[index] else Reason.TOKEN_FORGED
        uploads.append(
            Upload(
                state,
                first if valid else none,
                digests[rows],
                columns.choices[rows],
                columns.sealed[rows],
                () if valid else ((0, reason),),
                messages_digest(hashes[index * per_report : (index + 1) * per_report]),
            )
        )
    return uploads


def is_single(state: ShufflerState, body: bytes) -> bool:
    """Tells whether a body has one report for the current step, as most have."""
    size = HEADER_SIZE + report_size(state.step)
    return len(body) == size and body.startswith(write_header(state.step))


def _check_header(state: ShufflerState, body: bytes) -> None:
    """Raises Refusal unless an upload that begins with these bytes is accepted now."""
    # Almost all have the step's own header. To parse it takes several times as long.
    if body.startswith(write_header(state.step)):
        state.check_open()
    else:
        state.check_upload(read_header(body))
