"""Frequencies through every randomizer: unbiased, with the errors that are stated."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from covering import covering

from shuffledp import (
    Frequency,
    HadamardResponse,
    InvalidInputError,
    KRandomizedResponse,
    Laplace,
    LocalHashing,
    OneBit,
    Population,
    Reports,
    ShuffledReports,
    SubsetSelection,
    UnaryEncoding,
    account,
    shuffle,
)
from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.types import Floats, Ints, Mode

K, RUNS = 5, 1_500
ORACLES = [
    KRandomizedResponse(K),
    SubsetSelection(K, 2),
    HadamardResponse(K),
    LocalHashing(K, 3),
]
MODES: list[Mode] = ["agnostic", "stratified"]
PEOPLE = Population.from_counts({1.0: 250, 2.0: 200, 3.0: 150})
N = PEOPLE.num_users
SHARES = np.array([0.4, 0.25, 0.2, 0.1, 0.05])
VALUES = np.repeat(np.arange(K), np.rint(SHARES * N).astype(int))


@dataclass(frozen=True)
class Simulation:
    values: Floats
    errors: Floats
    population_errors: Floats
    intervals: Floats


def simulated(protocol: Frequency, *, redrawn: bool) -> Simulation:
    """Many collections; levels are dealt again, and values drawn again if wanted."""
    rng = np.random.default_rng(37)
    values = np.tile(VALUES, (RUNS, 1))
    if redrawn:
        values = rng.choice(K, (RUNS, N), p=SHARES)
    levels = rng.permuted(np.tile(PEOPLE.budgets(), (RUNS, 1)), axis=1)
    reports = protocol.randomize(values.ravel(), levels.ravel(), rng=rng)
    messages = np.split(reports.messages, RUNS)
    estimates = [
        protocol.estimate(ShuffledReports(reports.identity, sent, chosen), PEOPLE)
        for sent, chosen in zip(messages, levels, strict=True)
    ]
    about: Any = "population" if redrawn else "participants"
    return Simulation(
        np.array([estimate.value for estimate in estimates]),
        np.array([estimate.standard_error for estimate in estimates]),
        np.array([estimate.population_error for estimate in estimates]),
        np.array([estimate.interval(0.95, about=about) for estimate in estimates]),
    )


@pytest.mark.slow
@covering(("mode", MODES), ("oracle", ORACLES), ("redrawn", [False, True]), ids=repr)
def test_estimates_are_unbiased_with_the_errors_and_coverage_they_state(
    oracle: FrequencyOracle, mode: Mode, *, redrawn: bool
) -> None:
    protocol = Frequency(K, mode, oracle)

    seen = simulated(protocol, redrawn=redrawn)

    spread = seen.values.std(axis=0, ddof=1)
    # Five standard errors: 80 comparisons, a false alarm in 5e-5 of all seeds.
    off = np.abs(seen.values.mean(axis=0) - SHARES)
    assert np.all(off < 5.0 * spread / np.sqrt(RUNS))
    stated = (seen.population_errors if redrawn else seen.errors).mean(axis=0)
    # 1,500 runs know five spreads together to 1%, even if they depend on each other a
    # little; 5% is five times that: a false alarm in 1e-5 of all seeds.
    assert abs(np.mean(stated / spread) - 1.0) < 0.05
    low, high = seen.intervals[:, :, 0], seen.intervals[:, :, 1]
    covered = np.mean((low <= SHARES) & (high >= SHARES))
    # 7,500 intervals know a coverage of 95% to 0.3%; 2% is six times that.
    assert 0.93 < covered < 0.97
    # Sampling is an error of its own, unless nobody seems to hold a category.
    assert np.all(seen.population_errors >= seen.errors)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("oracle", ORACLES, ids=repr)
def test_errors_are_predicted_before_anything_is_collected(
    oracle: FrequencyOracle, mode: Mode
) -> None:
    people = Population.from_counts({1.0: 25_000, 2.0: 20_000, 3.0: 15_000})
    protocol, rng = Frequency(K, mode, oracle), np.random.default_rng(8)

    values = rng.permutation(np.repeat(VALUES, 100))
    reports = protocol.randomize(values, people.budgets(), rng=rng)
    estimate = protocol.estimate(shuffle(reports, rng=rng), people)

    for share, error in zip(SHARES, estimate.standard_error, strict=True):
        predicted = protocol.predicted_error(people, share=share)
        # An error of 1% in the share changes its own error by less.
        assert error == pytest.approx(predicted, rel=0.03)
    # Five standard errors: 40 comparisons, a false alarm in 2e-5 of all seeds.
    assert np.all(np.abs(estimate.value - SHARES) < 5.0 * estimate.standard_error)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("oracle", ORACLES, ids=repr)
def test_a_collection_is_certified_for_what_the_devices_run(
    oracle: FrequencyOracle, mode: Mode
) -> None:
    people = Population.from_counts({1.0: 30, 2.0: 20})

    guarantee = account(Frequency(K, mode, oracle), people, delta=1e-3)

    assert guarantee.mechanism == oracle.mechanism
    assert guarantee.parameters == oracle.parameters
    assert guarantee.mode == mode


def test_kary_response_is_the_default() -> None:
    stated, default = Frequency(K, randomizer=KRandomizedResponse(K)), Frequency(K)

    first, second = (
        protocol.randomize(VALUES, PEOPLE.budgets(), rng=np.random.default_rng(1))
        for protocol in (stated, default)
    )

    assert default.randomizer == KRandomizedResponse(K)
    assert np.array_equal(first.messages, second.messages)


@pytest.mark.parametrize(
    "oracle",
    [OneBit(), Laplace(), SubsetSelection, "subset-selection", 3, np.arange(3)],
)
def test_randomizers_without_categories_are_refused(oracle: Any) -> None:
    with pytest.raises(InvalidInputError, match="randomizer of categories"):
        Frequency(2, randomizer=oracle)


@pytest.mark.parametrize("oracle", ORACLES, ids=repr)
def test_randomizers_of_other_categories_are_refused(oracle: FrequencyOracle) -> None:
    with pytest.raises(InvalidInputError, match="randomizer of 4 categories, got one"):
        Frequency(4, randomizer=oracle)


@pytest.mark.parametrize(
    ("oracle", "messages"),
    [
        (SubsetSelection(K, 2), np.array([0, 1, 2])),
        (SubsetSelection(K, 2), np.array([[0, 1], [1, 2], [4, 5]])),
        (SubsetSelection(K, 2), np.array([[0, 1], [1, 2], [3, 3]])),
        (HadamardResponse(K), np.array([0, 7, 8])),
        (HadamardResponse(K), np.array([[0], [1], [2]])),
        (LocalHashing(K, 3), np.array([[0, 0, 0, 3]] * 3)),
        (LocalHashing(K, 3), np.array([[0, 0, 0]] * 3)),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_messages_of_other_devices_are_refused(
    oracle: FrequencyOracle, messages: Ints, mode: Mode
) -> None:
    people, levels = Population.from_counts({0.5: 2, 2.0: 1}), np.array([0.5, 2, 0.5])
    protocol = Frequency(K, mode, oracle)
    shuffled = ShuffledReports(protocol.identity, messages, levels)

    with pytest.raises(InvalidInputError, match="messages"):
        protocol.estimate(shuffled, people)


def test_reports_shuffled_in_another_way_are_refused() -> None:
    people, rng = Population.from_counts({1.0: 3}), np.random.default_rng(1)
    together, apart = Frequency(3), Frequency(3, randomizer=UnaryEncoding(3))
    bits = np.eye(3, dtype=np.bool_)
    cases: list[tuple[Frequency, Reports, str]] = [
        (
            together,
            Reports(together.identity, np.arange(3), np.ones(3), "columns"),
            "shuffled as 'rows', got 'columns'",
        ),
        (
            apart,
            Reports(apart.identity, bits, np.ones(3)),
            "shuffled as 'columns', got 'rows'",
        ),
    ]

    for protocol, reports, message in cases:
        shuffled = shuffle(reports, rng=rng)
        with pytest.raises(InvalidInputError, match=message):
            protocol.estimate(shuffled, people)


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan, "half"])
def test_shares_that_make_no_sense_are_refused(share: Any) -> None:
    with pytest.raises(InvalidInputError, match="share"):
        Frequency(3).predicted_error(PEOPLE, share=share)


def test_the_two_errors_are_told_apart() -> None:
    values, errors = np.array([0.2, -0.01, 1.02]), np.array([0.03, 0.01, 0.02])
    estimate = FrequencyEstimate(values, errors, 100, "agnostic")

    wider = estimate.interval(0.9, about="population")

    expected = np.sqrt(errors**2 + np.array([0.0016, 0.0, 0.0]))
    assert np.allclose(
        estimate.population_error, expected, rtol=1e-14
    )  # a few roundings
    ratio = (wider[:, 1] - wider[:, 0]) / np.diff(estimate.interval(0.9)).ravel()
    assert np.allclose(ratio, expected / errors, rtol=1e-12)  # differences of ends
    with pytest.raises(InvalidInputError, match="participants"):
        estimate.interval(0.9, about="everybody")  # type: ignore[arg-type]
