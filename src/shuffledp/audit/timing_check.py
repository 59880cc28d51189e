"""Timing check: warns if the time of an answer depends on the value. Never a verdict.

Every round times one answer per value, in random order. The statistic is the range of the
medians of the values; the share of random permutations with at least this range is an
exact p-value.
"""

import time

import numpy as np

from shuffledp.audit.audit_messages import value_text
from shuffledp.audit.audit_plan import AuditPlan
from shuffledp.audit.audit_result import SideCheck, SideCheckOutcome
from shuffledp.audit.target import Target, as_array
from shuffledp.randomness import Rng
from shuffledp.types import Floats

ABOUT = "time that depends on the value"
# With 999 random exchanges a p-value is 1 / 1,000 at least, a tenth of one that warns.
_ROUNDS, _BATCH, _EXCHANGES = 60, 200, 999
_WARNED = 0.01


def timing(target: Target, plan: AuditPlan, *, rng: Rng) -> SideCheck:
    """Times answers about every value, at the largest level.

    Args:
        target: The audited box.
        plan: Its values are compared.
        rng: Passed to boxes that take one; it also orders the answers.
    """
    level = np.full(_BATCH, plan.levels[-1])
    batches = []
    for value in plan.values:
        array = as_array([value] * _BATCH)
        batches.append([value] * _BATCH if array is None else array)
    times = np.zeros((_ROUNDS, len(batches)))
    with target.started() as box:
        for row in times:
            # Within rounds: a machine that gets slower does so for all values.
            for index in rng.permutation(len(batches)).tolist():
                begin = time.perf_counter()
                box.draw(batches[index], level, rng=rng)
                row[index] = time.perf_counter() - begin
    p_value, effect = permutation_test(
        times, seed=int(rng.integers(0, 2**32, size=1)[0])
    )
    medians = np.median(times, axis=0)
    slow, fast = int(np.argmax(medians)), int(np.argmin(medians))
    text = (
        f"{_BATCH} messages about {value_text(plan.values[slow])} take {effect:.1%} longer "
        f"than about {value_text(plan.values[fast])} ({medians[fast] * 1e6:.0f} us); if "
        f"values did not matter, as much would be seen with probability {p_value:.2g}"
    )
    return SideCheck(
        ABOUT,
        SideCheckOutcome.WARNING if p_value <= _WARNED else SideCheckOutcome.FINE,
        text,
    )


def permutation_test(times: Floats, *, seed: int) -> tuple[float, float]:
    """Returns the p-value, and the relative delay of the slowest value to the fastest.

    Args:
        times: Of every round and value, shape (rounds, values).
        seed: Of the exchanges.
    """
    medians = np.median(times, axis=0)
    observed_spread = float(np.ptp(medians))
    copies = np.broadcast_to(times, (_EXCHANGES, *times.shape))
    # If times do not depend on values, those within a round are exchangeable.
    permuted = np.random.default_rng(seed).permuted(copies, axis=2)
    spreads = np.ptp(np.median(permuted, axis=1), axis=1)
    num_larger = int(np.count_nonzero(spreads >= observed_spread))
    # The observed order counts as one permutation, which makes the p-value exact.
    return (num_larger + 1) / (_EXCHANGES + 1), observed_spread / float(medians.min())
