"""How far a calibration stays below its targets, where their last digits take long.

Reports that are shuffled in parts, and noise of several levels, have bounds that are slow,
and whose last digits are rough: nothing is won by a search for these. Bounds of several
rounds are composed, which takes long, too, though all their digits are known.
"""

from contextlib import suppress

from shuffledp.accounting.calibration.calibration_search import WIDTH
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import ShuffledpError
from shuffledp.population import Population

# Parts of budgets: together with what a search may leave, twice as much is unused, and
# three times as much where bounds are composed.
_ROUGH, _ROUGH_COMPOSED, _COMPOSED = 2e-4, 3e-4, 5e-5
# Relative width at which searches for one number end, where bounds are composed.
_COMPOSED_WIDTH = 1e-4
# Some population, to see how a protocol is certified.
_TWO_LEVELS = Population.from_counts({0.5: 2**20, 1.0: 2**20})


def target_margin(promise: Promise, num_levels: int) -> float:
    """Returns how far a calibration stays below its targets, as a part of budgets.

    Args:
        promise: Protocol, delta and rounds.
        num_levels: How many levels are calibrated together.
    """
    exposure = promise.exposure(_TWO_LEVELS)
    if exposure.randomizer.changes > 1:
        return _ROUGH
    if num_levels == 1 or exposure.mode != "agnostic":
        return 0.0
    is_composed = promise.num_reports > 1
    if has_blankets_in_steps(promise):
        return _ROUGH_COMPOSED if is_composed else _ROUGH
    return _COMPOSED if is_composed else 0.0


def search_width(promise: Promise, num_levels: int) -> float:
    """Returns the relative width at which a search for one number ends.

    Args:
        promise: Protocol, delta and rounds.
        num_levels: How many levels must keep their targets.
    """
    width = WIDTH
    if promise.num_reports > 1:
        is_rough = has_blankets_in_steps(promise)
        width = _ROUGH_COMPOSED if is_rough else _COMPOSED_WIDTH
    return max(width, target_margin(promise, num_levels))


def has_blankets_in_steps(promise: Promise) -> bool:
    """Returns whether several levels hide in noise, by blankets that are searched for.

    Args:
        promise: Protocol and delta.
    """
    exposure = promise.exposure(_TWO_LEVELS)
    # A randomizer of somebody else's may refuse this level.
    with suppress(ShuffledpError):
        ((cover, *_),) = exposure.randomizer.covers(
            _TWO_LEVELS.epsilons[:1].tolist(), _TWO_LEVELS, delta=promise.delta
        )
        return exposure.mode == "agnostic" and cover.noise is not None
    return False
