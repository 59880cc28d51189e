"""Privacy profile of one level: certified and attacked delta at many epsilons."""

from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.exposure import Certifiable, single_messages
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population
from shuffledp.types import Floats

# The curve ends at the epsilon of this delta; smaller ones are rarely asked for.
_SHOWN_DELTA = 1e-12
# Every point takes a certified bound and an attack.
_MAX_POINTS = 250


@dataclass(frozen=True, eq=False)
class PrivacyProfile:
    """Certified and attacked delta of one level at many epsilons.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> profile = sdp.privacy_profile(sdp.Frequency(17), people, 1.0, num_points=3)
    >>> bool((profile.attacked <= profile.certified).all())
    True

    Attributes:
        epsilon_local: The local budget of the level.
        epsilons: Ascending, shape (points,).
        certified: Smallest certified delta at each, shape (points,).
        attacked: Delta that an attack proves at each, shape (points,).
    """

    epsilon_local: float
    epsilons: Floats
    certified: Floats
    attacked: Floats


def privacy_profile(
    protocol: Certifiable | LocalRandomizer,
    people: Population,
    level: float,
    *,
    num_points: int = 33,
    absent: int = 0,
    rounds: int = 1,
    coordinates: int = 1,
) -> PrivacyProfile:
    """Returns the profile from epsilon = 0 to where delta is about 1e-12.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> profile = sdp.privacy_profile(sdp.Frequency(17), people, 2.0, num_points=3)
    >>> profile.epsilons.round(4).tolist()
    [0.0, 0.0542, 0.1085]
    >>> [float(f"{delta:.2g}") for delta in profile.certified]
    [0.007, 5.2e-06, 1e-12]

    Args:
        protocol: The protocol of the devices and the shuffler.
        people: Levels and counts of the participants.
        level: Local budget of the level.
        num_points: Number of epsilons, from 2 to 250.
        absent: Number of other users who may be absent or collude.
        rounds: Number of collections with the same users.
        coordinates: Messages per user and round.

    Raises:
        InvalidInputError: If there are too few points, or too many.
        UnknownLevelError: If the level does not occur in the population.
    """
    check_whole(num_points, "points", least=2, most=_MAX_POINTS)
    (end,) = account(
        protocol,
        people,
        delta=_SHOWN_DELTA,
        levels=[level],
        absent=absent,
        rounds=rounds,
        coordinates=coordinates,
    ).levels
    (index,) = people.level_indices([level]).tolist()
    exposure = single_messages(protocol, people)
    times = rounds * coordinates * exposure.coordinates
    targets = exposure.targets(index, absent=absent, times=times)
    epsilons = np.linspace(0.0, end.epsilon_central, num_points)
    # Messages at budget 0 tell nothing, at any epsilon.
    if level == 0.0:
        return PrivacyProfile(0.0, epsilons, 0.0 * epsilons, 0.0 * epsilons)
    ((certified, attacked),) = targets.profiles(_SHOWN_DELTA)
    proven = np.array([min(certified(float(epsilon)), 1.0) for epsilon in epsilons])
    return PrivacyProfile(
        float(level),
        epsilons,
        # The profile is non-increasing: a bound at one epsilon holds at larger ones.
        np.minimum.accumulate(proven),
        np.array([attacked(float(epsilon)) for epsilon in epsilons]),
    )
