"""Noise from slots against the joint law of all buckets, summed over all outcomes."""

import math

import numpy as np
import pytest
from oracles.bucket_counts import (
    exact_divergence,
    message_in,
    slot_counts,
    slot_jumps,
    with_one_plus,
)
from scipy import stats

from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.errors import CertificationError

EPSILONS = (0.0, 0.3, 1.0, 2.0, 4.0)


def bounds(noise: SlotNoise, rate: float, *, buckets: int) -> ReportBounds:
    """Bounds with what transforms and Chernoff's bound cost, without devices' draws."""
    d, moved = buckets, buckets > 1
    profile = CountsProfile(
        (noise.certified(rate, buckets=d, moved=moved, times=1),),
        (noise.attacked(rate, buckets=d, moved=moved, times=1),),
        1e-6,
    )
    return ReportBounds(profile, 2.0 * profile.missing, profile.drift)


@pytest.mark.parametrize(
    ("slots", "decay", "longest", "pairs", "strength"),
    [
        (6, 0.3, 2, 0.4, 1.0),
        (3, 0.2, 3, 0.3, 0.5),
        (40, 0.6, 3, 2.0, 1.5),
        (25, 0.8, 4, 1.0, 0.9),
    ],
)
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_bounds_enclose_sums_of_one_bucket(
    slots: int, decay: float, longest: int, pairs: float, strength: float, rate: float
) -> None:
    jumps = slot_jumps(decay, longest, pairs, strength)
    cells = min(longest * slots, 60) + 2
    law = slot_counts(jumps, slots=slots, buckets=1, cells=cells, most=40)
    more, left_out = with_one_plus(law, rate), 1.0 - law.sum()

    both = bounds(SlotNoise(slots, decay, longest, pairs, strength), rate, buckets=1)

    assert left_out < 1e-9
    for epsilon in EPSILONS:
        exact = max(
            exact_divergence(more, law, epsilon), exact_divergence(law, more, epsilon)
        )
        # Double sums are right to 1e-13.
        assert both.lower(epsilon) <= exact + left_out + 1e-13
        assert exact - 1e-13 <= both.upper(epsilon)
        # Every outcome is evaluated: the upper end is the exact one.
        assert both.upper(epsilon) <= exact + (1.0 + math.exp(epsilon)) * 1e-10
    assert 0.1 * exact_divergence(more, law, 0.3) < both.lower(0.3)


@pytest.mark.parametrize(
    ("slots", "decay", "longest", "pairs", "strength", "cells"),
    [
        (2000, 0.4, 2, 0.7, 1.0, 15),
        pytest.param(4000, 0.5, 3, 1.0, 0.6, 17, marks=pytest.mark.slow),
        pytest.param(500, 0.4, 2, 1.0, 1.0, 16, marks=pytest.mark.slow),
    ],
)
def test_bounds_enclose_sums_of_two_buckets(
    slots: int, decay: float, longest: int, pairs: float, strength: float, cells: int
) -> None:
    jumps = slot_jumps(decay, longest, pairs, strength)
    law = slot_counts(jumps, slots=slots, buckets=2, cells=cells, most=24)
    left_out = 1.0 - law.sum()

    for rate in (1.0, 0.4):
        noise = SlotNoise(slots, decay, longest, pairs, strength)
        here, there = message_in(law, 0, rate), message_in(law, 1, rate)
        both = bounds(noise, rate, buckets=2)
        for epsilon in EPSILONS:
            exact = exact_divergence(here, there, epsilon)
            assert both.lower(epsilon) <= exact + left_out
            assert exact - 1e-13 <= both.upper(epsilon)
        # Chernoff's bound costs slots, and is paid for here by a few parts in ten.
        whole = exact_divergence(here, there, 0.3)
        assert 0.1 * whole < both.lower(0.3) <= both.upper(0.3) < min(1.8 * whole, 1.0)
    assert left_out < 1e-4


