"""Both bounds for victims of several levels of one crowd, at a delta or an epsilon."""

from collections.abc import Callable

from shuffledp.accounting.attacks import coin_probabilities, lower_bound
from shuffledp.accounting.blanket import UpperBound, blanket_bounds
from shuffledp.accounting.coin_sum import coin_sum
from shuffledp.accounting.solve import (
    largest_attacked_epsilon,
    round_down,
    round_up,
    smallest_certified_epsilon,
)
from shuffledp.cover import Accountable, Attack
from shuffledp.population import Population

# What may be dropped from the tails of a distribution, as a part of delta.
_TAIL = 1e-12
_SMALLEST_TAIL = 1e-290
_LARGEST_TAIL = 1e-18


def epsilons_at(
    delta: float, protocol: Accountable, crowd: Population, victims: list[int]
) -> list[tuple[float, float]]:
    """Returns (lower, upper) bounds of epsilon at `delta`, one pair per victim.

    Args:
        delta: In (0, 1).
        protocol: Hands over covers and attacks.
        crowd: The people among whom victims hide, themselves included.
        victims: Positions of their levels in the crowd, distinct.
    """
    if not victims:
        return []
    budgets = crowd.epsilons[victims].tolist()
    lowers = [
        largest_attacked_epsilon(attack, delta, ceiling=budget)
        for attack, budget in zip(
            _attacks(protocol, crowd, victims), budgets, strict=True
        )
    ]
    blankets = _blankets(protocol, crowd, victims, tail=_TAIL * delta)
    uppers = [
        smallest_certified_epsilon(blanket.delta, delta, ceiling=budget, guess=lower)
        for blanket, budget, lower in zip(blankets, budgets, lowers, strict=True)
    ]
    return list(zip(lowers, uppers, strict=True))


def deltas_at(
    epsilon: float, protocol: Accountable, crowd: Population, victims: list[int]
) -> list[tuple[float, float]]:
    """Returns (lower, upper) bounds of delta at `epsilon`, one pair per victim."""
    pairs: list[tuple[float, float]] = []
    if not victims:
        return pairs
    for victim, attack in zip(victims, _attacks(protocol, crowd, victims), strict=True):
        lower = attack(epsilon)
        # The attack tells how small delta is, and so how little may be dropped.
        tail = min(max(_TAIL * lower, _SMALLEST_TAIL), _LARGEST_TAIL)
        (blanket,) = _blankets(protocol, crowd, [victim], tail=tail)
        upper = round_up(blanket.delta(epsilon))
        pairs.append((round_down(lower), min(upper, 1.0)))
    return pairs


def _attacks(
    protocol: Accountable, crowd: Population, victims: list[int]
) -> list[Callable[[float], float]]:
    """Returns the strongest attack on each victim, as a function of epsilon."""
    described = [
        protocol.attacks(float(crowd.epsilons[victim]), crowd.epsilons)
        for victim in victims
    ]
    chances = [coin_probabilities(attack) for attack in described[0]]
    everybody = [coin_sum(chance, crowd.counts) for chance in chances]

    def strongest(victim: int, attacks: tuple[Attack, ...]) -> Callable[[float], float]:
        bounds = [
            lower_bound(attack, total.without(float(chance[victim])))
            for attack, total, chance in zip(attacks, everybody, chances, strict=True)
            # A device whose budget drowns in the rounding of its coins tells nothing.
            if attack.gap > 0.0
        ]
        return lambda epsilon: max(
            (bound.delta(epsilon) for bound in bounds), default=0.0
        )

    return [strongest(*pair) for pair in zip(victims, described, strict=True)]


def _blankets(
    protocol: Accountable, crowd: Population, victims: list[int], *, tail: float
) -> list[UpperBound]:
    covers = [
        protocol.cover(float(crowd.epsilons[victim]), crowd.epsilons)
        for victim in victims
    ]
    return blanket_bounds(covers, crowd.counts, victims, tail=tail)
