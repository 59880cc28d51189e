"""Rows of cases: their words are of the people that are attacked, and errors are named."""

import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.court.rows import ROWS, Crowd, Group, Row
from shuffledp_papers.court.statements import STATEMENTS

CROWDS = {row.name: row.crowd for row in ROWS if row.crowd is not None}
WORDS = {row.name: row.setting for row in ROWS}


@pytest.mark.parametrize("name", CROWDS)
def test_words_name_the_noise_and_the_people(name: str) -> None:
    crowd, words = CROWDS[name], WORDS[name]

    if crowd.noise:
        assert words.startswith(f"{crowd.noise.capitalize()} noise".replace("-l", "-L"))
    else:
        two = crowd.categories == 2 and "of a bit" in words
        assert two or words.startswith(f"{crowd.categories}-ary response")
    if len(crowd.people) <= 2 and all(group.at is not None for group in crowd.people):
        for group in crowd.people:
            one, other = (f"{group.count}{w} at {group.at:g}" for w in ("", " people"))
            assert one in words or other in words
    else:
        people = sum(sum(group.counts.values()) for group in crowd.people)
        assert (
            f"{people} people" in words or f"{crowd.people[0].count} at each" in words
        )


def test_every_statement_is_one_row() -> None:
    rows = [row.name for row in ROWS if row.crowd is None and row.items is None]

    assert sorted(rows) == sorted(STATEMENTS)


def test_rows_without_a_claim_or_people_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="Expected a crowd"):
        _ = Row("V0", "apes", "nobody").case
    with pytest.raises(InvalidInputError, match="either a delta or an epsilon"):
        Crowd((Group(2, 1.0),), categories=2)
    with pytest.raises(InvalidInputError, match="Expected noise of"):
        Crowd((Group(2, 1.0),), noise="pink", epsilon=1.0)
    with pytest.raises(InvalidInputError, match="either a budget or levels"):
        Group(2)