@pytest.mark.slow
def test_a_third_bucket_tells_no_more_than_is_certified() -> None:
    # With as many slots in all, what is elsewhere tells a little about these two.
    jumps = slot_jumps(0.3, 2, 0.2, 0.6)
    law = slot_counts(jumps, slots=300, buckets=3, cells=8, most=14)
    here, there = message_in(law, 0, 1.0), message_in(law, 1, 1.0)
    left_out = 1.0 - law.sum()

    both = bounds(SlotNoise(300, 0.3, 2, 0.2, 0.6), 1.0, buckets=3)

    assert left_out < 1e-3
    for epsilon in EPSILONS:
        exact = exact_divergence(here, there, epsilon)
        assert both.lower(epsilon) <= exact + left_out
        assert exact - 1e-13 <= both.upper(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(("slots", "buckets"), [(1200, 240), (3000, 100)])
def test_slots_that_jump_elsewhere_are_seen(slots: int, buckets: int) -> None:
    # Given how many there are, the others know only two buckets.
    jumps, noise = slot_jumps(0.4, 2, 0.7, 1.0), SlotNoise(slots, 0.4, 2, 0.7)
    part = (buckets - 2) * sum(mean for _, _, mean in jumps) / slots
    ends = stats.binom.ppf(np.arange(13) / 12, slots, part).astype(int)
    ends[[0, -1]] = stats.binom.ppf([1e-6, 1.0 - 1e-6], slots, part)
    both = bounds(noise, 1.0, buckets=buckets)

    def divergence(elsewhere: int, epsilon: float) -> float:
        left = slots - elsewhere
        factor = left / slots / (1.0 - part)
        given = [(plus, minus, mean * factor) for plus, minus, mean in jumps]
        law = slot_counts(given, slots=left, buckets=2, cells=12, most=20)
        return exact_divergence(
            message_in(law, 0, 1.0), message_in(law, 1, 1.0), epsilon
        )

    for epsilon in (0.0, 1.0, 3.0):
        # The more jump elsewhere, the fewer hide the message: from both sides.
        each = np.array([divergence(end, epsilon) for end in ends.tolist()])
        low, high = each[:-1].mean(), each[1:].mean()
        assert low <= high
        assert both.lower(epsilon) <= high + 1e-3
        assert low - 1e-5 <= both.upper(epsilon)


@pytest.mark.parametrize("times", [1, 3])
def test_attack_needs_no_more_than_is_certified(times: int) -> None:
    noise = SlotNoise(20_000, 0.7, 8, 60.0)
    profile = CountsProfile(
        (noise.certified(0.9, buckets=9, moved=True, times=times),),
        (noise.attacked(0.9, buckets=9, moved=True, times=times),),
        1e-6,
    )
    both = ReportBounds(profile, 2.0 * profile.missing, profile.drift)

    for epsilon in (0.0, 0.5, 1.0, 3.0):
        assert 0.0 <= both.lower(epsilon) < both.upper(epsilon) < 1.0
    assert 0.01 < both.lower(0.0) < both.upper(0.0) < 0.6


def test_too_few_slots_prove_nothing() -> None:
    with pytest.raises(CertificationError, match="more slots"):
        SlotNoise(100, 0.4, 2, 0.5).certified(1.0, buckets=2, moved=True, times=1)
    with pytest.raises(CertificationError, match="less noise, or more slots"):
        SlotNoise(100, 0.4, 2, 40.0).certified(1.0, buckets=1, moved=False, times=1)
    with pytest.raises(CertificationError, match="less noise, or more slots"):
        SlotNoise(100, 0.4, 2, 20.0).attacked(1.0, buckets=2, moved=True, times=1)


def test_fewer_people_are_fewer_slots_that_jump_as_often() -> None:
    noise = SlotNoise(3000, 0.6, 6, 30.0)

    fewer = noise.scaled(0.5)

    assert (fewer.slots, fewer.decay, fewer.longest) == (1500, 0.6, 6)
    assert fewer.jumps().total / 1500 == pytest.approx(noise.jumps().total / 3000)
    assert fewer.variance == pytest.approx(0.5 * noise.variance)
    assert bounds(noise, 1.0, buckets=1).upper(1.0) < bounds(
        fewer, 1.0, buckets=1
    ).lower(1.0)


def test_moments_and_messages_are_those_of_jumps() -> None:
    noise = SlotNoise(3000, 0.6, 5, 30.0, 1.3)
    jumps = slot_jumps(0.6, 5, 30.0, 1.3)

    plus, minus, mean = np.array(jumps).T
    assert noise.jumps().total == pytest.approx(mean.sum())
    assert noise.variance == pytest.approx(((plus - minus) ** 2 * mean).sum())
    assert noise.fourth_cumulant == pytest.approx(((plus - minus) ** 4 * mean).sum())
    assert noise.messages == pytest.approx(((plus + minus) * mean).sum())
    assert math.fsum((plus == minus) * plus * mean) == pytest.approx(30.0)


@pytest.mark.parametrize("honest", [1_000, 10_007, 65_536])
def test_slots_of_fewer_people_are_as_many_per_person(honest: int) -> None:
    noise = SlotNoise(3 * honest, 0.5, 4, 100.0)

    for people in (1, 9, 997, honest - 1, honest, 2 * honest + 1):
        assert noise.scaled(people / honest).slots == 3 * people
