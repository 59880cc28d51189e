"""Messages of one protocol mean nothing in another, and are never estimated there."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import InvalidInputError, Population

PEOPLE = Population.from_counts({1.0: 40, 2.0: 60})
LEVELS = np.random.default_rng(1).permutation(PEOPLE.budgets())
VALUES = np.arange(100) % 2
SETS = VALUES[:, None]
WORDS = [f"word {value}" for value in VALUES]

# (what the devices ran, what the analyst takes it for, what people hold)
PAIRS: list[tuple[Any, Any, Any]] = [
    (sdp.Frequency(8), sdp.Frequency(9), VALUES),
    (sdp.Frequency(9), sdp.Frequency(8), VALUES),
    (
        sdp.Frequency(8),
        sdp.Frequency(8, randomizer=sdp.HadamardResponse(8)),
        VALUES,
    ),
    (
        sdp.Frequency(8, randomizer=sdp.HadamardResponse(8)),
        sdp.Frequency(8),
        VALUES,
    ),
    (
        sdp.Frequency(8, randomizer=sdp.SubsetSelection(8, 2)),
        sdp.Frequency(8, randomizer=sdp.SubsetSelection(8, 3)),
        VALUES,
    ),
    (
        sdp.Frequency(8, randomizer=sdp.UnaryEncoding(8, "symmetric")),
        sdp.Frequency(8, randomizer=sdp.UnaryEncoding(8, "optimized")),
        VALUES,
    ),
    (sdp.Frequency(2), sdp.Frequency(2, "stratified"), VALUES),
    (sdp.Frequency(2, "stratified"), sdp.Frequency(2), VALUES),
    (sdp.Frequency(2), sdp.Mean(0, 1), VALUES),
    (sdp.Mean(0, 16), sdp.Mean(0, 160), VALUES),
    (sdp.Mean(0, 16), sdp.Mean(1, 17), VALUES),
    (sdp.Mean(0, 16), sdp.Mean(0, 16, "stratified"), VALUES),
    (
        sdp.Mean(0, 16, randomizer=sdp.Laplace(0, 16)),
        sdp.Mean(0, 16, randomizer=sdp.Gaussian(0, 16)),
        VALUES,
    ),
    (
        sdp.Mean(0, 16, randomizer=sdp.Gaussian(0, 16, delta_local=1e-6)),
        sdp.Mean(0, 16, randomizer=sdp.Gaussian(0, 16, delta_local=1e-7)),
        VALUES,
    ),
    (
        sdp.Mean(0, 16, randomizer=sdp.OneBit(0, 16)),
        sdp.Mean(0, 16, randomizer=sdp.OneBit(16, 32)),
        VALUES,
    ),
    (sdp.Mean(0, 1), sdp.BinarySum(), VALUES),
    (sdp.Mean(0, 16), sdp.BinarySum(), VALUES),
    (sdp.BinarySum(), sdp.Mean(0, 1), VALUES),
    (sdp.BinarySum(), sdp.BinarySum("stratified"), VALUES),
    (sdp.Strings(16, 2, 2), sdp.Strings(16, 2, 4), WORDS),
    (sdp.Strings(16, 2, 4), sdp.Strings(16, 2, 2), WORDS),
    (sdp.Strings(16, 2, 2), sdp.Strings(32, 2, 2), WORDS),
    (sdp.Strings(16, 2, 2), sdp.Strings(16, 3, 2), WORDS),
    (sdp.Strings(16, 2, 2), sdp.Strings(16, 2, 2, one_given_one=0.8), WORDS),
    (sdp.Strings(16, 2, 2), sdp.Strings(16, 2, 2, mode="stratified"), WORDS),
    (
        sdp.Frequency(16, randomizer=sdp.UnaryEncoding(16)),
        sdp.Strings(16, 2, 1),
        VALUES,
    ),
    (
        sdp.Items(4, 1, (1.0, 2.0), (0.5, 0.9), 0.5),
        sdp.Items(4, 1, (1.0, 2.0), (0.5, 0.8), 0.5),
        SETS,
    ),
    (
        sdp.Items(4, 1, (1.0, 2.0), (0.5, 0.9), 0.5),
        sdp.Frequency(4),
        SETS,
    ),
]
NAMES = [f"{first!r} into {second!r}" for first, second, _ in PAIRS]


def estimated(protocol: Any, seen: Any) -> Any:
    if isinstance(protocol, sdp.Strings):
        return protocol.estimate(seen, PEOPLE, candidates=["word 1"])
    return protocol.estimate(seen, PEOPLE)


@pytest.mark.parametrize(("ran", "wanted", "values"), PAIRS, ids=NAMES)
def test_what_another_protocol_made_is_refused_and_both_are_named(
    ran: Any, wanted: Any, values: Any
) -> None:
    rng = np.random.default_rng(2)
    reports = ran.randomize(values, LEVELS, rng=rng)
    shuffled = sdp.shuffle(reports, rng=rng)
    tally = ran.tally(shuffled)
    # What it was made for takes it.
    assert estimated(ran, shuffled).identity == ran.identity
    assert estimated(ran, tally).identity == ran.identity

    for seen in (reports, shuffled, tally):
        with pytest.raises(InvalidInputError) as caught:
            estimated(wanted, seen)
        text = str(caught.value)
        assert text.startswith("Expected ")
        assert f"of {wanted.identity}; got " in text
        assert text.endswith(f" of {ran.identity}.")
        assert "\n" not in text


@pytest.mark.parametrize(("ran", "wanted", "values"), PAIRS, ids=NAMES)
def test_nothing_of_another_protocol_is_counted(
    ran: Any, wanted: Any, values: Any
) -> None:
    rng = np.random.default_rng(3)
    reports = ran.randomize(values, LEVELS, rng=rng)
    shuffled = sdp.shuffle(reports, rng=rng)

    for seen in (reports, shuffled):
        with pytest.raises(InvalidInputError) as caught:
            wanted.tally(seen)
        assert str(ran.identity) in str(caught.value)
        assert str(wanted.identity) in str(caught.value)


def test_tallies_of_two_protocols_are_not_added_and_both_are_named() -> None:
    rng, tallies = np.random.default_rng(4), []
    protocols = (sdp.Frequency(8), sdp.Frequency(9))
    for protocol in protocols:
        reports = protocol.randomize(VALUES, LEVELS, rng=rng)
        tallies.append(protocol.tally(sdp.shuffle(reports, rng=rng)))

    with pytest.raises(InvalidInputError) as caught:
        _ = tallies[0] + tallies[1]

    assert all(str(protocol.identity) in str(caught.value) for protocol in protocols)


@pytest.mark.parametrize(("ran", "_wanted", "values"), PAIRS[::4], ids=NAMES[::4])
def test_reports_that_were_not_shuffled_are_refused(
    ran: Any, _wanted: Any, values: Any
) -> None:
    reports = ran.randomize(values, LEVELS, rng=np.random.default_rng(5))

    with pytest.raises(InvalidInputError, match="not shuffled"):
        estimated(ran, reports)
    with pytest.raises(InvalidInputError, match="not shuffled"):
        ran.tally(reports)


@pytest.mark.parametrize("what", [None, 3, "reports", np.arange(3), {}])
def test_anything_else_is_refused(what: Any) -> None:
    for protocol in (sdp.Frequency(4), sdp.Mean(0, 1), sdp.BinarySum(), sdp.Strings()):
        with pytest.raises(InvalidInputError, match="Expected ShuffledReports"):
            estimated(protocol, what)


def tampered(tally: sdp.Tally, **changed: Any) -> sdp.Tally:
    return sdp.Tally.from_dict(tally.to_dict() | changed)


@pytest.mark.parametrize(
    ("protocol", "counts"),
    [
        (sdp.Frequency(2), [[[-1, 50]]]),
        (sdp.Frequency(2), [[[101, 50]]]),
        (sdp.Frequency(2), [[[10**30, 50]]]),
        (sdp.Frequency(2), [[[50, 25, 25]]]),
        (sdp.Frequency(2), [[[50]]]),
        (sdp.Frequency(2, "stratified"), [[[41, 20], [30, 30]]]),
        (sdp.Mean(0, 16), [[[99, 50, 50]]]),
        (sdp.Mean(0, 16), [[[100, 101, 101]]]),
        (sdp.Mean(0, 16), [[[100, -1, 1]]]),
        (sdp.Mean(0, 16), [[[100, 50, 24]]]),
        (sdp.Mean(0, 16), [[[100, 50]]]),
        (sdp.Mean(0, 16), [[[100, 10**40, 10**80]]]),
        (sdp.Mean(0, 16, randomizer=sdp.ClipLaplace(8)), [[[100, 409_600, 10**12]]]),
        (sdp.Mean(0, 16, randomizer=sdp.Laplace(0, 16)), [[[100, 10**30, 10**60]]]),
        (sdp.BinarySum(), [[[100, 101, 101]]]),
        (sdp.BinarySum("stratified"), [[[40, 20, 20], [60, 61, 61]]]),
        (sdp.Strings(3, 1, 1), [[[101, 50, 50]]]),
        (sdp.Strings(3, 1, 1), [[[-1, 50, 50]]]),
        (sdp.Strings(3, 1, 1), [[[50, 50]]]),
    ],
    ids=repr,
)
def test_counts_that_so_many_people_cannot_send_are_refused(
    protocol: Any, counts: Any
) -> None:
    rng, values = np.random.default_rng(6), VALUES
    if isinstance(protocol, sdp.Strings):
        values = np.array(WORDS)
    reports = protocol.randomize(values.tolist(), LEVELS, rng=rng)
    good = protocol.tally(sdp.shuffle(reports, rng=rng))
    assert estimated(protocol, good).num_users == 100

    with pytest.raises(InvalidInputError, match="Expected"):
        estimated(protocol, tampered(good, counts=counts))


def test_a_refusal_counts_reports_and_people_of_a_level() -> None:
    protocol, rng = sdp.Frequency(2), np.random.default_rng(7)
    reports = protocol.randomize(VALUES, LEVELS, rng=rng)
    tally = protocol.tally(sdp.shuffle(reports, rng=rng))

    with pytest.raises(
        InvalidInputError, match="got 80 reports of 40 people at level 1"
    ):
        protocol.estimate(tally + tally, Population.from_counts({1.0: 40, 2.0: 60}))


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_tallies_of_other_people_are_refused(mode: Any) -> None:
    protocol, rng = sdp.Frequency(2, mode), np.random.default_rng(7)
    reports = protocol.randomize(VALUES, LEVELS, rng=rng)
    tally = protocol.tally(sdp.shuffle(reports, rng=rng))
    others = [
        (Population.from_counts({1.0: 41, 2.0: 59}), InvalidInputError),
        (Population.from_counts({1.0: 40, 3.0: 60}), sdp.UnknownLevelError),
        (Population.from_counts({1.0: 40}), sdp.UnknownLevelError),
        (Population.from_counts({1.0: 40, 2.0: 60, 3.0: 1}), InvalidInputError),
        ({1.0: 40, 2.0: 60}, InvalidInputError),
        (None, InvalidInputError),
    ]

    for people, error in others:
        with pytest.raises(error):
            protocol.estimate(tally, people)  # type: ignore[arg-type]
