"""Tokens and rosters: drawn by the enroller alone, for one task and one epoch."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from service_parties import parties

from shuffledp.errors import InvalidInputError
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment, read_roster, write_roster
from shuffledp_services.wire.tokens import TOKEN_SIZE, TokenDigests, draw_tokens

WHO = parties()
KEY, TASK = WHO.enroller.signing_key, WHO.task
TOKENS = draw_tokens(50)
CONTENT = write_roster(TASK, 1, TOKENS, KEY)
ROSTER = read_roster(CONTENT, TASK)


def reason_of(call: Any, *arguments: Any) -> Reason:
    with pytest.raises(Refusal) as refusal:
        call(*arguments)
    return refusal.value.reason


def test_tokens_are_different_and_listed() -> None:
    assert len(set(TOKENS)) == 50
    assert {len(token) for token in TOKENS} == {TOKEN_SIZE}
    assert all(ROSTER.valid(token) for token in TOKENS)
    assert (ROSTER.enrolment.tokens, ROSTER.enrolment.epoch) == (50, 1)


def test_a_roster_holds_nothing_that_could_be_sent() -> None:
    parts = [token[at : at + 8] for token in TOKENS for at in range(0, 32, 8)]

    assert not any(part in CONTENT for part in parts)
    # Whoever has the digests alone has no token.
    digests = [digest.tobytes() for digest in ROSTER.digests]
    assert not any(ROSTER.valid(digest + digest) for digest in digests)
    assert not any(ROSTER.valid(digest.ljust(32, b"\0")) for digest in digests)


@given(st.integers(0, 49), st.integers(0, 31), st.integers(1, 255))
def test_a_changed_token_is_not_valid(which: int, place: int, change: int) -> None:
    token = bytearray(TOKENS[which])
    token[place] ^= change

    assert not ROSTER.valid(bytes(token))


@given(st.binary(max_size=64))
def test_random_bytes_are_no_token(token: bytes) -> None:
    assert not ROSTER.valid(token)


def test_many_tokens_are_found_as_one_by_one() -> None:
    other = draw_tokens(50)
    mixed = [token for pair in zip(TOKENS, other, strict=True) for token in pair]

    digests, listed = ROSTER.find(b"".join(mixed))

    one_by_one = TokenDigests(TASK.digest, 1)
    assert [d.tobytes() for d in digests] == [one_by_one.of(token) for token in mixed]
    assert listed.tolist() == [True, False] * 50


class FirstHalf(TokenDigests):
    """Digests that a test chooses: the first half of each token."""

    def of(self, token: bytes) -> bytes:
        return token[: TOKEN_SIZE // 2]


@given(st.lists(st.binary(min_size=16, max_size=16), min_size=2, unique=True))
@example([bytes(16), b"a".ljust(16, b"\0"), b"a".ljust(16, b"\xff"), b"\xff" * 16])
def test_one_token_is_looked_up_as_many_are(digests: list[bytes]) -> None:
    # Zeros at the end of a digest count, and every second digest is not on the roster.
    listed = sorted(digests)[::2]
    rows = np.frombuffer(b"".join(listed), np.uint8).reshape(-1, 16)
    roster = replace(ROSTER, digests=rows)
    roster.__dict__["_token_digests"] = FirstHalf(TASK.digest, 1)

    tokens = [digest + bytes(16) for digest in digests]
    _, found = roster.find(b"".join(tokens))

    assert [roster.valid(token) for token in tokens] == found.tolist()
    assert found.tolist() == [digest in listed for digest in digests]


def test_tokens_are_valid_nowhere_else() -> None:
    elsewhere = replace(TASK, name="Another task")
    rosters = [
        read_roster(write_roster(task, epoch, TOKENS, KEY), task)
        for task, epoch in ((TASK, 1), (TASK, 2), (elsewhere, 1))
    ]

    texts = [{digest.tobytes() for digest in roster.digests} for roster in rosters]
    assert not texts[0] & texts[1]
    assert not texts[0] & texts[2]


@pytest.mark.parametrize("party", ["analyst", "shuffler"])
def test_nobody_but_the_enroller_writes_a_roster(party: str) -> None:
    key = getattr(WHO, party).signing_key

    forged = write_roster(TASK, 1, draw_tokens(5), key)

    assert reason_of(read_roster, forged, TASK) is Reason.SIGNATURE_FORGED


def test_no_token_is_added_taken_away_or_exchanged() -> None:
    begin = len(CONTENT) - ROSTER.digests.size
    changed = bytearray(CONTENT)
    changed[-1] ^= 1
    sorted_back = CONTENT[:begin] + CONTENT[-16:] + CONTENT[begin:-16]

    for content in (CONTENT + bytes(16), CONTENT[:-16], bytes(changed), sorted_back):
        assert reason_of(read_roster, content, TASK) is Reason.WRONG_SIZE
    for content in (b"", b"SDPT", CONTENT[:40], b"SDPB" + CONTENT[4:]):
        assert reason_of(read_roster, content, TASK) is Reason.MALFORMED


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": 51},
        {"epoch": 2},
        {"task": "A" * 43},
        {"sha256": "A" * 43},
        {"more": 1},
    ],
)
def test_a_changed_enrolment_is_refused(changes: dict[str, Any]) -> None:
    document = {**ROSTER.enrolment.to_dict(), **changes}

    assert reason_of(Enrolment.read, document, TASK) is Reason.SIGNATURE_FORGED


def test_an_enrolment_is_for_its_task_and_is_a_document() -> None:
    document = ROSTER.enrolment.to_dict()

    elsewhere = replace(TASK, name="Another task")
    assert reason_of(Enrolment.read, document, elsewhere) is Reason.UNKNOWN_TASK
    assert reason_of(Enrolment.read, [], TASK) is Reason.MALFORMED
    assert Enrolment.read(json.loads(json.dumps(document)), TASK) == ROSTER.enrolment


@pytest.mark.parametrize(
    ("epoch", "tokens"), [(0, TOKENS), (2**32, TOKENS), (1, []), (1, TOKENS[:1] * 2)]
)
def test_what_makes_no_roster_is_refused(epoch: int, tokens: list[bytes]) -> None:
    with pytest.raises(InvalidInputError):
        write_roster(TASK, epoch, tokens, KEY)


def test_a_token_is_drawn_at_least() -> None:
    with pytest.raises(InvalidInputError):
        draw_tokens(0)


def test_a_million_tokens_are_looked_up_in_a_sorted_list() -> None:
    digests = np.sort(np.random.default_rng(1).integers(0, 256, (10**6, 16), np.uint8))
    texts = np.sort(digests.view("S16").ravel())
    roster = replace(ROSTER, digests=texts.view(np.uint8).reshape(-1, 16))

    assert not any(roster.valid(token) for token in TOKENS)
