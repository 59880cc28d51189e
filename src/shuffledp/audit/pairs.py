"""What messages prove about every pair of values: drawn, learned from, and counted.

The steps are described in randomizer.py, which adds what a box does besides.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from shuffledp.audit.audit_result import EventBound, PairBounds
from shuffledp.audit.confidence_bounds import (
    probability_lower_bound,
    probability_upper_bound,
)
from shuffledp.audit.events import (
    MessageEvent,
    choose_event,
    learn_scores,
    promise_bounds,
)
from shuffledp.audit.messages import Messages, concatenate, value_text
from shuffledp.audit.plan import AuditPlan
from shuffledp.audit.target import Target, as_array
from shuffledp.randomness import Rng, check_order_rng
from shuffledp.types import Floats

# Messages drawn at a time.
_BATCH = 1 << 16
# Numbers of all columns that are kept per value and level to learn from.
_NUMBERS = 1 << 24
# (level, value): the places of both in the plan.
_Cell: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class _Chosen:
    """What will be counted about one ordered pair: for epsilon, and for delta."""

    level: int
    value: int
    other: int
    events: tuple[MessageEvent, MessageEvent]


def audited_pairs(
    target: Target,
    plan: AuditPlan,
    *,
    rng: Rng,
    on_share: Callable[[float], None] | None = None,
) -> tuple[PairBounds, ...]:
    """Returns what is proven about every ordered pair of values, at every level.

    Args:
        target: What is audited.
        plan: From `plan_audit`.
        rng: Given to boxes that take one; it also mixes values and levels.
        on_share: Called with the share that is done.

    Raises:
        InvalidInputError: If the box does not answer as it should.
    """
    check_order_rng(rng)
    report = on_share or (lambda _share: None)
    with target.started() as box:
        learned = _learn(box, plan, rng=rng)
        chosen = _choose(plan, learned)
        kind = learned[0, 0].at(np.arange(1))
        hits = _count(box, plan, chosen, kind, rng=rng, on_share=report)
    return tuple(_pair(plan, one, hits) for one in chosen)


def _drawn(
    box: Target, plan: AuditPlan, size: int, *, rng: Rng
) -> Iterator[tuple[int, dict[_Cell, Messages]]]:
    """Yields how many messages there are of each cell so far, and a batch of them.

    Every batch has as many of each level and value, in random order: a box that mixes up
    people, or changes with time, does so for all of them alike.
    """
    cells = [(a, b) for a in range(len(plan.levels)) for b in range(len(plan.values))]
    levels = np.array(plan.levels)
    array = as_array(list(plan.values))
    done, each = 0, max(_BATCH // len(cells), 1)
    while done < size:
        each = min(each, size - done)
        order = rng.permutation(len(cells) * each)
        cell = np.repeat(np.arange(len(cells)), each)[order]
        level, value = cell // len(plan.values), cell % len(plan.values)
        asked = (
            [plan.values[place] for place in value.tolist()]
            if array is None
            else array[value]
        )
        messages = box.draw(asked, levels[level], rng=rng)
        done += each
        # Sorting once is faster than looking for each cell.
        places = np.argsort(cell, kind="stable").reshape(len(cells), each)
        parts = (messages.at(row) for row in places)
        yield done, dict(zip(cells, parts, strict=True))


def _learn(box: Target, plan: AuditPlan, *, rng: Rng) -> dict[_Cell, Messages]:
    """Returns messages to learn from, of each level and value."""
    kept: dict[_Cell, list[Messages]] = {}
    for done, batch in _drawn(box, plan, plan.learned, rng=rng):
        for cell, messages in batch.items():
            parts = kept.setdefault(cell, [])
            if not parts or done * messages.num_columns <= _NUMBERS:
                parts.append(messages)
    learned = {cell: concatenate(parts) for cell, parts in kept.items()}
    # Whole numbers here and others there are all looked at as the latter.
    first = [messages.at(np.arange(1)) for messages in learned.values()]
    return {cell: found.like(concatenate(first)) for cell, found in learned.items()}


def _choose(plan: AuditPlan, learned: dict[_Cell, Messages]) -> list[_Chosen]:
    """Returns an event per ordered pair and statement, fixed before anything is counted."""
    chosen = []
    for level, epsilon in enumerate(plan.levels):
        statements = promise_bounds(epsilon, plan.delta)
        for first, second in combinations(range(len(plan.values)), 2):
            one, other = learned[level, first], learned[level, second]
            scores = learn_scores(one, other)
            for value, against in ((first, second), (second, first)):
                here, there = learned[level, value], learned[level, against]
                growth = plan.counted / (len(here) - len(here) // 2)
                events = [
                    choose_event(
                        scores,
                        here,
                        there,
                        proves=proves,
                        alpha=plan.alpha,
                        growth=growth,
                    )
                    for proves in statements
                ]
                chosen.append(_Chosen(level, value, against, (events[0], events[1])))
    return chosen


def _count(
    box: Target,
    plan: AuditPlan,
    chosen: list[_Chosen],
    kind: Messages,
    *,
    rng: Rng,
    on_share: Callable[[float], None],
) -> dict[tuple[MessageEvent, int], int]:
    """Returns how often each event happened, among messages about a value."""
    asked: dict[_Cell, list[MessageEvent]] = {}
    for one in chosen:
        for value in (one.value, one.other):
            asked.setdefault((one.level, value), []).extend(one.events)
    hits: dict[tuple[MessageEvent, int], int] = {}
    for done, batch in _drawn(box, plan, plan.counted, rng=rng):
        for (level, value), messages in batch.items():
            seen = messages.like(kind)
            # Many events share a score.
            scored: dict[int, Floats] = {}
            for event in asked[level, value]:
                if id(event.score) not in scored:
                    scored[id(event.score)] = event.score(seen)
                inside = event.contains(scored[id(event.score)])
                key = (event, value)
                hits[key] = hits.get(key, 0) + int(np.count_nonzero(inside))
        on_share(done / plan.counted)
    return hits


def _pair(
    plan: AuditPlan, one: _Chosen, hits: dict[tuple[MessageEvent, int], int]
) -> PairBounds:
    epsilon = plan.levels[one.level]
    shown = []
    statements = promise_bounds(epsilon, plan.delta)
    for event, proves in zip(one.events, statements, strict=True):
        counts = hits[event, one.value], hits[event, one.other]
        here = probability_lower_bound(counts[0], plan.counted, plan.alpha)
        there = probability_upper_bound(counts[1], plan.counted, plan.alpha)
        shown.append(
            EventBound(float(proves(here, there)), str(event), counts, plan.counted)
        )
    return PairBounds(
        level=epsilon,
        value=value_text(plan.values[one.value]),
        other=value_text(plan.values[one.other]),
        epsilon=shown[0],
        delta=shown[1],
    )
