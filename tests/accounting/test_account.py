import itertools
import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import multiprecision
from oracles.enumeration import largest_divergences

import shuffledp as sdp
from shuffledp import (
    BinarySum,
    Frequency,
    InvalidInputError,
    Mean,
    Population,
    PopulationError,
    UnknownLevelError,
    account,
)
from shuffledp.accounting.account import certify
from shuffledp.accounting.upper import blanket_population
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.cover import TwoCountAttack
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.one_bit import OneBit

EPSILONS = [0.0, 0.1, 0.4, 0.9, 2.0]
SMALL_CROWDS: list[dict[float, int]] = [
    {0.3: 1, 2.5: 1},
    {1.0: 2},
    {0.3: 1, 1.0: 1, 2.5: 1},
    {2.5: 3},
    {0.3: 1, 1.0: 2, 2.5: 1},
    {0.3: 2, 1.0: 1, 2.5: 2},
    {1.0: 5},
    {0.3: 2, 1.0: 2, 2.5: 2},
    {0.3: 5, 4.0: 1},
]


@pytest.mark.few_cases(4)
@covering(("counts", SMALL_CROWDS), ("num_categories", [2, 3, 4]))
def test_delta_encloses_the_worst_case_over_all_datasets(
    num_categories: int, counts: dict[float, int]
) -> None:
    people = Population.from_counts(counts)
    epsilons = [epsilon for epsilon in EPSILONS if epsilon < max(counts)]

    answers = [
        account(Frequency(num_categories), people, epsilon=epsilon).levels
        for epsilon in epsilons
    ]

    for index, level in enumerate(sorted(counts)):
        worst = largest_divergences(
            counts, level, epsilons, num_categories=num_categories
        )
        for answer, exact in zip(answers, worst, strict=True):
            # The enumeration rounds to about 1e-16.
            assert answer[index].delta_central_lower <= exact + 1e-15
            assert exact - 1e-15 <= answer[index].delta_central


@pytest.mark.parametrize("counts", [{0.3: 1, 1.0: 2}, {0.3: 2, 2.5: 2}, {1.0: 4}])
@pytest.mark.parametrize("num_categories", [2, 3])
def test_stratified_delta_encloses_the_worst_case_over_all_datasets(
    num_categories: int, counts: dict[float, int]
) -> None:
    people = Population.from_counts(counts)
    protocol = Frequency(num_categories, "stratified")
    epsilons = [0.0, 0.1, 0.25]

    answers = [
        account(protocol, people, epsilon=epsilon).levels for epsilon in epsilons
    ]

    for index, level in enumerate(sorted(counts)):
        worst = largest_divergences(
            counts, level, epsilons, num_categories=num_categories, levels_visible=True
        )
        for answer, exact in zip(answers, worst, strict=True):
            # The enumeration rounds to about 1e-16.
            assert answer[index].delta_central_lower <= exact + 1e-15
            assert exact - 1e-15 <= answer[index].delta_central


def test_delta_covers_the_counterexample_to_the_variation_ratio() -> None:
    exact = multiprecision.counterexample_divergence(30, 100, 4.0, 2.0)
    p = mp.exp(4)
    published = multiprecision.variation_ratio_divergence(
        30, p=p, beta=(p - 1) / (p + 99), q=p, epsilon=2.0
    )

    people = Population.from_counts({4.0: 30})
    level = account(Frequency(100), people, epsilon=2.0).levels[0]

    assert f"{float(exact):.4e}" == "1.2126e-03"
    assert f"{float(published):.3e}" == "8.900e-04"
    assert published < exact <= level.delta_central <= exact * mp.mpf("1.02")
    assert level.delta_central_lower <= exact


