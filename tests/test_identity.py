"""A protocol is what it was made from: equal if and only if that is."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp import Identity, InvalidInputError
from shuffledp.identity import check_same

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    NUMBERS | st.text() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
RECORDS = st.fixed_dictionaries(
    {
        "statistic": st.text(max_size=5),
        "mechanism": st.text(max_size=5),
        "parameters": st.dictionaries(st.text(max_size=3), VALUES, max_size=3),
        "mode": st.sampled_from(["agnostic", "stratified"]),
    }
)

# Every protocol differs from every other.
PROTOCOLS: list[Any] = [
    sdp.Frequency(8),
    sdp.Frequency(9),
    sdp.Frequency(8, "stratified"),
    sdp.Frequency(8, randomizer=sdp.HadamardResponse(8)),
    sdp.Frequency(8, randomizer=sdp.SubsetSelection(8, 2)),
    sdp.Frequency(8, randomizer=sdp.SubsetSelection(8, 3)),
    sdp.Frequency(8, randomizer=sdp.LocalHashing(8, 3)),
    sdp.Frequency(8, randomizer=sdp.UnaryEncoding(8)),
    sdp.Mean(0, 16),
    sdp.Mean(0, 160),
    sdp.Mean(0, 16, "stratified"),
    sdp.Mean(0, 16, randomizer=sdp.OneBit(16, 32)),
    sdp.Mean(0, 16, randomizer=sdp.Laplace(0, 16)),
    sdp.Mean(0, 16, randomizer=sdp.ClipLaplace(8)),
    sdp.Mean(0, 16, randomizer=sdp.Gaussian(0, 16, delta_local=1e-6)),
    sdp.Mean(0, 16, randomizer=sdp.Gaussian(0, 16, delta_local=1e-7)),
    sdp.Mean(0, 16, randomizer=sdp.Gaussian(0, 16, calibration="classical")),
    sdp.Mean(0, 1),
    sdp.BinarySum(),
    sdp.BinarySum("stratified"),
    sdp.Strings(),
    sdp.Strings(num_bits=64),
    sdp.Strings(num_hashes=3),
    sdp.Strings(num_cohorts=8),
    sdp.Strings(one_given_one=0.8),
    sdp.Strings(mode="stratified"),
    sdp.SingleMessage(sdp.KRandomizedResponse(8)),
    sdp.SingleMessage(sdp.OneBit(0, 1)),
    sdp.SingleMessage(sdp.OneBit(0, 1), "stratified"),
]


def plain(record: Any) -> str:
    """The record, told apart by value and type."""
    if isinstance(record, dict):
        return f"{{{sorted((plain(k), plain(v)) for k, v in record.items())}}}"
    if isinstance(record, list):
        return f"[{', '.join(map(plain, record))}]"
    return f"{type(record).__name__} {record!r}"


@pytest.mark.slow
@settings(deadline=None)
@given(first=RECORDS, second=RECORDS)
def test_identities_are_equal_if_and_only_if_records_are(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    one, other = Identity.from_record(first), Identity.from_record(second)

    same = plain(first) == plain(second)

    assert (one == other) == same
    assert (one.digest == other.digest) == same
    assert (hash(one) == hash(other)) or not same


@settings(deadline=None)
@given(record=RECORDS)
@pytest.mark.slow
def test_records_are_read_back_in_whatever_order_they_were_written(
    record: dict[str, Any],
) -> None:
    identity = Identity.from_record(record)

    turned = json.loads(json.dumps(dict(reversed(list(record.items())))))

    assert plain(identity.record) == plain(record)
    assert Identity.from_record(identity.record) == identity
    assert Identity.from_record(turned) == identity
    assert Identity.of(**record) == identity


def test_digests_of_all_protocols_differ() -> None:
    digests = [protocol.identity.digest for protocol in PROTOCOLS]
    names = [str(protocol.identity) for protocol in PROTOCOLS]

    assert len(set(digests)) == len(digests) == 29
    # Errors tell them apart.
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: sdp.Frequency(8),
            '{"mechanism":"kary-response","mode":"agnostic",'
            '"parameters":{"categories":8},"statistic":"frequency"}',
        ),
        (
            lambda: sdp.Mean(0, 16, "stratified"),
            '{"mechanism":"one-bit","mode":"stratified","parameters":{"high":16.0,'
            '"low":0.0,"randomizer":{"high":16.0,"low":0.0}},"statistic":"mean"}',
        ),
        (
            sdp.Strings,
            '{"mechanism":"rappor","mode":"agnostic","parameters":{"bits":128,'
            '"cohorts":16,"hashes":2,"one_given_one":0.75,"one_given_zero":0.5},'
            '"statistic":"strings"}',
        ),
    ],
)
def test_texts_are_what_they_have_always_been(
    make: Callable[[], Any], text: str
) -> None:
    identity = make().identity

    assert identity.text == text
    assert identity.digest == hashlib.sha256(text.encode()).hexdigest()


def test_digests_are_what_they_have_always_been() -> None:
    # Reports, tallies and certificates that were stored must find their protocol again.
    assert sdp.Frequency(8).identity.digest == (
        "77441a6c9d1cc4ab4ba84d44896702262cc739b6cde0faaf363ca8ac70d77687"
    )
    assert sdp.BinarySum().identity.digest == (
        "7992c42af260e6bbe29411b20e075437a45a4de6f4e56e32cd6e684f7574f067"
    )


def test_types_of_numbers_in_python_do_not_matter() -> None:
    assert sdp.Mean(0, 16).identity == sdp.Mean(0.0, np.float64(16)).identity
    assert sdp.Frequency(8).identity == sdp.Frequency(int(np.int64(8))).identity
    wide = np.int64(64)
    assert sdp.Strings(num_bits=64).identity == sdp.Strings(num_bits=wide).identity  # type: ignore[arg-type]


def test_names_say_what_it_is() -> None:
    assert str(sdp.Frequency(8).identity) == (
        "frequency by kary-response (categories 8), agnostic"
    )
    assert str(sdp.BinarySum("stratified").identity) == "sum by one-bit, stratified"
    assert str(sdp.Mean(0, 0.1).identity) == (
        "mean by one-bit (high 0.1, low 0), agnostic"
    )
    # All digits.
    assert str(sdp.Mean(0, 1.000_000_1).identity) != str(sdp.Mean(0, 1).identity)


def test_protocols_that_differ_are_both_named_in_one_sentence() -> None:
    wanted, found = sdp.Frequency(9).identity, sdp.Frequency(8).identity

    check_same(wanted, sdp.Frequency(9).identity, what="reports")
    with pytest.raises(InvalidInputError) as caught:
        check_same(found, wanted, what="reports")

    text = str(caught.value)
    assert text.startswith(f"Expected reports of {wanted};")
    assert text.endswith(f"reports of {found}.")


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        "frequency",
        {},
        {"statistic": "frequency", "mechanism": "m", "parameters": {}},
        {"statistic": "f", "mechanism": "m", "parameters": {}, "mode": "both"},
        {"statistic": "f", "mechanism": "m", "parameters": {}, "mode": None},
        {"statistic": "f", "mechanism": "m", "parameters": {}, "mode": ["agnostic"]},
        {"statistic": 3, "mechanism": "m", "parameters": {}, "mode": "agnostic"},
        {"statistic": "f", "mechanism": None, "parameters": {}, "mode": "agnostic"},
        {"statistic": "f", "mechanism": "m", "parameters": [], "mode": "agnostic"},
        {"statistic": "f", "mechanism": "m", "parameters": None, "mode": "agnostic"},
        {
            "statistic": "f",
            "mechanism": "m",
            "parameters": {},
            "mode": "agnostic",
            "more": 1,
        },
    ],
)
def test_what_is_no_record_is_refused(record: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        Identity.from_record(record)


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        1j,
        b"bytes",
        {1, 2},
        np.arange(3),
        np.float64,
        object(),
        lambda: 3,
        deep(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_written_down_identifies_nothing(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="made from"):
        Identity.of("frequency", "mine", {"q": value}, "agnostic")


def test_nobody_changes_a_protocol_through_its_record() -> None:
    identity = sdp.Frequency(8).identity

    identity.record["parameters"]["categories"] = 9

    assert identity == sdp.Frequency(8).identity
