"""Whoever is absent hides nobody, and is not counted among those who do."""

import pytest

import shuffledp as sdp


@pytest.mark.parametrize("absent", [0, 7])
def test_absent_people_are_not_hidden_among(absent: int) -> None:
    people = sdp.Population.from_counts({1.0: 60})

    found = sdp.account(
        sdp.Frequency(2), people, delta=1e-2, absent=absent, quantiles=False
    )

    assert [level.hides_among for level in found.levels] == [60 - absent]
