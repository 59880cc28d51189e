"""Dummies of a shuffler: added to their own reports once, and drawn again by an auditor."""

import hashlib
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.reports import Reports
from shuffledp.shuffler.dummies import Dummies
from shuffledp.shuffler.dummy_seed import DummySeed

SECRET, NONCE = bytes(range(32)), bytes(16)
NUM_USERS = 500


def counts_of(decay: float = 0.6) -> sdp.Counts:
    groups = (
        sdp.CountGroup(4, 2, sdp.ShufflerNoise(decay, dummies=30)),
        sdp.CountGroup(2, 1, sdp.ShufflerNoise(decay, dummies=30)),
    )
    return sdp.Counts(groups, (1.0,), (1.0,), honest=1)


def reports_of(counts: sdp.Counts) -> Reports:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 4, NUM_USERS)
    answers = np.column_stack([first, (first + 1) % 4, rng.integers(-1, 2, NUM_USERS)])
    return counts.randomize(answers, np.ones(NUM_USERS), rng=rng)


def test_a_shuffle_adds_exactly_the_dummies() -> None:
    counts = counts_of()
    reports, rng = reports_of(counts), np.random.default_rng(4)
    dummies = counts.draw_dummies(rng=rng)

    shuffled = sdp.shuffle(reports, rng=rng, dummies=dummies)

    sent = reports.messages[reports.messages >= 0]
    expected = np.sort(np.concatenate([sent, dummies.messages]))
    np.testing.assert_array_equal(np.sort(shuffled.messages), expected)
    assert shuffled.messages.dtype == reports.messages.dtype
    assert shuffled.num_users == NUM_USERS
    # In a random order: dummies stood behind all others.
    assert not np.array_equal(np.sort(shuffled.messages[: sent.size]), np.sort(sent))
    # Every bucket has from 0 to 60 of them, all +.
    numbers = np.bincount(dummies.messages, minlength=12)
    assert np.all(numbers[1::2] == 0)
    assert np.all((numbers[::2] >= 0) & (numbers[::2] <= 60))


def test_a_shuffle_without_the_dummies_is_refused() -> None:
    counts, rng = counts_of(), np.random.default_rng(1)
    reports = reports_of(counts)

    with pytest.raises(InvalidInputError, match="not private"):
        sdp.shuffle(reports, rng=rng)
    with pytest.raises(InvalidInputError, match="not private"):
        sdp.shuffle(reports, rng=rng, dummies=np.zeros(3, dtype=int))  # type: ignore[arg-type]
    other = counts_of(0.5).draw_dummies(rng=rng)
    with pytest.raises(InvalidInputError, match="dummies of"):
        sdp.shuffle(reports, rng=rng, dummies=other)


def test_dummies_are_added_once() -> None:
    counts, rng = counts_of(), np.random.default_rng(1)
    reports, dummies = reports_of(counts), counts.draw_dummies(rng=rng)
    sdp.shuffle(reports, rng=rng, dummies=dummies)

    with pytest.raises(InvalidInputError, match="before"):
        sdp.shuffle(reports, rng=rng, dummies=dummies)


def test_reports_larger_than_their_answers_are_refused() -> None:
    counts, rng = counts_of(), np.random.default_rng(1)
    reports = reports_of(counts)
    wide = np.concatenate([reports.messages, reports.messages[:, :1]], axis=1)
    large = Reports(counts.identity, wide, None, reports.arrangement)
    dummies = counts.draw_dummies(rng=rng)

    with pytest.raises(InvalidInputError, match="at most 3 messages"):
        sdp.shuffle(large, rng=rng, dummies=dummies)
    # They were not used up.
    assert sdp.shuffle(reports, rng=rng, dummies=dummies).num_users == NUM_USERS


def test_other_reports_take_no_dummies() -> None:
    rng = np.random.default_rng(1)
    dummies = counts_of().draw_dummies(rng=rng)
    reports = sdp.Frequency(3).randomize([0, 1], [1.0, 1.0], rng=rng)

    with pytest.raises(InvalidInputError, match="no dummies"):
        sdp.shuffle(reports, rng=rng, dummies=dummies)


def test_noise_of_devices_has_no_dummies() -> None:
    group = sdp.CountGroup(4, 1, sdp.PoissonNoise(30.0))
    counts = sdp.Counts((group,), (1.0,), (1.0,), honest=100)

    with pytest.raises(InvalidInputError, match="devices draw"):
        counts.draw_dummies(rng=np.random.default_rng(1))


def test_dummies_and_secrets_are_not_printed() -> None:
    dummies = counts_of().draw_dummies(rng=np.random.default_rng(1))
    seed = DummySeed(SECRET)

    assert repr(dummies) == "Dummies()"
    assert repr(seed) == "DummySeed()"


def test_an_auditor_draws_the_dummies_again() -> None:
    counts = counts_of()
    seed = DummySeed(SECRET)
    commitment = seed.commitment
    assert commitment == hashlib.sha256(SECRET).hexdigest()
    drawn = counts.draw_dummies(rng=seed.random(counts.identity, nonce=NONCE))
    shuffled = sdp.shuffle(
        reports_of(counts), rng=np.random.default_rng(1), dummies=drawn
    )

    opened = DummySeed.opened(SECRET, commitment=commitment)
    again = counts.draw_dummies(rng=opened.random(counts.identity, nonce=NONCE))

    np.testing.assert_array_equal(again.messages, drawn.messages)
    assert again.missing_from(shuffled) == 0


@pytest.mark.parametrize("part", ["secret", "nonce", "protocol"])
def test_other_seeds_give_other_dummies(part: str) -> None:
    counts = counts_of()
    first = DummySeed(SECRET).random(counts.identity, nonce=NONCE)
    secret = bytes(32) if part == "secret" else SECRET
    nonce = bytes(17) if part == "nonce" else NONCE
    identity = counts_of(0.5).identity if part == "protocol" else counts.identity
    second = DummySeed(secret).random(identity, nonce=nonce)

    ours, theirs = (counts.draw_dummies(rng=rng) for rng in (first, second))

    assert not np.array_equal(ours.messages, theirs.messages)


def test_a_tampered_secret_is_detected() -> None:
    commitment = DummySeed(SECRET).commitment

    for index in (0, 31):
        other = bytearray(SECRET)
        other[index] ^= 1
        with pytest.raises(DataError, match="committed"):
            DummySeed.opened(bytes(other), commitment=commitment)
    wrong: list[Any] = ["", "00", commitment.upper(), None, commitment + "0"]
    for text in wrong:
        with pytest.raises(DataError, match="committed"):
            DummySeed.opened(SECRET, commitment=text)


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(33), "a" * 32, None])
def test_short_secrets_are_refused(secret: Any) -> None:
    with pytest.raises(InvalidInputError, match="32 bytes"):
        DummySeed(secret)


@pytest.mark.parametrize("nonce", [b"", bytes(15), "a" * 16, None])
def test_short_nonces_are_refused(nonce: Any) -> None:
    with pytest.raises(InvalidInputError, match="nonce"):
        DummySeed(SECRET).random(counts_of().identity, nonce=nonce)


def test_missing_dummies_are_counted() -> None:
    counts, rng = counts_of(), np.random.default_rng(5)
    dummies = counts.draw_dummies(rng=rng)
    kept = Dummies(counts.identity, dummies.messages[7:], 3)
    few = reports_of(counts).messages[:0]
    nobody = Reports(counts.identity, few, None, "loose with dummies")

    shuffled = sdp.shuffle(nobody, rng=rng, dummies=kept)

    assert dummies.missing_from(shuffled) == 7
    assert kept.missing_from(shuffled) == 0
