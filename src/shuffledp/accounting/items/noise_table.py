"""Certified sampling rates for a grid of noise totals: an upper limit for every safe plan.

A plan's *noise* is honest people x m: the blanket messages that they send together, in the
mean. A row of the table lists a noise and, for each target, a rate that keeps it there.
More noise is post-processing, a smaller rate is the same with some items dropped, and
smaller errors of cuts and draws are covered by larger ones: docs/theory/plans.md proves
that a plan below a row keeps every target.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp.accounting.calibration.checked_targets import positive_targets
from shuffledp.accounting.counts.draw_rounding import drift
from shuffledp.accounting.counts.estimated_delta import (
    estimated_mean,
    estimated_send_probability,
)
from shuffledp.accounting.counts.poisson_pair import LARGEST_MEAN
from shuffledp.accounting.counts.rate_rows import (
    COIN_ERROR,
    MARGIN,
    certified_delta,
    check_rates,
    check_rows,
    find_rows,
    prove_rows,
    row_below,
)
from shuffledp.accounting.counts.report_truncation import CUT_SHARE, cut_probability
from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.accounting.items.items_parameters import ItemsParameters, check_sizes
from shuffledp.errors import InvalidInputError


@dataclass(frozen=True)
class NoiseTable:
    """Rates that keep targets, and the settings for which they were certified.

    Attributes:
        num_items: d, at least 2.
        set_size: s, from 1 to d.
        targets: Central epsilons above 0, strictly increasing.
        delta: At which targets are kept, in (0, 1).
        cut: The largest probability that any honest report is cut by its size.
        coin_error: The largest tau of `draw_rounding.drift`.
        noise: Blanket messages of all honest people together, strictly increasing, shape
            (rows,).
        rates: The largest rate of each target at each noise, none smaller than at the
            noise before, shape (rows, targets).
    """

    num_items: int
    set_size: int
    targets: tuple[float, ...]
    delta: float
    cut: float
    coin_error: float
    noise: tuple[float, ...]
    rates: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        check_sizes(self.num_items, self.set_size)
        positive_targets(self.targets)
        small = (self.delta, self.cut, self.coin_error)
        if not all(0.0 < number < 1.0 for number in small):
            raise InvalidInputError("Expected delta, cut and draw error in (0, 1).")
        check_rows(self.noise, self.rates, len(self.targets))

    def row_below(self, noise: float) -> int | None:
        """Returns the last row with at most this noise; None if there is none."""
        return row_below(self.noise, noise)

    def check(self, plan: ItemsParameters, num_honest: int) -> None:
        """Checks that a plan keeps every target if `num_honest` people answer honestly.

        Args:
            plan: For the table's items, sets and targets.
            num_honest: The least number of people who really send their blanket messages.

        Raises:
            InvalidInputError: If the table does not show it.
        """
        stated = (plan.num_items, plan.set_size, plan.targets, plan.noise)
        # Rates were certified for these numbers alone; nothing is known of other noise.
        if stated != (self.num_items, self.set_size, self.targets, "poisson"):
            raise InvalidInputError("Expected a plan for the rule's items and targets.")
        # More noise than a row has only helps: the last row below proves the most
        # rates.
        row = self.row_below(num_honest * plan.blanket) if num_honest >= 1 else None
        if row is None:
            raise InvalidInputError(
                f"Expected at least {self.noise[0]:g} blanket messages from {num_honest:,} "
                f"honest people, got {max(num_honest, 0) * plan.blanket:g}."
            )
        check_rates(self.targets, plan.rates, self.rates[row])
        if not self.fits(plan.blanket, plan.cap, num_honest):
            raise InvalidInputError(
                f"Expected larger reports than {plan.report_size:,} messages, or fewer "
                "blanket messages per person."
            )

    def fits(self, blanket: float, cap: int, num_honest: int) -> bool:
        """Tells whether cuts and draws cost no more than the table allows."""
        return (
            cut_probability(blanket, cap, num_honest) <= self.cut
            and drift(blanket, cap, num_honest) <= self.coin_error
        )

    def prove(self) -> None:
        """Certifies every rate of the table.

        Raises:
            CertificationError: If one does not keep its target.
        """
        prove_rows(self.noise, self.rates, self.targets, self.delta, self._delta)

    def _delta(self, noise: float, rate: float, target: float) -> float:
        return certified_delta(
            {noise / self.num_items: self.set_size},
            rate,
            target,
            delta=self.delta,
            cut=self.cut,
            coin_error=self.coin_error,
        )


def make_noise_table(
    targets: Sequence[float], delta: float, *, num_items: int, set_size: int
) -> NoiseTable:
    """Computes a table that `NoiseTable.prove` certifies, with nearly the largest rates.

    Args:
        targets: Central epsilons above 0, strictly increasing.
        delta: At which they are to be kept, in (0, 1).
        num_items: d.
        set_size: s, at most d.

    Raises:
        InvalidInputError: If a parameter is out of range.
        CertificationError: If nothing is found that can be proven.
    """
    # At epsilon, reports that are cut cost (1 + e^epsilon) times their probability.
    cut = round_down(CUT_SHARE * delta / (1.0 + math.exp(max(targets))))

    def keeps(noise: float, rate: float, target: float) -> bool:
        certified = certified_delta(
            {noise / num_items: set_size},
            rate,
            target,
            delta=delta,
            cut=cut,
            coin_error=COIN_ERROR,
        )
        # The table is proven again on other machines, whose roundings may differ.
        return certified <= (1.0 - MARGIN) * delta

    # Estimates aim below the delta that rates must keep, so that most are certified
    # at once.
    goal = (1.0 - 2.0 * MARGIN) * delta
    noise, rates = find_rows(
        targets,
        keeps=keeps,
        estimated_noise=lambda target: (
            num_items * estimated_mean(1.0, set_size, target, goal)
        ),
        estimated_rate=lambda noise, target: estimated_send_probability(
            noise / num_items, set_size, target, goal
        ),
        largest_noise=num_items * LARGEST_MEAN,
    )
    return NoiseTable(
        num_items=num_items,
        set_size=set_size,
        targets=tuple(targets),
        delta=delta,
        cut=cut,
        coin_error=COIN_ERROR,
        noise=noise,
        rates=rates,
    )
