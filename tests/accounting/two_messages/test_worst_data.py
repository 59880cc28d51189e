"""The worst data of a crowd: found, and proven to be the worst."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles import multiprecision
from oracles.bits import Crowd, random_crowd

from shuffledp import Population
from shuffledp.accounting.lower_profiles import lower_profiles
from shuffledp.accounting.two_messages import branch_and_bound
from shuffledp.accounting.two_messages.binary_population import wider
from shuffledp.accounting.two_messages.branch_and_bound import (
    WorstData,
    likely_worst,
    search,
)
from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.types import Floats


def searched(crowd: Crowd, epsilon: float, *, effort: int = 3_000) -> WorstData:
    return search(
        TiltedPopulation(wider(crowd.bits, crowd.counts), epsilon), effort=effort
    )


def evaluate_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were too many data to evaluate all of them."""
    for limit in ("_PRODUCTS", "_PRODUCTS_COMPOSED"):
        monkeypatch.setattr(branch_and_bound, limit, 0)


def symmetric(levels: list[float], counts: list[int], victim: int) -> Crowd:
    flips = 1.0 / (np.exp(levels) + 1.0)
    others = np.array(counts)
    others[victim] -= 1
    return Crowd(flips, 1.0 - flips, others, 1.0 - flips[victim], flips[victim])


@pytest.mark.parametrize("cutting", [True, False])
@pytest.mark.parametrize("seed", range(16))
def test_worst_data_of_small_crowds_lie_between_the_ends(
    seed: int, monkeypatch: pytest.MonkeyPatch, *, cutting: bool
) -> None:
    if cutting:
        evaluate_no_data(monkeypatch)
    rng = np.random.default_rng(2_000 + seed)
    crowd = random_crowd(rng)
    budget = math.log(crowd.first / crowd.second)
    epsilon = float(rng.uniform(0.0, 0.95)) * budget

    found = searched(crowd, epsilon)

    worst = max(crowd.divergence(data, epsilon) for data in crowd.all_data())
    assert math.exp(found.lower) <= worst * (1.0 + 1e-11) + 1e-15
    assert worst <= math.exp(found.upper) * (1.0 + 1e-11) + 1e-15
    seen = crowd.divergence([int(n) for n in found.worst], epsilon)
    assert math.exp(found.lower) <= seen * (1.0 + 1e-11) + 1e-15
    # The search ended because it was good enough, and not for lack of effort.
    assert found.upper <= found.lower + 1.1e-3 or worst < 1e-12


@pytest.mark.parametrize(
    ("num_levels", "most"), [(2, 1e-3), (3, 3e-3), (5, 3e-3), (6, 2e-2)]
)
def test_composed_searches_end_sooner_the_more_levels_there_are(
    monkeypatch: pytest.MonkeyPatch, num_levels: int, most: float
) -> None:
    evaluate_no_data(monkeypatch)
    levels = np.linspace(0.4, 2.5, num_levels).tolist()
    crowd = symmetric(levels, [2] * num_levels, num_levels - 1)
    tilted = TiltedPopulation(wider(crowd.bits, crowd.counts), 1.2)

    found = search(tilted, is_quick=True)

    worst = max(crowd.divergence(data, 1.2) for data in crowd.all_data())
    assert worst <= math.exp(found.upper) * (1.0 + 1e-11)
    assert found.enough == most
    assert found.upper <= found.lower + most
    # Alone, every search aims for the same.
    assert search(tilted).enough == 1e-3


@pytest.mark.parametrize("effort", [1, 5, 20])
def test_it_may_end_at_any_time(effort: int) -> None:
    crowd = symmetric([0.5, 1.0, 2.0], [250, 500, 250], 1)
    bounds = [searched(crowd, 0.13, effort=e).upper for e in (effort, 3_000)]
    found = searched(crowd, 0.13)

    assert found.lower <= bounds[1] <= bounds[0] < math.inf


def test_composed_searches_of_tiny_deltas_end_at_a_part_of_the_logarithm() -> None:
    crowd = symmetric([0.05, 0.3], [5_000, 5_000], 1)
    tilted = TiltedPopulation(wider(crowd.bits, crowd.counts), 0.15)

    quick, alone = search(tilted, is_quick=True), search(tilted)

    assert quick.enough == pytest.approx(-2e-4 * likely_worst(tilted).lower)
    assert quick.enough > 1e-2
    # Both hold, and lie above what either has seen.
    assert max(quick.lower, alone.lower) <= min(quick.upper, alone.upper)
    # Half a thousandth of the logarithm is a quarter of that of epsilon.
    assert quick.upper <= (1.0 - 5e-4) * alone.upper
    assert quick.boxes is not None
    assert alone.boxes is not None
    assert quick.boxes.shape[1] < alone.boxes.shape[1] / 4


