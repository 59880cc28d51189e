"""Tallies of parts add up to that of the whole, and give the same estimate."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp import Population, Reports, Tally
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.types import Mode

K, CHOICES = 4, (0.01, 0.5, 1.0, 3.0)
MODES: list[Mode] = ["agnostic", "stratified"]
ORACLES: list[FrequencyOracle] = [
    sdp.KRandomizedResponse(K),
    sdp.SubsetSelection(K, 2),
    sdp.HadamardResponse(K),
    sdp.LocalHashing(K, 3),
    sdp.UnaryEncoding(K),
]
NUMBERS: list[NumberRandomizer] = [
    sdp.OneBit(0, 3),
    sdp.Laplace(0, 3),
    sdp.ClipLaplace(1.5),
    sdp.Gaussian(0, 3, delta_local=1e-3),
]
PROTOCOLS: list[Any] = [
    *(sdp.Frequency(K, mode, oracle) for oracle in ORACLES for mode in MODES),
    *(sdp.Mean(0, 3, mode, number) for number in NUMBERS for mode in MODES),
    *(sdp.BinarySum(mode) for mode in MODES),
    *(sdp.Strings(8, 1, 3, mode=mode) for mode in MODES),
    sdp.Strings(8, 1, 1),
    sdp.Items(K, 1, CHOICES, (0.1, 0.3, 0.5, 0.9), 0.5),
]
# Everybody: a value from 0 to 3, a level, and which part of the collection she is in.
PEOPLE = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(CHOICES), st.integers(0, 2)),
    min_size=1,
    max_size=30,
)


def collected(
    protocol: Any, people: list[tuple[int, float, int]], seed: int
) -> Reports:
    values = np.array([value for value, _, _ in people], dtype=np.int64)
    levels = np.array([level for _, level, _ in people])
    rng = np.random.default_rng(seed)
    if isinstance(protocol, sdp.Strings):
        words = [f"word {value}" for value in values]
        return protocol.randomize(words, levels, rng=rng)
    if isinstance(protocol, sdp.BinarySum):
        values = values % 2
    if isinstance(protocol, sdp.Items):
        values = values.reshape(-1, 1)
    return protocol.randomize(values, levels, rng=rng)  # type: ignore[no-any-return]


def part_of(reports: Reports, chosen: Any) -> Reports:
    def some(array: Any) -> Any:
        return None if array is None else array[chosen]

    return replace(
        reports,
        messages=reports.messages[chosen],
        levels=some(reports.levels),
        cohorts=some(reports.cohorts),
    )


def tallied(protocol: Any, reports: Reports, seed: int) -> Tally:
    shuffled = sdp.shuffle(reports, rng=np.random.default_rng(seed))
    tally: Tally = protocol.tally(shuffled)
    return tally


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
@settings(max_examples=40, deadline=None)
@given(people=PEOPLE, seed=st.integers(0, 2**32))
def test_parts_add_up_to_the_whole_in_whatever_order(
    protocol: Any, people: list[tuple[int, float, int]], seed: int
) -> None:
    reports = collected(protocol, people, seed)
    part = np.array([number for _, _, number in people], dtype=np.int64)

    whole = tallied(protocol, reports, seed)
    first, second, third = (
        tallied(protocol, part_of(reports, part == number), seed + number)
        for number in range(3)
    )

    assert whole.num_users == len(people)
    assert first + second + third == whole
    assert third + (second + first) == whole
    assert Tally.from_bytes(first.to_bytes()) + second + third == whole


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
@settings(max_examples=10, deadline=None)
@given(people=PEOPLE, seed=st.integers(0, 2**32))
def test_parts_estimate_what_the_whole_does(
    protocol: Any, people: list[tuple[int, float, int]], seed: int
) -> None:
    # Somebody at each level of every cohort, with something to say.
    people = people + [(value, level, 0) for value in range(3) for level in (1.0, 3.0)]
    # Nobody, or enough for every cohort.
    chosen = {level for _, level, _ in people}
    people += [(0, level, part) for level in chosen for part in (1, 2)]
    reports = collected(protocol, people, seed)
    part = np.array([number for _, _, number in people], dtype=np.int64)
    crowd = Population.from_budgets([level for _, level, _ in people])
    extra = {"candidates": ["word 1"]} if isinstance(protocol, sdp.Strings) else {}

    shuffled = sdp.shuffle(reports, rng=np.random.default_rng(seed))
    parts = [tallied(protocol, part_of(reports, part == n), seed) for n in range(3)]
    whole = protocol.estimate(shuffled, crowd, **extra)
    added = protocol.estimate(parts[2] + parts[0] + parts[1], crowd, **extra)

    assert whole.identity == added.identity == protocol.identity
    assert np.array_equal(whole.value, added.value)
    assert np.array_equal(whole.standard_error, added.standard_error)
    assert np.array_equal(whole.interval(), added.interval())


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mode", MODES)
def test_millions_of_wide_messages_are_added_up_exactly(mode: Mode) -> None:
    # More than one batch; squares of single messages exceed 63 bits.
    protocol, n = sdp.Mean(0, 3, mode, sdp.Laplace(0, 3)), 1 << 21
    rng = np.random.default_rng(8)
    messages = rng.integers(-(1 << 40), 1 << 40, n)
    levels = rng.choice([0.5, 1.0], n)
    seen = sdp.ShuffledReports(protocol.identity, messages, levels)

    tally = protocol.tally(seen)

    piles = [levels >= 0.0] if mode == "agnostic" else [levels == 0.5, levels == 1.0]
    for pile, found in zip(piles, tally.counts[0].tolist(), strict=True):
        own = messages[pile].tolist()
        assert found == [len(own), sum(own), sum(message * message for message in own)]
