"""Comparison of published bounds for one collection."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.single_message import SingleMessage
from shuffledp_papers.bounds.bound import PublishedBound, Setting, status_in
from shuffledp_papers.bounds.equal_noise import (
    CollectionQuery,
    check_either,
    query_of,
    value_at,
)
from shuffledp_papers.bounds.published_bounds import PUBLISHED, published_bound
from shuffledp_papers.outside_preconditions import OutsidePreconditions


@dataclass(frozen=True)
class PublishedClaim:
    """Claim of one published bound about one collection.

    Attributes:
        name: Name of the bound.
        source: Paper and theorem.
        proven: Its proof status for this population.
        number: The epsilon or delta it states for all users; None if it states none.
        note: Which parts hold and which do not, or the reason that it states none.
        query: The collection, and the delta or epsilon.
    """

    name: str
    source: str
    proven: str
    number: float | None
    note: str
    query: CollectionQuery

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "method": self.name,
            "source": self.source,
            "proven": self.proven,
            "number": self.number,
            "note": self.note,
        }


def claims(
    protocol: SingleMessage,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    names: Sequence[str] | None = None,
) -> list[PublishedClaim]:
    """Returns the claims of published bounds about a population.

    >>> import shuffledp as sdp
    >>> protocol = sdp.SingleMessage(sdp.KRandomizedResponse(2))
    >>> people = Population.from_counts({1.0: 10_000})
    >>> (claim,) = claims(protocol, people, delta=1e-6, names=["feldman2021-closed"])
    >>> print(f"{claim.name}: {claim.number:.3f}, {claim.proven}")
    feldman2021-closed: 0.214, proven

    Args:
        protocol: Protocol of all devices, in agnostic mode.
        people: Levels and counts.
        delta: The delta at which epsilon is stated.
        epsilon: Instead, the epsilon at which delta is stated.
        names: Names of bounds; by default all.

    Raises:
        InvalidInputError: If the mode is stratified, a name is unknown, or not exactly
            one of delta and epsilon is given, in range.
    """
    check_either(delta, epsilon)
    if protocol.mode != "agnostic":
        raise InvalidInputError(
            "Expected mode 'agnostic': published bounds are stated for levels that travel "
            "apart from messages."
        )
    bounds = PUBLISHED if names is None else tuple(published_bound(n) for n in names)
    # No target user: each bound takes the user whom its paper takes for the worst case.
    setting = Setting(people, protocol.randomizer)
    return [_claim(bound, setting, delta, epsilon) for bound in bounds]


def _claim(
    bound: PublishedBound, setting: Setting, delta: float | None, epsilon: float | None
) -> PublishedClaim:
    known = bound.name, bound.source, str(status_in(bound, setting))
    query = query_of(setting, delta=delta, epsilon=epsilon)
    try:
        number = value_at(bound, setting, delta=delta, epsilon=epsilon)
    except OutsidePreconditions as reason:
        return PublishedClaim(*known, None, str(reason), query)
    # An infinite epsilon is not a statement.
    if not math.isfinite(number):
        return PublishedClaim(*known, None, "No finite number.", query)
    return PublishedClaim(*known, number, bound.note, query)
