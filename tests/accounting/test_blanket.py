import itertools
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.multiprecision import BlanketSum

from shuffledp import Frequency, Population, account
from shuffledp.accounting import blanket
from shuffledp.accounting.blanket import TellingCounts, blanket_bound, telling_counts
from shuffledp.accounting.cover_count import CountDistribution, cover_count
from shuffledp.cover import Cover
from shuffledp.randomizers.kary_response import KRandomizedResponse

POPULATIONS = [
    (2, {1.0: 60}, 1.0),
    (2, {0.3: 12, 1.0: 9, 2.5: 9}, 2.5),
    (2, {0.3: 12, 1.0: 9, 2.5: 9}, 0.3),
    (3, {0.3: 10, 1.0: 10, 2.5: 10}, 1.0),
    (3, {0.5: 20, 4.0: 10}, 4.0),
    (17, {0.5: 10, 1.0: 10, 2.0: 10}, 2.0),
    (17, {1.0: 40}, 1.0),
]


@pytest.mark.parametrize(("num_categories", "counts", "victim"), POPULATIONS)
def test_delta_is_just_above_the_double_sum_in_fifty_digits(
    num_categories: int, counts: dict[float, int], victim: float
) -> None:
    oracle = BlanketSum(counts, victim, num_categories)
    people, position = Population.from_counts(counts), sorted(counts).index(victim)

    deltas = []
    for share in (0.0, 0.1, 0.3, 0.6, 0.85, 0.97):
        epsilon = share * victim
        certified = account(Frequency(num_categories), people, epsilon=epsilon)
        deltas.append((oracle.delta(epsilon), certified.levels[position].delta_central))

    for exact, upper in deltas:
        # Six printed digits cost up to 1e-5; nothing is coarsened at this size.
        assert exact <= upper <= exact * (1 + mp.mpf("1e-4"))


def test_delta_far_out_in_the_tail_is_just_above_the_double_sum() -> None:
    oracle = BlanketSum({0.3: 150}, 0.3, 2)
    people = Population.from_counts({0.3: 150})
    epsilons = [0.27, 0.29, 0.295, 0.299, 0.2999]

    deltas = [
        account(Frequency(2), people, epsilon=epsilon).levels[0].delta_central
        for epsilon in epsilons
    ]

    assert min(deltas) < 1e-40 < max(deltas) < 1e-20
    for epsilon, upper in zip(epsilons, deltas, strict=True):
        # Six printed digits cost up to 1e-5.
        assert oracle.delta(epsilon) <= upper <= oracle.delta(epsilon) * (1 + 1e-4)


LEVELS = np.array([0.5, 2.0])
COUNTS = np.array([200, 200])


def bound_at(
    epsilon: float, *, cover: Cover | None = None, stride: int = 1, tail: float = 1e-90
) -> float:
    """The bound for one victim at level 2.0 among 400 others."""
    if cover is None:
        cover = KRandomizedResponse(5).cover(2.0, LEVELS)
    others = cover_count(cover.blanket_probabilities, COUNTS, stride=1, tail=tail)
    others = others.coarsened(stride)
    table = None
    if cover.telling < 1.0:
        table = telling_counts([others], cover.telling, tail=tail)
    bound = blanket_bound(cover, others, table, epsilon_guess=epsilon, tail=tail)
    return bound.delta(epsilon)


# The second cover has negative alpha, where the longest walk has the smallest drift.
COVERS = [
    KRandomizedResponse(5).cover(2.0, LEVELS),
    Cover(np.array([0.9, 0.5]), telling=0.4, low=0.3, gap=0.5, neutral=1.3),
]


@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.5])
def test_wide_blocks_of_telling_messages_only_raise_the_bound(
    monkeypatch: pytest.MonkeyPatch, cover: Cover, epsilon: float
) -> None:
    fine = bound_at(epsilon, cover=cover)

    deltas = [fine]
    for block in (0.05, 0.1, 0.3):
        monkeypatch.setattr(blanket, "_BLOCK", block)
        deltas.append(bound_at(epsilon, cover=cover))

    assert deltas == sorted(deltas)
    assert deltas[1] > fine
    assert deltas[-1] < 1.0


@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("variance", [0.1, 10.0])
def test_coarse_split_of_the_blanket_count_only_raises_the_bound(
    monkeypatch: pytest.MonkeyPatch, cover: Cover, epsilon: float, variance: float
) -> None:
    monkeypatch.setattr(blanket, "_SPLIT_VARIANCE", 1e-12)
    fine = bound_at(epsilon, cover=cover)

    monkeypatch.setattr(blanket, "_SPLIT_VARIANCE", variance)
    coarse = bound_at(epsilon, cover=cover)

    assert fine < coarse < 1.0


