"""Rows of a table of noise: how much there is, and the rates that keep targets with it.

More noise is post-processing, and a smaller rate is the same with some messages dropped: a
row proves what is above its noise and below its rates.
"""

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_profile import CountsProfile
from shuffledp.accounting.counts.report_bounds import ReportBounds
from shuffledp.accounting.epsilon_solver import round_down, round_up
from shuffledp.errors import CertificationError, InvalidInputError

# Every party of a task reads and checks all rows.
MAX_ROWS = 64
# Part of delta that is left for the rounding of other machines and of other searches.
MARGIN = 0.01
# By which factor e^{+-tau} draws may change the probability of all honest reports.
COIN_ERROR = 1e-6

# Neighboring noises differ by at most this factor, up to this number of rows.
_RATIO, _MOST_ROWS = 1.6, 12
# Up to this many targets, the noise at which each sends everything has a row.
_FEW_TARGETS = 8
# Rates fall by 0.3% until one is certified, and by 17% at most.
_STEP, _MOST_STEPS = 0.997, 60


def check_rows(
    noise: Sequence[float], rates: Sequence[Sequence[float]], num_targets: int
) -> None:
    """Checks the form of rows.

    Args:
        noise: Of each row, strictly increasing.
        rates: Of each row, one for each target, none smaller than in the row before.
        num_targets: How many targets there are.

    Raises:
        InvalidInputError: If they are of another form.
    """
    if not 1 <= len(noise) <= MAX_ROWS or len(rates) != len(noise):
        raise InvalidInputError(f"Expected 1 to {MAX_ROWS} rows, with rates each.")
    ascending = zip((0.0, *noise), noise, strict=False)
    if not all(before < after < math.inf for before, after in ascending):
        raise InvalidInputError("Expected noise above 0, strictly increasing.")
    for before, after in itertools.pairwise(((0.0,) * num_targets, *rates)):
        if len(after) != num_targets or not all(
            low <= high <= 1.0 for low, high in zip(before, after, strict=True)
        ):
            raise InvalidInputError(
                "Expected one rate in [0, 1] for each target, not falling with noise."
            )


def row_below(noise: Sequence[float], available: float) -> int | None:
    """Returns the last row with at most this noise; None if there is none."""
    row = bisect_right(noise, available) - 1
    return row if row >= 0 else None


def check_rates(
    targets: Sequence[float], rates: Sequence[float], row_rates: Sequence[float]
) -> None:
    """Checks that no rate exceeds that of a row.

    Args:
        targets: Central epsilons.
        rates: Of a plan, one for each target.
        row_rates: Of the row.

    Raises:
        InvalidInputError: If one does.
    """
    for target, rate, limit in zip(targets, rates, row_rates, strict=True):
        if not rate <= limit:
            raise InvalidInputError(
                f"Expected a rate of at most {limit:g} at target {target:g}, got "
                f"{rate:g}."
            )


def certified_delta(
    answers: Mapping[float, int],
    rate: float,
    target: float,
    *,
    delta: float,
    cut: float,
    coin_error: float,
) -> float:
    """Returns a proven upper bound of the divergence at a target.

    Args:
        answers: Of a person, by the mean noise of their buckets.
        rate: Probability to send an answer.
        target: Central epsilon.
        delta: About the size of the divergence.
        cut: Probability that any honest report is cut.
        coin_error: tau of `draw_rounding.drift`.
    """
    groups = [(2 * times, times, PoissonNoise(mean)) for mean, times in answers.items()]
    profile = CountsProfile.of_groups(groups, rate, delta=delta, times=1)
    ideal_cut = min(cut + 2.0 * profile.missing, 1.0)
    return ReportBounds(profile, ideal_cut, coin_error + profile.drift).upper(target)


def prove_rows(
    noise: Sequence[float],
    rates: Sequence[Sequence[float]],
    targets: Sequence[float],
    delta: float,
    certified: Callable[[float, float, float], float],
) -> None:
    """Certifies every rate of all rows.

    Args:
        noise: Of each row.
        rates: Of each row, one for each target.
        targets: Central epsilons.
        delta: At which they are to be kept.
        certified: Returns a proven upper bound of the divergence for a noise, a rate and a
            target.

    Raises:
        CertificationError: If one rate does not keep its target.
    """
    for column, target in enumerate(targets):
        proven = 0.0
        for amount, row in zip(noise, rates, strict=True):
            # A rate that a smaller noise allows needs no proof of its own.
            if row[column] > proven:
                proven = row[column]
                if not certified(amount, proven, target) <= delta:
                    raise CertificationError(
                        f"Expected rates that keep target {target:g} at delta "
                        f"{delta:g}, got {proven:g} with {amount:g} blanket messages."
                    )


def find_rows(
    targets: Sequence[float],
    *,
    keeps: Callable[[float, float, float], bool],
    estimated_noise: Callable[[float], float],
    estimated_rate: Callable[[float, float], float],
    largest_noise: float,
) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """Returns noises and rates that keep targets, with nearly the largest rates.

    Args:
        targets: Central epsilons, strictly increasing.
        keeps: Whether a noise and a rate are proven to keep a target.
        estimated_noise: About the smallest noise at which a target sends everything.
        estimated_rate: About the largest rate, for a noise and a target.
        largest_noise: Beyond which nothing is proven.

    Raises:
        CertificationError: If nothing is found that can be proven.
    """

    def everything(target: float) -> float:
        """Returns a noise at which this target sends every message."""
        noise = estimated_noise(target)
        for _ in range(_MOST_STEPS):
            noise = round_up(noise)
            if noise > largest_noise:
                break
            if keeps(noise, 1.0, target):
                return noise
            noise /= _STEP**2
        raise CertificationError(f"No noise found that keeps target {target:g}.")

    def rate_of(noise: float, target: float, minimum: float) -> float:
        rate = estimated_rate(noise, target)
        for _ in range(_MOST_STEPS):
            rate = round_down(rate)
            if rate <= minimum:
                return minimum
            if keeps(noise, rate, target):
                return rate
            rate *= _STEP
        return minimum

    has_few_targets = len(targets) <= _FEW_TARGETS
    kinks = {
        target: everything(target)
        for target in (targets if has_few_targets else (targets[0], targets[-1]))
    }
    noises = _noises_between(sorted(set(kinks.values())))
    rows: list[tuple[float, ...]] = []
    minimum = (0.0,) * len(targets)
    for noise in noises:
        # Rates never fall with noise, as more of it is post-processing.
        minimum = tuple(
            1.0
            if before == 1.0 or noise >= kinks.get(target, math.inf)
            else rate_of(noise, target, before)
            for target, before in zip(targets, minimum, strict=True)
        )
        rows.append(minimum)
    return tuple(noises), tuple(rows)


def _noises_between(noises: Sequence[float]) -> list[float]:
    """Returns noises with others between them, in equal steps of the logarithm."""
    log_range = math.log(noises[-1] / noises[0])
    step = max(math.log(_RATIO), log_range / _MOST_ROWS)
    grid = [noises[0]]
    for low, high in itertools.pairwise(noises):
        parts = max(round(math.log(high / low) / step), 1)
        ratio = (high / low) ** (1.0 / parts)
        grid += [round_up(low * ratio**part) for part in range(1, parts)]
        grid.append(high)
    return grid
