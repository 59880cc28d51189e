"""Estimates of a promise's deltas, kept for searches that ask for the same ones again.

Searches begin at several starts, and plans estimate before they fit: more than half of
all estimates were made before. They are of no proof, and depend on their arguments only.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import CertificationError
from shuffledp.population import Population

# Estimates of so few levels are kept, of so many populations.
_FEW_LEVELS, _KEPT = 64, 4_096


def estimates_of(
    promise: Promise,
    people: Population,
    targets: Sequence[float],
    *,
    in_steps: bool = False,
) -> list[float]:
    """Returns `Promise.estimates_of`; those of few levels are kept.

    Args:
        promise: Protocol and delta.
        people: The population.
        targets: Central epsilons of its first levels, or of all.
        in_steps: See `Promise.estimates_of`.

    Raises:
        CertificationError: Where nothing is estimated.
    """
    if people.num_levels > _FEW_LEVELS or not _is_hashable(promise):
        return promise.estimates_of(people, targets, in_steps=in_steps)
    levels = tuple(people.epsilons.tolist()), tuple(people.counts.tolist())
    estimates = _known(promise, *levels, tuple(targets), in_steps)
    if isinstance(estimates, str):
        raise CertificationError(estimates)
    return list(estimates)


def _is_hashable(promise: Promise) -> bool:
    try:
        hash(promise)
    except TypeError:
        # A protocol of somebody else's, maybe.
        return False
    return True


@lru_cache(maxsize=_KEPT)
def _known(
    promise: Promise,
    epsilons: tuple[float, ...],
    counts: tuple[int, ...],
    targets: tuple[float, ...],
    in_steps: bool,
) -> tuple[float, ...] | str:
    """Returns the estimates, or why there are none."""
    people = Population(np.array(epsilons), np.array(counts))
    try:
        return tuple(promise.estimates_of(people, targets, in_steps=in_steps))
    except CertificationError as error:
        return str(error)
