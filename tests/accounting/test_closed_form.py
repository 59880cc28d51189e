"""What is certified at once is proven, and above what the accountant certifies."""

from typing import Any

import numpy as np
import pytest
from oracles.enumeration import largest_divergences

import shuffledp as sdp
from shuffledp.accounting.closed_form import closed_form_epsilons
from shuffledp.randomizers.catalog import build, mechanisms_for, number_randomizer

TERMS = {"subset-selection": {"subset_size": 2}, "local-hashing": {"buckets": 3}}


def protocols(k: int) -> list[Any]:
    oracles: list[Any] = [
        build(name, {"categories": k, **TERMS.get(name, {})})
        for name in mechanisms_for("categories")
        if name != "unary-encoding"
    ]
    numbers = [number_randomizer(name, 0.0, 1.0) for name in mechanisms_for("numbers")]
    return [
        *(sdp.Frequency(k, "agnostic", oracle) for oracle in oracles),
        *(sdp.Mean(0, 1, "agnostic", number) for number in numbers),
    ]


def random_people(rng: np.random.Generator) -> sdp.Population:
    levels = rng.choice([0.1, 0.4, 1.0, 1.7, 3.0, 6.0], rng.integers(1, 4), False)
    return sdp.Population.from_counts(
        {float(level): int(10 ** rng.uniform(0.5, 6.0)) for level in levels}
    )


def assert_above(
    protocol: Any, people: sdp.Population, part: float = 1.0, **asked: Any
) -> None:
    quick = closed_form_epsilons(protocol, people, **asked)

    guarantee = sdp.account(protocol, people, **asked)
    for found, level in zip(quick, guarantee.levels, strict=True):
        assert found >= part * level.epsilon_central
        assert found >= level.epsilon_central_lower


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, *range(2, 8)))]
)
def test_quick_is_above_what_is_certified_for_every_mechanism(seed: int) -> None:
    rng = np.random.default_rng(seed)

    for protocol in protocols(int(rng.integers(3, 20))):
        delta, people = float(10 ** -rng.uniform(2, 10)), random_people(rng)
        assert_above(protocol, people, delta=delta, absent=int(rng.integers(0, 3)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_quick_is_above_what_is_certified_of_several_shuffles(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    people = random_people(rng)

    # Chords between nodes may raise either by 1% of epsilon.
    bits = sdp.Frequency(4, "stratified", sdp.UnaryEncoding(4))
    assert_above(bits, people, 0.99, delta=1e-6)
    for protocol in (sdp.Frequency(5), sdp.Mean(0, 1)):
        rounds = int(rng.integers(2, 30))
        assert_above(protocol, people, 0.99, delta=1e-6, rounds=rounds)


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("delta", [0.1, 0.01, 1e-4])
@pytest.mark.parametrize("num_categories", [2, 3])
def test_no_data_of_a_small_crowd_show_more(
    mode: Any, delta: float, num_categories: int
) -> None:
    counts = {0.5: 2, 1.5: 3}
    people = sdp.Population.from_counts(counts)
    protocol = sdp.Frequency(num_categories, mode)

    quick = closed_form_epsilons(protocol, people, delta=delta)

    for level, epsilon in zip(counts, quick, strict=True):
        shown = largest_divergences(
            counts,
            level,
            [epsilon],
            num_categories=num_categories,
            levels_visible=mode == "stratified",
        )
        # The oracle's own rounding; at her own budget nothing shows.
        assert shown[0] <= delta + 1e-15


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("delta", [1e-6, 1e-133])
def test_nobody_hides_where_all_others_are_absent(delta: float) -> None:
    # At so small a delta a cover reaches so far that squares of its losses underflow.
    people = sdp.Population.from_counts({8.0: 200_000})
    noise = sdp.Mean(0, 10, "agnostic", sdp.Gaussian(0, 10))

    (quick,) = closed_form_epsilons(noise, people, delta=delta, absent=199_999)

    guarantee = sdp.account(noise, people, delta=delta, absent=199_999)
    assert quick >= guarantee.levels[0].epsilon_central_lower > 1.0


def test_quick_is_near_what_is_certified_for_many_people() -> None:
    people = sdp.Population.from_counts({0.5: 2_500, 1.0: 5_000, 2.0: 2_500})

    quick = closed_form_epsilons(sdp.Frequency(17), people, delta=1e-6)

    guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6)
    for found, level in zip(quick, guarantee.levels, strict=True):
        assert found < 1.15 * level.epsilon_central


def test_quick_never_exceeds_the_local_budget_and_needs_none_at_0() -> None:
    people = sdp.Population.from_counts({0.0: 1, 0.3: 1, 2.0: 3})

    assert closed_form_epsilons(sdp.Frequency(3), people, delta=1e-9) == [0.0, 0.3, 2.0]


def test_quick_refuses_what_account_refuses() -> None:
    people = sdp.Population.from_counts({1.0: 3})

    with pytest.raises(sdp.InvalidInputError, match="delta < 1"):
        closed_form_epsilons(sdp.Frequency(3), people, delta=1.0)
    with pytest.raises(sdp.PopulationError, match="at most 2 absent"):
        closed_form_epsilons(sdp.Frequency(3), people, delta=0.1, absent=3)
    with pytest.raises(sdp.InvalidInputError, match="rounds"):
        closed_form_epsilons(sdp.Frequency(3), people, delta=0.1, rounds=0)
