"""A plan for a collection of sets, for people and for machines."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.accounting.items.plan import ItemsPlan
from shuffledp.report.words import plain


def items_plan_table(plan: ItemsPlan) -> RenderableType:
    """Returns what every level sends and gets, and what is predicted."""
    guarantee = plan.guarantee
    table = Table(
        title=f"Sets of up to {guarantee.set_size} of {guarantee.num_items:,} items from "
        f"{guarantee.num_users:,} people, at delta = {plain(guarantee.delta)}",
        title_justify="left",
    )
    for heading in ("asked for", "people", "chance to send an item"):
        table.add_column(heading, justify="right")
    table.add_column(
        "central epsilon\n(certified)", justify="right", style="bold green"
    )
    table.add_column("central epsilon\n(attack shows)", justify="right")
    for level in guarantee.levels:
        table.add_row(
            plain(level.level),
            f"{level.count:,}",
            plain(level.send_chance),
            plain(level.epsilon_central),
            plain(level.epsilon_central_lower),
        )
    words = [
        f"Everybody sends {plain(plan.blanket)} blanket messages in the mean, and a report "
        f"of {plan.messages_per_person:,} messages, dummies included: "
        f"{plan.bits_per_person:,} bits.",
        f"Predicted standard error of an item's share: {plan.mean_squared_error**0.5:.3g}.",
    ]
    if plan.everything_sent:
        words.append("Everybody sends all her items: levels make no difference.")
    if plan.limited:
        words.append("More messages per person would reduce the error.")
    assumed = "\n".join(f"  - {assumption}" for assumption in guarantee.assumptions)
    return Group(table, Text("\n".join(words)), Text(f"\nAssumed:\n{assumed}"))


def items_plan_to_dict(plan: ItemsPlan) -> dict[str, Any]:
    """Returns everything as plain values."""
    return {
        "statistic": "items",
        "blanket": plan.blanket,
        "send_chances": list(plan.send_chances),
        "mean_squared_error": plan.mean_squared_error,
        "messages_per_person": plan.messages_per_person,
        "bits_per_person": plan.bits_per_person,
        "everything_sent": plan.everything_sent,
        "limited": plan.limited,
        "guarantee": plan.guarantee.to_dict(),
    }
