"""Certified sampling rates for a grid of noise totals: an upper limit for every safe plan.

A plan's *noise* is honest people x m: the blanket messages that they send together, in the
mean. A row of the table lists a noise and, for each target, a rate that keeps it there.
More noise is post-processing, a smaller rate is the same with some items dropped, and
smaller errors of cuts and draws are covered by larger ones: docs/theory/plans.md proves
that a plan below a row keeps every target.
"""

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from shuffledp.accounting.calibration_search import positive_targets
from shuffledp.accounting.epsilon_solver import round_down, round_up
from shuffledp.accounting.items.draw_rounding import drift
from shuffledp.accounting.items.estimated_delta import (
    estimated_mean,
    estimated_send_probability,
)
from shuffledp.accounting.items.item_pair import LARGEST_MEAN
from shuffledp.accounting.items.items_bounds import ItemsBounds
from shuffledp.accounting.items.items_parameters import ItemsParameters, check_sizes
from shuffledp.accounting.items.items_profile import ItemsProfile
from shuffledp.accounting.items.report_truncation import CUT_SHARE, cut_probability
from shuffledp.errors import CertificationError, InvalidInputError

MAX_ROWS = 64

# Part of delta that is left for the rounding of other machines and of other searches.
_MARGIN = 0.01
# By which factor e^{+-tau} draws may change the probability of all honest reports.
_COIN_ERROR = 1e-6
# Neighboring noises differ by at most this factor, up to this number of rows.
_RATIO, _MOST_ROWS = 1.6, 12
# Up to this many targets, the noise at which each sends everything has a row.
_FEW_TARGETS = 8
_STEP, _MOST_STEPS = 0.997, 60


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
        if not 1 <= len(self.noise) <= MAX_ROWS or len(self.rates) != len(self.noise):
            raise InvalidInputError(f"Expected 1 to {MAX_ROWS} rows, with rates each.")
        ascending = zip((0.0, *self.noise), self.noise, strict=False)
        if not all(before < after < math.inf for before, after in ascending):
            raise InvalidInputError("Expected noise above 0, strictly increasing.")
        rows = ((0.0,) * len(self.targets), *self.rates)
        for before, after in itertools.pairwise(rows):
            if len(after) != len(self.targets) or not all(
                low <= high <= 1.0 for low, high in zip(before, after, strict=True)
            ):
                raise InvalidInputError(
                    "Expected one rate in [0, 1] for each target, not falling with noise."
                )

    def row_below(self, noise: float) -> int | None:
        """Returns the last row with at most this noise; None if there is none."""
        row = bisect_right(self.noise, noise) - 1
        return row if row >= 0 else None

    def check(self, plan: ItemsParameters, honest: int) -> None:
        """Checks that a plan keeps every target if `honest` people answer honestly.

        Args:
            plan: For the table's items, sets and targets.
            honest: The least number of people who really send their blanket messages.

        Raises:
            InvalidInputError: If the table does not show it.
        """
        stated = (plan.num_items, plan.set_size, plan.targets, plan.noise)
        if stated != (self.num_items, self.set_size, self.targets, "poisson"):
            raise InvalidInputError("Expected a plan for the rule's items and targets.")
        row = self.row_below(honest * plan.blanket) if honest >= 1 else None
        if row is None:
            raise InvalidInputError(
                f"Expected at least {self.noise[0]:g} blanket messages from {honest:,} "
                f"honest people, got {max(honest, 0) * plan.blanket:g}."
            )
        for target, rate, max_rate in zip(
            self.targets, plan.rates, self.rates[row], strict=True
        ):
            if not rate <= max_rate:
                raise InvalidInputError(
                    f"Expected a rate of at most {max_rate:g} at target {target:g}, got "
                    f"{rate:g}."
                )
        if not self.fits(plan.blanket, plan.cap, honest):
            raise InvalidInputError(
                f"Expected larger reports than {plan.report_size:,} messages, or fewer "
                "blanket messages per person."
            )

    def fits(self, blanket: float, cap: int, honest: int) -> bool:
        """Tells whether cuts and draws cost no more than the table allows."""
        return (
            cut_probability(blanket, cap, honest) <= self.cut
            and drift(blanket, cap, honest) <= self.coin_error
        )

    def prove(self) -> None:
        """Certifies every rate of the table.

        Raises:
            CertificationError: If one does not keep its target.
        """
        for column, target in enumerate(self.targets):
            proven = 0.0
            for noise, rates in zip(self.noise, self.rates, strict=True):
                # A rate that a smaller noise allows needs no proof of its own.
                if rates[column] > proven:
                    proven = rates[column]
                    if not self._delta(noise, proven, target) <= self.delta:
                        raise CertificationError(
                            f"Expected rates that keep target {target:g} at delta "
                            f"{self.delta:g}, got {proven:g} with {noise:g} blanket "
                            "messages."
                        )

    def _delta(self, noise: float, rate: float, target: float) -> float:
        return _certified_delta(
            noise,
            rate,
            target,
            num_items=self.num_items,
            set_size=self.set_size,
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
        certified = _certified_delta(
            noise,
            rate,
            target,
            num_items=num_items,
            set_size=set_size,
            delta=delta,
            cut=cut,
            coin_error=_COIN_ERROR,
        )
        return certified <= (1.0 - _MARGIN) * delta

    goal = (1.0 - 2.0 * _MARGIN) * delta

    def everything(target: float) -> float:
        """Returns a noise at which this target sends every item."""
        noise = num_items * estimated_mean(1.0, set_size, target, goal)
        for _ in range(_MOST_STEPS):
            noise = round_up(noise)
            if noise > num_items * LARGEST_MEAN:
                break
            if keeps(noise, 1.0, target):
                return noise
            noise /= _STEP**2
        raise CertificationError(f"No noise found that keeps target {target:g}.")

    def rate_of(noise: float, target: float, min_rate: float) -> float:
        rate = estimated_send_probability(noise / num_items, set_size, target, goal)
        for _ in range(_MOST_STEPS):
            rate = round_down(rate)
            if rate <= min_rate:
                return min_rate
            if keeps(noise, rate, target):
                return rate
            rate *= _STEP
        return min_rate

    few = len(targets) <= _FEW_TARGETS
    kinks = {
        target: everything(target)
        for target in (targets if few else (targets[0], targets[-1]))
    }
    noises = _between(sorted(set(kinks.values())))
    rows: list[tuple[float, ...]] = []
    min_rates = (0.0,) * len(targets)
    for noise in noises:
        # Rates never fall with noise, as more of it is post-processing.
        min_rates = tuple(
            1.0
            if before == 1.0 or noise >= kinks.get(target, math.inf)
            else rate_of(noise, target, before)
            for target, before in zip(targets, min_rates, strict=True)
        )
        rows.append(min_rates)
    return NoiseTable(
        num_items=num_items,
        set_size=set_size,
        targets=tuple(targets),
        delta=delta,
        cut=cut,
        coin_error=_COIN_ERROR,
        noise=tuple(noises),
        rates=tuple(rows),
    )


def _between(noises: Sequence[float]) -> list[float]:
    """Returns noises with others between them, in equal steps of the logarithm."""
    whole = math.log(noises[-1] / noises[0])
    step = max(math.log(_RATIO), whole / _MOST_ROWS)
    grid = [noises[0]]
    for low, high in itertools.pairwise(noises):
        parts = max(round(math.log(high / low) / step), 1)
        ratio = (high / low) ** (1.0 / parts)
        grid += [round_up(low * ratio**part) for part in range(1, parts)]
        grid.append(high)
    return grid


def _certified_delta(
    noise: float,
    rate: float,
    target: float,
    *,
    num_items: int,
    set_size: int,
    delta: float,
    cut: float,
    coin_error: float,
) -> float:
    """Returns a proven upper bound of the divergence at a target."""
    ideal = ItemsProfile(noise / num_items, rate, set_size, num_items, delta)
    return ItemsBounds(ideal, cut, coin_error).upper(target)
