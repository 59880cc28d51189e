"""What the paper would publish for a collection of sets, and what is known of it.

Sampling rates are the largest that Theorem 3 states to keep the targets, for the m of the
least printed error bound or a given one. Where everybody holds one item, three numbers say
what these parameters are worth at each target:

    stated       delta of Theorem 3, by which the rates were chosen
    least        Proposition 1: no less, whatever is proven
    proven       the blanket theorem on what runs, the empty message included

For more items per person the paper's delta is group privacy of one item's; nothing is
proven here of as many coins as published.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Theorem 3, Proposition 1 and section 5.2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from shuffledp.format_number import plain
from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.segmented.any_randomizer import SegmentedMessages
from shuffledp.papers.segmented.privacy import SegmentedPrivacy
from shuffledp.papers.segmented.protocol import published_items, published_mse
from shuffledp.population import Population
from shuffledp.statistics.items.protocol import Items
from shuffledp.types import Floats

_WARNING = (
    "Not certified. Theorem 3 holds where everything is sent; below that, the number of "
    "all messages may tell who sent an item: see `shuffledp court --case V11`."
)


@dataclass(frozen=True)
class Worth:
    """What the published parameters are worth at one target.

    Attributes:
        target: Central epsilon that was asked for.
        people: How many people did.
        chance: lambda, by Theorem 3.
        stated: The delta that Theorem 3 states at the target.
        least: Proposition 1; None if people hold more than one item.
        proven: A proven delta; None if people hold more than one item.
    """

    target: float
    people: int
    chance: float
    stated: float
    least: float | None
    proven: float | None


@dataclass(frozen=True)
class PublishedPlan:
    """What step 2 of the paper publishes.

    Attributes:
        protocol: What devices would run.
        delta: At which targets are stated.
        error_bound: Printed bound on the sum over items of squared errors.
        worths: Of every target.
    """

    protocol: Items
    delta: float
    error_bound: float
    worths: tuple[Worth, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain values."""
        return {
            "blanket": self.protocol.blanket,
            "send_chances": list(self.protocol.rates),
            "error_bound": self.error_bound,
            "delta": self.delta,
            "targets": [
                {
                    "target": worth.target,
                    "people": worth.people,
                    "delta_stated": worth.stated,
                    "delta_at_least": worth.least,
                    "delta_proven": worth.proven,
                }
                for worth in self.worths
            ],
            "certified": False,
        }


def published_plan(
    people: Population,
    *,
    num_items: int,
    set_size: int,
    delta: float,
    blanket: float | None = None,
) -> PublishedPlan:
    """Returns the paper's parameters, and what is known of them.

    Args:
        people: Central targets, and how many people ask for each.
        num_items: d.
        set_size: s.
        delta: At which targets are stated.
        blanket: m, if communication is given; by default the best.
    """
    protocol = published_items(
        people, num_items=num_items, set_size=set_size, delta=delta, blanket=blanket
    )
    counts = people.counts.tolist()
    worths = tuple(
        _worth(protocol, people, level, delta, count)
        for level, count in enumerate(counts)
    )
    bound = published_mse(
        people, protocol.rates, set_size=set_size, blanket=protocol.blanket
    )
    return PublishedPlan(protocol, delta, bound, worths)


def published_plan_table(plan: PublishedPlan) -> RenderableType:
    """Returns the plan for people."""
    protocol = plan.protocol
    one_item = protocol.set_size == 1
    table = Table(
        title=f"As Wang et al. (2025) publish it, at delta = {plain(plan.delta)}",
        title_justify="left",
    )
    names = ["asked for", "people", "chance to send an item", "delta\n(stated)"]
    if one_item:
        names += ["delta\n(at least)", "delta\n(proven)"]
    for name in names:
        table.add_column(name, justify="right")
    for worth in plan.worths:
        cells = [
            plain(worth.target),
            f"{worth.people:,}",
            f"{worth.chance:.6g}",
            f"{worth.stated:.3g}",
        ]
        if worth.least is not None and worth.proven is not None:
            cells += [f"{worth.least:.3g}", f"{worth.proven:.3g}"]
        table.add_row(*cells)
    words = (
        f"Everybody sends {protocol.blanket:.6g} blanket messages in the mean. Printed "
        f"bound on the sum over items of squared errors: {plan.error_bound:.3g}.\n"
        f"{_WARNING}"
    )
    return Group(table, Text(words))


def _worth(
    protocol: Items, people: Population, level: int, delta: float, count: int
) -> Worth:
    target, chance = float(people.epsilons[level]), protocol.rates[level]

    def stated(as_printed: bool) -> float:
        bound = SegmentedPrivacy(
            protocol.num_items, protocol.blanket, protocol.set_size, chance, as_printed
        )
        return bound.delta(Setting(people), target)

    least = proven = None
    if protocol.set_size == 1:
        least = stated(False) * np.exp(-target)
        proven = _messages(protocol, people).certified_delta(level, target, delta=delta)
    return Worth(target, count, chance, stated(True), least, proven)


def _messages(protocol: Items, people: Population) -> SegmentedMessages:
    """Returns the Poisson randomizer of one item, two values, and the empty message."""
    d = protocol.num_items

    def table(rate: float) -> Floats:
        rows = np.zeros((2, d + 1))
        rows[0, 0] = rows[1, 1] = rate
        rows[:, d] = 1.0 - rate
        return rows

    omega = np.append(np.full(d, 1.0 / d), 0.0)
    tables = tuple(table(rate) for rate in protocol.rates)
    return SegmentedMessages(people, tables, omega, protocol.blanket)
