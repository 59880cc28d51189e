"""The blanket bound as a sum: nothing that is dropped may be forgotten."""

import numpy as np
import pytest

from shuffledp.accounting.counting import CountingBound, counting_bound
from shuffledp.accounting.cover_count import CountDistribution, cover_count
from shuffledp.cover import Cover
from shuffledp.randomizers.kary_response import KRandomizedResponse

LEVELS = np.array([0.5, 2.0])
COUNTS = np.array([200, 200])
EPSILONS = [0.05, 0.3, 0.8]

# The second cover has negative alpha: telling messages lower the threshold.
COVERS = [
    KRandomizedResponse(5).cover(2.0, LEVELS),
    KRandomizedResponse(2).cover(2.0, LEVELS),
    Cover(np.array([0.9, 0.5]), telling=0.4, low=0.3, gap=0.5, neutral=1.3),
]


def bound_of(cover: Cover, *, tail: float) -> CountingBound:
    """The bound for one victim among 400 others."""
    others = cover_count(cover.blanket_probabilities, COUNTS, tail=tail)
    return counting_bound(cover, others, tail=tail)


@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.parametrize("tail", [1e-12, 1e-6, 1e-3, 1e-2])
def test_dropped_tails_are_added_to_the_bound(cover: Cover, tail: float) -> None:
    whole = bound_of(cover, tail=1e-90)

    cut = bound_of(cover, tail=tail)

    for epsilon in EPSILONS:
        assert whole.delta(epsilon) <= cut.delta(epsilon)
        assert cut.delta(epsilon) >= cut.lost


@pytest.mark.parametrize("cover", COVERS)
def test_weights_and_what_is_lost_add_up_to_at_least_one(cover: Cover) -> None:
    for tail in (1e-2, 1e-6, 1e-15):
        bound = bound_of(cover, tail=tail)

        # A weight holds P(m) P(T | m) / T. Sums of 10^4 numbers: 1e-12 covers rounding.
        total = float((bound.weights * bound.steps).sum()) + bound.lost
        assert total >= 1.0 - 1e-12


def test_lost_probability_of_the_count_is_added_to_the_bound() -> None:
    cover = KRandomizedResponse(2).cover(1.0, np.array([1.0]))
    whole = cover_count(cover.blanket_probabilities, np.array([100]), tail=1e-30)

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

    bound = counting_bound(COVERS[0], count, tail=tail)

    kept = float((bound.weights * bound.steps).sum())
    assert kept < 1.0 - 1e-10
    # Sums of 10^5 numbers: 1e-12 is more than their rounding.
    assert kept + bound.lost >= 1.0 - 1e-12
