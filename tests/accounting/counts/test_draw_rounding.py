"""What devices' coins are off: their chances against 60 digits, and small collections."""

import itertools
import math
from collections.abc import Callable

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.accounting.counts.draw_rounding import coin_error, drift, never_drawn
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.counts.report_truncation import cut_probability
from shuffledp.accounting.items.items_profile import items_profile
from shuffledp.randomizers.items import ItemsRandomizer


def exact_chances(mean: float, last: int) -> list[tuple[mp.mpf, mp.mpf]]:
    """P(N = j) / P(N >= j) and its complement, in decimals, for j < last."""
    m, far = mp.mpf(mean), last + 200 + 30 * math.ceil(math.sqrt(mean))
    tail, found = mp.mpf(1), []
    for j in range(far - 1, -1, -1):
        ratio = m / (j + 1)
        found.append((1 / (1 + ratio * tail), ratio * tail / (1 + ratio * tail)))
        tail = 1 + ratio * tail
    return found[::-1][:last]


@pytest.mark.parametrize("mean", [1e-9, 0.3, 1.0, 17.5, 149.0, 690.0, 3000.5])
def test_coins_are_as_exact_as_they_are_said_to_be(mean: float) -> None:
    last = math.ceil(mean + 9.0 * math.sqrt(mean)) + 12
    stops, goes = ItemsRandomizer(10**4, 1, mean, 1 + last)._stop_and_go()

    worst = mp.mpf(0)
    with mp.workdps(60):
        for j, (stop, go) in enumerate(exact_chances(mean, last)):
            if stop < mp.mpf("6e-309"):
                # Left out, and paid for.
                assert stops[j] < 6e-309
                continue
            tossed = stops[j] if goes[j] > 0.5 else goes[j]
            wanted = stop if goes[j] > 0.5 else go
            for drawn, exact in ((tossed, wanted), (1 - mp.mpf(tossed), 1 - wanted)):
                worst = max(worst, abs(mp.mpf(drawn) / exact - 1))

    assert 0 < worst <= coin_error(mean)
    # The bound is no idle one: roundings that all had one sign would come near it.
    assert worst >= coin_error(mean) / 1e3


def divergence(first: np.ndarray, second: np.ndarray) -> Callable[[float], float]:
    return lambda eps: float(np.maximum(first - math.exp(eps) * second, 0.0).sum())


def worlds(
    blanket_distribution: np.ndarray, chance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of three items from two people; the victim holds item 0, or item 1."""
    size, d = 2 * blanket_distribution.size + 1, 3
    totals = np.convolve(blanket_distribution, blanket_distribution)
    base = np.zeros((size,) * d)
    for counts in itertools.product(range(totals.size), repeat=d):
        total = sum(counts)
        if total < totals.size:
            ways = math.factorial(total)
            for count in counts:
                ways //= math.factorial(count)
            base[counts] = totals[total] * ways / d**total
    moved = [
        (1.0 - chance) * base + chance * np.roll(base, 1, axis=item) for item in (0, 1)
    ]
    return moved[0], moved[1]


@pytest.mark.parametrize("error", [-0.02, 0.02])
@pytest.mark.parametrize("chance", [1.0, 0.6])
def test_bounds_hold_for_coins_that_are_as_wrong_as_they_may_be(
    error: float, chance: float
) -> None:
    # Two people, at most 4 blanket messages each: 8 coins, each off by a fiftieth.
    mean, cap = 1.2, 4
    law, left = [], 1.0
    for stop, _ in exact_chances(mean, cap):
        wrong = float(stop) * (1.0 + error)
        law.append(left * wrong)
        left *= 1.0 - wrong
    exact = divergence(*worlds(np.array([*law, left]), chance))
    # Complements are off by more of themselves where coins are above one half.
    worst = max(
        abs(math.log1p(error)),
        *(
            abs(math.log1p(-float(s) * (1.0 + error)) - math.log1p(-float(s)))
            for s, _ in exact_chances(mean, cap)
        ),
    )

    ideal = items_profile(2.0 * mean / 3.0, chance, 1, 3, 1e-3)
    bounds = ReportBounds(ideal, cut_probability(mean, cap, 2), 2.0 * cap * worst)

    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
        assert bounds.lower(epsilon) <= exact(epsilon) <= bounds.upper(epsilon)


def test_wrong_coins_reveal_more_than_exact_ones_are_certified_for() -> None:
    # Fewer blanket messages than promised: without `drift`, the bound would be false.
    mean, cap = 1.2, 12
    law, left = [], 1.0
    for stop, _ in exact_chances(mean, cap):
        wrong = float(stop) * 1.1
        law.append(left * wrong)
        left *= 1.0 - wrong
    exact = divergence(*worlds(np.array([*law, left]), 1.0))

    ideal = items_profile(2.0 * mean / 3.0, 1.0, 1, 3, 1e-3)

    assert exact(1.0) > ReportBounds(ideal, cut_probability(mean, cap, 2), 0.0).upper(
        1.0
    )


def test_chances_that_overflow_are_paid_for() -> None:
    # Ten billion people, a million coins each, all of them left out.
    assert never_drawn(701.0) >= 1e10 * 2**20 * 6e-309
    # e^700 is a number, and so are all sums of terms below it.
    assert math.isfinite(math.exp(700.0))
    assert never_drawn(700.0) == 0.0
    assert cut_probability(3000.0, 10**5, 1) >= never_drawn(3000.0)


def test_everybodys_coins_count() -> None:
    assert drift(1.0, 0, 10**9) == 0.0
    assert drift(1.0, 7, 1000) == pytest.approx(7000 * 1.4e-15, rel=1e-6)
    assert drift(1.0, 7, 1000) > 7000 * 1.4e-15
