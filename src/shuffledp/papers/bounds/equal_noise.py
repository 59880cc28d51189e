"""A claim stands beside an attack only where both speak of one collection.

Two calibrations of one noise differ by more than many a claim and its attack do. So what a
paper states and what was attacked and certified both carry what they were asked: what the
devices run, calibration included, the people, and the delta or epsilon. `ClaimComparison` refuses
two that were asked different things; nothing else says that a claim is refuted.
"""

from dataclasses import dataclass

from shuffledp.accounting.account import account, digest
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError, OutsidePreconditions
from shuffledp.identity import Identity
from shuffledp.papers.bounds.bound import PublishedBound, Setting
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage


@dataclass(frozen=True)
class CollectionQuery:
    """One question about one collection.

    Attributes:
        protocol: What ran.
        people: Digest of all levels and counts.
        delta: Where epsilon is asked for, or None.
        epsilon: Where delta is asked for, or None.
    """

    protocol: Identity
    people: str
    delta: float | None
    epsilon: float | None


@dataclass(frozen=True)
class BoundValue:
    """What a published bound states.

    Attributes:
        query: What it was asked.
        number: The epsilon or delta; None if the theorem does not speak of this setting.
    """

    query: CollectionQuery
    number: float | None


@dataclass(frozen=True)
class Band:
    """Between which numbers the truth of the worst-off person lies.

    Attributes:
        query: What the accountant was asked.
        attack: A proven lower bound.
        certified: A proven upper bound.
    """

    query: CollectionQuery
    attack: float
    certified: float


@dataclass(frozen=True)
class ClaimComparison:
    """A claim beside the band of the same collection.

    Raises:
        InvalidInputError: If they were asked different things.
    """

    stated: BoundValue
    band: Band

    def __post_init__(self) -> None:
        check_equal(self.stated.query, self.band.query)

    @property
    def refuted(self) -> bool | None:
        """Does an attack reach more than is stated? None if nothing is."""
        number = self.stated.number
        return None if number is None else number < self.band.attack


def check_equal(claim: CollectionQuery, attack: CollectionQuery) -> None:
    """Raises InvalidInputError unless a claim and an attack were asked the same."""
    if claim.protocol != attack.protocol:
        raise InvalidInputError(
            f"Expected a claim about what was attacked, {attack.protocol}, got one about "
            f"{claim.protocol}."
        )
    if claim.people != attack.people:
        raise InvalidInputError(
            "Expected a claim about the people who were attacked, got one about others."
        )
    if (claim.delta, claim.epsilon) != (attack.delta, attack.epsilon):
        raise InvalidInputError(
            f"Expected a claim at delta {attack.delta}, epsilon {attack.epsilon}, got one "
            f"at delta {claim.delta}, epsilon {claim.epsilon}."
        )


def query_of(
    setting: Setting, *, delta: float | None = None, epsilon: float | None = None
) -> CollectionQuery:
    """Returns a question about the collection that a bound is told of.

    Raises:
        InvalidInputError: If the setting leaves open what devices run.
    """
    if setting.mechanism is None:
        raise InvalidInputError("Expected a setting that says what devices run.")
    identity = SingleMessage(setting.mechanism).identity
    return CollectionQuery(identity, digest(setting.people), delta, epsilon)


def stated(
    bound: PublishedBound,
    setting: Setting,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
) -> BoundValue:
    """Returns what a bound states at this delta or this epsilon."""
    if (delta is None) == (epsilon is None):
        raise InvalidInputError("Expected either delta or epsilon.")
    query = query_of(setting, delta=delta, epsilon=epsilon)
    try:
        number = (
            bound.epsilon(setting, delta)
            if delta is not None
            else bound.delta(setting, epsilon or 0.0)
        )
    except OutsidePreconditions:
        return BoundValue(query, None)
    return BoundValue(query, number)


def band_of(guarantee: Guarantee) -> Band:
    """Returns the band of a guarantee about one collection."""
    levels = guarantee.levels
    at_delta = guarantee.delta is not None
    attack, certified = (
        (
            max(level.epsilon_central_lower for level in levels),
            max(level.epsilon_central for level in levels),
        )
        if at_delta
        else (
            max(level.delta_central_lower for level in levels),
            max(level.delta_central for level in levels),
        )
    )
    query = CollectionQuery(
        guarantee.protocol, guarantee.people_digest, guarantee.delta, guarantee.epsilon
    )
    return Band(query, attack, certified)


def band(
    device: LocalRandomizer,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
) -> Band:
    """Returns the band of the worst-off person when these people run this."""
    protocol = SingleMessage(device)
    return band_of(
        account(protocol, people, delta=delta, epsilon=epsilon, quantiles=True)
    )
