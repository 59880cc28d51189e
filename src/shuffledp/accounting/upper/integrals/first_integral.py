"""The first integral of the blanket bound that is tried, with as little noise as may be."""

from collections.abc import Callable
from contextlib import suppress

from shuffledp.accounting.failed_trials import FailedTrials
from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.few_at_saddle import few_of
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import SaddleEstimate

# Points times atoms of an integral that takes ten milliseconds, and of one that takes a
# few, as a composition makes hundreds.
_SLOW_WORK, _MUCH_WORK = 1e6, 3e5
# Where losses vary within cells, as many times the noise: 1e-5 of epsilon. Sums of fewer
# messages are not smooth by themselves: they get as much as adds this part to the bound, up
# to these parts, over their number, of a message's variance, as far as it tells and all.
COARSER, _MANY_MESSAGES, _ADDED = 50.0, 1e3, 1e-3
_MOST_NOISE, _MOST_OF_ALL = 0.02, 2e-4


def usual_ends(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    log_g: LogProduct,
    smoother: float,
) -> tuple[float, float]:
    """Returns the ends of an integral with as little noise as the work permits.

    Args:
        integrated: Returns the ends of the integral of a loss.
        loss: The target user's.
        log_g: Of the other people.
        smoother: Times which the noise is the usual one where it takes long.

    Raises:
        OverflowError: If it takes too much work, or numbers are too extreme.
    """
    if smoother > 1.0:
        with suppress(OverflowError):
            return integrated(loss, most_work=_SLOW_WORK)
    with suppress(OverflowError):
        return integrated(loss, smoother=smoother)
    return integrated(few_of(loss, log_g), smoother=smoother)


def coarse_noises(
    loss: Atoms,
    variance: float,
    log_g: LogProduct,
    few: Callable[[], tuple[Atoms, SaddleEstimate]],
) -> tuple[float, ...]:
    """Returns variances of noise for a loss that varies within cells, the least first.

    Args:
        loss: The target user's.
        variance: Its own.
        log_g: Of the other people.
        few: Returns the loss on few values, and about the bound for it.
    """
    messages = max(float(log_g.probabilities @ log_g.counts), 1.0)
    if messages >= _MANY_MESSAGES:
        return (0.0,)
    most = max(_MOST_NOISE * loss.telling, _MOST_OF_ALL * variance) / messages
    _, about = few()
    if not about.bend > 0.0:
        return (most,)
    return min(2.0 * _ADDED / (messages * about.bend), most), most


def coarse_ends(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    few: Callable[[], tuple[Atoms, SaddleEstimate]],
    noises: tuple[float, ...],
) -> tuple[float, float]:
    """Returns the ends of an integral of a loss that varies within cells.

    Args:
        integrated: Returns the ends of the integral of a loss.
        loss: The target user's.
        few: Returns it on few values, and about the bound for it.
        noises: Variances of noise that are tried.

    Raises:
        OverflowError: If it takes too much work, or numbers are too extreme.
    """
    for noise in noises:
        with suppress(OverflowError):
            return integrated(loss, smoother=COARSER, noise=noise)
        with suppress(OverflowError):
            return integrated(few()[0], smoother=COARSER, noise=noise)
    raise OverflowError


def quick_ends(
    integrated: Callable[..., tuple[float, float]],
    loss: Atoms,
    epsilon: float,
    long: FailedTrials,
) -> tuple[float, float]:
    """Returns the ends of an integral that takes little work.

    Args:
        integrated: Returns the ends of the integral of a loss.
        loss: The target user's.
        epsilon: At which it is the loss.
        long: Integrals of this bound that took more work.

    Raises:
        OverflowError: If it takes more, likely or surely, or numbers are too extreme.
    """
    if long.surround(epsilon):
        raise OverflowError
    ends = None
    with suppress(OverflowError):
        ends = integrated(loss, most_work=_MUCH_WORK)
    long.add(epsilon, failed=ends is None)
    if ends is None:
        raise OverflowError
    return ends
