"""Plans of a collection of sets, for a command line."""

from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType

from shuffledp.accounting.items.optimized_items import optimize_items
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require_feature
from shuffledp.parameter import Parameter
from shuffledp.planning.plan_declaration import PlanDeclaration, PlanOutput
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.items.items_table import items_plan_table, items_plan_to_dict

_DESCRIPTION = """Plan a collection of sets: which items do people hold?

Finds the blanket messages per person, and the probability to send an item at each
target, that have the smallest error and keep the target of each person.

\b
Examples:
  shuffledp plan items --items 128 --set-size 4 --targets 0.5:1250,1:2500,2:1250
  shuffledp plan items --items 128 --set-size 1 --targets 0.5:5000 --published \\
    --blanket 1
"""


def _compute(
    wish: Wish,
    *,
    on_step: Callable[[str], None],
    num_items: int,
    set_size: int,
    max_messages: int | None,
    published: bool,
    blanket: float | None,
) -> PlanOutput:
    if blanket is not None and not published:
        raise InvalidInputError("Expected --blanket only with --published.")
    if published and wish.absent:
        raise InvalidInputError(
            "Expected --published without --absent: Theorem 3 counts all people."
        )
    # Before the plan is computed: it may not be installed.
    papers = require_feature("items-plan", what="--published") if published else None
    people = Population.from_counts(dict(wish.asked))
    plan = optimize_items(
        people,
        num_items=num_items,
        set_size=set_size,
        delta=wish.delta,
        max_messages=max_messages,
        absent=wish.absent,
    )
    if papers is None:
        return PlanOutput(
            lambda: items_plan_to_dict(plan), lambda: items_plan_table(plan)
        )
    on_step("published")
    paper = papers.published_plan(
        people,
        num_items=num_items,
        set_size=set_size,
        delta=wish.delta,
        blanket=blanket,
    )

    def record() -> dict[str, Any]:
        return items_plan_to_dict(plan) | {"published": paper.to_dict()}

    def tables() -> RenderableType:
        table = papers.published_plan_table(paper)
        return Group(items_plan_table(plan), "", table)

    return PlanOutput(record, tables)


PLAN = PlanDeclaration(
    _DESCRIPTION,
    (
        Parameter("num_items", "whole number", "How many items", "D", option="items"),
        Parameter("set_size", "whole number", "The most items that anybody holds", "S"),
        Parameter(
            "max_messages",
            "whole number",
            "The largest report, in messages [as many as the error asks for]",
            "B",
            required=False,
        ),
        Parameter(
            "published",
            "flag",
            "Show beside it what Wang et al. (2025) publish for the same people: the "
            "chances that their Theorem 3 states to keep the targets, at the blanket of "
            "the least error bound. Not certified",
            required=False,
        ),
        Parameter(
            "blanket",
            "number",
            "With --published: blanket messages per person in the mean [the best]",
            "M",
            required=False,
        ),
    ),
    _compute,
    takes_levels=False,
)
