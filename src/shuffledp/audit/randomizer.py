"""Audit of a black box against its promised local privacy.

`audit_randomizer` draws messages about every value at every level, mixed in every batch;
learns from a part of them, for each ordered pair of values, the event that seems to tell
them apart best; counts it among the others; and derives from exact bounds of both
probabilities the least epsilon, and the least delta, that can be promised
(confidence_bounds.py). All bounds hold together with the stated confidence, by the union
bound over levels, ordered pairs, two statements and two probabilities each.

The audit assumes that messages are independent of each other, which is checked too, and
that the box behaves the same outside the audit. It never shows that a promise is kept.
"""

from collections.abc import Callable

from shuffledp.audit.audit_plan import AuditPlan
from shuffledp.audit.audit_result import RandomizerAudit
from shuffledp.audit.pairs import audited_pairs
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
        target: The audited box.
        plan: From `plan_audit`.
        rng: Passed to boxes that take one; it also mixes values and levels.
        on_share: Called with the completed share, first when the box has answered.

    Raises:
        InvalidInputError: If an answer of the box is not one message per value.
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
