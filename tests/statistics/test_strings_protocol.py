from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp import (
    InvalidInputError,
    Population,
    PopulationError,
    ShuffledReports,
    SingleMessage,
    UnknownLevelError,
    account,
    shuffle,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.analyzer.string_estimate import StringEstimate
from shuffledp.statistics.strings.cohorts import cohorts_of, smallest_cohort
from shuffledp.statistics.strings.protocol import Strings
from shuffledp.types import Floats, Mode

WORDS = [f"word {number}" for number in range(100)]
SMALL = Strings(num_bits=16, num_hashes=2, num_cohorts=2)
PEOPLE = Population.from_counts({1.0: 4, 2.0: 6})
LEVELS = [1.0, 2.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0]


def collected(mode: Mode) -> tuple[StringEstimate, Floats]:
    """100,000 people at three levels with words of a Zipf law."""
    rng = np.random.default_rng(8)
    chances = 1.0 / np.arange(1, 101) ** 1.2
    held = rng.choice(100, 100_000, p=chances / chances.sum())
    people = Population.from_counts({1.0: 50_000, 2.0: 25_000, 4.0: 25_000})
    levels = rng.permutation(people.budgets())
    protocol = Strings(mode=mode)
    reports = protocol.randomize([WORDS[word] for word in held], levels, rng=rng)
    shuffled = shuffle(reports, rng=rng)
    estimate = protocol.estimate(shuffled, people, candidates=WORDS)
    return estimate, np.bincount(held, minlength=100) / 100_000


def shuffled_small(protocol: Strings = SMALL) -> ShuffledReports:
    rng = np.random.default_rng(2)
    return shuffle(protocol.randomize(["a"] * 10, LEVELS, rng=rng), rng=rng)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_frequent_words_of_100000_people_are_found(mode: Mode) -> None:
    estimate, truth = collected(mode)

    z = (estimate.value - truth) / estimate.standard_error

    # 100 words: a false alarm in 1e-5 of all seeds.
    assert np.abs(z).max() < 5.3
    assert abs(np.mean(z**2) - 1.0) < 0.75
    assert estimate.found[:2].all()
    assert truth[estimate.found].min() > 0.0
    assert estimate.num_users == 100_000
    assert estimate.mode == mode
    assert abs(estimate.unexplained) < 5.0 * estimate.unexplained_error


def test_cohorts_are_dealt_evenly_within_levels_in_order_of_arrival() -> None:
    cohorts = cohorts_of([2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 2.0], 3)

    assert cohorts.tolist() == [0, 0, 1, 2, 1, 0, 1]


def test_smallest_cohort_is_contained_in_every_cohort() -> None:
    people = Population.from_counts({1.0: 35, 2.0: 16, 3.0: 47})
    protocol = Strings(num_cohorts=16)

    least = smallest_cohort(people, protocol.num_cohorts)

    levels = np.random.default_rng(1).permutation(people.budgets())
    cohorts = cohorts_of(levels, protocol.num_cohorts)
    for cohort in range(16):
        there = Population.from_budgets(levels[cohorts == cohort])
        assert np.array_equal(there.epsilons, least.epsilons)
        assert np.all(there.counts >= least.counts)
    assert least.counts.tolist() == [2, 1, 2]


def test_reports_repeat_the_memory_and_not_the_string() -> None:
    rng = np.random.default_rng(3)
    exact = Strings(num_bits=32, one_given_one=1.0, one_given_zero=0.0)
    memory = exact.memoize(["a", "b"] * 50, np.ones(100), rng=rng)

    first, second = exact.report(memory, rng=rng), exact.report(memory, rng=rng)

    assert np.array_equal(first.messages, memory.bits)
    assert np.array_equal(second.messages, memory.bits)
    noisy = Strings(num_bits=32, one_given_zero=0.25)
    kept = replace(memory, identity=noisy.identity)
    reports = [noisy.report(kept, rng=rng).messages for _ in range(400)]
    mean = np.mean(reports, axis=0)
    # Averages tell the memory: 400 coins know a chance to 0.022, far from the middle.
    assert np.array_equal(mean > 0.5, memory.bits)
    assert np.abs(np.where(memory.bits, 0.75, 0.25) - mean).max() < 6.0 * 0.022


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_reports_say_how_they_are_shuffled(mode: Mode) -> None:
    reports = Strings(16, 2, 2, mode=mode).randomize(
        ["a"] * 10, LEVELS, rng=np.random.default_rng(1)
    )

    assert reports.arrangement == "columns"
    assert reports.cohorts is not None
    assert reports.cohorts.tolist() == [0, 0, 1, 1, 0, 1, 0, 1, 0, 1]
    assert reports.levels is not None
    assert reports.levels.tolist() == LEVELS
    assert reports.linked == (mode == "stratified")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_certificates_are_those_of_the_smallest_cohort(mode: Mode) -> None:
    people = Population.from_counts({1.0: 8_010, 2.0: 4_007})
    least = Population.from_counts({1.0: 2_002, 2.0: 1_001})
    protocol = Strings(32, num_cohorts=4, one_given_zero=0.25, mode=mode)

    worth = account(protocol, people, delta=1e-6)

    assert worth.num_users == 12_017
    once, always = worth.statements
    assert (once.about, always.about) == (
        "one report",
        "any number of reports from the same permanent response",
    )
    for said, randomizer in (
        (once, protocol.randomizer),
        (always, protocol.randomizer.permanent),
    ):
        # One of the cohorts alone, as if it were the collection.
        alone = account(SingleMessage(randomizer, mode), least, delta=1e-6)
        for level, other in zip(said.levels, alone.levels, strict=True):
            assert level == replace(other, count=level.count)
        assert [level.count for level in said.levels] == [8_010, 4_007]
        crowds = [3_003, 3_003] if mode == "agnostic" else [2_002, 1_001]
        assert [level.hides_among for level in said.levels] == crowds
    for one, many in zip(once.levels, always.levels, strict=True):
        assert one.epsilon_central <= many.epsilon_central <= one.chosen
    with pytest.raises(PopulationError, match="at least 4 people"):
        account(protocol, Population.from_counts({1.0: 3, 2.0: 100}), delta=1e-6)


def test_a_cohort_of_one_hides_nobody() -> None:
    protocol = Strings(num_bits=16, num_cohorts=4)

    worth = account(protocol, Population.from_counts({1.0: 4}), delta=1e-9)

    for said in worth.statements:
        (level,) = said.levels
        assert level.hides_among == 1
        assert level.epsilon_central_lower <= level.epsilon_central <= 1.0
    # A whole filter shows nearly all of the budget but what 1e-9 hides.
    assert worth.also[0].levels[0].epsilon_central > 0.999
    assert worth.also[0].levels[0].epsilon_central_lower > 0.9


def test_the_same_seed_gives_the_same_estimate() -> None:
    first, second = (
        SMALL.estimate(shuffled_small(), PEOPLE, candidates=["a", "b"])
        for _ in range(2)
    )

    assert np.array_equal(first.value, second.value)
    assert first.candidates == ("a", "b")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"num_bits": 1}, "bits"),
        ({"num_hashes": 0}, "hashes"),
        ({"num_hashes": 9}, "hashes"),
        ({"num_cohorts": 0}, "cohorts"),
        ({"one_given_one": 0.2}, "one_given"),
        ({"mode": "both"}, "mode"),
    ],
)
def test_parameters_out_of_range_are_refused(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Strings(**parameters)


@pytest.mark.parametrize(
    ("strings", "levels"),
    [(["a"], [1.0, 1.0]), ([1], [1.0]), ("a", [1.0]), (["a"], [-1.0]), (["a"], ["b"])],
)
def test_people_that_make_no_sense_are_refused(strings: Any, levels: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        SMALL.randomize(strings, levels, rng=np.random.default_rng(1))


def test_refusals_name_what_does_not_fit() -> None:
    with pytest.raises(InvalidInputError, match="as many strings as privacy levels"):
        SMALL.memoize(["a"], [1.0, 1.0], rng=np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match="Expected a Population, got dict"):
        smallest_cohort({1.0: 4}, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [0.0, 1.0, np.nan, "a"])
def test_rates_out_of_range_are_refused(rate: Any) -> None:
    with pytest.raises(InvalidInputError, match="false_discovery_rate"):
        SMALL.estimate(
            shuffled_small(), PEOPLE, candidates=["a"], false_discovery_rate=rate
        )


def test_reports_that_do_not_fit_are_refused() -> None:
    good = shuffled_small()
    raw = SMALL.randomize(["a"] * 10, LEVELS, rng=np.random.default_rng(1))
    others = Population.from_counts({1.0: 5, 2.0: 5})
    few = Population.from_counts({1.0: 1, 2.0: 9})
    cases: list[tuple[Any, Population, type[InvalidInputError], str]] = [
        (raw, PEOPLE, InvalidInputError, "not shuffled"),
        (good, others, InvalidInputError, "as many reports per level and cohort"),
        (good, Population.from_counts({1.0: 4, 3.0: 6}), UnknownLevelError, "level"),
        (good, few, PopulationError, "at least 2 people"),
        (
            replace(good, cohorts=np.repeat([0, 2], 5)),
            PEOPLE,
            InvalidInputError,
            r"cohorts in \[0, 2\)",
        ),
        (
            replace(good, cohorts=np.repeat([0, 1], [4, 6])),
            PEOPLE,
            InvalidInputError,
            "as many reports per level and cohort",
        ),
        (replace(good, cohorts=None), PEOPLE, InvalidInputError, "with their cohorts"),
        (replace(good, levels=None), PEOPLE, InvalidInputError, "as many reports"),
        (replace(good, messages=good.messages[:, :8]), PEOPLE, InvalidInputError, "16"),
        (
            replace(good, messages=good.messages.astype(np.int64)),
            PEOPLE,
            InvalidInputError,
            "16 bits",
        ),
        (replace(good, arrangement="rows"), PEOPLE, InvalidInputError, "'columns'"),
    ]

    assert SMALL.estimate(good, PEOPLE, candidates=["a"]).num_users == 10
    for shuffled, people, error, message in cases:
        with pytest.raises(error, match=message):
            SMALL.estimate(shuffled, people, candidates=["a"])


@pytest.mark.parametrize(
    "other",
    [
        Strings(16, 2, 4),
        Strings(16, 2, 1),
        Strings(32, 2, 2),
        Strings(16, 1, 2),
        Strings(16, 2, 2, one_given_one=0.8),
        Strings(16, 2, 2, mode="stratified"),
    ],
    ids=repr,
)
def test_devices_answer_from_what_they_kept_for_this_protocol_only(
    other: Strings,
) -> None:
    memory = SMALL.memoize(["a"] * 10, LEVELS, rng=np.random.default_rng(1))

    with pytest.raises(InvalidInputError) as caught:
        other.report(memory, rng=np.random.default_rng(1))

    assert str(SMALL.identity) in str(caught.value)
    assert str(other.identity) in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [None, np.ones((10, 16), dtype=bool), shuffled_small()], ids=type
)
def test_only_memories_are_reported(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected MemoizedStrings"):
        SMALL.report(wrong, rng=np.random.default_rng(1))


@pytest.mark.slow
def test_cohorts_are_never_taken_for_one_crowd() -> None:
    protocol = Strings(num_cohorts=4)
    people = Population.from_counts({1.0: 400})

    whole = account(SingleMessage(protocol.randomizer), people, delta=1e-4)
    worth = account(protocol, people, delta=1e-4)
    promised = Promise(protocol, 1e-4).delta_of(people, 0, whole.worst.epsilon_central)

    assert worth.worst.epsilon_central > whole.worst.epsilon_central
    assert worth.worst.hides_among == 100
    # The cohort needs more than the crowd does.
    assert promised > 1e-4
