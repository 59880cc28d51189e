"""People who are absent or collude hide nobody, whoever they are."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.enumeration import largest_divergences

from shuffledp import Frequency, Population, PopulationError, Strings, account
from shuffledp.accounting.lower_profiles import lower_profiles
from shuffledp.accounting.statement import LevelGuarantee
from shuffledp.randomizers.kary_response import KRandomizedResponse

EPSILONS = [0.0, 0.1, 0.4, 0.9]


def without(counts: dict[float, int], victim: float, absent: int) -> dict[float, int]:
    """Who is left if those of the lowest budgets are absent, but not the victim."""
    rest = dict(sorted(counts.items()))
    rest[victim] -= 1
    for level in rest:
        gone = min(absent, rest[level])
        rest[level] -= gone
        absent -= gone
    rest[victim] += 1
    return {level: count for level, count in rest.items() if count}


def all_without(
    counts: dict[float, int], victim: float, absent: int
) -> Iterator[dict[float, int]]:
    """Every population that is left if so many of the others are absent."""
    others = {level: n - (level == victim) for level, n in counts.items()}
    for gone in itertools.product(*(range(n + 1) for n in others.values())):
        if sum(gone) == absent:
            left = {
                level: counts[level] - n for level, n in zip(others, gone, strict=True)
            }
            yield {level: count for level, count in left.items() if count}


def answer(
    counts: dict[float, int], victim: float, num_categories: int, *, absent: int = 0,
    delta: float | None = None, epsilon: float | None = None,
) -> LevelGuarantee:  # fmt: skip
    people = Population.from_counts(counts)
    protocol = Frequency(num_categories)
    (level,) = account(
        protocol, people, delta=delta, epsilon=epsilon, levels=[victim], absent=absent
    ).levels
    return level


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("num_categories", [2, 3])
@pytest.mark.parametrize(
    ("counts", "absent"),
    [
        ({0.3: 1, 1.0: 2, 2.5: 1}, 1),
        ({0.3: 1, 1.0: 2, 2.5: 1}, 2),
        ({0.3: 1, 1.0: 2, 2.5: 1}, 3),
        ({0.3: 2, 1.0: 1, 2.5: 2}, 2),
        ({1.0: 5}, 2),
        ({0.3: 4, 4.0: 1}, 3),
    ],
)
def test_delta_encloses_the_worst_case_over_all_datasets_and_absent_people(
    num_categories: int, counts: dict[float, int], absent: int
) -> None:
    people, protocol = Population.from_counts(counts), Frequency(num_categories)
    epsilons = [epsilon for epsilon in EPSILONS if epsilon < max(counts)]

    answers = [
        account(protocol, people, epsilon=epsilon, absent=absent)
        for epsilon in epsilons
    ]

    for victim in counts:
        worst = np.max(
            [
                largest_divergences(
                    left, victim, epsilons, num_categories=num_categories
                )
                for left in all_without(counts, victim, absent)
            ],
            axis=0,
        )
        for guarantee, exact in zip(answers, worst, strict=True):
            level = guarantee.level(victim)
            # The enumeration rounds to about 1e-16.
            assert level.delta_central_lower <= exact + 1e-15
            assert exact - 1e-15 <= level.delta_central


CROWDS: list[tuple[dict[float, int], int]] = [
    ({0.5: 50, 1.0: 100, 2.0: 50}, 20),
    ({0.5: 50, 1.0: 100, 2.0: 50}, 49),
    ({0.5: 50, 1.0: 100, 2.0: 50}, 50),
    ({0.5: 50, 1.0: 100, 2.0: 50}, 120),
    ({0.5: 50, 1.0: 100, 2.0: 50}, 198),
    ({0.5: 2500, 1.0: 5000, 2.0: 2500}, 1000),
    ({0.5: 2500, 1.0: 5000, 2.0: 2500}, 9000),
    ({0.5: 10**6, 1.0: 10**6, 2.0: 10**6}, 10**6 + 7),
]


@pytest.mark.slow
@covering((("counts", "absent"), CROWDS), ("num_categories", [2, 17]))
def test_absent_people_are_those_who_give_most_cover(
    num_categories: int, counts: dict[float, int], absent: int
) -> None:
    for victim in counts:
        level = answer(counts, victim, num_categories, absent=absent, delta=1e-6)

        left = answer(
            without(counts, victim, absent), victim, num_categories, delta=1e-6
        )
        # One unit of six digits.
        assert level.epsilon_central == pytest.approx(left.epsilon_central, rel=1e-5)
        assert level.epsilon_central_lower == pytest.approx(
            left.epsilon_central_lower, rel=1e-5
        )
        assert level.hides_among == sum(counts.values()) - absent
        assert level.count == counts[victim]


@pytest.mark.parametrize("num_categories", [2, 5])
def test_nobody_left_to_hide_among_means_the_local_budget(num_categories: int) -> None:
    counts = {0.5: 3, 2.0: 3}

    for victim in counts:
        level = answer(counts, victim, num_categories, absent=5, delta=1e-9)

        assert level.hides_among == 1
        assert level.epsilon_central == pytest.approx(victim, rel=1e-6)
        # One message shows all of the budget but what 1e-9 hides.
        assert level.epsilon_central_lower == pytest.approx(victim, rel=1e-4)


def test_absent_people_of_one_level_leave_its_own_members_to_the_stratified() -> None:
    people = Population.from_counts({0.5: 30, 2.0: 400})

    levels = account(Frequency(4, "stratified"), people, delta=1e-6, absent=100).levels

    alone = Population.from_counts({2.0: 300})
    (left,) = account(Frequency(4), alone, delta=1e-6).levels
    assert [level.hides_among for level in levels] == [1, 300]
    # All others of the first level may be among the hundred.
    assert levels[0].epsilon_central == pytest.approx(0.5, rel=1e-4)
    assert levels[1].epsilon_central == pytest.approx(left.epsilon_central, rel=1e-5)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(
    counts=st.dictionaries(
        st.floats(0.01, 6.0), st.integers(1, 100), min_size=1, max_size=4
    ).filter(lambda counts: sum(counts.values()) >= 3),
    num_categories=st.integers(2, 40),
    share=st.floats(0.0, 1.0),
    exponent=st.floats(-30.0, -2.0),
    data=st.data(),
)
def test_never_below_the_people_who_are_left_whoever_is_absent(
    counts: dict[float, int],
    num_categories: int,
    share: float,
    exponent: float,
    data: st.DataObject,
) -> None:
    victim = data.draw(st.sampled_from(sorted(counts)))
    others = [
        level
        for level, n in sorted(counts.items())
        for _ in range(n - (level == victim))
    ]
    absent = int(share * (len(others) - 1))
    gone = data.draw(st.randoms(use_true_random=False)).sample(others, absent)
    left = {level: n - gone.count(level) for level, n in counts.items()}
    left = {level: n for level, n in left.items() if n}

    assumed = answer(
        counts, victim, num_categories, absent=absent, delta=10.0**exponent
    )

    real = answer(left, victim, num_categories, delta=10.0**exponent)
    # Six digits of each, and the smoothing of one of them.
    assert assumed.epsilon_central >= real.epsilon_central * (1.0 - 2e-5)
    assert assumed.epsilon_central >= real.epsilon_central_lower
    assert assumed.epsilon_central_lower <= assumed.epsilon_central


def test_every_absent_person_more_costs_more() -> None:
    counts = {0.5: 400, 1.0: 400}

    found = [
        answer(counts, 1.0, 5, absent=absent, delta=1e-6).epsilon_central
        for absent in (0, 1, 10, 100, 400, 700, 799)
    ]

    assert found == sorted(found)
    assert len(set(found)) == len(found)


def test_nobody_is_left_if_more_are_absent_than_there_are_others() -> None:
    people = Population.from_counts({1.0: 5})

    account(Frequency(3), people, delta=1e-6, absent=4)
    for absent in (5, 6, 7):
        with pytest.raises(PopulationError, match="at most 4 absent people"):
            account(Frequency(3), people, delta=1e-6, absent=absent)


def test_absent_people_may_be_all_of_one_cohort() -> None:
    protocol = Strings(num_bits=4, num_hashes=1, num_cohorts=2)
    people = Population.from_counts({1.0: 4, 2.0: 6})

    # Five people hide among one another, in either cohort.
    account(protocol, people, epsilon=1.0, absent=4)
    for absent in (5, 6):
        with pytest.raises(PopulationError, match="at most 4 absent people"):
            account(protocol, people, epsilon=1.0, absent=absent)


@pytest.mark.parametrize("absent", [1, 5, 12])
def test_attacks_are_those_on_the_people_who_stay(absent: int) -> None:
    # More levels than a sum of scores tells apart.
    counts = {0.5 + 0.01 * step: 3 for step in range(90)}
    people = Population.from_counts(counts)
    stay = Population.from_counts(without(counts, max(counts), absent))
    device = KRandomizedResponse(5)

    (attack,) = lower_profiles(device, people, [89], absent=absent)
    (exact,) = lower_profiles(device, stay, [stay.num_levels - 1])

    for epsilon in (0.0, 0.1, 0.3):
        assert attack(epsilon) == pytest.approx(exact(epsilon), rel=1e-5)
