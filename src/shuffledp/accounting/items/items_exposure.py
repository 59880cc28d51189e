"""Sets of items among Poisson blanket messages, certified and attacked at every target.

Users send each of their at most s items with a probability set by their target, Poisson(m)
blanket messages, and dummies up to `report_size` messages, which only the analyst can
tell from items. `items_profile` bounds the effect of s replaced items; `report_bounds` adds
the cost of truncated reports and of rounded draws.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.assumptions import ORDER, UNLINKED, counted
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.draw_rounding import coin_error, drift
from shuffledp.accounting.counts.estimated_delta import estimated_delta
from shuffledp.accounting.counts.rate_statement import (
    LEAST_DELTA,
    certify_rates,
    losses_of_rates,
    pairs_of_rates,
)
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.counts.report_truncation import cut_probability
from shuffledp.accounting.items.items_profile import items_profile
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.rounds.part_losses import Kinds, PartLosses
from shuffledp.accounting.statement import Statement
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population


@dataclass(frozen=True, eq=False)
class ItemsAmongPoisson:
    """One report of several messages per person, all shuffled together.

    Attributes:
        num_items: d.
        set_size: s, the most items that a person holds.
        blanket: m, blanket messages per person in the mean.
        report_size: Messages per person, dummies included.
        people: Central epsilons that people chose, in the place of levels.
        rates: Probability to send an item, of each of them, shape (targets,).
    """

    num_items: int
    set_size: int
    blanket: float
    report_size: int
    people: Population
    rates: tuple[float, ...]

    def assumptions(self, query: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        times = query.rounds * query.coordinates
        once = "once" if times == 1 else f"{times:,} times, with independent randomness"
        return (
            f"{counted(query.absent)} are honest and really draw their Poisson blanket "
            "messages; people who collude or are absent hide no one. A person's own "
            "blanket messages count, too.",
            f"Each person sends one report of {self.report_size:,} messages, {once}: "
            "items, blanket messages, and dummies, which only the analyst can tell apart.",
            "People are independent, and sets do not depend on others' messages.",
            ORDER,
            UNLINKED.format("Targets"),
            "Two collections are compared in which one person's set, of at most "
            f"{self.set_size:,} items, is replaced by any other; that person's target, and "
            "how many people chose each, are public.",
        )

    def numerics(self, query: AccountingQuery) -> tuple[str, ...]:
        """See `Exposure`."""
        cut, off = self._cut(query), 2.0 * self._drift(query)
        return (
            "Certified numbers have six digits, rounded outward, at which the bound was "
            "evaluated and held.",
            "Bounds of truncation and rounding are added to every certified delta, and "
            "what the limited size of reports cuts off, with a probability of at most "
            f"{cut:.1e}.",
            "The probabilities of devices' draws have a relative error of at most "
            f"{coin_error(self.blanket):.1e}: all draws together add {off:.1e} to every "
            "certified epsilon.",
            "Composed through a loss distribution that dominates that of one item (chords "
            "between nodes), by an integral whose errors are added.",
        )

    def certify(self, query: AccountingQuery) -> Statement:
        """Answers the query; errors are those of `certify_rates`."""
        return certify_rates(
            query,
            people=self.people,
            rates=self.rates,
            changes=self._times(query) * self.set_size,
            bounds_of=lambda rate: self._with_draws(self._ideal(rate, query), query),
            sent="items",
            rests_on="items",
        )

    @property
    def message_family(self) -> Hashable:
        """See `ComposableExposure`."""
        return self

    def attacked(self, query: AccountingQuery) -> Statement:
        """See `ComposableExposure`."""
        return self.certify(query)

    def part_losses(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, PartLosses]:
        """See `ComposableExposure`."""

        def losses_of(rate: float, near: AccountingQuery) -> tuple[ReportBounds, Kinds]:
            # The same profile serves bounds and losses, so that both drop the same
            # tails.
            ideal = self._ideal(rate, near)
            return self._with_draws(ideal, near), ideal.kinds

        return losses_of_rates(
            query, delta=delta, rates=self.rates, losses_of=losses_of
        )

    def attacked_pairs(
        self, query: AccountingQuery, *, delta: float
    ) -> dict[int, tuple[AttackedPair, ...]]:
        """See `ComposableExposure`."""
        return pairs_of_rates(
            query, delta=delta, rates=self.rates, profile_of=self._ideal
        )

    def _ideal(self, probability: float, query: AccountingQuery) -> CountsProfile:
        """Returns the profile of reports that are drawn exactly, and never cut."""
        times = self._times(query)
        mean = blanket_mean(self.blanket, self.num_items, self._honest(query))
        delta = query.delta
        # An epsilon was given: the delta to come is estimated.
        if delta is None:
            # Only how much may be dropped depends on it.
            near_epsilon = max(query.epsilon or 0.0, 1e-3)
            about = estimated_delta(
                mean, probability, times * self.set_size, near_epsilon
            )
            delta = min(max(about, LEAST_DELTA), 0.5)
        return items_profile(
            mean, probability, self.set_size, self.num_items, delta, times
        )

    def _with_draws(self, ideal: CountsProfile, query: AccountingQuery) -> ReportBounds:
        """Returns both ends for reports as devices draw and cut them."""
        return ReportBounds(ideal, self._cut(query), self._drift(query))

    def _honest(self, query: AccountingQuery) -> int:
        """Returns how many users surely send blanket messages, the target user included."""
        return self.people.num_users - query.absent

    def _times(self, query: AccountingQuery) -> int:
        return query.rounds * query.coordinates

    def _cut(self, query: AccountingQuery) -> float:
        """Returns a bound of the probability that a report is cut in any collection."""
        cap = self.report_size - self.set_size
        once = cut_probability(self.blanket, cap, self._honest(query))
        # A union bound over collections.
        return min(self._times(query) * once, 1.0)

    def _drift(self, query: AccountingQuery) -> float:
        """Returns tau, the drift of all honest draws in all collections."""
        cap = self.report_size - self.set_size
        return drift(self.blanket, cap, self._times(query) * self._honest(query))


def blanket_mean(blanket: float, num_items: int, num_honest: int) -> float:
    """Returns mu, the honest blanket messages per item in the mean.

    Raises:
        InvalidInputError: If there are none.
    """
    m = as_number(blanket, "blanket messages per person")
    if not (m > 0.0 and math.isfinite(m)):
        raise InvalidInputError(
            f"Expected more than 0 blanket messages per person, got {m:g}."
        )
    return num_honest * (m / num_items)
