"""Tables and records of a plan for a collection of sets."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.items.optimized_items import OptimizedItems
from shuffledp.format_number import plain


def items_plan_table(plan: OptimizedItems) -> RenderableType:
    """Returns sampling rates and guarantees of every target, and predicted errors."""
    guarantee, parameters = plan.guarantee, plan.parameters
    table = Table(
        title=f"Sets of up to {parameters.set_size} of {parameters.num_items:,} items from "
        f"{guarantee.num_users:,} people, at delta = {plain(guarantee.delta or 0.0)}",
        title_justify="left",
    )
    for heading in ("asked for", "people", "chance to send an item"):
        table.add_column(heading, justify="right")
    table.add_column(
        "central epsilon\n(certified)", justify="right", style="bold green"
    )
    table.add_column("central epsilon\n(attack shows)", justify="right")
    # Both in ascending order of targets.
    for level, rate in zip(guarantee.levels, parameters.rates, strict=True):
        table.add_row(
            plain(level.chosen),
            f"{level.count:,}",
            plain(rate),
            plain(level.epsilon_central),
            plain(level.epsilon_central_lower),
        )
    # The error is the root of a mean over items, for the data that make it largest.
    words = [
        f"Each person sends {plain(parameters.blanket)} blanket messages in the mean, and "
        f"a report of {parameters.report_size:,} messages, dummies included: "
        f"{plan.bits_per_person:,} bits.",
        f"Predicted standard error of an item's share: {plan.mean_squared_error**0.5:.3g}.",
    ]
    if plan.everything_sent:
        words.append("All people send all their items: targets make no difference.")
    if plan.limited:
        words.append("More messages per person would reduce the error.")
    assumed = "\n".join(f"  - {assumption}" for assumption in guarantee.assumptions)
    return Group(
        table,
        Text("\n".join(words)),
        *(Text(caution, style="yellow") for caution in guarantee.cautions),
        Text(f"\nAssumed:\n{assumed}"),
    )


def items_plan_to_dict(plan: OptimizedItems) -> dict[str, Any]:
    """Returns the plan as plain values, for JSON."""
    return {
        "statistic": "items",
        "blanket": plan.parameters.blanket,
        "send_chances": list(plan.parameters.rates),
        "mean_squared_error": plan.mean_squared_error,
        "messages_per_person": plan.parameters.report_size,
        "bits_per_person": plan.bits_per_person,
        "everything_sent": plan.everything_sent,
        "limited": plan.limited,
        "guarantee": plan.guarantee.to_dict(),
    }