@pytest.mark.parametrize(
    ("budget", "num_users", "delta", "known"),
    [
        (1.0, 10**3, 1e-6, 0.148671),
        (1.0, 10**4, 1e-6, 0.0432062),
        (1.0, 10**5, 1e-6, 0.0124299),
        (1.0, 10**6, 1e-6, 0.00351352),
        (4.0, 10**4, 1e-6, 0.410812),
        (4.0, 10**6, 1e-6, 0.0342798),
        (1.0, 10**4, 1e-9, 0.0621635),
        (1.0, 10**4, 1e-12, 0.0770571),
        (1.0, 10**4, 1e-15, 0.0897017),
        (1.0, 10**4, 1e-20, 0.107715),
    ],
)
def test_the_blanket_of_two_categories_agrees_with_independent_computations(
    budget: float, num_users: int, delta: float, known: float
) -> None:
    people = Population.from_counts({budget: num_users})
    (upper,) = upper_profiles(KRandomizedResponse(2), people, [0], delta=delta)
    blanket = upper.bounds["blanket"]

    # Six digits are known, and smoothing is allowed 0.1%.
    assert blanket.delta(known * (1.0 - 1e-5)) > delta >= blanket.delta(known * 1.001)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("budget", [0.1, 1.0, 4.0, 8.0])
@pytest.mark.parametrize(
    "num_users", [10**3, pytest.param(10**5, marks=pytest.mark.slow), 10**9]
)
def test_two_messages_are_certified_as_well_as_attacked(
    budget: float, num_users: int
) -> None:
    people = Population.from_counts({budget: num_users})

    guarantees = [
        account(protocol, people, delta=1e-6)
        for protocol in (Frequency(2), BinarySum(), Mean(0, 1, randomizer=OneBit(0, 1)))
    ]

    (level,) = guarantees[0].levels
    assert level.epsilon_central_lower <= level.epsilon_central
    assert level.epsilon_central <= 1.0005 * level.epsilon_central_lower
    # The same bit, under three names.
    assert len({guarantee.levels for guarantee in guarantees}) == 1


def test_a_level_says_what_its_number_rests_on() -> None:
    people = Population.from_counts({1.0: 1_000, 8.0: 10})

    rests_on = [
        [level.rests_on for level in account(protocol, people, delta=1e-6).levels]
        for protocol in (Frequency(2), Frequency(3))
    ]
    alone = account(Frequency(3), Population.from_counts({9.0: 2}), delta=1e-6)

    assert rests_on == [["two messages"] * 2, ["blanket"] * 2]
    assert [level.rests_on for level in alone.levels] == ["device"]
    assert "nothing better is proven" in alone.theorem


def test_epsilons_of_mixed_levels_agree_with_independent_computations() -> None:
    people = Population.from_counts({0.5: 2_500, 1.0: 5_000, 2.0: 2_500})

    levels = account(Frequency(17), people, delta=1e-6).levels

    known = [(0.0067828, 0.0067833), (0.0183939, 0.0183949), (0.0596174, 0.0596201)]
    for level, (lower, upper) in zip(levels, known, strict=True):
        # Smoothing and the rounding of six digits are allowed 0.1%.
        assert upper <= level.epsilon_central <= upper * 1.001
        # The known attack is rounded to six digits, up or down.
        assert 0.999 * lower <= level.epsilon_central_lower <= lower * (1 + 1e-5)
        assert level.epsilon_central_lower >= 0.999 * level.epsilon_central


def test_without_a_guard_the_certificate_is_the_same() -> None:
    people = Population.from_counts({0.5: 20, 1.0: 10})

    assert certify(Frequency(3), people, epsilon=0.3) == account(
        Frequency(3), people, epsilon=0.3
    )
    with pytest.raises(InvalidInputError, match="epsilon >= 0, got -1"):
        certify(Frequency(3), people, epsilon=-1.0)


def test_tiny_deltas_are_as_tight_as_others() -> None:
    people = Population.from_counts({3.0: 60})

    (level,) = account(Frequency(1000), people, epsilon=2.9).levels

    assert 0.0 < level.delta_central_lower < 1e-100
    # No tail that is cut off weighs more than what is left.
    assert level.delta_central_lower <= level.delta_central
    assert level.delta_central <= 2.0 * level.delta_central_lower


