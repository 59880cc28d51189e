"""Composed profiles of the last target users, kept while one question is answered.

A calibration certifies budgets, and then again in the guarantee that it returns: to compose
takes most of the time of both. What is kept does not depend on what was asked for before;
bounds that are searched for do, and are searched for again. Once the question is answered
nothing is kept: mechanisms of others may change what they do.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shuffledp.accounting.rounds.composed_profile import composed_profile
from shuffledp.accounting.upper_profile import Profile, UpperProfile
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population

# Profiles of so few levels are kept, this many of them.
_FEW_LEVELS, _KEPT = 64, 64
_Key = tuple[int, bytes, bytes, int, int, int, float, int]
# With its randomizer, lest another one take its place in memory, which is in the key.
_Profiles = OrderedDict[_Key, tuple[LocalRandomizer, Profile]]
_known: ContextVar[_Profiles | None] = ContextVar("_known", default=None)


@contextmanager
def keeping_profiles() -> Iterator[None]:
    """Keeps composed profiles until this context is left."""
    token = _known.set(OrderedDict())
    try:
        yield
    finally:
        _known.reset(token)


def kept_profile(
    upper: UpperProfile,
    population: Population,
    target_user: int,
    absent: int,
    times: int,
    delta: float,
) -> Profile:
    """Returns `composed_profile`, which may have been computed for this question before.

    Args:
        upper: The certified profile of one shuffle.
        population: Users among whom the target user hides, themselves included.
        target_user: Position of the target user's level.
        absent: How many of the others may be absent or collude.
        times: Number of collections.
        delta: About the divergence that is asked for.
    """
    known = _known.get()
    if (
        known is None
        or times * upper.randomizer.changes == 1
        or population.num_levels > _FEW_LEVELS
        or "two messages" in upper.bounds
    ):
        return composed_profile(upper, times, delta)
    key = (
        id(upper.randomizer),
        population.epsilons.tobytes(),
        population.counts.tobytes(),
        target_user,
        absent,
        times,
        delta,
        upper.evaluations,
    )
    if key not in known:
        known[key] = upper.randomizer, composed_profile(upper, times, delta)
        if len(known) > _KEPT:
            known.popitem(last=False)
    return known[key][1]
