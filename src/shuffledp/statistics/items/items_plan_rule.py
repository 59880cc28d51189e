"""The rule for plans of sets of items: rates below a certified noise table."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shuffledp.accounting.counts.report_truncation import smallest_report
from shuffledp.accounting.items.expected_error import items_mean_squared_error
from shuffledp.accounting.items.items_parameters import ItemsParameters
from shuffledp.accounting.items.noise_table import NoiseTable, make_noise_table
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.identity import Identity
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.stated_rows import StatedRows, plain_rows
from shuffledp.tally import Tally

# Reports are no larger than a device sends.
_MOST_MESSAGES = 4096
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
        table = _table(
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
        _prove(self.table)

    def check(self, plan: Identity, minimum: int) -> None:
        """See `PlanRule`."""
        # H of docs/theory/plans.md: people who really send their blanket messages.
        honest = minimum - self.framework.absent
        self.table.check(_parameters(plan), honest)

    def plan(self, chosen: Tally, minimum: int, *, spare: int) -> Identity:
        """See `PlanRule`."""
        people = self.framework.count_choices(chosen).people()
        honest = minimum - self.framework.absent
        if honest - spare < 1:
            raise InvalidInputError(
                f"Expected more than {self.framework.absent + spare:,} people, got "
                f"{minimum:,}."
            )
        d, s = self.framework.num_items, self.framework.set_size
        best: tuple[float, ItemsParameters] | None = None
        for noise, rates in zip(self.table.noise, self.table.rates, strict=True):
            # Rounded up: the honest people's blanket messages reach the certified noise.
            blanket = noise / (honest - spare) * (1.0 + 2.0 * _ULP)
            size = smallest_report(
                blanket,
                s,
                # Reports of spare people count, too: the bound of cuts rises with them.
                honest=honest,
                # A cut costs 1 + e^epsilon times its probability: most at this target.
                epsilon=self.table.targets[-1],
                delta=self.table.delta,
            )
            # The rule's own bound of what is cut may be a little smaller.
            while not self.table.fits(blanket, size - s, honest):
                size += 1
                if size > _MOST_MESSAGES:
                    break
            # Noise increases by row: later rows need larger reports still.
            if size > _MOST_MESSAGES:
                break
            error = items_mean_squared_error(
                people, rates, num_items=d, set_size=s, blanket=blanket
            )
            if best is None or error < best[0]:
                parameters = ItemsParameters(
                    d, s, self.table.targets, rates, blanket, size
                )
                best = error, parameters
        if best is None:
            raise CertificationError(
                f"Expected more people than {minimum:,}: no report of up to "
                f"{_MOST_MESSAGES:,} messages holds enough blanket messages."
            )
        return best[1].identity


def _parameters(plan: Identity) -> ItemsParameters:
    """Returns the parameters of a plan; raises InvalidInputError if it is none."""
    try:
        return Items.from_record(plan.record).parameters
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise InvalidInputError("Expected a plan for sets of items.") from error


# A table depends on these four terms alone, and takes a second to compute.
@lru_cache(maxsize=64)
def _table(
    targets: tuple[float, ...], delta: float, num_items: int, set_size: int
) -> NoiseTable:
    return make_noise_table(targets, delta, num_items=num_items, set_size=set_size)


# A proof is remembered by the content of its table. A failure raises, and is not.
@lru_cache(maxsize=64)
def _prove(table: NoiseTable) -> None:
    table.prove()
