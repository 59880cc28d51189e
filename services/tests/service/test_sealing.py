"""Sealed messages: RFC 9180, and nobody opens what was sealed for something else."""

import dataclasses

import numpy as np
import pytest
from oracles import hpke
from service_parties import parties

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.sealing import (
    Opener,
    Sealer,
    Suite,
    new_private_key,
    public_key_of,
)
from shuffledp_services.wire.step import Step

# RFC 9180, appendix A.1.1: base mode, and its first encryption.
RFC = {
    "info": "4f6465206f6e2061204772656369616e2055726e",
    "ephemeral": "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736",
    "private": "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
    "public": "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
    "enc": "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
    "message": "4265617574792069732074727574682c20747275746820626561757479",
    "aad": "436f756e742d30",
    "sealed": "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a9"
    "6d8770ac83d07bea87e13c512a",
}
VECTOR = {name: bytes.fromhex(text) for name, text in RFC.items()}


def test_the_vector_of_the_rfc_is_what_the_oracle_seals() -> None:
    sealed = hpke.seal(
        VECTOR["message"],
        recipient=VECTOR["public"],
        ephemeral=VECTOR["ephemeral"],
        info=VECTOR["info"],
        aad=VECTOR["aad"],
    )

    assert sealed == VECTOR["enc"] + VECTOR["sealed"]


def test_what_the_oracle_seals_with_the_keys_of_the_rfc_opens() -> None:
    sealed = hpke.seal(
        VECTOR["message"],
        recipient=VECTOR["public"],
        ephemeral=VECTOR["ephemeral"],
        info=VECTOR["info"],
    )

    opened = Opener(Suite.X25519, VECTOR["private"], VECTOR["info"]).open(sealed)

    assert public_key_of(Suite.X25519, VECTOR["private"]) == VECTOR["public"]
    assert opened == VECTOR["message"]


@pytest.mark.parametrize("suite", list(Suite))
def test_messages_come_back_and_are_longer_by_the_overhead(suite: Suite) -> None:
    private = new_private_key(suite)
    public = public_key_of(suite, private)
    messages = [b"", b"a", bytes(9), bytes(5000)]

    sealed = Sealer(suite, public, b"info").seal(messages)
    opener = Opener(suite, private, b"info")

    assert (len(private), len(public)) == (suite.private_size, suite.public_size)
    assert [len(text) for text in sealed] == [len(m) + suite.overhead for m in messages]
    assert [opener.open(text) for text in sealed] == messages


def test_the_same_message_is_sealed_differently_each_time() -> None:
    public = public_key_of(Suite.X25519, new_private_key(Suite.X25519))

    sealed = Sealer(Suite.X25519, public, b"").seal([b"same"] * 100)

    assert len(set(sealed)) == len({text[:32] for text in sealed}) == 100


def test_what_was_sealed_for_one_step_opens_in_no_other() -> None:
    made = parties("frequency", mode="stratified")
    step = Step(made.task, 4)
    changed_task = dataclasses.replace(made.task, name="Another name")
    others = [
        Step(made.task, 5).info(1),
        Step(made.task, 4, EpochStage.CHOICE).info(1),
        Step(made.task, 4, plan=made.task.protocol).info(1),
        Step(changed_task, 4).info(1),
        step.info(0),
        step.info(2),
        b"",
    ]
    private, suite = made.analyst.private_key, made.task.suite

    (sealed,) = Sealer(suite, made.task.analyst_key, step.info(1)).seal([b"message"])

    assert Opener(suite, private, step.info(1)).open(sealed) == b"message"
    assert [Opener(suite, private, info).open(sealed) for info in others] == [None] * 7


def test_levels_are_no_part_of_what_unlinked_messages_are_sealed_for() -> None:
    step = Step(parties("frequency").task, 1)

    assert step.info(0) == step.info(2)


@pytest.mark.parametrize("suite", list(Suite))
def test_a_message_with_any_bit_flipped_does_not_open(suite: Suite) -> None:
    private, rng = new_private_key(suite), np.random.default_rng(5)
    (sealed,) = Sealer(suite, public_key_of(suite, private), b"i").seal([bytes(9)])
    opener = Opener(suite, private, b"i")
    places = range(8 * len(sealed)) if suite is Suite.X25519 else []
    flips = [*places, *rng.integers(0, 8 * len(sealed), 1000 - len(places)).tolist()]

    opened = []
    for flip in flips:
        changed = bytearray(sealed)
        changed[flip // 8] ^= 1 << flip % 8
        opened.append(opener.open(bytes(changed)))

    # X25519 ignores the last bit of a point, but the shared secret is bound to its bytes.
    assert opened == [None] * 1000


@pytest.mark.parametrize("suite", list(Suite))
def test_bytes_that_are_no_message_do_not_open(suite: Suite) -> None:
    opener = Opener(suite, new_private_key(suite), b"")

    lengths = (0, 1, 31, 47, 48, suite.overhead - 1, suite.overhead, 10_000)

    assert [opener.open(bytes(length)) for length in lengths] == [None] * 8


@pytest.mark.parametrize("suite", list(Suite))
def test_keys_that_hide_nothing_are_refused(suite: Suite) -> None:
    # A point of small order makes every shared secret zero.
    for key in (bytes(suite.public_size), b"", bytes(31)):
        with pytest.raises(Refusal):
            Sealer(suite, key, b"").seal([b"message"])
    with pytest.raises(Refusal):
        Opener(suite, bytes(31), b"")


def test_another_key_does_not_open_a_message() -> None:
    ours, theirs = (new_private_key(Suite.X_WING) for _ in range(2))
    public = public_key_of(Suite.X_WING, ours)
    # Half of the right key is not enough.
    mixed = ours[:64] + theirs[64:]

    (sealed,) = Sealer(Suite.X_WING, public, b"").seal([b"message"])

    for private in (theirs, mixed):
        assert Opener(Suite.X_WING, private, b"").open(sealed) is None
