"""Tokens: issued by the shuffler alone, for one task and one epoch."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.errors import InvalidInputError
from shuffledp.service.wire.tokens import TOKEN_SIZE, TokenCheck, issue_tokens

KEY, TASK = bytes(range(32)), bytes(range(16))
TOKENS = issue_tokens(KEY, TASK, 1, 50)


def test_tokens_are_a_nonce_and_its_hmac() -> None:
    (token,) = issue_tokens(KEY, TASK, 258, 1, entropy=lambda size: b"n" * size)

    text = b"shuffledp token 1" + TASK + b"\x00\x00\x01\x02" + b"n" * 16
    assert token == b"n" * 16 + hmac.new(KEY, text, hashlib.sha256).digest()[:16]


def test_issued_tokens_are_valid_and_different() -> None:
    check = TokenCheck(KEY, TASK, 1)

    assert all(check.valid(token) for token in TOKENS)
    assert len({token[:16] for token in TOKENS}) == 50
    assert {len(token) for token in TOKENS} == {TOKEN_SIZE}


@given(
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.integers(1, 2**32 - 1),
    st.binary(min_size=16, max_size=16),
)
def test_the_check_and_the_standard_agree_on_every_tag(
    key: bytes, task: bytes, epoch: int, nonce: bytes
) -> None:
    text = b"shuffledp token 1" + task + epoch.to_bytes(4, "big") + nonce

    tag = hmac.new(key, text, hashlib.sha256).digest()[:16]

    assert TokenCheck(key, task, epoch).valid(nonce + tag)


@pytest.mark.parametrize(
    "check",
    [
        TokenCheck(bytes(32), TASK, 1),
        TokenCheck(KEY, bytes(16), 1),
        TokenCheck(KEY, TASK, 2),
    ],
    ids=["another key", "another task", "another epoch"],
)
def test_tokens_are_valid_nowhere_else(check: TokenCheck) -> None:
    assert not any(check.valid(token) for token in TOKENS)


@given(st.integers(0, 31), st.integers(1, 255))
def test_a_changed_token_is_not_valid(place: int, change: int) -> None:
    token = bytearray(TOKENS[0])
    token[place] ^= change

    assert not TokenCheck(KEY, TASK, 1).valid(bytes(token))


@given(st.binary(max_size=64))
def test_random_bytes_are_no_token(token: bytes) -> None:
    assert not TokenCheck(KEY, TASK, 1).valid(token)


def test_a_token_that_is_cut_or_longer_is_not_valid() -> None:
    check, token = TokenCheck(KEY, TASK, 1), TOKENS[0]

    assert not any(check.valid(text) for text in (token[:-1], token[:16], token + b"x"))


@pytest.mark.parametrize(("epoch", "count"), [(0, 1), (2**32, 1), (-1, 1), (1, -1)])
def test_epochs_and_numbers_out_of_range_are_refused(epoch: int, count: int) -> None:
    with pytest.raises(InvalidInputError):
        issue_tokens(KEY, TASK, epoch, count)
