"""Trade-off functions between the two errors of a test of neighboring worlds.

T(P, Q)(alpha) is the least type-II error of a test of P against Q whose type-I error is
at most alpha. A mechanism is f-private if T(P, Q) >= f for all neighboring worlds; then
it is (epsilon, delta)-private wherever delta >= sup over alpha of 1 - e^epsilon alpha -
f(alpha).

Sources: Dong, Roth, Su (2022), "Gaussian differential privacy", Propositions 2.4 and
2.12, Theorem 2.14, Lemma A.5; quoted by Chen, Cao, Ge (2023), E-APES, Facts 1 to 3, Lemma
4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class TradeOff:
    """T(P, Q) of two distributions on finitely many outcomes: convex, piecewise linear.

    Attributes:
        alphas: Type-I errors of the vertices, ascending from 0 to 1.
        betas: Their least type-II errors, descending from at most 1 to 0.
    """

    alphas: Floats
    betas: Floats

    def __call__(self, alpha: Floats) -> Floats:
        """Returns the least type-II errors, of the shape of alpha.

        Args:
            alpha: Type-I errors, in [0, 1].
        """
        # Linear between vertices: tests may be randomized.
        return np.interp(_errors(alpha), self.alphas, self.betas)

    def delta(self, epsilon: float) -> float:
        """Returns sup 1 - e^epsilon alpha - beta: the divergence of Q from P.

        Args:
            epsilon: In nats.
        """
        # The supremum of a piecewise linear function is at a vertex.
        return float(np.max(1.0 - math.exp(epsilon) * self.alphas - self.betas))


def trade_off(first: Floats, second: Floats) -> TradeOff:
    """Returns T(P, Q), by the lemma of Neyman and Pearson.

    >>> half = trade_off(np.array([0.75, 0.25]), np.array([0.25, 0.75]))
    >>> half(np.array([0.0, 0.25, 0.5]))
    array([1.        , 0.25      , 0.16666667])

    Args:
        first: P, probabilities of any shape.
        second: Q, of the same shape.

    Raises:
        InvalidInputError: If shapes differ, or probabilities do not add up to 1.
    """
    p, q = np.ravel(first), np.ravel(second)
    if np.shape(first) != np.shape(second):
        raise InvalidInputError(
            f"Expected distributions of one shape, got {np.shape(first)} and "
            f"{np.shape(second)}."
        )
    for distribution in (p, q):
        if not (
            np.all(distribution >= 0.0) and abs(float(distribution.sum()) - 1.0) <= 1e-9
        ):
            raise InvalidInputError("Expected probabilities >= 0 that add up to 1.")
    # Outcomes of probability 0 under P are rejected first: they cost no type-I error.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(q > 0.0, p / q, np.inf)
    order = np.argsort(ratio, kind="stable")
    alphas = np.minimum(np.append(0.0, np.cumsum(p[order])), 1.0)
    betas = np.maximum(1.0 - np.append(0.0, np.cumsum(q[order])), 0.0)
    # Of vertices at the same type-I error only the lowest is on the curve.
    last = np.append(alphas[1:] > alphas[:-1], True)
    return TradeOff(np.append(alphas[last], 1.0), np.append(betas[last], 0.0))


def private_trade_off(
    alpha: Floats, *, epsilon: float, delta: float, as_printed: bool = False
) -> Floats:
    """Returns f_{epsilon, delta}, the trade-off function of privacy (Fact 1).

    >>> private_trade_off(np.array([0.9]), epsilon=1.0, delta=0.01).round(4)
    array([0.0331])

    Args:
        alpha: Type-I errors, in [0, 1].
        epsilon: In nats, >= 0.
        delta: In [0, 1].
        as_printed: With epsilon in place of alpha in the third term.
    """
    if not (epsilon >= 0.0 and 0.0 <= delta <= 1.0):
        raise InvalidInputError(
            f"Expected epsilon >= 0 and 0 <= delta <= 1, got {epsilon:g} and {delta:g}."
        )
    alpha = _errors(alpha)
    # Fact 1 (eq. 6) prints e^-epsilon (1 - delta - epsilon).
    third = np.full(alpha.shape, epsilon) if as_printed else alpha
    lines = (
        1.0 - delta - math.exp(epsilon) * alpha,
        math.exp(-epsilon) * (1.0 - delta - third),
    )
    return np.maximum(0.0, np.maximum(*lines))


def through_a_third(
    first: Callable[[Floats], Floats], second: Callable[[Floats], Floats], alpha: Floats
) -> Floats:
    """Returns g(1 - f(alpha)) <= T(P, R)(alpha) (Lemma 4).

    Args:
        first: f <= T(P, Q).
        second: g <= T(Q, R).
        alpha: Type-I errors, in [0, 1].
    """
    # Lemma 4 prints T(P, R) >= f for T(P, Q) >= f: as printed it is true, but weaker than
    # its first assumption.
    return second(1.0 - first(_errors(alpha)))


def for_groups(single: Callable[[Floats], Floats], size: int, alpha: Floats) -> Floats:
    """Returns the trade-off function of groups, if that of one user is f.

    It is 1 - (1 - f)(...(1 - f)(alpha)); for f = G_mu it is G_{size mu}.

    Args:
        single: f.
        size: Number of users who change their values, >= 1.
        alpha: Type-I errors, in [0, 1].
    """
    if size < 1:
        raise InvalidInputError(f"Expected a group of at least 1, got {size}.")
    error = _errors(alpha)
    for _ in range(size):
        error = 1.0 - single(error)
    return 1.0 - error


def composed(first: Floats, second: Floats) -> Floats:
    """Returns the joint distribution of two independent outcomes, flat."""
    return np.outer(first, second).ravel()


def _errors(alpha: Floats) -> Floats:
    if not np.all((alpha >= 0.0) & (alpha <= 1.0)):
        raise InvalidInputError("Expected type-I errors in [0, 1].")
    return alpha
