"""Replaced sets, against enumerations of the protocol and another library's composition."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from shuffledp.accounting.counts.estimated_delta import estimated_delta
from shuffledp.accounting.counts.report_truncation import cut_probability
from shuffledp.accounting.items.items_profile import items_profile
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


def enumerated(
    first: Sequence[int],
    second: Sequence[int],
    *,
    num_items: int,
    totals: Floats,
    send_probability: float,
    other: Sequence[int] = (),
) -> Callable[[float], float]:
    """Returns the divergence of all counts, given the law of the blankets' number."""
    last = totals.size + 4
    shape = (last,) * num_items
    base = np.zeros(shape)
    log_d = math.log(num_items)
    for counts in itertools.product(range(totals.size), repeat=num_items):
        total = sum(counts)
        if total < totals.size:
            log = math.lgamma(total + 1) - total * log_d
            log -= sum(math.lgamma(c + 1) for c in counts)
            base[counts] = totals[total] * math.exp(log)

    def with_set(law: Floats, items: Sequence[int]) -> Floats:
        for item in items:
            law = (1.0 - send_probability) * law + send_probability * np.roll(
                law, 1, axis=item
            )
        return law

    base = with_set(base, other)
    here, there = with_set(base, first), with_set(base, second)
    return lambda epsilon: float(np.maximum(here - math.exp(epsilon) * there, 0).sum())


SETS = [
    pytest.param(3, [0], [1], id="one item"),
    pytest.param(4, [0, 1], [2, 3], id="disjoint"),
    pytest.param(4, [0, 1], [1, 3], id="overlapping"),
    pytest.param(3, [0, 1], [1, 2], id="more than half of all items"),
    pytest.param(4, [0, 1], [2], id="fewer items"),
    pytest.param(3, [0, 1], [], id="no items"),
    pytest.param(3, [2], [0, 1], id="more items"),
    pytest.param(3, [0, 1, 2], [1], id="all items"),
]


@pytest.mark.few_cases(5)
@pytest.mark.parametrize(("num_items", "first", "second"), SETS)
@pytest.mark.parametrize("send_probability", [1.0, 0.6])
def test_bounds_enclose_every_replacement(
    num_items: int, first: list[int], second: list[int], send_probability: float
) -> None:
    # Two people with m = 1.2; beyond 20 blanket messages there is less than 1e-11.
    totals = stats.poisson.pmf(np.arange(21), 2.4)
    size = max(len(first), len(second))
    profile = items_profile(2.4 / num_items, send_probability, size, num_items, 1e-3)

    exact = enumerated(
        first,
        second,
        num_items=num_items,
        totals=totals,
        send_probability=send_probability,
        other=[0],
    )
    alone = enumerated(
        first,
        second,
        num_items=num_items,
        totals=totals,
        send_probability=send_probability,
    )

    for epsilon in (0.0, 0.5, 1.0, 2.0):
        # Others' items only hide more.
        assert exact(epsilon) <= alone(epsilon) + 1e-12
        assert alone(epsilon) <= profile.upper(epsilon)
        if not set(first) & set(second) and len(first) == len(second):
            # What the enumeration left out, on either side.
            left_out = (1.0 + math.exp(epsilon)) * 1e-11
            assert profile.lower(epsilon) <= alone(epsilon) + left_out
            # Chords over a profile of few steps cost some percent at most.
            assert profile.upper(epsilon) <= 1.05 * alone(epsilon)


