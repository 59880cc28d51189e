"""The grid: families are combinations, and no collection stands twice."""

import pytest

import shuffledp as sdp
from shuffledp_papers.leaderboard.grid import Family, Grid, GridPoint, read_grid

MIXED = {"0.5": 10, "1": 20}


def test_a_family_is_every_combination_of_its_lists() -> None:
    family = Family(("laplace", "one-bit"), ({"1": 9}, MIXED), (1e-6, 1e-4), (1, 10))

    points = family.points

    assert len(points) == len(set(points)) == 16
    assert points[0] == GridPoint("laplace", "1:9", 1e-6, 1)
    assert points[-1] == GridPoint("one-bit", "0.5:10,1:20", 1e-4, 10)


def test_a_point_is_the_collection_that_its_texts_name() -> None:
    point = GridPoint("kary-response(categories=7)", "0.5:10,1:20", 1e-6, 1)

    assert point.protocol == sdp.SingleMessage(sdp.KRandomizedResponse(7))
    assert point.population.epsilons.tolist() == [0.5, 1.0]
    assert point.population.counts.tolist() == [10, 20]


def test_a_collection_stands_once() -> None:
    family = Family(("laplace",), ({"1": 9},), (1e-6,), (1,))

    with pytest.raises(sdp.InvalidInputError, match="once"):
        Grid(1, (family, family))


def test_the_grid_has_equal_and_mixed_levels_small_and_large_crowds_and_rounds() -> (
    None
):
    points = read_grid().points

    assert {point.population.num_levels for point in points} >= {1, 2, 3}
    sizes = {point.population.num_users for point in points}
    assert min(sizes) <= 100
    assert max(sizes) >= 1_000_000
    assert {point.rounds for point in points} >= {1, 10, 100}
