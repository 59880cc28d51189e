"""What a black box does besides: repeats, dependence, neighbors, timing."""

from collections.abc import Iterator

from shuffledp.audit.audit_result import SideCheck
from shuffledp.audit.message_dependence import dependence
from shuffledp.audit.neighbor_leakage import neighbors
from shuffledp.audit.plan import AuditPlan
from shuffledp.audit.repeated_noise import repeats
from shuffledp.audit.target import Target
from shuffledp.audit.timing_check import timing
from shuffledp.randomness import Rng

# Of the chance to be wrong, the part of repeats, which are next to certain anyway.
_SHARE_OF_REPEATS = 0.1
_SHARE_OF_NEIGHBORS = 0.45


def side_checks(target: Target, plan: AuditPlan, *, rng: Rng) -> Iterator[SideCheck]:
    """Makes all checks.

    Args:
        target: What is audited.
        plan: What is asked; its `alpha_of_behavior` is divided among the checks.
        rng: Given to boxes that take one; it also orders what is timed.
    """
    alpha = plan.alpha_of_behavior
    yield from repeats(target, plan, alpha=_SHARE_OF_REPEATS * alpha, rng=rng)
    yield neighbors(target, plan, alpha=_SHARE_OF_NEIGHBORS * alpha, rng=rng)
    rest = 1.0 - _SHARE_OF_REPEATS - _SHARE_OF_NEIGHBORS
    yield dependence(target, plan, alpha=rest * alpha, rng=rng)
    yield timing(target, plan, rng=rng)
