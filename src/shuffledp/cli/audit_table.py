"""Tables and sentences that `shuffledp audit` prints for people."""

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table

from shuffledp.audit.audit_messages import value_text
from shuffledp.audit.audit_plan import AuditPlan
from shuffledp.audit.audit_result import (
    AuditVerdict,
    PairBounds,
    RandomizerAudit,
    SideCheckOutcome,
)


def powers(plan: AuditPlan, name: str) -> Iterator[RenderableType]:
    """Yields the plan of an audit, and the violations that it can detect."""
    values = ", ".join(value_text(value) for value in plan.values)
    yield (
        f"Audit of {name}: values {values}; {plan.samples:,} messages per value and level, "
        f"{plan.learned:,} to learn from, {plan.counted:,} to test with.\n"
    )
    table = _empty_table(
        "level", "true epsilon", "samples, at best", "samples, rare event"
    )
    for power in plan.powers:
        true = power.level * (1.0 + power.excess)
        table.add_row(
            f"{power.level:g}",
            f"{true:.4g} (+{power.excess:.0%})",
            # None: no number of samples shows this excess.
            _samples_as_text(power.at_best, plan.samples),
            _samples_as_text(power.rare, plan.samples),
        )
    yield table
    yield (
        "So many messages per value and level show a larger epsilon than promised with 90% "
        "chance, if the box is as telling as binary response; or if its most telling event "
        "comes once in 100 times. * More than this audit draws.\n"
    )
    for level in plan.levels:
        if level >= plan.most_visible:
            yield (
                f"This audit cannot see anything at level {level:g}: {plan.counted:,} "
                f"messages never prove an epsilon above {plan.most_visible:.3g}.\n"
            )


def findings(audit: RandomizerAudit) -> Iterator[RenderableType]:
    """Yields the table of all pairs, the most telling events, and the verdict."""
    table = _empty_table("level", "value", "against", "epsilon >=", "delta >=", "")
    for pair in audit.pairs:
        verdict_class = "broken" if pair in audit.broken else ""
        table.add_row(
            f"{pair.level:g}",
            pair.value,
            pair.other,
            f"{pair.epsilon.bound:.4g}",
            f"{pair.delta.bound:.3g}",
            verdict_class,
        )
    yield table
    yield (
        f"The epsilon that can be promised at delta {audit.delta:g}, and the delta at the "
        f"promised epsilon, are at least these. All {audit.intervals} bounds hold together "
        f"with confidence {audit.confidence:g}; each may be wrong with probability "
        f"{audit.alpha:.2g}.\n"
    )
    for level in dict.fromkeys(pair.level for pair in audit.pairs):
        yield _event(audit.best(level))
    yield ""
    for behavior in audit.behaviors:
        yield f"{behavior.about}: {behavior.outcome}: {behavior.text}"
    yield f"\nVerdict: {_verdict(audit)}"
    # Said after any verdict: it is a caution about the bounds.
    if any(b.outcome is SideCheckOutcome.DEPENDENT for b in audit.behaviors):
        yield (
            "Messages depend on each other. That breaks no promise by itself, but bounds "
            "of single messages assume that they do not."
        )
    if audit.unchecked:
        yield f"Not checked: {'; '.join(audit.unchecked)}."


def _event(pair: PairBounds) -> str:
    hits, other_hits = pair.epsilon.hits
    return (
        f"Level {pair.level:g}, the most telling event about a message: "
        f"{pair.epsilon.event}. It happened {hits:,} times about {pair.value} and "
        f"{other_hits:,} times about {pair.other}, of {pair.epsilon.counted:,} each."
    )


def _verdict(audit: RandomizerAudit) -> str:
    if audit.verdict is AuditVerdict.BROKEN:
        parts = []
        if audit.broken:
            # They are sorted: the largest excess comes first.
            shown_pair = audit.broken[0]
            parts.append(
                f"at level {shown_pair.level:g}, epsilon is at least "
                f"{shown_pair.epsilon.bound:.4g}"
                # Otherwise epsilon keeps its promise, and delta alone breaks it.
                if shown_pair.epsilon.bound > shown_pair.level
                else f"at level {shown_pair.level:g}, delta is at least "
                f"{shown_pair.delta.bound:.3g}"
            )
        parts += [
            b.about for b in audit.behaviors if b.outcome is SideCheckOutcome.BROKEN
        ]
        return f"{audit.verdict}: {'; '.join(parts)}."
    if audit.verdict is AuditVerdict.BLIND:
        return f"{audit.verdict}: there are too few samples for these levels."
    blind = ", ".join(f"{level:g}" for level in audit.blind_levels)
    text = f"{audit.verdict}. That is not a proof that the promise is kept."
    return text + (f" Levels that could not be seen: {blind}." if blind else "")


def _empty_table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    return table


def _samples_as_text(number: int | None, drawn: int) -> str:
    if number is None:
        return "never"
    return f"{number:,}{' *' if number > drawn else ''}"
