"""A whole collection in one process: devices, shuffler, analyst and accountant.

The values are known here, so this is a rehearsal: it shows the analyst's estimate and its
error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.manipulation import Manipulation, manipulation_of
from shuffledp.types import Floats

STEPS = ("certify", "randomize", "shuffle", "estimate")

_Estimate = TypeVar("_Estimate")


@dataclass(frozen=True, eq=False)
class Collection(Generic[_Estimate]):
    """The estimate of one collection, its guarantee, and the truth.

    Attributes:
        protocol: The protocol that ran.
        truth: The true number for every estimated one, shape (numbers,): the share of
            each category, or of each candidate and of other strings; the mean; the sum.
        people: The population that took part.
        estimate: The analyst's estimate.
        guarantee: The guarantee for every level.
        dependence: Whether levels depend on values, and the resulting bias of the
            estimate; None in the stratified mode, which stays unbiased.
    """

    protocol: Any
    truth: Floats
    people: Population
    estimate: _Estimate
    guarantee: Guarantee
    dependence: Dependence | None

    @property
    def manipulation(self) -> Manipulation:
        """How far dishonest people can move the estimate."""
        estimate: Any = self.estimate
        return manipulation_of(
            partial(self.protocol.manipulation, self.people),
            num_users=estimate.num_users,
            errors=estimate.standard_error,
        )


def collect(
    protocol: Any,
    values: Any,
    levels: Floats,
    *,
    delta: float,
    rng: Rng,
    on_step: Callable[[str], None] = lambda _step: None,
    **options: Any,
) -> tuple[Population, Guarantee, Any]:
    """Runs a collection, and returns its people, their guarantee and the estimate.

    Args:
        protocol: The protocol that is run.
        values: One per person, as the protocol takes them.
        levels: Each person's local budget in nats, shape (n,).
        delta: At which the guarantee is stated, in (0, 1).
        rng: The only source of randomness.
        on_step: Called with the name of each of STEPS before it begins.
        options: Further arguments of the protocol's `estimate`.
    """
    people = Population.from_budgets(levels)
    # The accountant runs first: nothing is collected without a guarantee.
    on_step("certify")
    guarantee = account(protocol, people, delta=delta)
    on_step("randomize")
    reports = protocol.randomize(values, levels, rng=rng)
    on_step("shuffle")
    shuffled = shuffle(reports, rng=rng)
    del reports  # Unshuffled messages are stored no longer than needed.
    on_step("estimate")
    return people, guarantee, protocol.estimate(shuffled, people, **options)


def assign_levels(shares: dict[float, float], num_users: int, *, rng: Rng) -> Floats:
    """Gives people levels in the stated shares, in random order, shape (num_users,).

    Raises:
        InvalidInputError: If shares are not positive, do not add up to 1, or leave a
            level without users.
    """
    counts = counts_of_shares(shares, num_users)
    each = np.repeat(np.array(list(counts)), list(counts.values()))
    # A uniformly random order makes levels independent of values.
    levels: Floats = each[rng.permutation(num_users)]
    return levels


def counts_of_shares(shares: Mapping[float, float], num_users: int) -> dict[float, int]:
    """Returns how many people have each level, rounded so that they add up.

    Raises:
        InvalidInputError: As `assign_levels` does.
    """
    epsilons, parts = checked_shares(shares)
    # Rounded ends, not rounded counts: the counts then add up to num_users.
    ends = np.rint(np.cumsum(parts) * num_users).astype(np.int64)
    counts = np.diff(ends, prepend=0)
    if counts.min() < 1:
        raise InvalidInputError(
            f"Expected enough people for every level, got {num_users} for the shares "
            f"{', '.join(f'{part:g}' for part in parts)}."
        )
    return dict(zip(epsilons.tolist(), counts.tolist(), strict=True))


def checked_shares(shares: Mapping[float, float]) -> tuple[Floats, Floats]:
    """Returns levels, and the share of people at each, both of shape (levels,).

    Raises:
        InvalidInputError: If shares are not positive, or do not add up to 1.
    """
    epsilons, parts = np.array(list(shares)), np.array(list(shares.values()))
    # Written so, it refuses NaN.
    wrong = ~(parts > 0)
    if wrong.any():
        raise InvalidInputError(
            "Expected shares of people above 0 that add up to 1, "
            f"got {parts[wrong][0]:g} for {epsilons[wrong][0]:g}."
        )
    # Of the largest numbers the sum is infinite.
    with np.errstate(over="ignore"):
        total = float(parts.sum())
    # Decimal shares, as doubles, add up to 1 only nearly.
    if not abs(total - 1.0) < 1e-9:
        raise InvalidInputError(
            f"Expected shares of people above 0 that add up to 1, got a sum of {total:g}."
        )
    return epsilons, parts
