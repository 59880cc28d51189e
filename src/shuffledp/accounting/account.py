"""Entry point of the accountant: the central guarantee of every privacy level."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shuffledp.accounting.accounting_query import (
    AccountingQuery,
    check_either,
    check_rounds,
    check_whole,
)
from shuffledp.accounting.assumptions import theorems
from shuffledp.accounting.cautions import FEW_AT_A_LEVEL
from shuffledp.accounting.certificate_guard import check_certifiable
from shuffledp.accounting.exposure import (
    Certifiable,
    Exposure,
    exposures_of,
    identity_of,
)
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.joint.protocol_composition import one_protocol
from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import as_number
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import Population
from shuffledp.version import __version__

# With more distinct levels than this, quantiles are reported.
_MAX_REPORTED_LEVELS = 32
# Certificates list at most this many levels.
_MAX_LISTED_LEVELS = 10_000
_QUANTILES = {
    "minimum": 0.0,
    "lower quartile": 0.25,
    "median": 0.5,
    "upper quartile": 0.75,
    "maximum": 1.0,
}


def account(
    protocol: Certifiable | LocalRandomizer | Sequence[Certifiable | LocalRandomizer],
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
    """Certifies the central guarantee of a shuffled collection for every level.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6)
    >>> [level.epsilon_central for level in guarantee.levels]
    [0.0191044, 0.0618954]

    Args:
        protocol: The object that runs on the devices: `Frequency`, `Mean`, `BinarySum`,
            `Strings`, `Items`, a round of training, or any randomizer by itself. A list
            of several is certified as one: see `ProtocolComposition`.
        people: Levels and counts of the participants.
        delta: In [1e-300, 1): report the smallest certified epsilon of each level.
        epsilon: Finite and >= 0, instead of `delta`: report the smallest certified delta.
        levels: Report these levels only; each must occur in the population.
        quantiles: Report minimum, quartiles and maximum of the budgets instead of every
            level. By default True if there are more than 32 levels.
        absent: Number of other users who may be absent or collude. Their identity is
            unknown: those who would have given most cover are left out.
        rounds: Number of collections with the same users and independent randomness.
        coordinates: Reports per user and round, each shuffled apart.

    Returns:
        A `Guarantee` with, per level, the certified upper bound and the lower bound that
        a concrete attack proves.

    Raises:
        InvalidInputError: Unless exactly one of delta and epsilon is given, in range, and
            the protocol provides covers that a certificate can rest on.
        UnknownLevelError: If one of `levels` does not occur in the population.
        PopulationError: If there is only one user, who has no others to hide among.
        CertificationError: If no bound can be proven in double precision.
    """
    protocol = one_protocol(protocol)
    exposures = exposures_of(protocol, expect_instance(people, Population))
    check_certifiable(protocol, exposures)
    query = AccountingQuery(
        {}, people.counts, delta, epsilon, absent, rounds, coordinates
    )
    query = _validated(query, people, levels, quantiles)
    return _guarantee(protocol, people, exposures, query)


def certify(
    protocol: Certifiable | LocalRandomizer, people: Population, *, epsilon: float
) -> Guarantee:
    """Certifies deltas for a protocol whose draws are not checked against its covers."""
    # Conformance tests compare the two, and so have to bound classes that `account`
    # refuses: there is no guard here.
    expect_instance(people, Population)
    query = AccountingQuery({}, people.counts, None, epsilon)
    query = _validated(query, people)
    return _guarantee(protocol, people, exposures_of(protocol, people), query)


def _validated(
    query: AccountingQuery,
    people: Population,
    levels: Sequence[float] | None = None,
    quantiles: bool | None = None,
) -> AccountingQuery:
    """Returns the query with checked numbers and the positions of the levels to report."""
    delta = None if query.delta is None else as_number(query.delta, "delta")
    epsilon = None if query.epsilon is None else as_number(query.epsilon, "epsilon")
    check_either(delta, epsilon)
    check_people(people, query.absent)
    check_rounds(query.rounds, query.coordinates)
    return replace(
        query,
        named=reported(people, levels, quantiles),
        delta=delta,
        epsilon=epsilon,
        # NumPy integers are accepted, and would not be written as JSON.
        absent=int(query.absent),
        rounds=int(query.rounds),
        coordinates=int(query.coordinates),
    )


def _guarantee(
    protocol: Certifiable | LocalRandomizer,
    people: Population,
    exposures: Sequence[Exposure],
    query: AccountingQuery,
) -> Guarantee:
    main = exposures[0]
    statement, *also = (exposure.certify(query) for exposure in exposures)
    return Guarantee(
        protocol=identity_of(protocol),
        about=statement.about,
        num_users=people.num_users,
        absent=query.absent,
        rounds=query.rounds,
        coordinates=query.coordinates,
        delta=query.delta,
        epsilon=query.epsilon,
        levels=statement.levels,
        also=tuple(also),
        theorem=theorems(statement.levels),
        assumptions=main.assumptions(query),
        numerics=main.numerics(query),
        people=_listed_levels(people),
        people_digest=digest(people),
        version=__version__,
        # Counted over all levels: of very many, only some are stated or listed.
        num_rare=int((people.counts < FEW_AT_A_LEVEL).sum()),
    )


def digest(people: Population) -> str:
    """Returns SHA-256 of all levels and counts, as little-endian 64-bit numbers."""
    # The byte order is fixed: certificates are verified on other machines.
    people_hash = hashlib.sha256(np.ascontiguousarray(people.epsilons, "<f8").data)
    people_hash.update(np.ascontiguousarray(people.counts, "<i8").data)
    return people_hash.hexdigest()


def check_people(people: Population, absent: int) -> None:
    """Raises PopulationError unless every user has others to hide among."""
    expect_instance(people, Population)
    if people.num_users < 2:
        raise PopulationError(
            "Expected at least 2 people, got 1: a population of one hides no person."
        )
    check_whole(absent, "absent people", least=0)
    if absent > people.num_users - 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {absent}."
        )


def _listed_levels(people: Population) -> tuple[tuple[float, int], ...] | None:
    if people.num_levels > _MAX_LISTED_LEVELS:
        # The digest still speaks for all levels.
        return None
    return tuple(zip(people.epsilons.tolist(), people.counts.tolist(), strict=True))


def reported(
    people: Population,
    levels: Sequence[float] | None = None,
    quantiles: bool | None = None,
) -> dict[str | int, int]:
    """Returns the positions of the levels to report, by quantile name or position.

    Arguments and errors are those of `account`.
    """
    if levels is not None:
        if quantiles:
            raise InvalidInputError("Expected either levels or quantiles, not both.")
        indices = people.level_indices(expect_list(levels, "levels")).tolist()
        if not indices:
            raise InvalidInputError("Expected at least one level to report.")
        return {index: index for index in sorted(set(indices))}
    if quantiles is not None and not isinstance(quantiles, bool | np.bool_):
        raise InvalidInputError("Expected quantiles to be True, False or None.")
    if quantiles is None:
        quantiles = people.num_levels > _MAX_REPORTED_LEVELS
    if not quantiles:
        return {index: index for index in range(people.num_levels)}
    ranks = np.cumsum(people.counts)
    last = people.num_users - 1
    # The user of rank floor(q (n - 1)), counted from 0: always an actual user's level.
    return {
        name: int(np.searchsorted(ranks, int(share * last), side="right"))
        for name, share in _QUANTILES.items()
    }