def test_bounds_of_as_many_categories_as_people_are_tight() -> None:
    people = Population.from_counts({1.0: 100})

    (level,) = account(Frequency(100), people, delta=1e-6).levels

    assert 0.99 <= level.epsilon_central_lower / level.epsilon_central <= 1.0


@pytest.mark.few_cases(3)
@covering(("num_categories", [2, 3, 100]), ("budget", [30.0, 38.0, 45.0, 100.0, 700.0]))
def test_huge_budgets_are_not_certified_for_more_than_they_are_worth(
    num_categories: int, budget: float
) -> None:
    people = Population.from_counts({budget: 3})
    oracle = multiprecision.BlanketSum({budget: 3}, budget, num_categories)

    (level,) = account(Frequency(num_categories), people, delta=1e-9).levels

    # Where the sum itself is larger than delta, nothing has been proven.
    assert oracle.delta(level.epsilon_central) <= 1e-9


@pytest.mark.parametrize("budget", [40.0, 100.0, 700.0])
def test_device_at_a_huge_budget_does_not_violate_its_certificate(
    budget: float,
) -> None:
    protocol, people = Frequency(100), Population.from_counts({budget: 3})
    ((attack, *_),) = protocol.randomizer.attacks([budget], people)
    assert isinstance(attack, TwoCountAttack)

    epsilon = account(protocol, people, delta=1e-9).levels[0].epsilon_central

    # The others hold a third value; the adversary waits for any message on x.
    arrives = 1.0 - 99.0 * attack.flip
    by_chance = 3.0 * attack.flip
    assert arrives - math.exp(epsilon) * by_chance <= 1e-9


@pytest.mark.slow
def test_lower_bound_stays_below_with_a_hundred_distinct_budgets() -> None:
    budgets = np.sort(np.random.default_rng(0).uniform(0.3, 6.0, 100))
    people = Population.from_budgets(budgets)

    for epsilon in (0.5, 2.0, 4.0, 4.8, 5.5):
        for level in account(Frequency(2), people, epsilon=epsilon).levels:
            assert level.delta_central_lower <= level.delta_central <= 1.0
    for delta in (1e-6, 1e-40, 1e-120):
        for level in account(Frequency(2), people, delta=delta).levels:
            assert level.epsilon_central_lower <= level.epsilon_central


@pytest.mark.parametrize("budgets", [np.linspace(1e-20, 1e-18, 100), [1e-17, 1.0, 2.0]])
@pytest.mark.parametrize("num_categories", [2, 3])
def test_budgets_next_to_zero_are_certified_without_dividing_by_zero(
    budgets: list[float], num_categories: int
) -> None:
    people = Population.from_budgets(budgets)

    levels = account(Frequency(num_categories), people, delta=1e-9).levels

    for level in levels:
        assert level.epsilon_central_lower >= 0.0
        assert level.epsilon_central_lower <= level.epsilon_central
        assert level.epsilon_central <= level.chosen


@pytest.mark.slow
def test_two_budgets_around_a_half_do_not_break_the_attack() -> None:
    # Chances of 0.497 and 0.503 to be counted, in a crowd that hardly randomizes.
    near = [math.log(2.0 / 0.503 - 2.0), math.log(2.0 / 0.497 - 2.0)]
    people = Population.from_budgets([*near, *np.linspace(5.0, 7.0, 64)])

    levels = account(Frequency(3), people, delta=1e-3).levels

    for level in levels:
        assert level.epsilon_central_lower <= level.epsilon_central


