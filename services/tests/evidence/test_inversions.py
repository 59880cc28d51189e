"""The law of inversions against all orders, one by one, and against drawn ones."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from shuffledp.errors import InvalidInputError
from shuffledp_services.evidence import inversions as module
from shuffledp_services.evidence.e_values import calibrated
from shuffledp_services.evidence.inversions import inversions, two_sided_p_value


def law(labels: tuple[int, ...]) -> Counter[int]:
    """Counts the inversions of every order, by looking at every pair."""
    orders = set(itertools.permutations(labels))
    return Counter(sum(a > b for a, b in itertools.combinations(o, 2)) for o in orders)


@pytest.mark.parametrize(
    "labels", [(0, 1), (0, 1, 2, 3, 4, 5), (0, 0, 0, 1, 1), (0, 0, 1, 1, 2, 2)]
)
def test_few_things_have_the_law_of_all_their_orders(labels: tuple[int, ...]) -> None:
    counted = law(labels)
    tie_sizes = [n for n in Counter(labels).values() if n > 1]
    whole, most = counted.total(), max(counted)

    for count in range(most + 1):
        low = min(count, most - count)
        exact = sum(n for i, n in counted.items() if i <= low) / whole
        found = two_sided_p_value(count, [len(labels)], tie_sizes=tie_sizes)
        assert found == pytest.approx(min(2.0 * exact, 1.0) if 2 * low < most else 1.0)


def test_groups_that_are_ordered_apart_add_up() -> None:
    three, two = law((0, 1, 2)), law((0, 1))
    both = Counter[int]()
    for (a, n), (b, m) in itertools.product(three.items(), two.items()):
        both[a + b] += n * m

    found = two_sided_p_value(1, [3, 2])

    assert found == pytest.approx(2 * (both[0] + both[1]) / 12)


@pytest.mark.parametrize(
    ("sizes", "tie_sizes"), [([40], []), ([2] * 60, []), ([30], [12, 18])]
)
def test_bounds_for_many_are_above_the_exact_and_not_far(
    sizes: list[int], tie_sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    max_inversions = sum(n * (n - 1) // 2 for n in sizes) - sum(
        n * (n - 1) // 2 for n in tie_sizes
    )
    counts = [
        max_inversions // 8,
        max_inversions // 4,
        max_inversions // 3,
        2 * max_inversions // 5,
    ]
    exact = [two_sided_p_value(count, sizes, tie_sizes=tie_sizes) for count in counts]

    monkeypatch.setattr(module, "_MAX_ADDITIONS", 0)
    bounds = [two_sided_p_value(count, sizes, tie_sizes=tie_sizes) for count in counts]

    for one, bound in zip(exact, bounds, strict=True):
        assert one <= bound <= min(1.0, 40.0 * one)


def test_two_groups_are_compared_as_by_mann_and_whitney() -> None:
    rng = np.random.default_rng(3)
    here, there = rng.normal(0.8, size=9), rng.normal(size=7)

    above = int(np.sum(here[:, None] > there[None, :]))

    expected = mannwhitneyu(here, there, method="exact").pvalue
    assert two_sided_p_value(above, [16], tie_sizes=[9, 7]) == pytest.approx(expected)


def test_inversions_are_pairs_in_different_order() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.permutation(30), rng.permutation(30)

    pairs = itertools.combinations(range(30), 2)
    expected = sum((first[a] < first[b]) != (second[a] < second[b]) for a, b in pairs)

    assert inversions(first, second) == expected
    assert inversions(np.array([5]), np.array([1])) == 0


def test_an_order_of_many_things_that_is_kept_is_impossible_and_not_certain() -> None:
    assert 0.0 < two_sided_p_value(0, [3000]) <= 1e-299
    assert two_sided_p_value(3000 * 2999 // 4, [3000]) == pytest.approx(1.0, abs=1e-3)
    assert two_sided_p_value(0, [20]) == pytest.approx(2.0 / math.factorial(20))


def test_more_inversions_than_pairs_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="0 to 6"):
        two_sided_p_value(7, [4])
    with pytest.raises(InvalidInputError, match="0 to 3"):
        two_sided_p_value(-1, [3])


@pytest.mark.parametrize(
    "labels", [(0, 1, 2, 3), (0, 1, 2, 3, 4, 5), (0, 0, 0, 1, 1, 1)]
)
def test_bets_on_orders_win_nothing_on_average(labels: tuple[int, ...]) -> None:
    counted = law(labels)
    tie_sizes = [n for n in Counter(labels).values() if n > 1]

    mean = (
        sum(
            n * calibrated(two_sided_p_value(count, [len(labels)], tie_sizes=tie_sizes))
            for count, n in counted.items()
        )
        / counted.total()
    )

    assert 0.5 < mean <= 1.0
