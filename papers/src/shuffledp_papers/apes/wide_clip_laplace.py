"""Clip-Laplace as Definition 4 has it: values in [-C, C], messages in [-A, A], A >= C.

With scale lambda = 2 C / eps, the density at z is e^{-|z - v| / lambda} / (2 lambda S), and

    S = 1 - e^{-(A - v) / lambda} / 2 - e^{-(A + v) / lambda} / 2.

C and -C have the same S, and no other two values differ by more: eps, in one coordinate,
for every A (Theorem 1). All lengths are per C, with a = A / C; the library's own mechanism
has a = 1, as all the paper's results.

Lemma 4 bounds the log-ratio of two users' densities, at budgets e_i and e_j and any values:

    D_N <= ln((e_i / e_j) (S_j / S_i)) + (e_i + e_j) / 2 + a |e_i - e_j| / 2,

with S at v = C. It holds, and is not tight where the less likely message is not at an end.
It grows with a: the wider the range of messages, the fewer clones, and with Laplace noise,
a = infinity, there are none among different budgets.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Definition 4, Theorem 1,
Lemma 4.
"""

import math

import numpy as np

from shuffledp.types import Floats
from shuffledp_papers.apes.clones import clone_probability, mean_clone_probabilities
from shuffledp_papers.bounds.bound import Setting, check_delta, require
from shuffledp_papers.bounds.invert import epsilon_at
from shuffledp_papers.bounds.target_user import others
from shuffledp_papers.bounds.two_counts import clone_count, divergence


def log_density(
    messages: Floats, value: float, *, epsilon: float, reach: float
) -> Floats:
    """Returns the logarithm of the density, per C, same shape as `messages`.

    Args:
        messages: In [-a, a].
        value: In [-1, 1].
        epsilon: > 0.
        reach: a = A / C, >= 1 and finite.
    """
    rate = _rate(epsilon, reach)
    # Twice S, by expm1: at small rates S is a difference of numbers near 1.
    mass = -math.expm1(-rate * (reach + value)) - math.expm1(-rate * (reach - value))
    logs: Floats = math.log(rate / mass) - rate * np.abs(messages - value)
    return logs


def moments(value: float, *, epsilon: float, reach: float) -> tuple[float, float]:
    """Returns mean and variance of a message, per C and C^2.

    >>> moments(0.5, epsilon=1e-9, reach=1.0)[0].__round__(6)
    0.0

    Arguments are those of `log_density`.
    """
    rate = _rate(epsilon, reach)
    # Moments of the distance to either side; `_powers` keeps their digits at small rates.
    mass, first, second = (
        np.array(part)
        for part in zip(
            *(_powers(rate, reach - value), _powers(rate, reach + value)), strict=True
        )
    )
    total = float(mass.sum())
    shift = float(first[0] - first[1]) / total
    return value + shift, float(second.sum()) / total - shift**2


def neighbor_divergence(imitated: float, imitator: float, *, reach: float) -> float:
    """Returns Lemma 4's bound on D_N of a message at budget e_i = imitated from e_j.

    Args:
        imitated: e_i > 0.
        imitator: e_j > 0.
        reach: a >= 1.
    """
    probability = clone_probability(np.array([imitator]), imitated, reach=reach)
    return -math.log(float(probability[0]))


def largest_divergence(
    imitated: float, imitator: float, *, reach: float, values: int = 41
) -> float:
    """Returns the largest log-ratio of two users' densities, over a grid of values.

    Args:
        imitated: e_i > 0.
        imitator: e_j > 0.
        reach: a >= 1, finite.
        values: Number of points of the grid.
    """
    grid = np.linspace(-1.0, 1.0, values)
    # The ratio is extreme at an end of the range or at one of the two values: all of them
    # are among these messages.
    messages = np.append(grid, [-reach, reach])
    above, below = (
        np.stack([log_density(messages, v, epsilon=e, reach=reach) for v in grid])
        for e in (imitated, imitator)
    )
    return float((above[:, None, :] - below[None, :, :]).max())


def wide_epsilon(
    setting: Setting, delta: float, *, reach: float
) -> tuple[float, float]:
    """Returns S and the epsilon of the two counts with Lemma 4's clones at this a.

    Args:
        setting: Budgets > 0; its mechanism is ignored.
        delta: In (0, 1).
        reach: a >= 1, infinite for Laplace noise.
    """
    delta = check_delta(delta)
    _, counts = others(setting)
    people = setting.people
    # As printed: averaged over the budgets that the target user might have.
    probabilities = mean_clone_probabilities(
        people.epsilons, people.counts, reach=reach
    )
    clones = clone_count(probabilities, counts)
    other = 1.0 / (1.0 + math.exp(setting.largest_budget))
    epsilon = epsilon_at(
        lambda at: divergence(clones, same=1.0 - other, other=other, epsilon=at),
        delta,
        # Shuffling cannot raise epsilon above the local budget.
        ceiling=setting.largest_budget,
    )
    return float(counts @ probabilities), epsilon


def _rate(epsilon: float, reach: float) -> float:
    require(epsilon > 0.0, "epsilon > 0", f"{epsilon:g}")
    require(1.0 <= reach < math.inf, "a finite A / C >= 1", f"{reach:g}")
    return epsilon / 2.0


def _powers(rate: float, far: float) -> tuple[float, float, float]:
    """Returns integrals of 1, t and t^2 times e^{-rate t} for t from 0 to far."""
    x = rate * far
    # Below, the closed forms are differences of nearly equal numbers.
    if x < 1e-2:
        # Eight terms of the series; the remainder is below 1e-17 of the first.
        terms = [(-x) ** k / math.factorial(k) for k in range(8)]
        return (
            far * sum(term / (k + 1) for k, term in enumerate(terms)),
            far**2 * sum(term / (k + 2) for k, term in enumerate(terms)),
            far**3 * sum(term / (k + 3) for k, term in enumerate(terms)),
        )
    decay = math.exp(-x)
    return (
        -math.expm1(-x) / rate,
        (1.0 - decay * (1.0 + x)) / rate**2,
        (2.0 - decay * (2.0 + 2.0 * x + x * x)) / rate**3,
    )
