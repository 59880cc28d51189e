"""The rule for plans of sets of items: rates below a certified noise table."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shuffledp.accounting.items.expected_error import items_mean_squared_error
from shuffledp.accounting.items.items_parameters import ItemsParameters
from shuffledp.accounting.items.noise_table import NoiseTable, make_noise_table
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.statistics.counts.row_plans import (
    best_plan,
    honest_senders,
    prove_once,
    report_size,
)
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.stated_rows import StatedRows, plain_rows
from shuffledp.tally import Tally

# A little more than 2^-52, the relative distance of neighboring doubles.
_ULP = 2.3e-16


@dataclass(frozen=True)
class ItemsPlanRule:
    """See `PlanRule`.

    Attributes:
        framework: The terms of the collection: items, sets, targets, delta, absent people.
        table: For the same.
    """

    framework: ItemsFramework
    table: NoiseTable

    @classmethod
    def of(cls, framework: ItemsFramework) -> "ItemsPlanRule":
        """Computes the rule.

        Raises:
            CertificationError: If nothing is found that can be proven.
        """
        table = _computed_table(
            framework.targets,
            framework.delta,
            framework.num_items,
            framework.set_size,
        )
        return cls(framework, table)

    @classmethod
    def from_dict(cls, framework: ItemsFramework, value: object) -> "ItemsPlanRule":
        """Reads the output of `to_dict`.

        Raises:
            InvalidInputError: If a member is missing, unknown or out of range.
        """
        rows = StatedRows.from_dict(value)
        table = NoiseTable(
            num_items=framework.num_items,
            set_size=framework.set_size,
            targets=framework.targets,
            delta=framework.delta,
            cut=rows.cut,
            coin_error=rows.coin_error,
            noise=rows.noise,
            rates=rows.rates,
        )
        return cls(framework, table)

    def to_dict(self) -> dict[str, Any]:
        """See `PlanRule`."""
        return plain_rows(self.table)

    def prove(self) -> None:
        """See `PlanRule`."""
        prove_once(self.table)

    def check(self, plan: Identity, minimum: int) -> None:
        """See `PlanRule`."""
        # H of docs/theory/plans.md: people who really send their blanket messages.
        num_honest = minimum - self.framework.absent
        self.table.check(_plan_parameters(plan), num_honest)

    def plan(self, chosen: Tally, minimum: int, *, spare: int) -> Identity:
        """See `PlanRule`."""
        people = self.framework.count_choices(chosen).people()
        absent, targets = self.framework.absent, self.table.targets
        num_honest = honest_senders(minimum, absent=absent, spare=spare)
        d, s = self.framework.num_items, self.framework.set_size

        def plan_of(
            noise: float, rates: tuple[float, ...]
        ) -> tuple[float, Identity] | None:
            # Rounded up: the honest people's blanket messages reach the certified noise.
            blanket = noise / (num_honest - spare) * (1.0 + 2.0 * _ULP)
            size = report_size(self.table, blanket, s, num_honest)
            if size is None:
                return None
            error = items_mean_squared_error(
                people, rates, num_items=d, set_size=s, blanket=blanket
            )
            return error, ItemsParameters(d, s, targets, rates, blanket, size).identity

        return best_plan(self.table, minimum, plan_of)


def _plan_parameters(plan: Identity) -> ItemsParameters:
    """Returns the parameters of a plan; raises InvalidInputError if it is none."""
    try:
        return Items.from_record(plan.record).parameters
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise InvalidInputError("Expected a plan for sets of items.") from error


# A table depends on these four terms alone, and takes a second to compute.
@lru_cache(maxsize=64)
def _computed_table(
    targets: tuple[float, ...], delta: float, num_items: int, set_size: int
) -> NoiseTable:
    return make_noise_table(targets, delta, num_items=num_items, set_size=set_size)