def test_many_bands_are_not_cut_far_beyond_the_effort(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    evaluated = branch_and_bound._evaluated

    def counted(
        tilted: TiltedPopulation, low: Floats, high: Floats
    ) -> branch_and_bound._Boxes:
        sizes.append(len(low))
        return evaluated(tilted, low, high)

    monkeypatch.setattr(branch_and_bound, "_evaluated", counted)
    num_bands = 100
    levels = np.linspace(0.05, 1.0, num_bands).tolist()
    crowd = symmetric(levels, [30] * num_bands, num_bands - 1)

    found = searched(crowd, 0.4, effort=110)

    # One box has at most a part for every band, and one more.
    assert sum(sizes) <= 110 + num_bands + 1
    assert not found.is_settled
    assert found.lower <= found.upper


def test_who_agrees_is_not_always_worst() -> None:
    crowd = symmetric([0.5, 1.0, 2.0], [6, 6, 6], 1)
    found = searched(crowd, 0.726358)

    assert found.worst.tolist() in ([6, 5, 5], [0, 0, 1])
    assert math.exp(found.lower) < 1e-3 * (1.0 + 1e-5)
    assert math.exp(found.upper) > 1e-3 * (1.0 - 1e-5)
    alike = max(crowd.divergence(data, 0.726358) for data in [(0, 0, 0), (6, 5, 6)])
    assert alike < 0.999e-3


# (levels, people, victim, delta, epsilon): found by evaluating all data, to six digits.
WORST = [
    ([1.0], [20], 0, 1e-3, 0.687180),
    ([2.0], [20], 0, 1e-3, 1.987258),
    ([4.0], [50], 0, 1e-3, 3.997519),
    ([2.53], [11], 0, 1e-2, 2.506490),
    ([1.0, 3.0], [8, 8], 0, 1e-3, 0.981755),
    ([1.0, 3.0], [8, 8], 1, 1e-3, 2.981755),
    ([0.5, 1.0, 2.0], [6, 6, 6], 0, 1e-3, 0.340413),
    ([0.5, 1.0, 2.0], [6, 6, 6], 2, 1e-3, 1.723991),
]
# The same, of people who all agree: no certificate may be below.
AGREEING = [
    ([1.0], [1_000], 0, 1e-6, 0.126614),
    ([4.0], [1_000], 0, 1e-6, 1.691006),
    ([2.0], [10_000], 0, 1e-6, 0.087016),
    ([0.5, 1.0, 2.0], [2_500, 5_000, 2_500], 0, 1e-6, 0.018627),
    ([0.5, 1.0, 2.0], [2_500, 5_000, 2_500], 1, 1e-6, 0.037019),
    ([0.5, 1.0, 2.0], [2_500, 5_000, 2_500], 2, 1e-6, 0.063394),
    ([1.0, 4.0], [5_000, 5_000], 0, 1e-6, 0.049763),
    ([1.0, 4.0], [5_000, 5_000], 1, 1e-6, 0.109704),
    ([0.5, 1.0, 2.0], [250, 500, 250], 0, 1e-6, 0.066303),
    ([0.5, 1.0, 2.0], [250, 500, 250], 1, 1e-6, 0.131261),
    ([0.5, 1.0, 2.0], [250, 500, 250], 2, 1e-6, 0.224769),
]


@pytest.mark.parametrize(("levels", "people", "victim", "delta", "epsilon"), WORST)
def test_small_crowds_are_certified_exactly(
    levels: list[float], people: list[int], victim: int, delta: float, epsilon: float
) -> None:
    crowd = symmetric(levels, people, victim)

    # Six digits of epsilon stand for an interval, and the divergence falls.
    assert math.exp(searched(crowd, epsilon - 1e-6).lower) > delta
    assert math.exp(searched(crowd, epsilon + 1e-6).upper) < delta


@pytest.mark.parametrize(("levels", "people", "victim", "delta", "epsilon"), AGREEING)
def test_large_crowds_are_certified_just_above_those_who_agree(
    levels: list[float], people: list[int], victim: int, delta: float, epsilon: float
) -> None:
    crowd = symmetric(levels, people, victim)

    assert math.exp(searched(crowd, epsilon - 1e-6).upper) > delta
    assert math.exp(searched(crowd, epsilon * 1.001).upper) < delta


@pytest.mark.parametrize("epsilon", np.linspace(1e-5, 1.5e-4, 12).tolist())
def test_ends_of_a_billion_fair_coins_do_not_cross(epsilon: float) -> None:
    device, people = (
        KRandomizedResponse(2),
        Population.from_counts({0.0: 10**9, 2.0: 1}),
    )

    (upper,) = upper_profiles(device, people, [1], delta=1e-12)
    (lower,) = lower_profiles(device, people, [1])

    assert lower(epsilon) <= upper.delta(epsilon)


@pytest.mark.parametrize("part", [0.9, 1.0 - 1e-6, 1.0 - 1e-12, 1.0 - 1e-15])
def test_attacks_show_nothing_near_the_local_budget_that_is_not_there(
    part: float,
) -> None:
    people = Population.from_counts({1.0: 3})
    epsilon = part * 1.0

    (lower,) = lower_profiles(KRandomizedResponse(2), people, [0])

    # Both others and the victim send a 1, or none of them does.
    flip = 1 / (1 + mp.e)
    here, there = 1 - flip, flip
    ratio = mp.exp(mp.mpf(epsilon))
    exact = max(
        sum(
            max(here * a - ratio * there * a + there * b - ratio * here * b, 0)
            for a, b in zip([0, *law], [*law, 0], strict=True)
        )
        for law in (
            multiprecision.bernoulli_sum([first, second])
            for first in (flip, 1 - flip)
            for second in (flip, 1 - flip)
        )
    )
    assert lower(epsilon) <= exact


def test_unlike_others_hide_ones_and_zeros_differently() -> None:
    # At so small a budget either bit is flipped as often as not, and at 3 it is not.
    device = UnaryEncoding(3, "optimized")
    people = Population.from_counts({1e-17: 40, 3.0: 3})

    ((first, second),) = device.covers([1e-17], people, delta=1e-6)

    assert first.bits is not None
    assert second.bits is not None
    assert np.array_equal(first.bits.least, second.bits.least[::-1])


@pytest.mark.parametrize("epsilon", [0.5, 0.7, 1.5, 2.3])
def test_a_pair_that_her_own_coin_hides_does_not_spoil_the_other(
    epsilon: float,
) -> None:
    # A 0 becomes a 1 seldom, a 1 becomes a 0 half of the time: of a 0, no more than 0.645
    # can be told, and of a 1 no more than 2.355.
    device, people = UnaryEncoding(3, "optimized"), Population.from_counts({3.0: 12})
    (upper,) = upper_profiles(device, people, [0], delta=1e-6)

    found = upper.bounds["two messages"].delta(epsilon)

    stray = float(device.promised(np.array([3.0])).stray[0])
    others = np.array([11])
    low, high = np.array([stray]), np.array([0.5])
    one = Crowd(low, high, others, 0.5, stray)
    zero = Crowd(1.0 - high, 1.0 - low, others, 1.0 - stray, 0.5)
    worst = max(
        crowd.divergence(data, epsilon)
        for crowd in (one, zero)
        for data in crowd.all_data()
    )
    assert worst <= found * (1.0 + 1e-11)
    assert found <= worst * 1.01


@pytest.mark.parametrize("seed", range(8))
def test_a_search_from_another_ones_boxes_covers_all_data(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate_no_data(monkeypatch)
    rng = np.random.default_rng(3_000 + seed)
    crowd = random_crowd(rng)
    budget = math.log(crowd.first / crowd.second)
    others = rng.uniform(0.0, 0.95, 3) * budget

    result = searched(crowd, float(others[0]))
    for epsilon in others[1:].tolist():
        tilted = TiltedPopulation(wider(crowd.bits, crowd.counts), epsilon)
        result = search(tilted, start=result.boxes)

    assert result.boxes is not None
    low, high = result.boxes
    for data in crowd.all_data():
        assert np.any(np.all((low <= data) & (data <= high), axis=1))
    worst = max(crowd.divergence(data, epsilon) for data in crowd.all_data())
    assert worst <= math.exp(result.upper) * (1.0 + 1e-11) + 1e-15
    assert math.exp(result.lower) <= worst * (1.0 + 1e-11) + 1e-15


def test_many_searches_of_one_bound_stay_above_the_worst_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluate_no_data(monkeypatch)
    people = Population.from_counts({0.5: 3, 1.0: 3, 2.0: 3})
    (profile,) = upper_profiles(UnaryEncoding(3), people, [2], delta=1e-6)
    bound = profile.bounds["two messages"]
    # Wide intervals first, so that later searches start from boxes of near-by ones.
    epsilons = np.linspace(0.0, 0.9, 40)
    crowd = symmetric([0.25, 0.5, 1.0], [3, 3, 3], 2)

    bounds = [bound.delta(epsilon) for epsilon in epsilons.tolist()]

    for epsilon, delta in zip(epsilons.tolist(), bounds, strict=True):
        worst = max(crowd.divergence(data, epsilon) for data in crowd.all_data())
        assert worst <= delta * (1.0 + 1e-9) + 1e-15
        assert profile.delta(epsilon) <= delta
