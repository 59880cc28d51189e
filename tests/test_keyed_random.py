"""Streams of people: always the same, whoever else is there, and as good as any coins."""

import hashlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cryptography", reason="Needs the extra keyed.")

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray
from scipy.stats import chi2, kstest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.randomness import KeyedRandom, bernoulli_draws
from shuffledp.statistics.items.protocol import Items

SECRET = bytes(range(32))


def digests(count: int, begin: int = 0) -> NDArray[np.uint8]:
    content = b"".join(
        hashlib.sha256(b"person %d" % person).digest()[:16]
        for person in range(begin, begin + count)
    )
    return np.frombuffer(content, np.uint8).reshape(-1, 16)


def block(key: bytes, content: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(content)


@pytest.mark.parametrize("blocks", [1, 3])
def test_words_are_what_the_description_says(blocks: int) -> None:
    people = digests(3 * blocks).reshape(3, -1)
    purpose = b"shuffledp randomness of people 1" + (16 * blocks).to_bytes(4, "big")
    keys = HKDF(SHA256(), 64, None, purpose).derive(SECRET)

    drawn = KeyedRandom(SECRET, people).random(6).reshape(3, 2)

    for person, numbers in zip(people, drawn, strict=True):
        chained = Cipher(algorithms.AES(keys[:32]), modes.CBC(bytes(16))).encryptor()
        seed = chained.update(person.tobytes())[-16:]
        for place, number in enumerate(numbers):
            # The second half counts.
            count = (int.from_bytes(seed[8:], "big") + place) % 2**64
            plain = seed[:8] + count.to_bytes(8, "big")
            word = int.from_bytes(block(keys[32:], plain)[:8], "little")
            assert number == (word >> 11) / 2**53


CATEGORIES = [
    sdp.KRandomizedResponse(5),
    sdp.SubsetSelection(6, 2),
    sdp.SubsetSelection(60, 20),
    sdp.HadamardResponse(5),
    sdp.LocalHashing(5, 3),
    sdp.UnaryEncoding(5),
]
NUMBERS = [
    sdp.OneBit(0, 1),
    sdp.Laplace(0, 1),
    sdp.ClipLaplace(1),
    SparsifiedClipLaplace(1.0),
    sdp.Gaussian(0, 1, delta_local=1e-5),
]


def people_dependent(device: Any, values: Any, levels: Any) -> None:
    """Asserts that everybody's message is hers, in whatever company she sends it."""
    count = len(values)
    people, order = digests(count), np.random.default_rng(5).permutation(count)

    def sent(places: NDArray[np.int64], secret: bytes = SECRET) -> NDArray[np.int64]:
        keyed = KeyedRandom(secret, people[places])
        found = device.randomize(values[places], levels[places], rng=keyed)
        return np.asarray(found, dtype=np.int64)

    everybody = sent(np.arange(count))

    for some in (order, order[:17], order[-1:]):
        np.testing.assert_array_equal(sent(some), everybody[some])
    assert (sent(order, bytes(32)) != everybody[order]).any()


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("device", CATEGORIES, ids=repr)
def test_a_category_is_sent_alike_in_any_company(
    device: Any, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        for module in ("tally", "unary_encoding"):
            monkeypatch.setattr(f"shuffledp.randomizers.{module}._BATCH", 256)
    values = np.random.default_rng(6).integers(0, 5, 1_000)
    levels = np.random.default_rng(7).choice([0.5, 2.0], 1_000)

    people_dependent(device, values, levels)


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("device", NUMBERS, ids=repr)
def test_a_number_is_sent_alike_in_any_company_at_one_level(
    device: Any, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        monkeypatch.setattr("shuffledp.randomizers.tally._BATCH", 256)
    values = np.random.default_rng(6).random(1_000)

    people_dependent(device, values, np.full(1_000, 0.8))


def test_a_set_of_items_is_sent_alike_in_any_company() -> None:
    device = Items(6, 2, (1.0, 3.0), (0.4, 0.9), 1.5, 6)
    rng = np.random.default_rng(8)
    sets = np.argsort(rng.random((500, 6)), axis=1)[:, :2]
    levels, people = rng.choice([1.0, 3.0], 500), digests(500)

    def sent(places: NDArray[np.int64]) -> NDArray[Any]:
        keyed = KeyedRandom(SECRET, people[places])
        return device.randomize(sets[places], levels[places], rng=keyed).messages

    order = rng.permutation(500)
    everybody = sent(np.arange(500))
    np.testing.assert_array_equal(sent(order), everybody[order])
    np.testing.assert_array_equal(sent(order[:3]), everybody[order[:3]])


def test_streams_are_as_good_as_coins() -> None:
    # False alarms: 1e-6 each.
    count = 40_000
    keyed = KeyedRandom(SECRET, digests(count))
    first, second = keyed.random(count), keyed.random(2 * count).reshape(-1, 2)
    thrown = keyed.integers(0, 7, count)
    chances = np.full((count, 3), 0.3)
    hits = bernoulli_draws(chances, rng=keyed)

    for numbers in (first, second[:, 0], second[:, 1]):
        assert kstest(numbers, "uniform").pvalue > 1e-6
    for one, other in ((first, second[:, 0]), (second[:, 0], second[:, 1])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 4.9 / count**0.5
    counts = np.bincount(thrown, minlength=7)
    assert chi2.sf(((counts - count / 7) ** 2 / (count / 7)).sum(), 6) > 1e-6
    patterns = np.bincount(hits @ np.array([1, 2, 4]), minlength=8)
    ones = np.array([bin(pattern).count("1") for pattern in range(8)])
    expected = count * 0.3**ones * 0.7 ** (3 - ones)
    assert chi2.sf(((patterns - expected) ** 2 / expected).sum(), 7) > 1e-6


def test_somebody_who_is_asked_twice_at_once_draws_her_next_numbers() -> None:
    people = digests(3)
    one, other = KeyedRandom(SECRET, people), KeyedRandom(SECRET, people)

    twice = one.of(np.array([0, 1, 1, 1])).random(4)
    own = other.of(np.array([1])).random(3)

    np.testing.assert_array_equal(twice[1:], own)
    assert one.of(np.array([1])).random(1) == other.of(np.array([1])).random(1)
    assert one.of(np.array([2])).random(1) == other.of(slice(2, 3)).random(1)


def test_numbers_that_are_drawn_again_are_her_own() -> None:
    # A range of which a third of all words is refused.
    span = 3 * 2**62
    people = digests(300)
    everybody = KeyedRandom(SECRET, people).integers(0, span // 2, 300)
    alone = [
        KeyedRandom(SECRET, people[[place]]).integers(0, span // 2, 1)[0]
        for place in range(300)
    ]
    np.testing.assert_array_equal(everybody, alone)


def test_coins_of_tiny_chances_are_settled_in_her_own_stream() -> None:
    people, chances = digests(50), np.full((50, 2), 2.0**-60)
    chances[::2] = 1.0 - 2.0**-53

    everybody = bernoulli_draws(chances, rng=KeyedRandom(SECRET, people))

    for place in range(50):
        alone = KeyedRandom(SECRET, people[[place]])
        np.testing.assert_array_equal(
            bernoulli_draws(chances[[place]], rng=alone)[0], everybody[place]
        )


def test_what_is_no_secret_or_no_digest_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 16 bytes"):
        KeyedRandom(bytes(15), digests(1))
    wrong: list[Any] = [digests(2)[:, :8], digests(2).astype(int), digests(2)[0]]
    for people in wrong:
        with pytest.raises(InvalidInputError, match="16 bytes for each person"):
            KeyedRandom(SECRET, people)
    with pytest.raises(InvalidInputError, match="as many numbers"):
        KeyedRandom(SECRET, digests(2)).random(3)
    assert KeyedRandom(SECRET, digests(0)).random(0).shape == (0,)


def test_no_shuffle_draws_from_devices() -> None:
    keyed = KeyedRandom(SECRET, digests(4))
    reports = sdp.Frequency(3).randomize([0, 1, 2, 2], [1.0] * 4, rng=keyed)

    with pytest.raises(InvalidInputError, match="for devices"):
        sdp.shuffle(reports, rng=keyed)
    with pytest.raises(InvalidInputError, match="for devices"):
        keyed.permutation(4)


@pytest.mark.parametrize(
    ("secret", "people", "words"),
    [
        ("text", digests(2), "the secret as bytes, got str"),
        (SECRET, [1, 2], "people's digests as an array .*, got list"),
    ],
    ids=["secret", "digests"],
)
def test_arguments_of_another_kind_are_named(
    secret: Any, people: Any, words: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"Expected {words}"):
        KeyedRandom(secret, people)
