"""A round as a protocol: what runs is what is certified, whoever wrote the framework."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles.frameworks import (
    Mine,
    NoiselessClipLaplace,
    OnlyTheLargest,
    PlainNumbers,
    Signs,
)

import shuffledp as sdp
from shuffledp.accounting.exposure import single_messages
from shuffledp.cover import Cover
from shuffledp.errors import (
    CertificationError,
    DataError,
    InvalidInputError,
    PopulationError,
    UnknownLevelError,
)
from shuffledp.federated import framework_catalog
from shuffledp.federated.baseline_vectors import LaplaceVectors, OneBitVectors
from shuffledp.federated.clip_laplace_vectors import ClipLaplaceVectors
from shuffledp.federated.framework_catalog import FRAMEWORKS, TrainingMethod
from shuffledp.federated.local_composition import local_epsilon_of
from shuffledp.federated.local_guarantee import local_guarantee
from shuffledp.federated.round_protocol import TrainingRound
from shuffledp.federated.sparsified_vectors import TopVectors
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomness import SystemRandom
from shuffledp.reports import Reports
from shuffledp.statistics.verify_certificate import verify
from shuffledp.tally import Tally

DELTA = 1e-5
FEW = sdp.Population.from_counts({0.1: 300, 1.0: 700})
CENTRAL = [
    "apes",
    "one-bit-apes",
    *(
        # The same accountant, of covers that take longer.
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("s-apes-threshold", "unis", "random-sparsification")
    ),
]


def round_of(name: str, *, clip: float = 0.1, coordinates: int = 40) -> TrainingRound:
    choice = FRAMEWORKS[name]
    framework = choice.framework(clip=clip, share=0.2)
    return TrainingRound(framework, coordinates, choice.shuffled)


def some_updates(people: int, coordinates: int) -> np.ndarray:
    rng = np.random.default_rng(8)
    return rng.normal(0.0, 0.1, (people, coordinates)).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("name", CENTRAL)
def test_a_certificate_is_that_of_the_device_that_runs(name: str) -> None:
    protocol = round_of(name)

    device: Any = protocol.device

    guarantee = sdp.account(protocol, FEW, delta=DELTA, rounds=2)

    everything = sdp.account(device, FEW, delta=DELTA, coordinates=40, rounds=2)
    one = sdp.account(device, FEW, delta=DELTA / 80)
    assert guarantee.certified
    assert guarantee.protocol == protocol.identity
    assert guarantee.levels == everything.levels
    assert guarantee.also[0].levels == one.levels
    for central, local in zip(guarantee.levels, guarantee.also[1].levels, strict=True):
        # What a device keeps is never less than what the crowd leaves of it.
        assert central.epsilon_central <= local.epsilon_central * (1.0 + 1e-5)
        assert local.hides_among == 1
        assert local.epsilon_central <= 80 * local.chosen * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("name", "user", "coordinate"),
    [
        pytest.param("apes", 2.2, 0.0290, marks=pytest.mark.slow),
        ("s-apes-threshold", 1.03, 0.0147),
    ],
)
@pytest.mark.slow
def test_most_liberal_of_ten_thousand_people(
    name: str, user: float, coordinate: float
) -> None:
    budgets = 0.05 + 0.95 * (np.arange(10_000) + 0.5) / 10_000
    budgets[-1] = 1.0
    people = sdp.Population.from_budgets(budgets)

    guarantee = sdp.account(
        round_of(name, coordinates=7850), people, delta=3.6e-5, levels=[1.0]
    )

    (level,), (one,) = guarantee.levels, guarantee.also[0].levels
    assert 0.9 * level.epsilon_central < level.epsilon_central_lower
    assert level.epsilon_central_lower <= level.epsilon_central <= user
    assert one.epsilon_central <= coordinate


@pytest.mark.few_cases(0)
@pytest.mark.slow
def test_coordinates_drawn_at_random_count_for_what_they_tell() -> None:
    people = sdp.Population.from_budgets(np.linspace(0.05, 1.0, 20_001)[1::2])
    protocol = round_of("random-sparsification", coordinates=7850)

    guarantee = sdp.account(protocol, people, delta=3.6e-5)

    # A fifth is kept. All d coordinates would be 2.127, and b of them 0.862.
    assert guarantee.worst.epsilon_central_lower >= 0.31
    for level in guarantee.levels:
        assert level.epsilon_central_lower <= level.epsilon_central
    assert guarantee.worst.epsilon_central <= 0.36
    assert verify(guarantee).holds
    record = guarantee.to_dict()
    record["levels"][0]["epsilon_central"] *= 0.99
    assert not verify(record).holds


@pytest.mark.slow
def test_more_rounds_cost_more() -> None:
    protocol = round_of("one-bit-apes")

    one, three = (
        sdp.account(protocol, FEW, delta=DELTA, rounds=rounds) for rounds in (1, 3)
    )

    assert one.worst.epsilon_central < three.worst.epsilon_central
    for place in (0, 1):
        # One coordinate gets a smaller part of delta; a device sends more.
        first, last = (each.also[place].levels[-1] for each in (one, three))
        assert first.epsilon_central < last.epsilon_central


@pytest.mark.slow
def test_what_it_assumes_is_said() -> None:
    guarantee = sdp.account(round_of("one-bit-apes"), FEW, delta=DELTA, rounds=3)

    assumed = " ".join(guarantee.assumptions)
    assert "as they were after their shuffle" in assumed
    assert "No device keeps anything that depends on its own noise" in assumed
    assert "values do not depend on others' messages" not in assumed
    assert "40 messages, each shuffled apart, in each of 3 rounds" in assumed


@pytest.mark.slow
def test_deltas_at_an_epsilon_are_those_of_the_device() -> None:
    protocol = round_of("one-bit-apes", coordinates=10)

    device: Any = protocol.device

    guarantee = sdp.account(protocol, FEW, epsilon=0.5, rounds=2)

    expected = sdp.account(device, FEW, epsilon=0.5, coordinates=10, rounds=2)
    assert guarantee.levels == expected.levels
    for level, local in zip(guarantee.levels, guarantee.also[1].levels, strict=True):
        assert level.delta_central <= local.delta_central * (1.0 + 1e-5)
        # At the delta that was found, no more than this epsilon is needed.
        found = local_epsilon_of(
            protocol.device,  # type: ignore[arg-type]
            local.chosen,
            times=20,
            delta=local.delta_central,
        )
        assert found == pytest.approx(0.5, rel=1e-3)


# What is certified of frameworks that other people wrote.


@pytest.mark.parametrize("name", ["mine", "clip-laplace", "apes", "laplace"])
def test_plain_vectors_get_no_certificate_under_any_name(name: str) -> None:
    protocol = TrainingRound(Mine(PlainNumbers(), name), 2)
    updates = np.array([[3.25, -1.5]] * 4, np.float32)

    reports = protocol.randomize(updates, np.ones(4), rng=SystemRandom())
    estimate = protocol.estimate(
        sdp.shuffle(reports, rng=SystemRandom()), sdp.Population.from_counts({1.0: 4})
    )

    assert reports.messages.tolist() == [[3250, -1500]] * 4
    assert estimate.value.tolist() == [3.25, -1.5]
    with pytest.raises(CertificationError, match="no cover, without which there is"):
        sdp.account(protocol, FEW, delta=DELTA)
    with pytest.raises(CertificationError, match="No central guarantee"):
        single_messages(protocol, FEW)
    with pytest.raises(CertificationError, match="does not say what a message tells"):
        local_guarantee(protocol, FEW, delta=DELTA)


def test_a_name_in_the_list_certifies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(framework_catalog.FRAMEWORKS, "mine", TrainingMethod(Mine))
    identity = TrainingRound(Mine(PlainNumbers()), 2).identity

    with pytest.raises(CertificationError, match="no cover"):
        sdp.account(TrainingRound(Mine(PlainNumbers()), 2), FEW, delta=DELTA)
    with pytest.raises(InvalidInputError, match="Expected mine with"):
        TrainingRound.from_record(identity.record)


def test_a_device_that_draws_something_else_does_not_inherit_a_certificate() -> None:
    protocol = TrainingRound(Mine(NoiselessClipLaplace(1.0)), 2)
    updates = np.array([[0.5, -0.25]] * 3, np.float32)

    for rng in (np.random.default_rng(1), SystemRandom()):
        # Also in a simulation it is run, and not taken for what it inherits from.
        sent = protocol.randomize(updates, np.ones(3), rng=rng).messages
        assert sent.tolist() == [[500, -250]] * 3
    with pytest.raises(CertificationError, match="NoiselessClipLaplace inherits"):
        sdp.account(protocol, FEW, delta=DELTA)
    with pytest.raises(CertificationError, match="NoiselessClipLaplace inherits"):
        local_guarantee(protocol, FEW, delta=DELTA)


def test_a_device_whose_densities_break_its_level_gets_no_certificate() -> None:
    class Loud(OneBit):
        """Shows twice what a level promises, and says so."""

        mechanism = "loud"

        def local_delta(self, level: float, epsilon: float) -> float:
            return super().local_delta(2.0 * level, epsilon)

        def covers(
            self, victims: Sequence[float], crowd: sdp.Population, *, delta: float
        ) -> list[tuple[Cover, ...]]:
            return super().covers(victims, crowd, delta=delta)

    protocol = TrainingRound(Mine(Loud(-1.0, 1.0), messages=range(2)), 2)

    with pytest.raises(CertificationError, match="more than the level promises"):
        sdp.account(protocol, FEW, delta=DELTA)
    with pytest.raises(CertificationError, match="more than the level promises"):
        local_guarantee(protocol, FEW, delta=DELTA)


@pytest.mark.slow
def test_a_framework_with_a_cover_gets_its_certificate() -> None:
    protocol = TrainingRound(Signs(), 40)

    guarantee = sdp.account(protocol, FEW, delta=DELTA, rounds=2)

    # One bit per coordinate, whatever it speaks of.
    known = sdp.account(round_of("one-bit-apes"), FEW, delta=DELTA, rounds=2)
    assert guarantee.levels == known.levels
    assert guarantee.protocol != known.protocol
    assert verify(guarantee, protocol=protocol).holds
    with pytest.raises(DataError, match="pass the protocol itself"):
        verify(guarantee)


@pytest.mark.parametrize(
    "rng", [np.random.default_rng(5), SystemRandom()], ids=["seeded", "system"]
)
def test_a_framework_with_a_cover_learns(rng: Any) -> None:
    protocol, levels = TrainingRound(Signs(), 2), np.full(40_000, 2.0)
    updates = np.tile(np.array([[0.3, -2.0]], np.float32), (40_000, 1))
    updates[::4] *= -1.0

    reports = protocol.randomize(updates, levels, rng=rng)
    found = protocol.estimate(
        sdp.shuffle(reports, rng=rng), sdp.Population.from_budgets(levels)
    )

    # Three quarters agree. Five standard errors, 1 / (tanh(1) sqrt(n)) at most.
    np.testing.assert_allclose(found.value, [0.5, -0.5], rtol=0, atol=0.033)


def test_a_coupled_framework_keeps_what_its_devices_keep_and_no_more() -> None:
    coupled, alone = TrainingRound(OnlyTheLargest(), 3), TrainingRound(Signs(), 3)
    updates = np.full((500, 3), 1.0, np.float32)

    sent = coupled.randomize(updates, np.ones(500), rng=np.random.default_rng(2))

    assert np.all(sent.messages[:, 1:] == 1)
    assert 0 < sent.messages[:, 0].sum() < 500
    with pytest.raises(CertificationError, match="what all of them agree on, so that"):
        sdp.account(coupled, FEW, delta=DELTA)
    found, expected = (
        local_guarantee(each, FEW, delta=DELTA, rounds=2) for each in (coupled, alone)
    )
    assert found.levels == expected.levels
    assert found.protocol != expected.protocol


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        (round_of("s-apes"), "which of a person's messages are their largest"),
        (round_of("pldp"), "without a shuffle"),
        (round_of("ldp-min"), "without a shuffle"),
    ],
)
def test_without_a_proof_or_a_shuffle_nothing_central_is_certified(
    protocol: TrainingRound, reason: str
) -> None:
    with pytest.raises(CertificationError, match="No central guarantee") as raised:
        sdp.account(protocol, FEW, delta=DELTA)

    assert reason in str(raised.value)
    assert str(raised.value).count(". ") == 0
    local = local_guarantee(protocol, FEW, delta=DELTA)
    assert all(0.0 < level.epsilon_all <= level.epsilon_sum for level in local.levels)


@pytest.mark.slow
def test_the_device_is_asked_for_once() -> None:
    class Fickle(Signs):
        """Shows another device every time it is asked."""

        asked = 0

        @property
        def device(self) -> Any:
            type(self).asked += 1
            return super().device if type(self).asked == 1 else PlainNumbers()

    protocol = TrainingRound(Fickle(), 2)
    updates = np.array([[3.0, -3.0]], np.float32)

    sent = protocol.randomize(updates, [0.5], rng=SystemRandom())
    sdp.account(protocol, FEW, delta=DELTA)

    assert Fickle.asked == 1
    assert set(sent.messages.ravel().tolist()) <= {0, 1}


class Randomizing(Signs):
    def randomize(self, *_: Any, **__: Any) -> None: ...


@pytest.mark.parametrize(
    ("framework", "match"),
    [
        (Randomizing(), "does not randomize by itself, got Randomizing"),
        ("apes", "without name, parameters"),
        (ClipLaplaceVectors, "such as"),
        (Mine(PlainNumbers(), messages=range(0)), "messages as a range"),
        (Mine(PlainNumbers(), messages=range(0, 9, 2)), "messages as a range"),
        (Mine(PlainNumbers(), messages=range(2**70)), "messages as a range"),
        (Mine(sdp.UnaryEncoding(5)), "one message per coordinate"),
        (Mine(PlainNumbers(), parameters={"coordinates": 3}), "other names"),
        (Mine(PlainNumbers(), parameters={"x": object()}), "numbers, texts"),  # type: ignore[dict-item]
    ],
)
def test_what_is_no_framework_is_refused(framework: Any, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        TrainingRound(framework, 2)


@pytest.mark.parametrize("coordinates", [0, 2.5, True, -1])
def test_numbers_of_coordinates_that_are_none_are_refused(coordinates: Any) -> None:
    with pytest.raises(InvalidInputError, match="coordinates"):
        TrainingRound(Signs(), coordinates)


# The protocol's own objects.


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_round_is_made_again_from_its_record(name: str) -> None:
    protocol = round_of(name)

    again = TrainingRound.from_record(json.loads(protocol.identity.text))

    assert again == protocol
    assert again.identity == protocol.identity


def test_another_parameter_is_another_round() -> None:
    protocol = round_of("s-apes-threshold")
    others = [
        round_of("s-apes-threshold", clip=0.2),
        round_of("s-apes-threshold", coordinates=41),
        replace(protocol, shuffled=False),
        round_of("s-apes"),
        round_of("random-sparsification"),
    ]

    digests = {each.identity.digest for each in (protocol, *others)}

    assert len(digests) == 6


@pytest.mark.slow
def test_certificates_are_recomputed_from_themselves() -> None:
    guarantee = sdp.account(round_of("one-bit-apes"), FEW, delta=DELTA, rounds=2)
    record = json.loads(json.dumps(guarantee.to_dict(), allow_nan=False))

    assert verify(record).holds
    record["also"][1]["levels"][0]["epsilon_central"] *= 0.99
    assert not verify(record).holds
    record = guarantee.to_dict() | {"rounds": 1}
    assert not verify(record).holds


def test_a_record_of_an_unknown_framework_is_refused() -> None:
    record = round_of("apes").identity.record | {"mechanism": "mine"}

    with pytest.raises(InvalidInputError, match="got 'mine'"):
        TrainingRound.from_record(record)


def test_tallies_of_parts_add_up_to_that_of_the_whole() -> None:
    protocol, rng = round_of("apes", coordinates=7), np.random.default_rng(4)
    updates, levels = some_updates(60, 7), np.where(np.arange(60) % 3, 0.5, 2.0)
    reports = protocol.randomize(updates, levels, rng=rng)

    def tally_of(part: slice) -> Tally:
        some = Reports(
            reports.identity, reports.messages[part], levels[part], "columns"
        )
        return protocol.tally(sdp.shuffle(some, rng=rng))

    whole = protocol.tally(sdp.shuffle(reports, rng=rng))
    added = tally_of(slice(0, 11)) + tally_of(slice(11, 60))

    assert added == whole == Tally.from_bytes(whole.to_bytes())
    expected = [sum(column) for column in reports.messages.T.tolist()]
    assert whole.counts[0, 0].tolist() == expected
    people = sdp.Population.from_budgets(levels)
    np.testing.assert_array_equal(
        protocol.estimate(added, people).value, protocol.estimate(whole, people).value
    )


def test_messages_of_another_round_are_refused() -> None:
    mine, other = round_of("apes", coordinates=3), round_of("apes", clip=0.2)
    rng, people = np.random.default_rng(3), sdp.Population.from_counts({1.0: 5})
    seen = sdp.shuffle(mine.randomize(some_updates(5, 3), np.ones(5), rng=rng), rng=rng)

    with pytest.raises(InvalidInputError, match="Expected reports of training"):
        other.estimate(seen, people)
    with pytest.raises(InvalidInputError, match="Expected a tally of training"):
        other.estimate(mine.tally(seen), people)
    with pytest.raises(UnknownLevelError):
        mine.estimate(seen, sdp.Population.from_counts({2.0: 5}))
    with pytest.raises(InvalidInputError, match="as many reports per level"):
        mine.estimate(seen, sdp.Population.from_counts({1.0: 6}))


@pytest.mark.parametrize(
    "messages",
    [
        np.zeros((2, 2), np.uint16),
        np.zeros((2, 3), np.int64),
        np.full((2, 3), 4096, np.uint16),
    ],
    ids=["width", "type", "range"],
)
def test_messages_that_nobody_can_have_sent_are_refused(messages: np.ndarray) -> None:
    protocol, rng = round_of("apes", coordinates=3), np.random.default_rng(3)
    reports = Reports(protocol.identity, messages, np.ones(2), "columns")

    with pytest.raises(InvalidInputError, match="3 messages per person, from 0 to"):
        protocol.tally(sdp.shuffle(reports, rng=rng))


@pytest.mark.parametrize(
    "counts", [[[[3 * 4095 + 1, 0]]], [[[-1, 0]]], [[[7]]], [[[7, 7, 7]]]], ids=str
)
def test_sums_that_nobody_can_have_sent_are_refused(counts: list[Any]) -> None:
    protocol, people = (
        round_of("apes", coordinates=2),
        sdp.Population.from_counts({1.0: 3}),
    )
    tally = Tally(
        protocol.identity, people.epsilons, people.counts[None, :], np.array(counts)
    )

    with pytest.raises(InvalidInputError, match="2 sums that so many people"):
        protocol.estimate(tally, people)


def test_sums_of_the_farthest_messages_are_exact() -> None:
    protocol = TrainingRound(LaplaceVectors(1.0), 1)
    messages = np.full((100_003, 1), 2**30, np.int32)
    reports = Reports(protocol.identity, messages, np.ones(100_003), "columns")

    tally = protocol.tally(sdp.shuffle(reports, rng=np.random.default_rng(1)))

    assert tally.counts.tolist() == [[[100_003 * 2**30]]]


@pytest.mark.parametrize(
    ("updates", "levels"),
    [
        (np.zeros((2, 4), np.float32), [1.0, 1.0]),
        (np.zeros(3, np.float32), [1.0]),
        (np.zeros((2, 3), np.float64), [1.0, 1.0]),
        (np.full((2, 3), np.nan, np.float32), [1.0, 1.0]),
        (np.zeros((2, 3), np.float32), [1.0]),
        (np.zeros((2, 3), np.float32), [1.0, -1.0]),
    ],
    ids=["width", "flat", "double", "nan", "levels", "negative"],
)
def test_updates_that_are_none_are_refused(
    updates: np.ndarray, levels: list[float]
) -> None:
    with pytest.raises(InvalidInputError):
        round_of("apes", coordinates=3).randomize(updates, levels, rng=SystemRandom())


@pytest.mark.parametrize("encoded", [np.zeros((2, 1), np.float32), np.inf])
def test_what_a_framework_encodes_is_checked(encoded: Any) -> None:
    class Odd(Signs):
        def encode(self, updates: Any, levels: Any, *, rng: Any) -> Any:
            if isinstance(encoded, float):
                return np.full_like(updates, encoded)
            return encoded

    with pytest.raises(InvalidInputError):
        TrainingRound(Odd(), 2).randomize(
            np.zeros((2, 2), np.float32), np.ones(2), rng=SystemRandom()
        )


def test_values_beyond_the_range_of_a_device_are_its_ends() -> None:
    updates = np.array([[1e6, -1e6]] * 50, np.float32)
    protocol = TrainingRound(Mine(PlainNumbers(), messages=range(-5_000, 5_001)), 2)

    sent = protocol.randomize(updates, np.ones(50), rng=SystemRandom())

    # Clipped to [-10, 10] first, and to the messages that were agreed on then.
    assert sent.messages.dtype == np.int16
    assert sent.messages.tolist() == [[5_000, -5_000]] * 50


def test_a_single_person_has_nobody_to_hide_among() -> None:
    with pytest.raises(PopulationError):
        sdp.account(round_of("apes"), sdp.Population.from_counts({1.0: 1}), delta=DELTA)


def test_top_messages_are_what_the_device_drew() -> None:
    # So large a budget that messages are next to their values.
    framework = TopVectors(1.0, 0.5)
    updates = np.array([[0.9, 0.1, -0.8, 0.2]], np.float32)

    for rng in (np.random.default_rng(3), SystemRandom()):
        protocol = TrainingRound(framework, 4)
        cells = protocol.randomize(updates, [690.0], rng=rng).messages[0]
        away = np.abs((cells + 0.5) / 2048 - 1.0)
        np.testing.assert_allclose(away, [0.9, 0.0, 0.8, 0.0], rtol=0, atol=0.1)


def test_one_bit_estimates_do_not_depend_on_the_order_of_people() -> None:
    levels = np.random.default_rng(5).uniform(0.1, 2.0, 1_000)
    totals = np.array([300.0, 700.0])

    first, second = (
        OneBitVectors(0.1).estimate(totals, sdp.Population.from_budgets(order))
        for order in (levels, levels[::-1])
    )

    np.testing.assert_array_equal(first, second)
