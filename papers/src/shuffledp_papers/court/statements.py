"""Claims without a row of parameters: local budgets, matrices, UniS, lemmas.

The exact numbers are computed independently, from the objects of each statement.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.declared_ratios import DeclaredRatios
from shuffledp.randomizers.laplace import Laplace
from shuffledp.types import Floats
from shuffledp_papers.apes.amplification import ApesNumerical
from shuffledp_papers.apes.convergence import Landscape, aggregation_bound, factors
from shuffledp_papers.apes.local import report_budget, selection_loss
from shuffledp_papers.bounds.wang2024 import variation_ratio_delta
from shuffledp_papers.court.case import BoundClaim, Certificate, Claim, certificate_of
from shuffledp_papers.court.count_attack import count_divergence
from shuffledp_papers.court.enumeration import enumerated_divergence
from shuffledp_papers.court.growing_family import reached_delta, stated_delta
from shuffledp_papers.court.noise_cases import attack_on
from shuffledp_papers.court.noise_cells import cell_probabilities, clip_laplace_tails
from shuffledp_papers.court.worlds import Worlds, hockey_stick
from shuffledp_papers.eapes.imitation import printed_weight
from shuffledp_papers.eapes.normal_limit import normal_distances
from shuffledp_papers.eapes.process import counted_trade_off
from shuffledp_papers.hypothesis_testing.any_mechanism import (
    mechanism_clone_probabilities,
)
from shuffledp_papers.hypothesis_testing.type_one_errors import (
    laplace_clone_probabilities,
    laplace_target_error,
)

# A claim, an attack on it given the claim's epsilon, and a certificate if there is one.
Statement: TypeAlias = tuple[
    Callable[[], Claim],
    Callable[[float], float],
    Callable[[float], Certificate] | str | None,
]

_CELLS = 20_000
# Of the other person in V23: at 1, the target user's own, equal densities would decide.
_OTHER_BUDGET = 0.95
# In V18 and V19, F(w) = w^2 / 2 from w = 1: the minimum of h, and noise 1.
_PULL = 10.0
_LANDSCAPE = Landscape(smoothness=1.0, proximal=_PULL)
_REACHED = 0.5 * (_PULL / (1.0 + _PULL) + 1.0) ** 2
# Of UniS: an equal part of 3.6e-5 for each of 7850 coordinates.
_DELTA = (3.6e-5 - 1e-8) / 7850


def local(budget: float, loss: float) -> Statement:
    """Returns the claim of a local budget, and the loss of one output."""
    return lambda: Claim(None, budget), lambda _epsilon: loss, None


def coordinates_loss(
    epsilon: float, message: float, first: Floats, second: Floats
) -> float:
    """Returns the privacy loss of one output: the log ratio of its densities.

    Args:
        epsilon: Noise has scale 2 / epsilon, given that the message is in [-1, 1]^d.
        message: In every coordinate.
        first: Value in [-1, 1]^d, shape (d,).
        second: The other value, shape (d,).
    """
    rate = epsilon / 2.0

    def log_density(value: Floats) -> float:
        # The integral over [-1, 1] is (2 - outside) / rate.
        outside = np.exp(-rate * (1.0 + value)) + np.exp(-rate * (1.0 - value))
        shift = np.abs(message - value)
        return float(np.sum(-rate * shift - np.log((2.0 - outside) / rate)))

    return log_density(first) - log_density(second)


def _coordinates(first: Floats, second: Floats) -> Statement:
    # Theorem 1 states epsilon, 1, for any number of coordinates.
    return local(1.0, coordinates_loss(1.0, 1.0, first, second))


def _selection() -> Statement:
    return local(
        report_budget(1.0, coordinates=1570), selection_loss(1.0, coordinates=7850)
    )


def _matrices(num_users: int) -> Statement:
    worlds = Worlds(
        np.array([3.0, 1.0, 4.0, 0.0]) / 8.0,
        np.array([1.0, 3.0, 4.0, 0.0]) / 8.0,
        np.array([[3.0, 3.0, 4.0, 6.0]]) / 16.0,
        np.array([num_users - 1]),
    )

    def claim() -> Claim:
        epsilon = math.log(2.0)
        stated = variation_ratio_delta(
            epsilon, p=3.0, beta=0.25, q=2.0, num_users=num_users
        )
        return Claim(epsilon, stated)

    budget = math.log(3.0)
    people = Population.from_counts({budget: num_users})
    certificate = certificate_of(DeclaredRatios(q=2.0, beta=0.25), people, budget)
    return claim, partial(enumerated_divergence, worlds), certificate


def _uniform() -> Statement:
    # 100 people at each of 100 quantiles of N(0.1, 1), clipped to [0.05, 0.5].
    probabilities = (np.arange(100) + 0.5) / 100.0
    budgets = np.clip(0.1 + ndtri(probabilities), 0.05, 0.5)
    people = Population.from_budgets(np.repeat(budgets, 100))
    target_user = float(people.epsilons[-1])
    attack = attack_on(Laplace(), people, target_user)
    claim = BoundClaim(ApesNumerical(clones="uniform"), attack.ran, delta=_DELTA)
    return claim, attack, certificate_of(Laplace(), people, target_user)


def _imitation() -> Statement:
    first, other = np.array([0.6, 0.4]), np.array([0.6 / math.e, 1.0 - 0.6 / math.e])
    return (
        lambda: Claim(None, -math.log(printed_weight(1.0))),
        lambda _: float(np.log(2.0 * first / other).max()),
        None,
    )


def _positions() -> Statement:
    num_users, liberal, careful = 200, 6.0, 0.1
    # Probability of either false answer, with three values.
    lie = 1.0 / (math.exp(liberal) + 2.0)

    def attack(epsilon: float) -> float:
        # The message at the liberal position is x. The target user is there with
        # probability 1 / 200; the others hold a third value.
        truth = (1.0 - 2.0 * lie + (num_users - 1) * lie) / num_users
        first, second = (np.array([p, 1.0 - p]) for p in (truth, lie))
        return hockey_stick(first, second, epsilon)

    budgets = np.append(np.full(num_users - 1, careful), liberal)
    return lambda: Claim(1.0, counted_trade_off(budgets).delta(1.0)), attack, None


def _normal() -> Statement:
    # A whole number is certain in each world: distributions that do not overlap.
    certain = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    return (
        lambda: Claim(0.0, normal_distances(50, 0.1, delta=1 / 50).printed),
        lambda epsilon: hockey_stick(*certain, epsilon),
        None,
    )


def _aggregation() -> Statement:
    def stated() -> Claim:
        bound = aggregation_bound(_LANDSCAPE, gradient=1.0, noise=1.0, as_printed=True)
        return Claim(None, bound)

    return stated, lambda _: _REACHED - 0.5, None


def _gradient_noise() -> Statement:
    pull, noise = 0.1, 10.0

    def stated() -> Claim:
        # The printed 1 / mu and a curvature of at least 0, so that m = mu.
        descent = Landscape(smoothness=1.0, proximal=pull).descent()
        cross = (1.0 / pull + 1.0 / pull) * noise
        return Claim(None, descent + cross + 0.5 * noise**2)

    reached = 0.5 * (pull / (1.0 + pull) + noise / pull) ** 2
    return stated, lambda _: reached - 0.5, None


def _round() -> Statement:
    def stated() -> Claim:
        lipschitz = math.sqrt(2.0 * _REACHED)
        # A gradient at the largest value that is reached, F(w) = w^2 / 2.
        terms = factors(_LANDSCAPE, steepness=1.0, lipschitz=lipschitz, as_printed=True)
        return Claim(
            None, 0.5 * terms.gap_factor + terms.noise_factor + terms.square_factor
        )

    return stated, lambda _: _REACHED, None


def _marked() -> Statement:
    people, fails, budget = 2, 0.5, 1.0
    # No other user's message is marked as the target user's value.
    never = np.zeros(1), np.array([people - 1])
    return (
        lambda: Claim(
            3.0, counted_trade_off(np.full(people, budget), fails).delta(3.0)
        ),
        lambda epsilon: count_divergence(fails, 0.0, *never, epsilon=epsilon),
        None,
    )


def _worst_value() -> Statement:
    edges = np.linspace(-1.0, 1.0, _CELLS + 1)[1:-1]
    budgets = np.array([_OTHER_BUDGET, 1.0])
    own, target_user = (clip_laplace_tails(budgets[[index]]) for index in (0, 1))
    first, second = (
        cell_probabilities(target_user, edges, end)[0] for end in (-1.0, 1.0)
    )

    def spared(_: float) -> float:
        # At -0.75, inside the range, the other user hides the target user less.
        other = cell_probabilities(own, edges, -0.75)[0]
        pairs = ((first, second), (second, first))
        probabilities = [float(other[(other <= a) & (b < a)].sum()) for a, b in pairs]
        return 1.0 - min(probabilities)

    def stated() -> Claim:
        # At the ends of the range, as the paper has it.
        clone_probabilities, _ = mechanism_clone_probabilities(
            ClipLaplace(), budgets[:1], 1.0
        )
        return Claim(None, 1.0 - float(clone_probabilities[0]))

    return stated, spared, None


def _far_message() -> Statement:
    constant = 1.0
    num_users = (300.0 * constant) ** 6
    return (
        lambda: Claim(0.45, stated_delta(0.45, num_users, constant)),
        partial(reached_delta, num_users=num_users),
        None,
    )


def _mixture_weight() -> Statement:
    # In R = (1 - p) Q + p Q', R' the reverse, no R / R' is above (1 - p) / p; it is e.
    return (
        lambda: Claim(None, 1.0 - laplace_target_error(1.0)),
        lambda _: math.e / (1.0 + math.e),
        None,
    )


def _clone_weight() -> Statement:
    def stated() -> Claim:
        weights = laplace_clone_probabilities(np.array([1.0]), 3.0)
        return Claim(None, 1.0 - float(weights[0]))

    # Densities at the message 1: the other user's is e^-1 / 2, the target's 3/2 for one
    # value and 3/2 e^-3 for the other.
    allowed = math.exp(-1.0) / (3.0 * (1.0 + math.exp(-3.0)))
    return stated, lambda _: 1.0 - allowed, None


STATEMENTS: dict[str, Callable[[], Statement]] = {
    # All coordinates move from the corner, 1, towards the middle, by 2 in all.
    "V6": partial(_coordinates, np.ones(2), np.zeros(2)),
    "V6-2": partial(_coordinates, np.ones(100), np.full(100, 0.98)),
    "V6-3": partial(_coordinates, np.array([1.0, 0.0]), np.array([-0.5, -0.5])),
    "V6b": _selection,
    "V10": partial(_matrices, 2),
    "V10-2": partial(_matrices, 6),
    "C18": _uniform,
    "V14": _imitation,
    "V15": _positions,
    "V16": _normal,
    "V18": _aggregation,
    "V18-2": _gradient_noise,
    "V19": _round,
    "V22": _marked,
    "V23": _worst_value,
    "V24": _mixture_weight,
    "V25": _clone_weight,
    "V26": _far_message,
}