def test_reports_of_limited_size_are_paid_for() -> None:
    # Each of two people draws min(Poisson(1.2), 3) blanket messages.
    one = stats.poisson.pmf(np.arange(4), 1.2)
    one[3] += stats.poisson.sf(3, 1.2)
    totals = np.convolve(one, one)
    profile = items_profile(2.4 / 4, 1.0, 2, 4, 1e-3)
    cut = cut_probability(1.2, 3, 2)

    exact = enumerated([0, 1], [2, 3], num_items=4, totals=totals, send_probability=1.0)

    assert stats.poisson.sf(3, 1.2) * 2 <= cut <= stats.poisson.sf(3, 1.2) * 2 * 1.1
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        paid = (1.0 + math.exp(epsilon)) * cut
        assert profile.lower(epsilon) - paid <= exact(epsilon)
        assert exact(epsilon) <= profile.upper(epsilon) + paid


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mean", [3.0, 14.0])
@pytest.mark.parametrize("send_probability", [1.0, 0.4])
def test_composition_agrees_with_another_library(
    mean: float, send_probability: float
) -> None:
    pld = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="Needs the extra dev."
    )
    last = int(mean + 11.0 * math.sqrt(mean) + 25.0)
    law = stats.poisson.pmf(np.arange(last), mean)
    moved = (1.0 - send_probability) * law + send_probability * np.append(0.0, law[:-1])
    here, there = np.outer(moved, law), np.outer(law, moved)
    with np.errstate(divide="ignore"):
        logs = [
            dict(enumerate(np.log(table).ravel().tolist())) for table in (there, here)
        ]
    profile = items_profile(mean, send_probability, 4, 128, 1e-6)

    above, below = (
        pld.from_two_probability_mass_functions(
            *logs,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=2e-4,
            symmetric=False,
        ).self_compose(4)
        for pessimistic in (True, False)
    )

    for epsilon in (0.5, 1.5, 3.0):
        high, low = (float(d.get_delta_for_epsilon(epsilon)) for d in (above, below))
        # That library drops tails of 1e-12 or so.
        assert low - 1e-10 <= profile.upper(epsilon)
        assert profile.lower(epsilon) <= high + 1e-10
        assert profile.upper(epsilon) <= 1.03 * high + 1e-10
        assert profile.lower(epsilon) >= 0.95 * low - 1e-10


@pytest.mark.few_cases(8)
@pytest.mark.parametrize("times", [1, 2, 8, 64])
@pytest.mark.parametrize("mean", [20.0, 500.0, 1e5])
@pytest.mark.parametrize("send_probability", [1.0, 0.3])
def test_bounds_and_estimate_lie_together(
    times: int, mean: float, send_probability: float
) -> None:
    deviation = send_probability * math.sqrt(2.0 * times / mean)
    epsilon = 3.0 * deviation
    profile = items_profile(mean, send_probability, times, 1000, 1e-5)

    lower, upper = profile.lower(epsilon), profile.upper(epsilon)
    about = estimated_delta(mean, send_probability, times, epsilon)

    # In epsilon, a tenth of that. A small part is rounded scores; the rest is chords.
    assert 0.97 * upper <= lower <= upper
    assert 0.99 * lower <= about <= 1.01 * upper


def test_several_collections_are_as_many_items() -> None:
    # Disjoint sets of 2, replaced by others in each of 3 collections.
    together = items_profile(14.0, 0.4, 2, 128, 1e-6, times=3)
    apart = items_profile(14.0, 0.4, 6, 128, 1e-6)
    once = items_profile(14.0, 0.4, 2, 128, 1e-6)

    for epsilon in (0.5, 1.5):
        assert together.upper(epsilon) == apart.upper(epsilon)
        assert together.lower(epsilon) == apart.lower(epsilon) > once.upper(epsilon)


def test_replacing_all_items_shows_nothing_of_full_sets() -> None:
    profile = items_profile(10.0, 1.0, 4, 4, 1e-6)

    # Sets may have fewer items, for which the certified bound holds.
    assert profile.lower(0.1) == 0.0
    assert profile.upper(0.1) > 0.0


@pytest.mark.parametrize("mean", [0.0, 1e-12, 2e9, math.nan])
def test_means_out_of_range_are_refused(mean: float) -> None:
    with pytest.raises(InvalidInputError, match="blanket messages per item"):
        items_profile(mean, 1.0, 4, 128, 1e-6)
