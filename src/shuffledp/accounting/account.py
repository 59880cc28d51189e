"""What each privacy level is worth after the shuffle: the entry point of the accountant."""

import math

import numpy as np

from shuffledp.accounting.crowd import deltas_at, epsilons_at
from shuffledp.accounting.guarantee import Guarantee, LevelGuarantee
from shuffledp.arrays import as_number
from shuffledp.cover import Accountable
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import Population

THEOREM = "privacy blanket of Balle et al. (2019), with one randomizer per person"
MIN_DELTA = 1e-250

# Budgets up to here need no bound but themselves.
_SILENT = MIN_DELTA

# With more distinct levels than this, quantiles are reported.
_MAX_REPORTED_LEVELS = 32
_QUANTILES = {
    "minimum": 0.0,
    "lower quartile": 0.25,
    "median": 0.5,
    "upper quartile": 0.75,
    "maximum": 1.0,
}


def account(
    protocol: Accountable,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    quantiles: bool | None = None,
) -> Guarantee:
    """Certifies what the shuffled collection is worth for the people of every level.

    Args:
        protocol: What the devices run and the shuffler does, such as `Frequency`.
        people: Levels and counts of those who take part. Everybody counted here must be
            honest and really send a message; leave out whom you do not trust.
        delta: In [1e-250, 1): report the smallest certified epsilon of each level.
        epsilon: Finite and >= 0, instead of `delta`: report the smallest certified delta.
        quantiles: Report minimum, quartiles and maximum of the budgets instead of every
            level. By default so if there are more than 32 levels.

    Returns:
        A `Guarantee` with, per level, the certified upper bound and the lower bound that
        a concrete attack proves.

    Raises:
        InvalidInputError: Unless exactly one of delta and epsilon is given, in range.
        PopulationError: If there is only one person, who has nobody to hide among.
        CertificationError: If no bound can be proven in double precision.
    """
    if delta is not None:
        delta = as_number(delta, "delta")
    if epsilon is not None:
        epsilon = as_number(epsilon, "epsilon")
    _check_question(delta, epsilon)
    if not isinstance(people, Population):
        raise InvalidInputError(f"Expected a Population, got {type(people).__name__}.")
    if people.num_users < 2:
        raise PopulationError(
            "Expected at least 2 people, got 1: nobody can hide in a crowd of one."
        )
    named = _reported(people, quantiles)
    reported = sorted(set(named.values()))
    if protocol.hides_among == "everybody":
        crowds = dict.fromkeys(reported, people)
        pairs = _pairs(protocol, people, reported, delta, epsilon)
    else:
        crowds = {
            index: Population(
                people.epsilons[index : index + 1], people.counts[index : index + 1]
            )
            for index in reported
        }
        pairs = [
            _pairs(protocol, crowd, [0], delta, epsilon)[0] for crowd in crowds.values()
        ]
    found = dict(zip(reported, pairs, strict=True))
    levels = []
    for name, index in named.items():
        (epsilon_lower, delta_lower), (epsilon_upper, delta_upper) = found[index]
        levels.append(
            LevelGuarantee(
                epsilon_local=float(people.epsilons[index]),
                count=int(people.counts[index]),
                hides_among=crowds[index].num_users,
                epsilon_central=epsilon_upper,
                epsilon_central_lower=epsilon_lower,
                delta_central=delta_upper,
                delta_central_lower=delta_lower,
                quantile=name if isinstance(name, str) else None,
            )
        )
    return Guarantee(
        mechanism=protocol.mechanism,
        parameters=protocol.parameters,
        num_users=people.num_users,
        delta=delta,
        epsilon=epsilon,
        levels=tuple(levels),
        theorem=THEOREM,
        assumptions=protocol.assumptions,
    )


def _check_question(delta: float | None, epsilon: float | None) -> None:
    if (delta is None) == (epsilon is None):
        raise InvalidInputError("Expected either delta or epsilon, and not both.")
    if delta is not None and not MIN_DELTA <= delta < 1.0:
        raise InvalidInputError(
            f"Expected {MIN_DELTA:g} <= delta < 1, got {delta:g}: at 0 nothing but the "
            "local budget holds, at 1 nothing is promised."
        )
    if epsilon is not None and not (math.isfinite(epsilon) and epsilon >= 0.0):
        raise InvalidInputError(f"Expected a finite epsilon >= 0, got {epsilon:g}.")


def _reported(people: Population, quantiles: bool | None) -> dict[str | int, int]:
    """Returns the levels to report, by quantile name or by position."""
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


_Point = tuple[float, float]


def _pairs(
    protocol: Accountable,
    crowd: Population,
    victims: list[int],
    delta: float | None,
    epsilon: float | None,
) -> list[tuple[_Point, _Point]]:
    """Returns (epsilon, delta) points not satisfied and satisfied, for each victim."""
    # Nobody's total variation exceeds half her budget, so that such a small one is
    # certified at epsilon = 0; a budget of 0 sends nothing but noise.
    silent = [v for v in victims if crowd.epsilons[v] <= _SILENT]
    asked = [v for v in victims if crowd.epsilons[v] > _SILENT]
    found: dict[int, tuple[_Point, _Point]] = {}
    if delta is not None:
        found |= dict.fromkeys(silent, ((0.0, delta), (0.0, delta)))
        for victim, (low, high) in zip(
            asked, epsilons_at(delta, protocol, crowd, asked), strict=True
        ):
            found[victim] = ((low, delta), (high, delta))
    if epsilon is not None:
        for victim in silent:
            found[victim] = ((epsilon, 0.0), (epsilon, float(crowd.epsilons[victim])))
        # At her own local budget and above, a person's delta is 0 even without others.
        local = [v for v in victims if crowd.epsilons[v] <= epsilon]
        found |= dict.fromkeys(local, ((epsilon, 0.0), (epsilon, 0.0)))
        asked = [victim for victim in asked if victim not in found]
        for victim, (low, high) in zip(
            asked, deltas_at(epsilon, protocol, crowd, asked), strict=True
        ):
            found[victim] = ((epsilon, low), (epsilon, high))
    return [found[victim] for victim in victims]
