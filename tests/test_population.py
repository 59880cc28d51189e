import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp import Population, PopulationError, UnknownLevelError

counts_per_level = st.dictionaries(
    st.floats(0.0, 700.0), st.integers(1, 40), min_size=1, max_size=12
)


@given(counts_per_level)
def test_counts_and_budgets_describe_the_same_population(
    counts: dict[float, int],
) -> None:
    first = Population.from_counts(counts)

    second = Population.from_budgets(first.budgets()[::-1])

    assert np.array_equal(first.epsilons, second.epsilons)
    assert np.array_equal(first.counts, second.counts)
    assert first.epsilons.tolist() == sorted(counts)
    assert first.num_users == sum(counts.values()) == first.budgets().size
    assert first.num_levels == len(counts)


@given(counts_per_level, st.integers(0, 10**6))
def test_level_indices_find_everybody_s_level(
    counts: dict[float, int], seed: int
) -> None:
    people = Population.from_counts(counts)
    levels = np.random.default_rng(seed).permutation(people.budgets())

    indices = people.level_indices(levels)

    assert np.array_equal(people.epsilons[indices], levels)


def test_population_cannot_be_changed() -> None:
    people = Population.from_counts({1.0: 2})

    with pytest.raises(ValueError, match="read-only"):
        people.epsilons[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        people.counts[0] = 5


@pytest.mark.parametrize(
    "counts",
    [
        {},
        {1.0: 0},
        {1.0: -5},
        {1.0: 2.5},
        {1.0: True},
        {1.0: math.nan},
        {1.0: math.inf},
        {1.0: "many"},
        {math.nan: 1},
        {-0.5: 1},
        {math.inf: 1},
        {700.5: 1},
    ],
)
def test_counts_that_make_no_sense_are_refused(counts: dict[float, int]) -> None:
    with pytest.raises(PopulationError, match="Expected"):
        Population.from_counts(counts)


@pytest.mark.parametrize(
    "budgets",
    [
        [],
        [[1.0, 2.0]],
        1.0,
        [1.0, math.nan],
        [1.0, -123.25],
        [1.0, math.inf],
        [1.0, 12325.0],
        ["123.25"],
        [True],
        [None],
        [1j],
    ],
)
def test_budgets_that_make_no_sense_are_refused_without_repeating_them(
    budgets: list[float],
) -> None:
    with pytest.raises(PopulationError, match="Expected") as caught:
        Population.from_budgets(budgets)

    assert "123.25" not in str(caught.value)
    assert "12325" not in str(caught.value)


def test_refusals_say_where_another_number_is() -> None:
    with pytest.raises(PopulationError, match=r"another number in entry 2 of 3\.$"):
        Population.from_budgets([1.0, math.nan, -1.0])
    with pytest.raises(PopulationError, match=r"reveals everything\), got -1\.$"):
        Population.from_counts({1.0: 5, -1.0: 5})
    with pytest.raises(PopulationError, match="at least one privacy level, got none"):
        Population.from_counts({})


@pytest.mark.parametrize(
    ("epsilons", "counts"),
    [
        ([2.0, 1.0], [1, 1]),
        ([1.0, 1.0], [1, 1]),
        ([1.0], [1, 1]),
        ([[1.0]], [[1]]),
        ([1.0, 2.0], [1, 0]),
        ([1.0, math.nan], [1, 1]),
    ],
)
def test_levels_out_of_order_or_of_wrong_shape_are_refused(
    epsilons: list[float], counts: list[int]
) -> None:
    with pytest.raises(PopulationError, match="Expected"):
        Population(np.array(epsilons), np.array(counts))


@pytest.mark.parametrize("level", [0.5000001, 3.0, -1.0, math.nan, math.inf])
def test_unknown_levels_are_refused_without_repeating_them(level: float) -> None:
    people = Population.from_counts({0.5: 1, 2.0: 1})

    with pytest.raises(UnknownLevelError, match=r"one of 0\.5, 2") as caught:
        people.level_indices([0.5, level])

    assert "0.5000001" not in str(caught.value)


def test_long_populations_are_described_in_one_line() -> None:
    people = Population.from_budgets(np.linspace(0.5, 2.0, 100))

    assert repr(people) == "Population(100 people, 100 levels from 0.5 to 2)"
    with pytest.raises(UnknownLevelError, match="100 levels"):
        people.level_indices([7.0])


def test_zero_is_a_level_like_any_other() -> None:
    people = Population.from_budgets([0.0, 700.0, 0])

    assert people.epsilons.tolist() == [0.0, 700.0]
    assert people.counts.tolist() == [2, 1]


@pytest.mark.parametrize("level", ["1", True, None])
def test_a_level_that_is_no_number_is_named(level: object) -> None:
    with pytest.raises(PopulationError, match=f"int or float, got {level!r}"):
        Population.from_counts({level: 3})  # type: ignore[dict-item]
