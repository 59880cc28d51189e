from typing import Any

import numpy as np
import pytest
from shuffledp.shuffler.shuffle_strings import (
    ShuffledStringReports,
    StringReports,
    shuffle_strings,
)
from shuffledp.statistics.string_guarantee import certify_strings

from shuffledp import (
    InvalidInputError,
    Population,
    PopulationError,
    SingleMessage,
    UnknownLevelError,
    account,
)
from shuffledp.accounting.promise import Promise
from shuffledp.analyzer.strings import StringEstimate
from shuffledp.randomness import SystemRandom
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
    shuffled = shuffle_strings(reports, rng=rng)
    estimate = protocol.estimate(shuffled, people, candidates=WORDS)
    return estimate, np.bincount(held, minlength=100) / 100_000


def shuffled_small(protocol: Strings = SMALL) -> ShuffledStringReports:
    rng = np.random.default_rng(2)
    return shuffle_strings(protocol.randomize(["a"] * 10, LEVELS, rng=rng), rng=rng)


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_frequent_words_of_100000_people_are_found(mode: Mode) -> None:
    estimate, truth = collected(mode)

    z = (estimate.value - truth) / estimate.standard_error

    # 100 words: a false alarm in 1e-5 of all seeds.
    assert np.abs(z).max() < 5.3
    assert abs(np.mean(z**2) - 1.0) < 0.75
    assert estimate.found[:3].all()
    assert truth[estimate.found].min() > 0.0
    assert estimate.num_users == 100_000
    assert estimate.mode == mode
    assert abs(estimate.unexplained) < 5.0 * estimate.unexplained_error


def test_cohorts_are_dealt_evenly_within_levels_in_order_of_arrival() -> None:
    cohorts = Strings(num_cohorts=3).cohorts_of([2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 2.0])

    assert cohorts.tolist() == [0, 0, 1, 2, 1, 0, 1]


def test_smallest_cohort_is_contained_in_every_cohort() -> None:
    people = Population.from_counts({1.0: 35, 2.0: 16, 3.0: 47})
    protocol = Strings(num_cohorts=16)

    least = protocol.smallest_cohort(people)

    levels = np.random.default_rng(1).permutation(people.budgets())
    cohorts = protocol.cohorts_of(levels)
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

    assert np.array_equal(first.bits, memory.bits)
    assert np.array_equal(second.bits, memory.bits)
    noisy = Strings(num_bits=32)
    reports = [noisy.report(memory, rng=rng).bits for _ in range(400)]
    mean = np.mean(reports, axis=0)
    # Averages tell the memory: 400 coins know a chance to 0.022, far from the middle.
    assert np.array_equal(mean > 0.5, memory.bits)
    assert np.abs(np.where(memory.bits, 0.75, 0.25) - mean).max() < 6.0 * 0.022


@pytest.mark.parametrize("rng", [np.random.default_rng(4), SystemRandom()])
@pytest.mark.parametrize("linked", [False, True])
def test_shuffling_keeps_the_ones_of_every_group_and_breaks_rows(
    rng: np.random.Generator, *, linked: bool
) -> None:
    fixed = np.random.default_rng(5)
    cohorts, levels = (
        fixed.integers(3, size=600),
        fixed.permutation(np.arange(600) % 2.0),
    )
    row = fixed.random(600) < 0.5
    reports = StringReports(
        np.repeat(row[:, None], 20, axis=1), cohorts, levels, linked
    )

    shuffled = shuffle_strings(reports, rng=rng)

    assert np.array_equal(shuffled.cohorts, np.sort(cohorts))
    for cohort in range(3):
        before, after = cohorts == cohort, shuffled.cohorts == cohort
        assert np.array_equal(np.sort(levels[before]), np.sort(shuffled.levels[after]))
        if linked:
            before, after = before & (levels == 1.0), after & (shuffled.levels == 1.0)
        ones = shuffled.bits[after].sum(axis=0)
        assert np.array_equal(ones, np.full(20, row[before].sum()))
    # Bits that were equal along each row are independent now.
    agree = (shuffled.bits[:, 0] == shuffled.bits[:, 1]).mean()
    assert 0.35 < agree < 0.65


