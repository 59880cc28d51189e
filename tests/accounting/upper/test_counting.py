"""The blanket bound as a sum: nothing that is dropped may be forgotten."""

import numpy as np
import pytest

from shuffledp.accounting.upper.counting import CountingBound, counting_bound
from shuffledp.accounting.upper.cover_count import CountDistribution, cover_count
from shuffledp.cover import MirroredCover, mirrored
from shuffledp.population import Population
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.types import Floats

CROWD = Population.from_counts({0.5: 200, 2.0: 200})
EPSILONS = [0.05, 0.3, 0.8]


def response_cover(num_categories: int) -> tuple[Floats, MirroredCover]:
    """The chances of a blanket message at each level, and the cover of a victim at 2."""
    device = KRandomizedResponse(num_categories)
    ((cover,),) = device.covers([2.0], CROWD, delta=1e-6)
    summable = mirrored(cover)
    assert summable is not None
    return cover.blanket_probabilities, summable


# The second cover has negative alpha: telling messages lower the threshold.
COVERS = [
    response_cover(5),
    response_cover(2),
    (np.array([0.9, 0.5]), MirroredCover(telling=0.4, low=0.3, gap=0.5, neutral=1.3)),
]


def bound_of(hidden: tuple[Floats, MirroredCover], *, tail: float) -> CountingBound:
    """The bound for one victim among 400 others."""
    gammas, cover = hidden
    others = cover_count(gammas, CROWD.counts, tail=tail)
    return counting_bound(cover, others, tail=tail)


@pytest.mark.parametrize("hidden", COVERS)
@pytest.mark.parametrize("tail", [1e-12, 1e-6, 1e-3, 1e-2])
def test_dropped_tails_are_added_to_the_bound(
    hidden: tuple[Floats, MirroredCover], tail: float
) -> None:
    whole = bound_of(hidden, tail=1e-90)

    cut = bound_of(hidden, tail=tail)

    for epsilon in EPSILONS:
        assert whole.delta(epsilon) <= cut.delta(epsilon)
        assert cut.delta(epsilon) >= cut.lost


@pytest.mark.parametrize("hidden", COVERS)
def test_weights_and_what_is_lost_add_up_to_at_least_one(
    hidden: tuple[Floats, MirroredCover],
) -> None:
    for tail in (1e-2, 1e-6, 1e-15):
        bound = bound_of(hidden, tail=tail)

        # A weight holds P(m) P(T | m) / T. Sums of 10^4 numbers: 1e-12 covers rounding.
        total = float((bound.weights * bound.walks.steps).sum()) + bound.lost
        assert total >= 1.0 - 1e-12


def test_lost_probability_of_the_count_is_added_to_the_bound() -> None:
    crowd = Population.from_counts({1.0: 100})
    ((blanket,),) = KRandomizedResponse(2).covers([1.0], crowd, delta=1e-6)
    whole = cover_count(blanket.blanket_probabilities, crowd.counts, tail=1e-30)
    cover = mirrored(blanket)
    assert cover is not None

    half = CountDistribution(whole.start, whole.weights / 2.0, 0.5)
    bound = counting_bound(cover, half, tail=1e-30)

    # What is lost could all be the worst case: nobody sends a blanket message.
    alone = CountDistribution(0, np.ones(1), 0.0)
    worst = counting_bound(cover, alone, tail=1e-30)
    assert bound.delta(0.1) >= 0.5 * worst.delta(0.1)


@pytest.mark.parametrize("tail", [1e-2, 1e-4, 1e-8])
def test_what_the_table_of_telling_messages_drops_is_counted_as_lost(
    tail: float,
) -> None:
    # Nothing is lost of the count itself, so that only the table can lose something.
    count = CountDistribution(300, np.ones(200) / 200.0, 0.0)

    bound = counting_bound(COVERS[0][1], count, tail=tail)

    kept = float((bound.weights * bound.walks.steps).sum())
    assert kept < 1.0 - 1e-10
    # Sums of 10^5 numbers: 1e-12 is more than their rounding.
    assert kept + bound.lost >= 1.0 - 1e-12
