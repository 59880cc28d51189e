"""The integral of the blanket bound, with fewer points or values where it takes too long.

What is changed for that makes the bound larger, by a few parts in a million mostly
(contour.py).
"""

import functools
import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from shuffledp.accounting.failed_trials import FailedTrials
from shuffledp.accounting.upper.atoms import Atoms, bounded_above
from shuffledp.accounting.upper.few_at_saddle import few_of
from shuffledp.accounting.upper.fewer_atoms import fewer_atoms
from shuffledp.accounting.upper.integrals.contour_ends import SMALLEST, ends_of
from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.integrals.divided_loss import divided_ends
from shuffledp.accounting.upper.integrals.first_integral import (
    COARSER,
    coarse_ends,
    coarse_noises,
    quick_ends,
    usual_ends,
)
from shuffledp.accounting.upper.integrals.smoothed_loss import (
    LEAST_SMOOTHING,
    variance_of,
)
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import SaddleEstimate, saddle_estimate

# Long integrals are smoothed by so many times the noise, for fewer points: 2e-6 of epsilon,
# and, as much as chords add in a composition, 2e-5.
_SMOOTHER, _COMPOSED = 10.0, 100.0
# Which part of what stays uncovered an integral is not worth an effort.
NEGLIGIBLE = 1e-4
# Nothing else is tried where the upper end is no more than so many times the lower one.
_WELL_KNOWN = 1.1
# Which part of the bound, about, noise may add so that an integral is short, and which ones
# are tried for what is taken from the largest losses. Where many are composed, chords
# between them add more.
_NOISE, _TAKEN = 1e-4, (1e-4, 1e-2, 1.0)
# Likewise where rare losses are bounded by themselves.
_DIVIDED = 1e-4, 1e-2, 0.1
# Nor is it well known if it is so many times the estimate; near that, no more attempts of
# the same kind are made.
_MISTAKEN, _NEAR = 3.0, 1.5


def integral_ends(
    loss: Atoms,
    unit: float,
    log_g: LogProduct,
    epsilon: float,
    *,
    coarse: bool,
    long: FailedTrials | None,
    negligible: float = 0.0,
) -> tuple[float, float]:
    """Returns upper and lower end of the integral; NaN if nothing is known.

    Args:
        loss: The target user's loss, in units of `unit`.
        unit: In units of omega's density.
        log_g: log G(1 + x), of the other people.
        epsilon: At which it is the loss.
        coarse: Whether losses vary within cells.
        long: Integrals of this bound, if it is composed with others, so that fewer points
            do where they failed as too long; else None.
        negligible: An upper end of this size need not be any lower, nor known better.
    """
    # Losses that are never positive add up to none; there is no saddle.
    if loss.losses.max() <= 0.0:
        return 0.0, 0.0
    integrated = functools.partial(
        _integrated, unit=unit, log_g=log_g, negligible=negligible
    )
    few = functools.cache(functools.partial(_few, loss, log_g))
    # At 0 sums may be 0, half of which noise would count.
    smoother = 1.0 if epsilon == 0.0 else _SMOOTHER
    if coarse:
        smoother = COARSER
    last_smoother = smoother if long is None else max(smoother, _COMPOSED)
    variance = variance_of(loss.losses, loss.masses)
    noises = coarse_noises(loss, variance, log_g, few) if coarse else (0.0,)

    # In attempts that are to be short, as of a loss whose small values stay where they are.
    def most_noise(times: float) -> float:
        return max(noises[-1], LEAST_SMOOTHING * variance * times)

    short = functools.partial(integrated, smoother=last_smoother)
    eased = functools.partial(
        _eased, short, few, unit, log_g, most_noise(last_smoother)
    )

    def divided(part: float) -> tuple[float, float]:
        return divided_ends(
            loss,
            few()[1],
            unit,
            log_g,
            smoother=last_smoother,
            noise=most_noise(last_smoother),
            part=part,
            negligible=negligible,
        )

    def first() -> tuple[float, float]:
        if long is not None:
            times = COARSER if coarse else 1.0
            least = functools.partial(
                integrated, smoother=times, noise=most_noise(times)
            )
            return quick_ends(least, loss, epsilon, long)
        if coarse:
            return coarse_ends(integrated, loss, few, noises)
        return usual_ends(integrated, loss, log_g, smoother)

    def last(noise: float) -> tuple[float, float]:
        return short(fewer_atoms(loss), noise=noise)

    # Each kind where the one before it does not do.
    attempts: list[list[Callable[[], tuple[float, float]]]] = [
        [first],
        [functools.partial(divided, part) for part in _DIVIDED],
        [functools.partial(eased, part) for part in _TAKEN],
        [functools.partial(last, most_noise(last_smoother))],
        [functools.partial(last, 0.0)],
    ]
    best = math.nan, math.nan
    with np.errstate(all="ignore"):
        for kind in attempts:
            for attempt in kind:
                ends = math.nan, math.nan
                with suppress(OverflowError, ValueError, ZeroDivisionError):
                    ends = attempt()
                if ends[0] < best[0] or math.isnan(best[0]):
                    best = ends
                if best[0] <= max(negligible, SMALLEST):
                    return best
                # The lower end has as much noise: the estimate tells if that was too much.
                about = 0.0 if attempt is first else unit * few()[1].size
                most = _MISTAKEN * about if about > 0.0 else math.inf
                if best[0] <= min(_WELL_KNOWN * best[1], most):
                    return best
                # More of the same kind rounds less, and has as much noise.
                if ends[0] <= max(_NEAR * about, _WELL_KNOWN * ends[1]):
                    break
    return best


