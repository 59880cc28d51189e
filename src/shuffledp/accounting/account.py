"""What each privacy level is worth after the shuffle: the entry point of the accountant."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from shuffledp.accounting.accounting_query import (
    AccountingQuery,
    check_either,
    check_whole,
)
from shuffledp.accounting.assumptions import theorems
from shuffledp.accounting.cautions import FEW_AT_A_LEVEL
from shuffledp.accounting.certificate_guard import check_defines_own
from shuffledp.accounting.exposure import SingleMessages, exposures_of, identity_of
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import Population
from shuffledp.version import __version__

# With more distinct levels than this, quantiles are reported.
_MAX_REPORTED_LEVELS = 32
# Certificates list up to so many levels.
_MAX_LISTED_LEVELS = 10_000
_QUANTILES = {
    "minimum": 0.0,
    "lower quartile": 0.25,
    "median": 0.5,
    "upper quartile": 0.75,
    "maximum": 1.0,
}


def account(
    protocol: Any,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    levels: Sequence[float] | None = None,
    quantiles: bool | None = None,
    absent: int = 0,
    rounds: int = 1,
    coordinates: int = 1,
) -> Guarantee:
    """Certifies what a shuffled collection is worth for the people of every level.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6)
    >>> [level.epsilon_central for level in guarantee.levels]
    [0.0191044, 0.0618954]

    Args:
        protocol: The object that runs on the devices: `Frequency`, `Mean`, `BinarySum`,
            `Strings`, `Items`, a round of training, or any randomizer by itself.
        people: Levels and counts of those who take part.
        delta: In [1e-300, 1): report the smallest certified epsilon of each level.
        epsilon: Finite and >= 0, instead of `delta`: report the smallest certified delta.
        levels: Report these levels only; each must be somebody's.
        quantiles: Report minimum, quartiles and maximum of the budgets instead of every
            level. By default so if there are more than 32 levels.
        absent: How many of the other people may be absent or collude. Who they are is
            not known: those are left out who would have given most cover.
        rounds: How often the same people take part, with independent randomness.
        coordinates: How many reports each of them sends per round, each shuffled apart.

    Returns:
        A `Guarantee` with, per level, the certified upper bound and the lower bound that
        a concrete attack proves.

    Raises:
        InvalidInputError: Unless exactly one of delta and epsilon is given, in range, and
            the protocol hands over what a certificate can rest on.
        UnknownLevelError: If one of `levels` is nobody's.
        PopulationError: If there is only one person, who has nobody to hide among.
        CertificationError: If no bound can be proven in double precision.
    """
    for exposure in exposures_of(protocol, _checked(people)):
        if isinstance(exposure, SingleMessages):
            check_defines_own(exposure.randomizer, "covers")
    if hasattr(protocol, "exposures"):
        check_defines_own(protocol, "exposures")
    return certify(
        protocol,
        people,
        delta=delta,
        epsilon=epsilon,
        levels=levels,
        quantiles=quantiles,
        absent=absent,
        rounds=rounds,
        coordinates=coordinates,
    )


def certify(
    protocol: Any,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    levels: Sequence[float] | None = None,
    quantiles: bool | None = None,
    absent: int = 0,
    rounds: int = 1,
    coordinates: int = 1,
) -> Guarantee:
    """Certifies what a protocol states, without asking whether it draws what it states.

    For those who compare the two; everybody else asks `account`, which see.
    """
    delta = None if delta is None else as_number(delta, "delta")
    epsilon = None if epsilon is None else as_number(epsilon, "epsilon")
    check_either(delta, epsilon)
    check_people(people, absent)
    check_whole(rounds, "rounds", least=1)
    check_whole(coordinates, "coordinates", least=1)
    exposures = exposures_of(protocol, people)
    asked = AccountingQuery(
        named=reported(people, levels, quantiles),
        counts=people.counts,
        delta=delta,
        epsilon=epsilon,
        absent=int(absent),
        rounds=int(rounds),
        coordinates=int(coordinates),
    )
    stated, *also = (exposure.certify(asked) for exposure in exposures)
    main = exposures[0]
    return Guarantee(
        protocol=identity_of(protocol),
        about=stated.about,
        num_users=people.num_users,
        absent=asked.absent,
        rounds=asked.rounds,
        coordinates=asked.coordinates,
        delta=delta,
        epsilon=epsilon,
        levels=stated.levels,
        also=tuple(also),
        theorem=theorems(stated.levels),
        assumptions=main.assumptions(asked),
        numerics=main.numerics(asked),
        people=_listed(people),
        people_digest=digest(people),
        version=__version__,
        num_rare=int((people.counts < FEW_AT_A_LEVEL).sum()),
    )


def digest(people: Population) -> str:
    """Returns SHA-256 of all levels and counts, as little-endian 64-bit numbers."""
    content = hashlib.sha256(np.ascontiguousarray(people.epsilons, "<f8").data)
    content.update(np.ascontiguousarray(people.counts, "<i8").data)
    return content.hexdigest()


def _checked(people: Population) -> Population:
    if not isinstance(people, Population):
        raise InvalidInputError(f"Expected a Population, got {type(people).__name__}.")
    return people


def check_people(people: Population, absent: int) -> None:
    """Raises PopulationError unless everybody has others to hide among."""
    _checked(people)
    if people.num_users < 2:
        raise PopulationError(
            "Expected at least 2 people, got 1: nobody can hide in a crowd of one."
        )
    check_whole(absent, "absent people", least=0)
    if absent > people.num_users - 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {absent}."
        )


def _listed(people: Population) -> tuple[tuple[float, int], ...] | None:
    if people.num_levels > _MAX_LISTED_LEVELS:
        return None
    return tuple(zip(people.epsilons.tolist(), people.counts.tolist(), strict=True))


def reported(
    people: Population,
    levels: Sequence[float] | None = None,
    quantiles: bool | None = None,
) -> dict[str | int, int]:
    """Returns the levels to report, by quantile name or by position.

    Arguments and errors are those of `account`.
    """
    if levels is not None:
        if quantiles:
            raise InvalidInputError("Expected either levels or quantiles, not both.")
        indices = people.level_indices(list(levels)).tolist()
        if not indices:
            raise InvalidInputError("Expected at least one level to report.")
        return {index: index for index in sorted(set(indices))}
    if quantiles is None:
        quantiles = people.num_levels > _MAX_REPORTED_LEVELS
    if not quantiles:
        return {index: index for index in range(people.num_levels)}
    ranks = np.cumsum(people.counts)
    last = people.num_users - 1
    # The person of rank floor(q (n - 1)), counted from 0: always somebody's own budget.
    return {
        name: int(np.searchsorted(ranks, int(share * last), side="right"))
        for name, share in _QUANTILES.items()
    }
