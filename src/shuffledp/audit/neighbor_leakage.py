"""Audit of the messages of a user together with those of both neighbors.

A box may send the value of the previous user in clear, or draw once for two users. Then
each message alone keeps its promise, and three together do not. So every audited user gets
a neighbor on both sides, who holds the first value at the same level, and the messages of
all three count as one. For all values of the neighbors, a changed value may show no more in
all messages than the promise allows: this is the audit of pairs (pairs.py) with longer
messages. Messages that depend on each other only through randomness independent of all
values, as a public seed, break nothing.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shuffledp.audit.audit_messages import Messages
from shuffledp.audit.audit_plan import LEAST_SAMPLES, AuditPlan
from shuffledp.audit.audit_result import SideCheck, SideCheckOutcome, breaks
from shuffledp.audit.pairs import audited_pairs
from shuffledp.audit.target import Target, Values, as_array
from shuffledp.randomness import Rng
from shuffledp.types import Floats

ABOUT = "values that neighbors' messages tell"
_SAMPLES = 10_000


@dataclass(frozen=True)
class TripleTarget:
    """A box that answers with the messages of a user and of both neighbors.

    Attributes:
        box: The audited box.
        value: The value of both neighbors.
    """

    box: Target
    value: Any

    @property
    def name(self) -> str:
        """The name of the box."""
        return self.box.name

    def draw(self, values: Values, levels: Floats, *, rng: Rng) -> Messages:
        """Draws messages of three users for each value, as one message."""
        triples: list[Any] = []
        for value in values if isinstance(values, list) else list(values):
            triples += [self.value, value, self.value]
        array = as_array(triples)
        queried = triples if array is None else array
        return _threes(self.box.draw(queried, np.repeat(levels, 3), rng=rng))

    def started(self) -> AbstractContextManager[Target]:
        """Starts the box."""
        return self._started()

    @contextmanager
    def _started(self) -> Iterator[Target]:
        with self.box.started() as box:
            yield replace(self, box=box)


def neighbors(target: Target, plan: AuditPlan, *, alpha: float, rng: Rng) -> SideCheck:
    """Audits a box with the messages of neighbors as part of each message.

    Args:
        target: The audited box.
        plan: The values, levels and promises.
        alpha: The probability of a false alarm.
        rng: Passed to boxes that take one; it also mixes values and levels.
    """
    samples = max(min(plan.samples, _SAMPLES), LEAST_SAMPLES)
    # The bounds use nine tenths of the plan's error probability.
    longer = replace(plan, samples=samples, confidence=1.0 - alpha)
    # At larger levels, not even a value in clear would prove anything.
    visible_levels = [level for level in plan.levels if level < longer.most_visible]
    if not visible_levels:
        text = f"{longer.counted:,} messages never prove more than these levels"
        return SideCheck(ABOUT, SideCheckOutcome.NOT_APPLICABLE, text)
    longer = replace(longer, levels=tuple(visible_levels))
    pairs = audited_pairs(TripleTarget(target, plan.values[0]), longer, rng=rng)
    shown_pair = max(pairs, key=lambda pair: pair.epsilon.bound - pair.level)
    broken = [pair for pair in pairs if breaks(pair, plan.delta)]
    # A delta may break the promise where no epsilon does.
    if broken and shown_pair not in broken:
        shown_pair = broken[0]
    text = (
        f"at level {shown_pair.level:g}, the messages of a person and both neighbors show "
        f"an epsilon of {shown_pair.epsilon.bound:.4g} at least, and a delta of "
        f"{shown_pair.delta.bound:.3g}, between {shown_pair.value} and {shown_pair.other}"
    )
    return SideCheck(
        ABOUT, SideCheckOutcome.BROKEN if broken else SideCheckOutcome.FINE, text
    )


def _threes(messages: Messages) -> Messages:
    raw = messages.raw
    if isinstance(raw, np.ndarray):
        return Messages("vectors", raw.reshape(len(raw) // 3, -1))
    threes = [raw[begin : begin + 3] for begin in range(0, len(raw), 3)]
    if messages.kind == "texts":
        # Triples that become the same text cost power, not validity.
        return Messages("texts", [b"\0".join(three) for three in threes])
    # Members carry the index of their message, which tells the three apart.
    sets = [
        tuple(
            f"{index}:{member!r}"
            for index, message in enumerate(three)
            for member in message
        )
        for three in threes
    ]
    return Messages("sets", sets)
