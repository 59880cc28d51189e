"""A black box against its promise: does any event tell two values apart too well?

`audit_randomizer` draws messages about every value at every level, mixed in every batch;
learns from a part of them, for each ordered pair of values, the event that looks most
telling; counts how often it happens among the others; and derives from exact bounds of both
chances the least epsilon, and the least delta, that can be promised (intervals.py). All
bounds hold together with the stated confidence, by the union bound over levels, ordered
pairs, two statements and two chances each.

It assumes that messages are independent of each other, which is checked too, and that the
box does the same when nobody looks. It never shows that a promise is kept.
"""

from collections.abc import Callable

from shuffledp.audit.audit_result import RandomizerAudit
from shuffledp.audit.pairs import audited_pairs
from shuffledp.audit.plan import AuditPlan
from shuffledp.audit.side_checks import side_checks
from shuffledp.audit.target import Target
from shuffledp.randomness import Rng


def audit_randomizer(
    target: Target,
    plan: AuditPlan,
    *,
    rng: Rng,
    on_share: Callable[[float], None] | None = None,
) -> RandomizerAudit:
    """Audits a black box.

    Args:
        target: What is audited.
        plan: From `plan_audit`.
        rng: Given to boxes that take one; it also mixes values and levels.
        on_share: Called with the share that is done.

    Raises:
        InvalidInputError: If the box does not answer as it should.
    """
    pairs = audited_pairs(target, plan, rng=rng, on_share=on_share)
    return RandomizerAudit(
        target=target.name,
        delta=plan.delta,
        samples=plan.samples,
        counted=plan.counted,
        confidence=plan.confidence,
        intervals=plan.intervals,
        alpha=plan.alpha,
        powers=plan.powers,
        most_visible=plan.most_visible,
        pairs=pairs,
        behaviors=tuple(side_checks(target, plan, rng=rng)),
    )
