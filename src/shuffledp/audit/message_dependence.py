"""Test of independence between consecutive messages.

A random draw that is used twice makes two messages together tell more than each of them.
Messages about one value are put into pairs, each used once: in the first half of them, of
neighbors; in the second, of messages far apart. If all are independent and identically
distributed, the probability that both of a pair are alike is the same in both halves, which
Fisher's exact test compares.

Dependence breaks no promise by itself; a public seed that changes every hundred messages is
an example. neighbor_leakage.py tests whether it tells values. But the bounds for single
messages assume independence, so dependence is reported. Draws that are reused later than
in the next message are not detected.
"""

import numpy as np
from scipy.stats import fisher_exact

from shuffledp.audit.audit_messages import Messages
from shuffledp.audit.audit_plan import AuditPlan
from shuffledp.audit.audit_result import SideCheck, SideCheckOutcome
from shuffledp.audit.target import Target, as_array
from shuffledp.randomness import Rng
from shuffledp.types import Ints

ABOUT = "messages that depend on the one before"
_SIZE = 20_000


def dependence(target: Target, plan: AuditPlan, *, alpha: float, rng: Rng) -> SideCheck:
    """Compares neighbors with messages far apart, at every level.

    Args:
        target: The audited box.
        plan: Every user holds its first value.
        alpha: The probability of a false alarm, of all levels together.
        rng: Passed to boxes that take one.
    """
    results = []
    size = min(_SIZE, plan.samples)
    with target.started() as box:
        for level in plan.levels:
            values = [plan.values[0]] * size
            array = as_array(values)
            levels = np.full(size, level)
            drawn = box.draw(values if array is None else array, levels, rng=rng)
            results.append((compare_neighbors(drawn), level))
    (p_value, near_share, far_share), level = min(results)
    text = (
        f"at level {level:g}, {near_share:.1%} of neighbors are alike, and "
        f"{far_share:.1%} of messages far apart; Fisher's exact test has "
        f"p = {p_value:.2g}, the smallest of {len(results)} levels"
    )
    # Bonferroni's correction for the smallest p-value of all levels.
    dependent = p_value * len(results) < alpha
    return SideCheck(
        ABOUT, SideCheckOutcome.DEPENDENT if dependent else SideCheckOutcome.FINE, text
    )


def compare_neighbors(messages: Messages) -> tuple[float, float, float]:
    """Returns the p-value, and the shares of near and of far pairs that are alike.

    Args:
        messages: About one value at one level, in the order of drawing.
    """
    # Quartiles come from messages that are in no pair: they must not depend on the pairs.
    quarter = len(messages) // 5
    kinds = _message_kinds(messages.at(np.arange(quarter)), messages)
    near_pairs = kinds[quarter : 3 * quarter].reshape(-1, 2)
    distant = kinds[3 * quarter : 5 * quarter]
    far_pairs = np.column_stack([distant[:quarter], distant[quarter:]])
    num_equal = [
        int(np.count_nonzero(pairs[:, 0] == pairs[:, 1]))
        for pairs in (near_pairs, far_pairs)
    ]
    table = np.array(
        [
            [num_equal[0], len(near_pairs) - num_equal[0]],
            [num_equal[1], len(far_pairs) - num_equal[1]],
        ]
    )
    # Given the number of all pairs that are alike, that of neighbors among them is
    # hypergeometric: there is no approximation.
    p_value = float(fisher_exact(table).pvalue)
    return p_value, num_equal[0] / len(near_pairs), num_equal[1] / len(far_pairs)


def _message_kinds(apart: Messages, messages: Messages) -> Ints:
    codes = messages.codes()
    if messages.kind != "numbers" or np.unique(apart.codes()).size < len(apart) // 2:
        return codes
    # Numbers that hardly ever repeat are alike between the same quartiles.
    edges = np.quantile(apart.raw.astype(np.float64), [0.25, 0.5, 0.75])
    kinds: Ints = np.searchsorted(edges, messages.raw.astype(np.float64))
    return kinds
