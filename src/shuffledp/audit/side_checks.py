"""Checks of a black box besides the bounds: repeats, dependence, neighbors, timing."""

from collections.abc import Iterator

from shuffledp.audit.audit_plan import AuditPlan
from shuffledp.audit.audit_result import SideCheck
from shuffledp.audit.message_dependence import dependence
from shuffledp.audit.neighbor_leakage import neighbors
from shuffledp.audit.repeated_noise import repeats
from shuffledp.audit.target import Target
from shuffledp.audit.timing_check import timing
from shuffledp.randomness import Rng

# Shares of the error probability; repeats need little, as they are nearly certain.
_SHARE_OF_REPEATS = 0.1
_SHARE_OF_NEIGHBORS = 0.45


def side_checks(target: Target, plan: AuditPlan, *, rng: Rng) -> Iterator[SideCheck]:
    """Runs all checks.

    Args:
        target: The audited box.
        plan: Values and levels; its `alpha_of_behavior` is divided among the checks.
        rng: Passed to boxes that take one; it also orders the timed calls.
    """
    alpha = plan.alpha_of_behavior
    yield from repeats(target, plan, alpha=_SHARE_OF_REPEATS * alpha, rng=rng)
    yield neighbors(target, plan, alpha=_SHARE_OF_NEIGHBORS * alpha, rng=rng)
    remaining_share = 1.0 - _SHARE_OF_REPEATS - _SHARE_OF_NEIGHBORS
    yield dependence(target, plan, alpha=remaining_share * alpha, rng=rng)
    yield timing(target, plan, rng=rng)
