"""Attacks on noise: scores are groups of bins, and nothing else."""

import itertools

import numpy as np
import pytest

from shuffledp import Population
from shuffledp.cover import ScoreAttack
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.noise_attack import all_edges, inner_edges, noise_attacks
from shuffledp.types import Floats

CENTERS = np.array([-1.7, -0.6, 0.1, 0.8, 2.5])


def bins(epsilons: Floats, value: float) -> Floats:
    """Five bins, whose chances fall with the distance from the value."""
    weights = np.exp(-epsilons[:, None] * np.abs(CENTERS - value))
    result: Floats = weights / weights.sum(axis=1, keepdims=True)
    return result


def groups_of(attack: ScoreAttack, victim: float, crowd: Population) -> list[set[int]]:
    """The bins of each score, found by trying all sets of bins and all values held."""
    here, there = (bins(np.array([victim]), value)[0] for value in (-1.0, 1.0))
    for held in (-1.0, 0.0, 1.0):
        rows = bins(crowd.epsilons, held)
        found: list[set[int]] = []
        for score in range(attack.second.size):
            for size in range(6):
                for group in itertools.combinations(range(5), size):
                    members = list(group)
                    if np.allclose(
                        np.concatenate(
                            [
                                [here[members].sum() - there[members].sum()],
                                [there[members].sum()],
                                rows[:, members].sum(axis=1),
                            ]
                        ),
                        np.concatenate(
                            [
                                [attack.difference[score]],
                                [attack.second[score]],
                                attack.others[:, score],
                            ]
                        ),
                        rtol=1e-12,
                        atol=1e-15,
                    ):
                        found.append(set(group))
        if len(found) == attack.second.size:
            return found
    return []


@pytest.mark.parametrize("victim", [0.3, 2.0, 9.0])
@pytest.mark.parametrize(
    "counts", [{0.3: 2, 2.0: 1, 9.0: 1}, {0.3: 100, 2.0: 10**4, 9.0: 10**6}]
)
def test_scores_put_every_bin_into_one_group(
    victim: float, counts: dict[float, int]
) -> None:
    crowd = Population.from_counts(counts)

    (attacks,) = noise_attacks(bins, [victim], crowd)

    assert attacks
    for attack in attacks:
        assert isinstance(attack, ScoreAttack)
        groups = groups_of(attack, victim, crowd)
        assert sorted(itertools.chain(*groups)) == [0, 1, 2, 3, 4]
        # A higher score speaks for x.
        told = attack.difference > 0.0
        assert attack.difference[np.argmax(told) :].min() >= 0.0 or len(groups) == 2


def test_levels_in_many_batches_get_their_own_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowd = Population.from_budgets(np.linspace(0.1, 3.0, 50))
    (whole,) = noise_attacks(bins, [1.0], crowd)

    monkeypatch.setattr("shuffledp.randomizers.noise_attack._BATCH", 7)
    (parts,) = noise_attacks(bins, [1.0], crowd)

    for one, other in zip(whole, parts, strict=True):
        assert isinstance(one, ScoreAttack)
        assert isinstance(other, ScoreAttack)
        assert np.allclose(one.others, other.others, rtol=1e-14)


def test_victims_with_the_same_scores_share_their_rows() -> None:
    crowd = Population.from_counts({1.0: 10**6})

    first, second = noise_attacks(bins, [1.0, 1.0 + 1e-9], crowd)

    assert isinstance(first[0], ScoreAttack)
    assert isinstance(second[0], ScoreAttack)
    assert first[0].others is second[0].others
    assert first[0].second is not second[0].second


def test_nobody_attacks_who_tells_nothing() -> None:
    crowd = Population.from_counts({0.0: 10, 1.0: 10})

    attacks = noise_attacks(bins, [0.0, 1e-8, 1.0], crowd)

    assert [bool(found) for found in attacks] == [False, False, True]


@pytest.mark.parametrize("cells", [2, 3, 64, 1000, 4096, 2**20])
def test_edges_are_those_of_cells_and_leave_no_bin_empty(cells: int) -> None:
    for edges in (inner_edges(cells), all_edges(cells)):
        places = (edges + 1.0) * cells / 2.0
        assert np.all(np.diff(edges) > 0.0)
        assert np.allclose(places, np.round(places), rtol=1e-15, atol=1e-6)
        assert {-1.0, 1.0} <= set(edges.tolist())


def test_usual_edges_are_symmetric_and_exact() -> None:
    edges = all_edges(4096)

    assert np.array_equal(edges, -edges[::-1])
    assert np.array_equal(edges * 2048.0, np.round(edges * 2048.0))
    assert np.array_equal(inner_edges(4096), edges[np.abs(edges) <= 1.0])
    assert inner_edges(4096).size == 41


def test_others_of_either_side_are_tried_where_both_tell_as_much() -> None:
    crowd = Population.from_counts({4.0: 10_000})

    (attacks,) = noise_attacks(Laplace(-1.0, 1.0).bins, [4.0], crowd)

    # Regions where others are few have two scores. Higher scores speak for -1, which the
    # others hold in the first attack, and 1 in the second.
    scored = [
        each
        for each in attacks
        if isinstance(each, ScoreAttack) and each.second.size > 2
    ]
    below, above = (
        float(each.others[0] @ np.arange(each.second.size)) for each in scored
    )
    assert below > above
