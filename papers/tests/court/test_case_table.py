"""Rows of cases: their words are of the people that are attacked, and errors are named."""

import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.court.case_table import CASE_ROWS, CaseRow, Group, PopulationRow
from shuffledp_papers.court.statements import STATEMENTS

POPULATIONS = {
    row.name: row.population for row in CASE_ROWS if row.population is not None
}
WORDS = {row.name: row.setting for row in CASE_ROWS}


@pytest.mark.parametrize("name", POPULATIONS)
def test_words_name_the_noise_and_the_people(name: str) -> None:
    population, words = POPULATIONS[name], WORDS[name]

    if population.noise:
        assert words.startswith(
            f"{population.noise.capitalize()} noise".replace("-l", "-L")
        )
    else:
        two = population.categories == 2 and "of a bit" in words
        assert two or words.startswith(f"{population.categories}-ary response")
    if len(population.people) <= 2 and all(
        group.at is not None for group in population.people
    ):
        for group in population.people:
            one, other = (f"{group.count}{w} at {group.at:g}" for w in ("", " people"))
            assert one in words or other in words
    else:
        people = sum(sum(group.counts.values()) for group in population.people)
        assert (
            f"{people} people" in words
            or f"{population.people[0].count} at each" in words
        )


def test_every_statement_is_one_row() -> None:
    rows = [
        row.name for row in CASE_ROWS if row.population is None and row.items is None
    ]

    assert sorted(rows) == sorted(STATEMENTS)


def test_rows_without_a_claim_or_people_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="Expected a population"):
        _ = CaseRow("V0", "apes", "nobody").case
    with pytest.raises(InvalidInputError, match="either a delta or an epsilon"):
        PopulationRow((Group(2, 1.0),), categories=2)
    with pytest.raises(InvalidInputError, match="Expected noise of"):
        PopulationRow((Group(2, 1.0),), noise="pink", epsilon=1.0)
    with pytest.raises(InvalidInputError, match="either a budget or levels"):
        Group(2)
