"""The parameters that the paper publishes for a collection of sets, and their guarantees.

Sampling rates are the largest that Theorem 3 states to keep the targets, for the m of the
least printed error bound or a given one. Where every user holds one item, each target has
three numbers:

    stated       delta of Theorem 3, by which the rates were chosen
    least        Proposition 1: a lower bound on every proven delta
    proven       the blanket theorem for this protocol, the empty message included

For more items per user the paper's delta is group privacy of one item's; for these
parameters no delta is proven here.

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
from shuffledp.population import Population
from shuffledp.statistics.items.protocol import Items
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.segmented.privacy import SegmentedPrivacy
from shuffledp_papers.segmented.protocol import published_items, published_mse
from shuffledp_papers.segmented.segmented_messages import SegmentedMessages

_WARNING = (
    "Not certified. Theorem 3 holds where everything is sent; below that, the number of "
    "all messages may tell who sent an item: see `shuffledp claims --case V11`."
)


@dataclass(frozen=True)
class TargetGuarantee:
    """The delta of the published parameters at one target.

    Attributes:
        target: Central epsilon.
        num_users: Number of users who ask for it.
        rate: The sampling rate lambda, by Theorem 3.
        stated: The delta that Theorem 3 states at the target.
        least: Proposition 1; None for sets of more than one item.
        proven: A proven delta; None for sets of more than one item.
    """

    target: float
    num_users: int
    rate: float
    stated: float
    least: float | None
    proven: float | None


@dataclass(frozen=True)
class PublishedItemsPlan:
    """The parameters that step 2 of the paper publishes.

    Attributes:
        protocol: The protocol that devices would run.
        delta: At which targets are stated.
        error_bound: Printed bound on the sum over items of squared errors.
        guarantees: One per target.
    """

    protocol: Items
    delta: float
    error_bound: float
    guarantees: tuple[TargetGuarantee, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as plain values, for JSON."""
        return {
            "blanket": self.protocol.blanket,
            "send_chances": list(self.protocol.rates),
            "error_bound": self.error_bound,
            "delta": self.delta,
            "targets": [
                {
                    "target": guarantee.target,
                    "people": guarantee.num_users,
                    "delta_stated": guarantee.stated,
                    "delta_at_least": guarantee.least,
                    "delta_proven": guarantee.proven,
                }
                for guarantee in self.guarantees
            ],
            # Theorem 3, by which the rates were chosen, is false below rate 1.
            "certified": False,
        }


def published_plan(
    people: Population,
    *,
    num_items: int,
    set_size: int,
    delta: float,
    blanket: float | None = None,
) -> PublishedItemsPlan:
    """Returns the paper's parameters and their guarantees.

    Args:
        people: Central targets, and the number of users who ask for each.
        num_items: d.
        set_size: s.
        delta: At which targets are stated.
        blanket: m, if communication is given; by default the best.
    """
    protocol = published_items(
        people, num_items=num_items, set_size=set_size, delta=delta, blanket=blanket
    )
    counts = people.counts.tolist()
    guarantees = tuple(
        _guarantee(protocol, people, level, delta, count)
        for level, count in enumerate(counts)
    )
    bound = published_mse(
        people, protocol.rates, set_size=set_size, blanket=protocol.blanket
    )
    return PublishedItemsPlan(protocol, delta, bound, guarantees)


def published_plan_table(plan: PublishedItemsPlan) -> RenderableType:
    """Returns the plan as a table for the terminal."""
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
    for each in plan.guarantees:
        cells = [
            plain(each.target),
            f"{each.num_users:,}",
            f"{each.rate:.6g}",
            f"{each.stated:.3g}",
        ]
        if each.least is not None and each.proven is not None:
            cells += [f"{each.least:.3g}", f"{each.proven:.3g}"]
        table.add_row(*cells)
    explanation = (
        f"Everybody sends {protocol.blanket:.6g} blanket messages in the mean. Printed "
        f"bound on the sum over items of squared errors: {plan.error_bound:.3g}.\n"
        f"{_WARNING}"
    )
    return Group(table, Text(explanation))


def _guarantee(
    protocol: Items, people: Population, level: int, delta: float, count: int
) -> TargetGuarantee:
    target, rate = float(people.epsilons[level]), protocol.rates[level]

    def stated(as_printed: bool) -> float:
        bound = SegmentedPrivacy(
            protocol.num_items, protocol.blanket, protocol.set_size, rate, as_printed
        )
        return bound.delta(Setting(people), target)

    minimum = proven = None
    # Proposition 1 is about one item: e^-epsilon of the delta that counts all messages.
    if protocol.set_size == 1:
        # The bound multiplies by e^epsilon for group privacy, also for one item.
        minimum = stated(False) * np.exp(-target)
        proven = _messages(protocol, people).certified_delta(level, target, delta=delta)
    return TargetGuarantee(target, count, rate, stated(True), minimum, proven)


def _messages(protocol: Items, people: Population) -> SegmentedMessages:
    """Returns the Poisson randomizer of one item, two values, and the empty message."""
    # Values are items 0 and 1: by symmetry any pair of different items is alike.
    d = protocol.num_items

    def table(rate: float) -> Floats:
        rows = np.zeros((2, d + 1))
        rows[0, 0] = rows[1, 1] = rate
        rows[:, d] = 1.0 - rate
        return rows

    # Message d is the empty one, which no blanket message is.
    omega = np.append(np.full(d, 1.0 / d), 0.0)
    tables = tuple(table(rate) for rate in protocol.rates)
    return SegmentedMessages(people, tables, omega, protocol.blanket)
