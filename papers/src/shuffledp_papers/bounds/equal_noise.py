"""Comparison of a claim with an attack, allowed for one and the same collection only.

Two calibrations of one noise may differ by more than a claim and its attack do. So claims,
attacks and certificates carry a `CollectionQuery`: the randomizer with its calibration, the
population, and the delta or epsilon. `is_refuted` refuses different queries, and alone
decides that a claim is refuted.
"""

from dataclasses import dataclass

from shuffledp.accounting.account import account, digest
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.outside_preconditions import OutsidePreconditions


@dataclass(frozen=True)
class CollectionQuery:
    """Query for the epsilon or delta of one collection.

    Attributes:
        protocol: Identity of the protocol that ran.
        people: Digest of all levels and counts.
        delta: The delta at which epsilon is queried, or None.
        epsilon: The epsilon at which delta is queried, or None.
        rounds: Number of collections.
    """

    protocol: Identity
    people: str
    delta: float | None
    epsilon: float | None
    rounds: int = 1


@dataclass(frozen=True)
class BoundValue:
    """Number that a published bound states.

    Attributes:
        query: The collection, and the delta or epsilon.
        number: The epsilon or delta; None if the theorem does not speak of this setting.
    """

    query: CollectionQuery
    number: float | None


@dataclass(frozen=True)
class Band:
    """Interval that contains the true number of the least protected level.

    Attributes:
        query: The query to the accountant.
        attack: A proven lower bound.
        certified: A proven upper bound.
    """

    query: CollectionQuery
    attack: float
    certified: float


def is_refuted(claim: BoundValue, band: Band) -> bool | None:
    """Returns whether the attack exceeds a stated number; None if there is none.

    Raises:
        InvalidInputError: If claim and attack are about different collections.
    """
    check_equal(claim.query, band.query)
    return None if claim.number is None else claim.number < band.attack


def check_equal(claim: CollectionQuery, attack: CollectionQuery) -> None:
    """Raises InvalidInputError unless a claim and an attack have the same query."""
    # The identity includes the calibration: equal names of noise are not enough.
    if claim.protocol != attack.protocol:
        raise InvalidInputError(
            f"Expected a claim about what was attacked, {attack.protocol}, got one about "
            f"{claim.protocol}."
        )
    if claim.people != attack.people:
        raise InvalidInputError(
            "Expected a claim about the people who were attacked, got one about others."
        )
    if claim.rounds != attack.rounds:
        raise InvalidInputError(
            f"Expected a claim about {attack.rounds} rounds, got {claim.rounds}."
        )
    if (claim.delta, claim.epsilon) != (attack.delta, attack.epsilon):
        raise InvalidInputError(
            f"Expected a claim at delta {attack.delta}, epsilon {attack.epsilon}, got one "
            f"at delta {claim.delta}, epsilon {claim.epsilon}."
        )


def query_of(
    setting: Setting,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    rounds: int = 1,
) -> CollectionQuery:
    """Returns the query about the collection of a setting.

    Raises:
        InvalidInputError: If the setting has no mechanism.
    """
    if setting.mechanism is None:
        raise InvalidInputError("Expected a setting with a mechanism.")
    identity = SingleMessage(setting.mechanism).identity
    return CollectionQuery(identity, digest(setting.people), delta, epsilon, rounds)


def stated(
    bound: PublishedBound,
    setting: Setting,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
) -> BoundValue:
    """Returns the number that a bound states at this delta or this epsilon."""
    check_either(delta, epsilon)
    query = query_of(setting, delta=delta, epsilon=epsilon)
    try:
        number = value_at(bound, setting, delta=delta, epsilon=epsilon)
    except OutsidePreconditions:
        return BoundValue(query, None)
    return BoundValue(query, number)


def value_at(
    bound: PublishedBound,
    setting: Setting,
    *,
    delta: float | None,
    epsilon: float | None,
) -> float:
    """Returns epsilon at this delta, or delta at this epsilon.

    Raises:
        OutsidePreconditions: If the bound states none.
    """
    if delta is not None:
        return bound.epsilon(setting, delta)
    return bound.delta(setting, epsilon or 0.0)


def check_either(delta: float | None, epsilon: float | None) -> None:
    """Raises InvalidInputError unless exactly one of both is given."""
    if (delta is None) == (epsilon is None):
        raise InvalidInputError("Expected either delta or epsilon.")


def band_of(guarantee: Guarantee) -> Band:
    """Returns the band of a guarantee about one collection."""
    # The largest over levels: a bound for all users must cover each of them.
    levels = guarantee.levels
    ends = [
        (level.epsilon_central_lower, level.epsilon_central)
        if guarantee.delta is not None
        else (level.delta_central_lower, level.delta_central)
        for level in levels
    ]
    attack, certified = map(max, zip(*ends, strict=True))
    query = CollectionQuery(
        guarantee.protocol,
        guarantee.people_digest,
        guarantee.delta,
        guarantee.epsilon,
        guarantee.rounds,
    )
    return Band(query, attack, certified)


def band(
    device: LocalRandomizer,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
) -> Band:
    """Returns the band of the least protected level of a population."""
    # Minimum, quartiles and maximum of the budgets stand for all levels.
    protocol = SingleMessage(device)
    return band_of(
        account(protocol, people, delta=delta, epsilon=epsilon, quantiles=True)
    )
