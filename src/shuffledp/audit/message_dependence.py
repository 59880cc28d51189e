"""Does one message depend on the one before it?

A coin that is used twice is no coin the second time: two messages together tell more than
each of them. Messages about one value are put into pairs, each used once: in the first
half of them, of neighbors; in the second, of messages far apart. If all are independent
and of one law, the chance that both of a pair are alike is the same in both halves, and
given how many pairs are alike in all, how many of them are neighbors is hypergeometric:
Fisher's exact test, with no approximation. Numbers that hardly ever repeat are alike if
they lie between the same quartiles of another part of the messages.

Dependence breaks no promise by itself: a public seed that changes every hundred messages is
one. Whether it tells values is what neighbors.py asks. But the bounds for single messages
assume independence, so it is said. Only neighbors are looked at: a coin that comes back
later is not found here.
"""

import numpy as np
from scipy.stats import fisher_exact

from shuffledp.audit.audit_result import SideCheck, SideCheckOutcome
from shuffledp.audit.messages import Messages
from shuffledp.audit.plan import AuditPlan
from shuffledp.audit.target import Target, as_array
from shuffledp.randomness import Rng
from shuffledp.types import Ints

ABOUT = "messages that depend on the one before"
_SIZE = 20_000


def dependence(target: Target, plan: AuditPlan, *, alpha: float, rng: Rng) -> SideCheck:
    """Compares neighbors with messages far apart, at every level.

    Args:
        target: What is audited.
        plan: Its first value is held by everybody.
        alpha: The probability of a false alarm, of all levels together.
        rng: Given to boxes that take one.
    """
    found = []
    size = min(_SIZE, plan.samples)
    with target.started() as box:
        for level in plan.levels:
            held = [plan.values[0]] * size
            array = as_array(held)
            levels = np.full(size, level)
            drawn = box.draw(held if array is None else array, levels, rng=rng)
            found.append((compare_neighbors(drawn), level))
    (chance, near, far), level = min(found)
    text = (
        f"at level {level:g}, {near:.1%} of neighbors are alike, and {far:.1%} of messages "
        f"far apart; Fisher's exact test has p = {chance:.2g}, the smallest of "
        f"{len(found)} levels"
    )
    dependent = chance * len(found) < alpha
    return SideCheck(
        ABOUT, SideCheckOutcome.DEPENDENT if dependent else SideCheckOutcome.FINE, text
    )


def compare_neighbors(messages: Messages) -> tuple[float, float, float]:
    """Returns the p-value, and the shares of pairs that are alike: near and far.

    Args:
        messages: About one value at one level, in the order of drawing.
    """
    # Quartiles are those of messages that are in no pair.
    quarter = len(messages) // 5
    kinds = _kinds(messages.at(np.arange(quarter)), messages)
    near = kinds[quarter : 3 * quarter].reshape(-1, 2)
    rest = kinds[3 * quarter : 5 * quarter]
    far = np.column_stack([rest[:quarter], rest[quarter:]])
    alike = [int(np.count_nonzero(pairs[:, 0] == pairs[:, 1])) for pairs in (near, far)]
    table = np.array(
        [[alike[0], len(near) - alike[0]], [alike[1], len(far) - alike[1]]]
    )
    chance = float(fisher_exact(table).pvalue)
    return chance, alike[0] / len(near), alike[1] / len(far)


def _kinds(apart: Messages, messages: Messages) -> Ints:
    codes = messages.codes()
    if messages.kind != "numbers" or np.unique(apart.codes()).size < len(apart) // 2:
        return codes
    edges = np.quantile(apart.raw.astype(np.float64), [0.25, 0.5, 0.75])
    kinds: Ints = np.searchsorted(edges, messages.raw.astype(np.float64))
    return kinds