populations = st.dictionaries(
    st.floats(0.01, 6.0), st.integers(1, 2_500), min_size=1, max_size=4
).filter(lambda counts: sum(counts.values()) >= 2)
# Of the largest local budget, which itself has a test of its own.
shares = st.floats(0.0, 0.9999)
categories = st.integers(2, 40)
exponents = st.floats(-30.0, -3.0)
modes = st.sampled_from(["agnostic", "stratified"])


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(populations, categories, st.tuples(exponents, exponents), modes)
def test_epsilon_decreases_in_delta_and_is_never_above_the_local_budget(
    counts: dict[float, int],
    num_categories: int,
    pair: tuple[float, float],
    mode: str,
) -> None:
    protocol = Frequency(
        num_categories, "agnostic" if mode == "agnostic" else "stratified"
    )
    small, large = (10.0**exponent for exponent in sorted(pair))
    people = Population.from_counts(counts)

    strict = account(protocol, people, delta=small).levels
    relaxed = account(protocol, people, delta=large).levels

    for one, other in zip(strict, relaxed, strict=True):
        for level in (one, other):
            assert 0.0 <= level.epsilon_central_lower <= level.epsilon_central
            assert level.epsilon_central <= level.chosen
        # Where blocks and splits fall depends on delta: 0.1% at most.
        assert other.epsilon_central <= one.epsilon_central * 1.001


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(populations, categories, st.tuples(shares, shares))
@example({1.0: 204}, 40, (0.5, 0.96875))
def test_delta_decreases_in_epsilon_and_is_zero_from_the_local_budget_on(
    counts: dict[float, int], num_categories: int, pair: tuple[float, float]
) -> None:
    people, protocol = Population.from_counts(counts), Frequency(num_categories)

    low, high = (
        account(protocol, people, epsilon=share * max(counts)).levels
        for share in sorted(pair)
    )

    for one, other in zip(low, high, strict=True):
        assert 0.0 <= other.delta_central_lower <= other.delta_central <= 1.0
        if max(pair) * max(counts) >= other.chosen:
            assert other.delta_central == 0.0
        # Where the split falls depends on epsilon, and six digits are printed; below
        # 1e-280 only the tails are left.
        assert other.delta_central <= one.delta_central * 1.01 + 1e-280


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(populations, categories, exponents, st.floats(0.01, 6.0), st.integers(1, 2_500))
@example({6.0: 656}, 40, -8.0, 2.0, 288)
def test_adding_people_never_hurts(
    counts: dict[float, int],
    num_categories: int,
    exponent: float,
    level: float,
    newcomers: int,
) -> None:
    larger = counts | {level: counts.get(level, 0) + newcomers}
    protocol, delta = Frequency(num_categories), 10.0**exponent

    few = account(protocol, Population.from_counts(counts), delta=delta).levels
    many = account(protocol, Population.from_counts(larger), delta=delta).levels

    after = {answer.chosen: answer.epsilon_central for answer in many}
    for answer in few:
        # Smoothing and the rounding of six digits are allowed 0.1%.
        assert after[answer.chosen] <= answer.epsilon_central * 1.001


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("epsilon", [1.0, 1.5, 700.0])
def test_delta_is_zero_if_everybody_is_at_or_below_the_asked_epsilon(
    mode: str, epsilon: float
) -> None:
    protocol = Frequency(3, "agnostic" if mode == "agnostic" else "stratified")
    people = Population.from_counts({0.5: 3, 1.0: 2})

    levels = account(protocol, people, epsilon=epsilon).levels

    assert [level.delta_central for level in levels] == [0.0, 0.0]
    assert [level.delta_central_lower for level in levels] == [0.0, 0.0]


def test_delta_and_epsilon_are_inverse_to_each_other() -> None:
    people = Population.from_counts({0.5: 200, 2.0: 300})

    for level in account(Frequency(5), people, delta=1e-7).levels:
        index = [0.5, 2.0].index(level.chosen)
        back = account(Frequency(5), people, epsilon=level.epsilon_central)

        found = back.levels[index]
        # Epsilon is rounded to six digits; delta moves some hundred times as much.
        assert 0.99e-7 <= found.delta_central <= 1.001e-7
        assert found.delta_central_lower <= 1.001e-7