def test_every_order_of_a_column_is_equally_likely_and_columns_are_independent() -> (
    None
):
    rng = np.random.default_rng(6)
    bits = np.array([[True, True], [False, False], [False, False]])
    reports = StringReports(bits, np.zeros(3, dtype=int), np.ones(3), linked=False)
    seen = np.zeros((3, 3))

    for _ in range(9_000):
        first, second = shuffle_strings(reports, rng=rng).bits.argmax(axis=0)
        seen[first, second] += 1

    # Chi-square with 8 degrees of freedom: a false alarm in 1e-6 of all seeds.
    assert ((seen - 1000.0) ** 2 / 1000.0).sum() < 42.8


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_certificates_are_those_of_the_smallest_cohort(mode: Mode) -> None:
    people = Population.from_counts({1.0: 8_010, 2.0: 4_007})
    protocol = Strings(num_bits=32, num_cohorts=4, mode=mode)

    worth = certify_strings(protocol, people, delta=1e-6)

    assert worth.one_report.num_users == worth.any_number.num_users == 2002 + 1001
    for once, always in zip(
        worth.one_report.levels, worth.any_number.levels, strict=True
    ):
        assert once.epsilon_central <= always.epsilon_central <= once.epsilon_local
    with pytest.raises(PopulationError, match="at least 4 people"):
        certify_strings(
            protocol, Population.from_counts({1.0: 3, 2.0: 100}), delta=1e-6
        )


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
    cases: list[tuple[Strings, Any, Population, type[InvalidInputError], str]] = [
        (SMALL, raw, PEOPLE, InvalidInputError, "not shuffled"),
        (SMALL, good, others, InvalidInputError, "as many reports"),
        (
            SMALL,
            good,
            Population.from_counts({1.0: 4, 3.0: 6}),
            UnknownLevelError,
            "level",
        ),
        (
            SMALL,
            good,
            Population.from_counts({1.0: 1, 2.0: 9}),
            PopulationError,
            "at least 2 people",
        ),
        (Strings(16, 2, 4), good, PEOPLE, InvalidInputError, "as many reports"),
        (Strings(16, 2, 1), good, PEOPLE, InvalidInputError, "cohorts in"),
        (Strings(32, 2, 2), good, PEOPLE, InvalidInputError, "32 bits"),
        (
            Strings(16, 2, 2, mode="stratified"),
            good,
            PEOPLE,
            InvalidInputError,
            "other mode",
        ),
    ]

    for protocol, shuffled, people, error, message in cases:
        with pytest.raises(error, match=message):
            protocol.estimate(shuffled, people, candidates=["a"])


@pytest.mark.parametrize(
    "bits",
    [np.ones((3, 4)), np.ones(3, dtype=bool), np.ones((2, 4), dtype=bool), None],
)
def test_reports_of_wrong_shapes_are_refused(bits: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        StringReports(bits, np.zeros(3, dtype=int), np.ones(3), linked=False)
    with pytest.raises(InvalidInputError, match="Expected"):
        ShuffledStringReports(bits, np.zeros(3, dtype=int), np.ones(3), linked=False)


def test_only_reports_are_shuffled_and_only_memories_reported() -> None:
    wrong: Any = shuffled_small()

    with pytest.raises(InvalidInputError, match="Expected StringReports"):
        shuffle_strings(wrong, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match="Expected MemoizedStrings"):
        SMALL.report(wrong, rng=np.random.default_rng(1))


def test_cohorts_are_never_taken_for_one_crowd() -> None:
    protocol = Strings(num_cohorts=4)
    people = Population.from_counts({1.0: 400})

    with pytest.raises(InvalidInputError, match="certify_strings"):
        account(protocol, people, delta=1e-4)
    with pytest.raises(InvalidInputError, match="certify_strings"):
        Promise(protocol, 1e-4)
    one = account(SingleMessage(protocol.randomizer), people, delta=1e-4)
    worth = certify_strings(protocol, people, delta=1e-4).one_report
    assert worth.worst.epsilon_central > one.worst.epsilon_central
