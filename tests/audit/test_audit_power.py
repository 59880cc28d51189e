import math

import numpy as np
import pytest

from shuffledp.audit.audit_plan import plan_audit
from shuffledp.audit.audit_power import most_visible, powers, samples_needed
from shuffledp.audit.confidence_bounds import (
    epsilon_lower_bound,
    probability_lower_bound,
    probability_upper_bound,
)


@pytest.mark.parametrize(
    ("here", "there", "epsilon", "delta"),
    [
        (0.75, 0.25, 0.8, 0.0),
        (0.01, 0.001, 1.0, 0.0),
        (0.3, 0.1, 0.9, 0.02),
        (0.01, 0.0, 4.0, 0.0),
    ],
)
def test_as_many_samples_as_stated_are_enough_and_not_many_times_too_many(
    here: float, there: float, epsilon: float, delta: float
) -> None:
    alpha, audits, rng = 1e-3, 4_000, np.random.default_rng(11)
    needed = samples_needed(here, there, epsilon=epsilon, delta=delta, alpha=alpha)
    assert needed is not None

    seen = []
    for size in (needed, needed // 2):
        hits = rng.binomial(size, here, audits), rng.binomial(size, there, audits)
        low, high = (
            probability_lower_bound(hits[0], size, alpha),
            probability_upper_bound(hits[1], size, alpha),
        )
        seen.append(float(np.mean(epsilon_lower_bound(low, high, delta) > epsilon)))

    # 5 standard errors of a share of 0.9 of 4,000 are 0.0237.
    assert seen[0] > 0.9 - 0.0237
    assert seen[1] < 0.9


def test_what_keeps_its_promise_is_never_shown_to_break_it() -> None:
    assert samples_needed(0.5, 0.25, epsilon=math.log(2), delta=0, alpha=0.01) is None
    assert samples_needed(0.5, 0.25, epsilon=0.5, delta=0.1, alpha=0.01) is None


def test_larger_excess_takes_fewer_samples_and_rare_events_more() -> None:
    found = powers(1.0, delta=0.0, alpha=1e-3, most_learned=200_000)

    numbers = [power.at_best for power in found]
    assert [power.excess for power in found] == [0.1, 0.5, 1.0]
    assert all(number is not None for number in numbers)
    assert numbers == sorted(numbers, key=lambda number: -(number or 0))
    assert all((power.rare or 0) > 10 * (power.at_best or 0) for power in found)


def test_half_are_learned_from_or_as_many_as_are_enough() -> None:
    few = powers(1.0, delta=0.0, alpha=1e-3, most_learned=10)
    half = powers(1.0, delta=0.0, alpha=1e-3, most_learned=10**9)

    for one, other in zip(few, half, strict=True):
        assert one.rare is not None
        assert other.rare == 2 * (one.rare - 10)


def test_no_event_shows_more_than_the_most_that_is_visible() -> None:
    plan = plan_audit([0, 1], [3.0, 9.0], samples=2_000)
    here = probability_lower_bound(plan.counted, plan.counted, plan.alpha)
    there = probability_upper_bound(0, plan.counted, plan.alpha)

    # 1 - alpha^(1/n) is about log(1 / alpha) / n.
    about = math.log(plan.counted / math.log(1.0 / plan.alpha))
    assert plan.most_visible == pytest.approx(about, abs=0.02)
    assert plan.most_visible == epsilon_lower_bound(here, there, 0.0)
    assert most_visible(10, delta=0.999, alpha=0.01) == 0.0