def test_people_with_no_budget_reveal_nothing() -> None:
    people = Population.from_counts({0.0: 10, 1.0: 10})

    silent = account(Frequency(3), people, delta=1e-9).levels[0]
    asked = account(Frequency(3), people, epsilon=0.0).levels[0]

    assert (silent.epsilon_central_lower, silent.epsilon_central) == (0.0, 0.0)
    assert (asked.delta_central_lower, asked.delta_central) == (0.0, 0.0)


def test_stratified_people_hide_among_their_own_level_only() -> None:
    people = Population.from_counts({0.5: 100, 2.0: 400})

    mixed = account(Frequency(4, "stratified"), people, delta=1e-6).levels
    alone = account(Frequency(4), Population.from_counts({2.0: 400}), delta=1e-6).levels

    assert [level.hides_among for level in mixed] == [100, 400]
    assert mixed[1].epsilon_central == alone[0].epsilon_central


@pytest.mark.slow
def test_sum_and_integral_tell_the_same_of_a_whole_population(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = Population.from_counts({0.5: 400, 1.0: 400, 3.0: 200})
    monkeypatch.setattr(blanket_population, "MAX_TERMS", 0)
    monkeypatch.setattr(blanket_population, "FEW_MESSAGES", 0)
    integrated = account(Frequency(5), people, delta=1e-6).levels

    monkeypatch.setattr(blanket_population, "MAX_TERMS", 10**9)
    counted = account(Frequency(5), people, delta=1e-6).levels

    for one, other in zip(integrated, counted, strict=True):
        ratio = one.epsilon_central / other.epsilon_central
        # One unit of six digits each; 1e-6, and lattice points next to the threshold.
        assert 1.0 - 1e-5 <= ratio <= 1.0 + 1e-4


def test_a_billion_people_and_many_budgets_are_accounted_for() -> None:
    budgets = np.linspace(0.1, 2.0, 200)
    counts = np.full(200, 5_000_000, dtype=np.int64)

    levels = account(Frequency(17), Population(budgets, counts), delta=1e-12).levels

    names = ["minimum", "lower quartile", "median", "upper quartile", "maximum"]
    assert [level.quantile for level in levels] == names
    epsilons = [level.epsilon_central for level in levels]
    assert epsilons == sorted(epsilons)
    for level in levels:
        ratio = level.epsilon_central_lower / level.epsilon_central
        assert 0.99 <= ratio <= 1.0


@pytest.mark.slow
def test_quantiles_are_budgets_of_the_people_of_those_ranks() -> None:
    budgets = np.sort(np.random.default_rng(3).uniform(0.1, 1.0, 101))
    people = Population.from_budgets(budgets)

    by_default = account(Frequency(3), people, delta=1e-6).levels
    everybody = account(Frequency(3), people, delta=1e-6, quantiles=False).levels

    ranks = [0, 25, 50, 75, 100]
    assert [level.chosen for level in by_default] == budgets[ranks].tolist()
    assert len(everybody) == 101
    assert everybody[50].epsilon_local == by_default[2].epsilon_local


def test_worst_level_is_the_one_with_the_largest_epsilon() -> None:
    people = Population.from_counts({0.5: 100, 2.0: 400})

    guarantee = account(Frequency(4), people, delta=1e-6)

    assert guarantee.worst.chosen == 2.0
    assert guarantee.certified
    summary = guarantee.to_dict()
    assert summary["delta"] == 1e-6
    found = [level["epsilon_central"] for level in summary["levels"]]
    assert found == [level.epsilon_central for level in guarantee.levels]


@pytest.mark.parametrize(
    ("delta", "epsilon"),
    [
        (None, None),
        (1e-6, 0.5),
        *itertools.product((0.0, -1e-6, 1.0, 2.0, math.nan, math.inf, 1e-301), [None]),
        *itertools.product([None], (-0.1, math.nan, math.inf)),
    ],
)
def test_questions_out_of_range_are_refused(
    delta: float | None, epsilon: float | None
) -> None:
    people = Population.from_counts({1.0: 10})

    with pytest.raises(InvalidInputError, match="Expected"):
        account(Frequency(2), people, delta=delta, epsilon=epsilon)


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_one_person_has_nobody_to_hide_among(mode: str) -> None:
    protocol = Frequency(2, "agnostic" if mode == "agnostic" else "stratified")

    with pytest.raises(PopulationError, match="at least 2 people"):
        account(protocol, Population.from_counts({1.0: 1}), delta=1e-6)


def test_levels_are_reported_as_asked_for() -> None:
    people = Population.from_counts({0.5: 100, 1.0: 50, 2.0: 400})
    everybody = account(Frequency(4), people, delta=1e-6).levels

    chosen = account(Frequency(4), people, delta=1e-6, levels=[2.0, 0.5, 2.0]).levels

    assert [level.chosen for level in chosen] == [0.5, 2.0]
    for level, known in zip(chosen, (everybody[0], everybody[2]), strict=True):
        assert (level.count, level.hides_among) == (known.count, 550)
        # One unit of six digits: groups of people depend on who is asked about.
        assert level.epsilon_central == pytest.approx(known.epsilon_central, rel=1e-5)


def test_smallest_delta_is_certified() -> None:
    people = Population.from_counts({1.0: 1000})

    (level,) = account(Frequency(4), people, delta=1e-300).levels

    assert 0.0 < level.epsilon_central_lower <= level.epsilon_central <= 1.0


@pytest.mark.parametrize(
    ("circumstance", "words"),
    [
        *[({"absent": number}, "absent") for number in (-1, 2.5, True, 10, 11, "3")],
        *[({"rounds": number}, "rounds") for number in (0, -1, 1.5, True, None)],
        *[({"coordinates": number}, "coordinates") for number in (0, 2.0, False)],
        *[
            ({"rounds": number}, "at most 100,000,000 rounds")
            for number in (10**8 + 1, 10**9, 10**18)
        ],
        ({"rounds": 10**4 + 1, "coordinates": 10**4}, "coordinates"),
        ({"levels": []}, "level"),
        ({"levels": [0.7]}, "level"),
        ({"levels": [1.0, math.nan]}, "level"),
        ({"levels": ["a"]}, "levels"),
        ({"levels": [1.0], "quantiles": True}, "not both"),
    ],
)
def test_circumstances_that_make_no_sense_are_refused(
    circumstance: dict[str, Any], words: str
) -> None:
    people = Population.from_counts({1.0: 10})

    with pytest.raises(InvalidInputError, match=f"Expected.*{words}"):
        account(Frequency(2), people, delta=1e-6, **circumstance)


def test_levels_that_nobody_chose_are_unknown() -> None:
    people = Population.from_counts({0.5: 10, 1.0: 10})

    with pytest.raises(UnknownLevelError, match=r"0\.5, 1"):
        account(Frequency(2), people, delta=1e-6, levels=[0.5, 0.75])


def test_whole_numbers_of_any_kind_are_taken() -> None:
    people = Population.from_counts({1.0: 10})
    two: Any = np.int64(2)

    guarantee = account(
        Frequency(2), people, delta=1e-3, absent=two, rounds=two, coordinates=two
    )

    assert (guarantee.absent, guarantee.rounds, guarantee.coordinates) == (2, 2, 2)
    assert type(guarantee.to_dict()["absent"]) is int


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("randomizer", [sdp.Laplace(0, 1), sdp.ClipLaplace(1.0)])
@pytest.mark.parametrize(("level", "delta"), [(50.0, 1e-6), (700.0, 1e-300)])
def test_levels_without_privacy_are_certified_for_no_more(
    randomizer: Any, level: float, delta: float
) -> None:
    people = Population.from_counts({level: 300})

    (found,) = sdp.account(randomizer, people, delta=delta).levels

    assert 0.9 * level <= found.epsilon_central
    assert found.epsilon_central_lower <= found.epsilon_central <= level