@given(
    cells=st.integers(1, 30),
    size=st.integers(2, 200),
    start=st.integers(0, 10**9),
    stride=st.integers(1, 10**5),
)
def test_split_keeps_the_total_and_the_mean(
    cells: int, size: int, start: int, stride: int
) -> None:
    grid = start + stride * np.arange(size, dtype=np.float64)

    nodes, split = blanket._mean_preserving_split(grid, (grid[-1] - grid[0]) / cells)

    assert nodes.size <= max(size, cells + 2)
    assert split.min() >= -1e-9
    # Nodes as large as 10^9 with a spacing as small as 1 cost nine of sixteen digits.
    np.testing.assert_allclose(split.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(split @ nodes, grid, rtol=1e-15, atol=1e-6 * stride)


@pytest.mark.parametrize("stride", [2, 7, 40])
def test_rounding_the_blanket_count_downward_only_raises_the_bound(
    stride: int,
) -> None:
    epsilons = [0.05, 0.3, 0.8]

    fine = [bound_at(epsilon) for epsilon in epsilons]
    coarse = [bound_at(epsilon, stride=stride) for epsilon in epsilons]

    assert all(a < b for a, b in zip(fine, coarse, strict=True))


@pytest.mark.parametrize("tail", [1e-12, 1e-6, 1e-3, 1e-2])
def test_dropped_tails_are_added_to_the_bound(
    monkeypatch: pytest.MonkeyPatch, tail: float
) -> None:
    epsilons = [0.05, 0.3, 0.8]
    # Where the split falls depends on the tails: switched off here.
    monkeypatch.setattr(blanket, "_SPLIT_VARIANCE", 1e-12)

    exact = [bound_at(epsilon) for epsilon in epsilons]
    cut = [bound_at(epsilon, tail=tail) for epsilon in epsilons]

    assert all(a <= b for a, b in zip(exact, cut, strict=True))
    # At least what the table alone drops, at either end.
    assert all(b >= 2.0 * tail for b in cut)


def test_lost_probability_of_the_count_is_added_to_the_bound() -> None:
    cover = KRandomizedResponse(2).cover(1.0, np.array([1.0]))
    whole = cover_count(
        cover.blanket_probabilities, np.array([100]), stride=1, tail=1e-30
    )

    half = CountDistribution(whole.start, 1, whole.weights / 2.0, 0.5)
    bound = blanket_bound(cover, half, None, epsilon_guess=0.1, tail=1e-30)

    # What is lost could all be the worst case: nobody sends a blanket message.
    alone = CountDistribution(0, 1, np.ones(1), 0.0)
    worst = blanket_bound(cover, alone, None, epsilon_guess=0.1, tail=1e-30)
    assert bound.delta(0.1) >= 0.5 * worst.delta(0.1)


@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.parametrize("steps", [10.0, 25.0, 40.0])
def test_block_is_above_every_walk_in_it(cover: Cover, steps: float) -> None:
    count, one = CountDistribution(99, 1, np.ones(1), 0.0), np.ones((1, 1))
    walk = TellingCounts(99, 1, np.array([steps]), np.array([steps]), one, 0.0)

    block = TellingCounts(99, 1, np.array([10.0]), np.array([40.0]), one, 0.0)

    fine, coarse = (
        blanket_bound(cover, count, table, epsilon_guess=0.02, tail=1e-30)
        for table in (walk, block)
    )
    assert 0.0 < fine.delta(0.02) < coarse.delta(0.02)
    assert coarse.drift[0] <= fine.drift[0]


def test_lost_probabilities_of_count_and_table_add_up() -> None:
    cover = KRandomizedResponse(5).cover(2.0, LEVELS)
    others = cover_count(cover.blanket_probabilities, COUNTS, stride=1, tail=1e-6)
    table = telling_counts([others], cover.telling, tail=1e-4)

    bound = blanket_bound(cover, others, table, epsilon_guess=0.3, tail=1e-6)

    assert bound.lost >= others.lost + table.lost
    # The largest loss of a lost event is r gap, times its probability.
    assert bound.delta(1.9) >= bound.lost * cover.telling * cover.gap


def test_telling_counts_contain_all_but_the_lost_probability() -> None:
    count = CountDistribution(300, 1, np.ones(200) / 200.0, 0.0)

    for tail in (1e-2, 1e-6, 1e-15):
        table = telling_counts([count], 0.3, tail=tail)

        missing = 1.0 - table.weights.sum(axis=1)
        # Sums of some hundred weights: 1e-12 is more than their rounding.
        assert np.all(missing <= table.lost + 1e-12)
        assert table.lost >= 2.0 * tail


@given(
    losses=st.tuples(*[st.integers(-20, 20)] * 3),
    parts=st.tuples(*[st.integers(1, 9)] * 3),
)
def test_expected_positive_mean_loss_never_increases_with_the_count(
    losses: tuple[int, int, int], parts: tuple[int, int, int]
) -> None:
    chances = [Fraction(part, sum(parts)) for part in parts]

    means = []
    for m in range(1, 6):
        mean = Fraction(0)
        for drawn in itertools.product(range(3), repeat=m):
            weight = Fraction(1)
            for index in drawn:
                weight *= chances[index]
            mean += weight * max(sum(losses[index] for index in drawn), 0) / m
        means.append(mean)

    assert all(a >= b for a, b in itertools.pairwise(means))
