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
from shuffledp.accounting.upper.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.fewer_atoms import fewer_atoms
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import (
    rough_saddle,
    saddle_estimate,
)

# Nothing smaller is ever returned: it might have been rounded down to 0.
SMALLEST = 1e-306
_LOG_SMALLEST = math.log(SMALLEST)
# Points times atoms of an integral that takes ten milliseconds, and of one that takes a
# few, as a composition makes hundreds. Longer ones are smoothed by so many times the noise,
# for fewer points: 2e-6 of epsilon, and, as much as chords add in a composition, 2e-5.
_SLOW_WORK, _SMOOTHER = 1e6, 10.0
_MUCH_WORK, _COMPOSED = 3e5, 100.0
# The sum of fewer losses is as smooth as they are, and fewer values of them save nothing.
_MANY_MESSAGES = 30.0
# Nothing else is tried where the upper end is no more than so many times the lower one.
_WELL_KNOWN = 1.1
# Which parts of the bound, about, the largest losses may add where they are moved down.
_TAKEN = 1e-6, 1e-3


def integral_ends(
    loss: Atoms,
    unit: float,
    log_g: LogProduct,
    epsilon: float,
    *,
    coarse: bool,
    long: FailedTrials | None,
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
    """
    # Losses that are never positive add up to none; there is no saddle.
    if loss.losses.max() <= 0.0:
        return 0.0, 0.0
    integrated = functools.partial(_integrated, unit=unit, log_g=log_g, coarse=coarse)
    # Losses that vary within cells are smoothed more already, and at 0 sums may be 0, half
    # of which noise would count.
    smoother = 1.0 if coarse or epsilon == 0.0 else _SMOOTHER
    last_smoother = smoother if long is None else _COMPOSED
    attempts: list[Callable[[], tuple[float, float]]] = [
        lambda: _usual_ends(integrated, loss, log_g, smoother),
        *(
            functools.partial(
                _without_largest, integrated, loss, unit, log_g, last_smoother, part
            )
            for part in _TAKEN
        ),
        lambda: integrated(fewer_atoms(loss), smoother=last_smoother),
    ]
    if long is not None:
        attempts[0] = lambda: _within_composition(
            integrated, loss, log_g, epsilon, long
        )
    best = math.nan, math.nan
    with np.errstate(all="ignore"):
        for attempt in attempts:
            with suppress(OverflowError, ValueError, ZeroDivisionError):
                ends = attempt()
                if ends[0] < best[0] or math.isnan(best[0]):
                    best = ends
            if best[0] <= max(_WELL_KNOWN * best[1], SMALLEST):
                break
    return best


def _usual_ends(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    log_g: LogProduct,
    smoother: float,
) -> tuple[float, float]:
    """Returns the ends of an integral with as little noise as the work permits.

    Raises:
        OverflowError: If it takes too much work, or numbers are too extreme.
    """
    if smoother > 1.0:
        with suppress(OverflowError):
            return integrated(loss, most_work=_SLOW_WORK)
    with suppress(OverflowError):
        return integrated(loss, smoother=smoother)
    return _of_fewer(integrated, loss, log_g, smoother)


def _within_composition(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    log_g: LogProduct,
    epsilon: float,
    long: FailedTrials,
) -> tuple[float, float]:
    """Returns the ends of an integral that takes little work, if that can be.

    Raises:
        OverflowError: If numbers are too extreme.
    """
    if not long.surround(epsilon):
        ends = None
        with suppress(OverflowError):
            ends = integrated(loss, most_work=_MUCH_WORK)
        long.add(epsilon, failed=ends is None)
        if ends is not None:
            return ends
    return _of_fewer(integrated, loss, log_g, _COMPOSED)


def _of_fewer(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    log_g: LogProduct,
    smoother: float,
) -> tuple[float, float]:
    """Returns the ends of the integral of few values of the loss, if these save work.

    Raises:
        OverflowError: If it takes too much work, or numbers are too extreme.
    """
    has_many = float(log_g.probabilities @ log_g.counts) >= _MANY_MESSAGES
    return integrated(
        few_at_saddle(loss, log_g) if has_many else loss, smoother=smoother
    )


def few_at_saddle(loss: Atoms, log_g: LogProduct) -> Atoms:
    """Returns the loss on few of its values, for the moment that decides on the bound.

    Args:
        loss: The target user's.
        log_g: log G(1 + x), of the other people.
    """
    tilt = rough_saddle(loss, log_g.probabilities, log_g.counts)
    return fewer_atoms(loss, tilt, float(log_g.probabilities @ log_g.counts))


def _without_largest(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    unit: float,
    log_g: LogProduct,
    smoother: float,
    part: float,
) -> tuple[float, float]:
    """Returns the ends of the integral where few losses are far above all others.

    They are moved down, and what that takes from the mean is added: (a + b)_+ is no more
    than a_+ + b of b >= 0, and the sum of all that is taken, over the number of messages,
    has its mean.

    Args:
        integrated: Returns the ends of the integral of a loss.
        loss: The target user's.
        unit: Of the loss.
        log_g: Of the other people.
        smoother: Times which the noise is the usual one.
        part: Of the bound, which may be added.

    Raises:
        OverflowError: If it takes too much work, or numbers are too extreme.
        ValueError: Likewise.
        ZeroDivisionError: Likewise.
    """
    about = saddle_estimate(loss, log_g.probabilities, log_g.counts)
    bounded, taken = bounded_above(loss, part * about)
    if not taken > 0.0:
        raise OverflowError
    upper, lower = _of_fewer(integrated, bounded, log_g, smoother)
    return upper + taken * unit, lower


def _integrated(
    loss: Atoms,
    unit: float,
    log_g: LogProduct,
    *,
    coarse: bool,
    smoother: float = 1.0,
    most_work: float = math.inf,
) -> tuple[float, float]:
    """Returns upper and lower end of the integral, of losses in this unit.

    Raises:
        OverflowError: If it takes more work, or numbers are too extreme.
    """
    integrand = ContourIntegrand(
        loss,
        log_g,
        coarse=coarse,
        smoother=smoother,
        most_work=most_work,
    )
    level = integrand.level + math.log(unit)
    if level + math.log(integrand.absolute) <= _LOG_SMALLEST:
        # So far out the points are millions, and nothing smaller is returned.
        return SMALLEST, 0.0
    value, error = integrand.integral()
    upper = math.exp(level + math.log(max(value, 0.0) + error))
    return upper, math.exp(level) * max(value - error, 0.0)