def _few(loss: Atoms, log_g: LogProduct) -> tuple[Atoms, SaddleEstimate]:
    """Returns the loss on few values, and about the bound for it, 0 if nothing is known."""
    few, about = few_of(loss, log_g), SaddleEstimate(0.0, 0.0, False)
    with (
        np.errstate(all="ignore"),
        suppress(OverflowError, ValueError, ZeroDivisionError),
    ):
        about = saddle_estimate(few, log_g.probabilities, log_g.counts)
    return few, about


def _eased(
    short: Callable[..., tuple[float, float]],
    few: Callable[[], tuple[Atoms, SaddleEstimate]],
    unit: float,
    log_g: LogProduct,
    least_noise: float,
    part: float,
) -> tuple[float, float]:
    """Returns the ends of an integral with all that makes it short.

    On few values; the largest of these are moved down, and what that takes from the mean is
    added: (a + b)_+ is no more than a_+ + b of b >= 0, and the sum of all that is taken,
    over the number of messages, has its mean. And with as much noise as may be.

    Args:
        short: Returns the ends of the integral of a loss.
        few: Returns the target user's on few values, and about the bound for it.
        unit: Of the loss.
        log_g: Of the other people.
        least_noise: Variance of the noise, at least.
        part: Of the bound, about, that may be taken.

    Raises:
        OverflowError: If it takes too much work, or numbers are too extreme.
        ValueError: Likewise.
        ZeroDivisionError: Likewise.
    """
    loss, about = few()
    if not about.size > 0.0:
        if part != _TAKEN[0]:
            # Nothing may be taken, again.
            raise OverflowError
        return short(loss, noise=least_noise)
    bounded, taken = bounded_above(loss, part * about.size)
    # Noise adds half its variance times the second derivative.
    messages = max(float(log_g.probabilities @ log_g.counts), 1.0)
    noise = max(2.0 * _NOISE / (messages * about.bend), least_noise)
    # The more is taken, the less is rounded where the largest losses decide.
    most_rounding = math.inf if part == _TAKEN[-1] else _MISTAKEN * about.size
    upper, lower = short(bounded, noise=noise, most_rounding=most_rounding)
    return upper + taken * unit, lower


def _integrated(
    loss: Atoms,
    unit: float,
    log_g: LogProduct,
    *,
    smoother: float = 1.0,
    noise: float = 0.0,
    most_work: float = math.inf,
    negligible: float = 0.0,
    most_rounding: float = math.inf,
) -> tuple[float, float]:
    """Returns upper and lower end of the integral, of losses in this unit.

    Raises:
        OverflowError: If it takes more work, or numbers are too extreme.
    """
    integrand = ContourIntegrand(
        loss,
        log_g,
        smoother=smoother,
        noise=noise,
        most_work=most_work,
    )
    return ends_of(integrand, unit, negligible=negligible, most_rounding=most_rounding)
