"""Lower bounds for every pair of values: draws, learns events, and counts them.

The steps are described in randomizer.py, which adds checks of other behavior.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from shuffledp.audit.audit_messages import Messages, concatenate, value_text
from shuffledp.audit.audit_plan import AuditPlan
from shuffledp.audit.audit_result import EventBound, PairBounds
from shuffledp.audit.confidence_bounds import (
    probability_lower_bound,
    probability_upper_bound,
)
from shuffledp.audit.message_event import (
    MessageEvent,
    choose_event,
    guarantee_bounds,
    learn_scores,
)
from shuffledp.audit.target import Target, as_array
from shuffledp.randomness import Rng, check_order_rng
from shuffledp.types import Floats

# Messages drawn at a time.
_BATCH = 1 << 16
# Most numbers, over all columns, to learn from per value and level.
_NUMBERS = 1 << 24
# (level, value): the indices of both in the plan.
_Cell: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class _PairEvents:
    """Events to count for one ordered pair: for epsilon, and for delta."""

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
    """Computes lower bounds for every ordered pair of values, at every level.

    Args:
        target: The audited box.
        plan: From `plan_audit`.
        rng: Passed to boxes that take one; it also mixes values and levels.
        on_share: Called with the completed share, first when the box has answered.

    Raises:
        InvalidInputError: If an answer of the box is not one message per value.
    """
    check_order_rng(rng)
    report = on_share or (lambda _share: None)
    with target.started() as box:
        learned = _learn(box, plan, rng=rng, on_share=report)
        choices = _choose(plan, learned)
        # Counted messages are converted to the kind of those that scores know.
        kind = learned[0, 0].at(np.arange(1))
        event_hits = _event_counts(box, plan, choices, kind, rng=rng, on_share=report)
    return tuple(_pair_bounds(plan, choice, event_hits) for choice in choices)


def _draw_batches(
    box: Target, plan: AuditPlan, size: int, *, rng: Rng
) -> Iterator[tuple[int, dict[_Cell, Messages]]]:
    """Yields the number of messages per cell so far, and a batch of them."""
    cells = [(a, b) for a in range(len(plan.levels)) for b in range(len(plan.values))]
    levels = np.array(plan.levels)
    value_array = as_array(list(plan.values))
    num_drawn, each = 0, max(_BATCH // len(cells), 1)
    while num_drawn < size:
        each = min(each, size - num_drawn)
        # Every batch has the same number of each cell, in random order, so that a box that
        # mixes up users or changes with time does so for all cells alike.
        order = rng.permutation(len(cells) * each)
        cell = np.repeat(np.arange(len(cells)), each)[order]
        level, value = cell // len(plan.values), cell % len(plan.values)
        queried = (
            [plan.values[index] for index in value.tolist()]
            if value_array is None
            else value_array[value]
        )
        messages = box.draw(queried, levels[level], rng=rng)
        num_drawn += each
        # Sorting once is faster than looking for each cell.
        indices = np.argsort(cell, kind="stable").reshape(len(cells), each)
        parts = (messages.at(row) for row in indices)
        yield num_drawn, dict(zip(cells, parts, strict=True))


def _learn(
    box: Target, plan: AuditPlan, *, rng: Rng, on_share: Callable[[float], None]
) -> dict[_Cell, Messages]:
    """Draws the messages to learn from, of each level and value."""
    collected: dict[_Cell, list[Messages]] = {}
    for done, batch in _draw_batches(box, plan, plan.learned, rng=rng):
        for cell, messages in batch.items():
            parts = collected.setdefault(cell, [])
            # Bounds the memory: later batches are drawn and left out.
            if not parts or done * messages.num_columns <= _NUMBERS:
                parts.append(messages)
        on_share(done / plan.samples)
    learned = {cell: concatenate(parts) for cell, parts in collected.items()}
    # If some cells have whole numbers and others floats, all are treated as floats.
    first = [messages.at(np.arange(1)) for messages in learned.values()]
    return {
        cell: messages.like(concatenate(first)) for cell, messages in learned.items()
    }


def _choose(plan: AuditPlan, learned: dict[_Cell, Messages]) -> list[_PairEvents]:
    """Chooses an event per ordered pair and statement, before any is counted."""
    choices = []
    for level, epsilon in enumerate(plan.levels):
        statements = guarantee_bounds(epsilon, plan.delta)
        for first, second in combinations(range(len(plan.values)), 2):
            first_messages, other = learned[level, first], learned[level, second]
            # Scores serve both orders, as events are on either side of a threshold.
            scores = learn_scores(first_messages, other)
            for value, against in ((first, second), (second, first)):
                messages, other_messages = (
                    learned[level, value],
                    learned[level, against],
                )
                # Events are chosen on the second half of the learned messages.
                growth = plan.counted / (len(messages) - len(messages) // 2)
                events = [
                    choose_event(
                        scores,
                        messages,
                        other_messages,
                        proves=proves,
                        alpha=plan.alpha,
                        growth=growth,
                    )
                    for proves in statements
                ]
                choices.append(
                    _PairEvents(level, value, against, (events[0], events[1]))
                )
    return choices


def _event_counts(
    box: Target,
    plan: AuditPlan,
    chosen: list[_PairEvents],
    kind: Messages,
    *,
    rng: Rng,
    on_share: Callable[[float], None],
) -> dict[tuple[MessageEvent, int], int]:
    """Counts each event among the messages about a value."""
    queried: dict[_Cell, list[MessageEvent]] = {}
    for choice in chosen:
        for value in (choice.value, choice.other):
            queried.setdefault((choice.level, value), []).extend(choice.events)
    hits: dict[tuple[MessageEvent, int], int] = {}
    for num_counted, batch in _draw_batches(box, plan, plan.counted, rng=rng):
        for (level, value), messages in batch.items():
            messages_of_kind = messages.like(kind)
            # Many events share a score.
            scores: dict[int, Floats] = {}
            for event in queried[level, value]:
                if id(event.score) not in scores:
                    scores[id(event.score)] = event.score(messages_of_kind)
                inside = event.contains(scores[id(event.score)])
                key = (event, value)
                hits[key] = hits.get(key, 0) + int(np.count_nonzero(inside))
        on_share((plan.learned + num_counted) / plan.samples)
    return hits


def _pair_bounds(
    plan: AuditPlan, choice: _PairEvents, hits: dict[tuple[MessageEvent, int], int]
) -> PairBounds:
    epsilon = plan.levels[choice.level]
    bounds = []
    statements = guarantee_bounds(epsilon, plan.delta)
    for event, proves in zip(choice.events, statements, strict=True):
        counts = hits[event, choice.value], hits[event, choice.other]
        lower = probability_lower_bound(counts[0], plan.counted, plan.alpha)
        upper = probability_upper_bound(counts[1], plan.counted, plan.alpha)
        bounds.append(
            EventBound(float(proves(lower, upper)), str(event), counts, plan.counted)
        )
    return PairBounds(
        level=epsilon,
        value=value_text(plan.values[choice.value]),
        other=value_text(plan.values[choice.other]),
        epsilon=bounds[0],
        delta=bounds[1],
    )
