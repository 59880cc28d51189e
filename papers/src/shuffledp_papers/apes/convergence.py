"""Convergence of APES: Lemmas 7 and 8 and Theorem 2, for noise of known size.

Each of n users minimizes h_i(w) = F_i(w) + (mu / 2) |w - w_t|^2 up to a gradient of
alpha |grad F_i(w_t)|, and the model becomes the mean of their minimizers, plus noise eta.
With F_i of smoothness L and curvature of at least -k, m = mu - k > 0, and a dissimilarity
of B, E_i |grad F_i|^2 <= B^2 |grad f|^2, one aggregation changes f by at most (Lemma 7)

    r G^2 + c G |eta| + (L / 2) |eta|^2,      G = |grad f(w_t)|,
    r = (alpha B - 1) / mu + L B (1 + alpha) / (mu m) + L B^2 (1 + alpha)^2 / (2 m^2),
    c = 1 + L B (1 + alpha) / m.

If r <= 0, f is Lipschitz with constant l, and f - f* <= G^2 / (2 beta), then T of them
leave at most (Lemma 8, Theorem 2)

    a1^T (f(w_0) - f*) + (1 + a1 + ... + a1^(T-1)) (a2 E|eta| + a3 E|eta|^2),
    a1 = 1 + 2 beta r,   a2 = l c,   a3 = L / 2.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Theorem 2, Lemmas 7 and 8,
eq. (15) to (25); after Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith (2020), FedProx.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from shuffledp_papers.bounds.bound import require


@dataclass(frozen=True)
class Landscape:
    """Assumptions on the losses and on how exactly users minimize them.

    Attributes:
        smoothness: L > 0, of every F_i.
        proximal: mu > 0.
        concavity: k >= 0: no curvature of any F_i is below -k; below mu.
        dissimilarity: B >= 1.
        inexactness: alpha in [0, 1).
    """

    smoothness: float
    proximal: float
    concavity: float = 0.0
    dissimilarity: float = 1.0
    inexactness: float = 0.0

    def __post_init__(self) -> None:
        # Written this way round, they refuse NaN, too.
        require(self.smoothness > 0.0, "L > 0", f"{self.smoothness:g}")
        inside = 0.0 <= self.concavity < self.proximal < math.inf
        require(inside, "0 <= k < mu", f"{self.concavity:g} and {self.proximal:g}")
        require(self.dissimilarity >= 1.0, "B >= 1", f"{self.dissimilarity:g}")
        exact = 0.0 <= self.inexactness < 1.0
        require(exact, "alpha in [0, 1)", f"{self.inexactness:g}")

    def strength(self, *, as_printed: bool = False) -> float:
        """Returns m, the strong convexity of every h_i."""
        # Printed from a curvature of at least +L, for losses that are called non-convex.
        if as_printed:
            return self.smoothness + self.proximal
        return self.proximal - self.concavity

    def descent(self, *, as_printed: bool = False) -> float:
        """Returns r, the coefficient of G^2; below 0 if f falls without noise."""
        mean_distance = self._mean_distance(as_printed)
        # The three terms of r, in the order of the module's docstring.
        gradient_term = (self.inexactness * self.dissimilarity - 1.0) / self.proximal
        drift_term = self.smoothness * mean_distance / self.proximal
        return gradient_term + drift_term + 0.5 * self.smoothness * mean_distance**2

    def disturbance(self, *, as_printed: bool = False) -> float:
        """Returns c, the coefficient of G |eta|."""
        # Eq. (20) divides eta by mu. That is refuted in one dimension: F(w) = w^2 / 2,
        # mu = 10, w_0 = 1 and eta = 1 raise f by 1.32, where 0.60 is printed.
        noise_term = 1.0 / self.proximal if as_printed else 1.0
        return noise_term + self.smoothness * self._mean_distance(as_printed)

    def _mean_distance(self, as_printed: bool) -> float:
        """Returns a bound on the mean distance |w - w_t| of users, per |grad f|."""
        gradient_bound = self.dissimilarity * (1.0 + self.inexactness)
        return gradient_bound / self.strength(as_printed=as_printed)


class Factors(NamedTuple):
    """a1, a2 and a3 of Lemma 8."""

    gap_factor: float
    noise_factor: float
    square_factor: float


def aggregation_bound(
    landscape: Landscape, *, gradient: float, noise: float, as_printed: bool = False
) -> float:
    """Returns the largest increase of f by one aggregation: Lemma 7.

    >>> one = Landscape(smoothness=1.0, proximal=10.0)
    >>> round(aggregation_bound(one, gradient=1.0, noise=1.0), 3)
    1.515
    >>> round(aggregation_bound(one, gradient=1.0, noise=1.0, as_printed=True), 3)
    0.604

    Args:
        landscape: The assumptions.
        gradient: G >= 0, the length of the gradient of f.
        noise: |eta| >= 0.
        as_printed: With the errata.
    """
    require(gradient >= 0.0, "G >= 0", f"{gradient:g}")
    require(noise >= 0.0, "a length of noise >= 0", f"{noise:g}")
    return (
        landscape.descent(as_printed=as_printed) * gradient**2
        + landscape.disturbance(as_printed=as_printed) * gradient * noise
        + 0.5 * landscape.smoothness * noise**2
    )


def factors(
    landscape: Landscape,
    *,
    steepness: float,
    lipschitz: float,
    as_printed: bool = False,
) -> Factors:
    """Returns a1, a2 and a3 of Lemma 8.

    Args:
        landscape: The assumptions.
        steepness: beta > 0, of f - f* <= G^2 / (2 beta).
        lipschitz: l > 0, the largest length of a gradient of f.
        as_printed: With the errata of Lemma 8.

    Raises:
        OutsidePreconditions: If r > 0, so that f need not fall, and not `as_printed`.
    """
    require(steepness > 0.0, "beta > 0", f"{steepness:g}")
    require(lipschitz > 0.0, "l > 0", f"{lipschitz:g}")
    descent = landscape.descent(as_printed=as_printed)
    # As printed, a1 has twice the last term of r, which is safe. The paper does not say
    # that the step from G^2 to f - f* needs r <= 0.
    if as_printed:
        mean_gradient = landscape.dissimilarity * (1.0 + landscape.inexactness)
        strength = landscape.strength(as_printed=True)
        descent += 0.5 * landscape.smoothness * (mean_gradient / strength) ** 2
    else:
        require(descent <= 0.0, "r <= 0, or f need not fall", f"{descent:g}")
    return Factors(
        1.0 + 2.0 * steepness * descent,
        # Theorem 2 has L in place of l here; Lemma 8 has l.
        lipschitz * landscape.disturbance(as_printed=as_printed),
        0.5 * landscape.smoothness,
    )


def training_bound(
    coefficients: Factors, *, rounds: int, gap: float, noise: float, noise_square: float
) -> float:
    """Returns the largest f - f* after a training: Lemma 8.

    Args:
        coefficients: From `factors`; a1 must be >= 0.
        rounds: T >= 0.
        gap: f(w_0) - f*, >= 0.
        noise: E|eta| of a round, or more.
        noise_square: E|eta|^2 of a round, or more.
    """
    require(rounds >= 0, "rounds >= 0", f"{rounds}")
    require(gap >= 0.0, "f(w_0) - f* >= 0", f"{gap:g}")
    require(coefficients.gap_factor >= 0.0, "a1 >= 0", f"{coefficients.gap_factor:g}")
    noise_terms = (
        coefficients.noise_factor * noise + coefficients.square_factor * noise_square
    )
    remaining_gap = gap
    # Lemma 8: a round multiplies the gap by a1 at most, and adds the noise's terms.
    for _ in range(rounds):
        remaining_gap = coefficients.gap_factor * remaining_gap + noise_terms
    return remaining_gap
