"""E-APES: Gaussian differential privacy of a shuffle with personal budgets.

Theorem 3 bounds the least type-II error of any test at type-I error alpha by

    d (1 - alpha) + (1 - d) (G_mu(alpha + g) - g),        g = C / sqrt(n - 1),
    mu = sqrt(2 / sum_{i < n} (1 - delta_i) / (1 + e^eps_i)),       d = max_i delta_i,

for an unknown constant C > 0, which the paper's own figures set to 0. Corollaries 1 and 2
state mu-GDP with all delta_i = 0 for the noisy average (Laplace noise) and for the
frequency of one bit (randomized response).

Erratum. Theorem 1, on which Theorem 3 rests, is false where budgets differ (`process`,
`slots`).

Source: Chen, Cao, Ge (2023), "Enhancing Privacy in Personalized Differential Privacy under
the Shuffle Model", Theorems 1 to 3, Corollaries 1 and 2.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from shuffledp.errors import InvalidInputError
from shuffledp_papers.bounds.bound import PublishedBound, Setting, check_pure, require
from shuffledp_papers.bounds.gaussian_profile import gaussian_delta, gaussian_trade_off
from shuffledp_papers.bounds.target_user import others


def gdp_parameter(setting: Setting, *, delta_local: float = 0.0) -> float:
    """Returns mu = sqrt(2 / sum over the others of (1 - delta_i) / (1 + e^eps_i)).

    Raises:
        OutsidePreconditions: If there are no others.
    """
    require(setting.num_users >= 2, "at least 2 people", f"{setting.num_users}")
    # Printed with i < n; the sum is over all users but the target.
    epsilons, counts = others(setting)
    # 1 / (1 + e^eps) without overflow.
    share = np.exp(-np.logaddexp(0.0, epsilons))
    return math.sqrt(2.0 / ((1.0 - delta_local) * float(counts @ share)))


@dataclass(frozen=True)
class EapesTheorem(PublishedBound, row="eapes"):
    """Theorem 3, for approximately private randomizers.

    Attributes:
        constant: C of the Berry-Esseen term; 0 leaves the term out, as the paper does.
        as_printed: Whether a failure counts as hidden (as printed) or as revealing.
    """

    constant: float = 0.0
    as_printed: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.constant) and self.constant >= 0.0):
            raise InvalidInputError(f"Expected a finite C >= 0, got {self.constant:g}.")

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless there are at least 2 users."""
        require(setting.num_users >= 2, "at least 2 people", f"{setting.num_users}")

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta that the paper states for this epsilon."""
        marked = setting.failure
        mu = gdp_parameter(setting, delta_local=marked)
        # Where epsilon is about mu, this term is of the same order as delta itself.
        shift = self.constant / math.sqrt(setting.num_users - 1)
        # With probability d the target user's report is marked, which reveals them: that
        # part of the trade-off is 0, printed as 1 - alpha.
        if self.as_printed:
            # (e^epsilon - d) / (1 - d): the printed term lowers the slope.
            slope = epsilon + math.log1p(-marked * math.exp(-epsilon))
            slope -= math.log1p(-marked)
            return min((1.0 - marked) * _shifted_delta(mu, slope, shift), 1.0)
        hidden = _shifted_delta(mu, epsilon, shift)
        return min(marked + (1.0 - marked) * hidden, 1.0)


@dataclass(frozen=True)
class EapesCorollary(PublishedBound, row="eapes-pure"):
    """Corollaries 1 and 2: mu-GDP for purely private randomizers."""

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless randomizers are pure."""
        check_pure(setting)
        require(setting.num_users >= 2, "at least 2 people", f"{setting.num_users}")

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta that the paper states for this epsilon."""
        return gaussian_delta(gdp_parameter(setting), epsilon)


def _shifted_delta(mu: float, slope: float, shift: float) -> float:
    """Returns the supremum over alpha of 1 - e^slope alpha - G_mu(alpha + g) + g."""
    if shift == 0.0:
        return gaussian_delta(mu, slope)
    # G_mu takes errors up to 1: from here on alpha + g has left its range.
    if shift >= 1.0:
        return 1.0
    # Where G_mu has the slope -e^slope; exp overflows beyond 709.
    if float(ndtr(-slope / mu - mu / 2.0)) >= shift:
        return gaussian_delta(mu, slope) + shift * (1.0 + math.exp(min(slope, 700.0)))
    # G is convex: beyond the optimum, alpha = 0 is best.
    return 1.0 + shift - gaussian_trade_off(mu, shift)
