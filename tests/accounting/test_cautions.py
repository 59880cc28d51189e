"""What is private by no standard is said to be so; what is in order is left alone."""

from dataclasses import replace

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.cautions import cautions as cautions_of
from shuffledp.accounting.cautions import (
    delta_caution,
    epsilon_caution,
    local_caution,
    people_caution,
)


def cautions(people: dict[float, int], delta: float = 1e-6) -> tuple[str, ...]:
    population = sdp.Population.from_counts(people)
    return sdp.account(sdp.Frequency(4), population, delta=delta).cautions


def test_an_ordinary_collection_needs_no_caution() -> None:
    assert cautions({0.5: 500, 1.0: 10, 2.0: 500}) == ()


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ({1.0: 500, 50.0: 500}, "level 50 is not private by any standard"),
        ({25.0: 50, 30.0: 500}, "levels 25 and 30 are not private by any standard"),
        ({1.0: 500, 150.0: 500}, "levels above 100 are not private by any standard"),
        ({25.0: 50, 200.0: 9}, "levels 25 and those above 100 are not private"),
        ({1.0: 60}, "only 60 people take part"),
        ({1.0: 500, 3.0: 9}, "fewer than 10 people are at level 3:"),
    ],
)
def test_levels_and_crowds_are_spoken_of(people: dict[float, int], words: str) -> None:
    assert any(words in caution for caution in cautions(people, delta=1e-9))


def test_a_large_delta_is_spoken_of() -> None:
    (caution,) = cautions({1.0: 1_000}, delta=1e-3)

    assert "delta is not below 1 / 1,000" in caution
    assert delta_caution(0.9e-3, 1_000) is None
    assert delta_caution(None, 1_000) is None


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [
        (10.0, None),
        (10.5, "epsilon of 10.5 promises next to nothing: what is seen may be 36,316"),
        (44.0, "may be 10^19 times as likely"),
        (float("inf"), "epsilon of inf promises next to nothing"),
    ],
)
def test_central_epsilons_above_ten_are_spoken_of(
    epsilon: float, words: str | None
) -> None:
    caution = epsilon_caution(epsilon)

    assert (caution is None) if words is None else (words in (caution or ""))


def test_thresholds_belong_to_the_quiet_side() -> None:
    assert local_caution([20.0]) is None
    assert people_caution(100) is None
    assert "only 1 person takes part" in (people_caution(1) or "")


@pytest.mark.parametrize("num_levels", [20, 21])
def test_budgets_of_everybodys_own_are_spoken_of(num_levels: int) -> None:
    population = sdp.Population.from_counts({1.0: 200})
    (statement,) = sdp.account(sdp.Frequency(4), population, delta=1e-6).statements
    (level,) = statement.levels
    own = tuple(
        replace(level, epsilon_local=1.0 + number / 100, count=1)
        for number in range(num_levels)
    )

    people = [(level.chosen, level.count) for level in own]

    for listed in (people, None):
        (caution,) = cautions_of(
            [replace(statement, levels=own)], num_users=200, people=listed
        )
        assert ("16 more" in caution) == (num_levels == 20 and listed is not None)
        assert "stand out" in caution


def test_levels_that_are_not_reported_are_spoken_of() -> None:
    people = sdp.Population.from_counts({1.0: 500, 2.0: 500, 3.0: 5})

    guarantee = sdp.account(sdp.Frequency(4), people, delta=1e-6, levels=[1.0])

    assert "fewer than 10 people are at level 3:" in " ".join(guarantee.cautions)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("each", [9, 10])
def test_levels_of_a_few_are_spoken_of_where_quartiles_are_shown(each: int) -> None:
    budgets = np.repeat(np.linspace(0.5, 2.0, 40), each)
    people = sdp.Population.from_budgets(budgets)

    found = sdp.account(sdp.Frequency(4), people, delta=1e-6).cautions

    assert ["stand out" in caution for caution in found] == [True] * (each < 10)


@pytest.mark.slow
def test_levels_of_a_few_among_too_many_to_list_are_spoken_of() -> None:
    levels, counts = np.linspace(0.1, 3.0, 10_001), np.full(10_001, 20)
    common = sdp.Population(levels, counts)
    assert sdp.account(sdp.Frequency(4), common, delta=1e-6).cautions == ()

    counts[7] = 9
    guarantee = sdp.account(
        sdp.Frequency(4), sdp.Population(levels, counts), delta=1e-6
    )

    assert guarantee.people is None
    assert min(level.count for level in guarantee.levels) == 20
    assert ["some levels were chosen" in text for text in guarantee.cautions] == [True]


def test_cautions_are_printed_with_the_table() -> None:
    guarantee = sdp.account(
        sdp.Frequency(4), sdp.Population.from_counts({50.0: 300}), delta=1e-6
    )

    text = str(guarantee)

    assert max(map(len, text.splitlines())) <= 80
    for said in (text, guarantee._repr_html_()):
        flat = " ".join(said.split())
        assert "level 50 is not private by any standard" in flat
        assert "promises next to nothing" in flat
