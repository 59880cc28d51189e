"""Personal budgets by hypothesis tests, and a trade-off function for the shuffle.

C of the others imitate the target user, each with probability 2 p_i (type_one_errors.py);
the target user's message is mistaken for the other value with probability w. Let F_i be the
distribution function and f_i the probabilities of Binomial(i, 1/2), w_i = P(C = i). At
slope t Theorem 1 has the type-I error

    alpha = sum_i w_i F_i(i - (i + 1) / (t + 1))

and Theorem 2 concludes, at the t where the bound is largest,

    delta = (-e^eps + (1 - d) 2 w + d) alpha
            + (1 - d) (1 - 2 w) sum_i w_i F_i(i + 1 - (i + 1) / (t + 1)).            (5)

The two sums differ by f_i(m), m = floor((i + 1) t / (t + 1)), so that (5) is
sum_i w_i ((1 - d) (1 - 2 w) f_i(m) - (e^eps - 1) F_i(m - 1)), largest where
t = (1 - d) (1 - 2 w) / ((1 - d) (1 - 2 w) + e^eps - 1) in every term.

Errata. C is a sum over the n - 1 others, printed i = 1, ..., n - 1; l(t) has w_i^0, printed
w_1^0. The paper takes the most liberal user for the worst case, which is not so in general.

Source: Liu, Liu, Xiong, Gu, Chen (2024), "Enhanced Privacy Bound for Shuffle Model with
Personalized Privacy", Theorems 1 and 2.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from shuffledp.accounting.sums.binomial import binomial_weight
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import PublishedBound, Setting, require
from shuffledp_papers.bounds.invert import epsilon_at
from shuffledp_papers.bounds.target_user import others, target_user_budget
from shuffledp_papers.bounds.two_counts import CloneCount, clone_count
from shuffledp_papers.hypothesis_testing.any_mechanism import (
    check_mechanism,
    mechanism_clone_probabilities,
)
from shuffledp_papers.hypothesis_testing.type_one_errors import (
    gaussian_clone_probabilities,
    gaussian_target_error,
    laplace_clone_probabilities,
    laplace_target_error,
)


@dataclass(frozen=True)
class HypothesisTesting(PublishedBound, row="hypothesis-testing"):
    """Theorem 2, at the largest right-hand side of (5), its weakest claim.

    Attributes:
        as_printed: Whether sums start at i = 1 and failures count as hidden; if not, sums
            start at 0 and a failure reveals the value.
    """

    as_printed: bool = True

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless a mechanism's messages are known."""
        mechanism = setting.mechanism
        smallest = float(setting.people.epsilons[0])
        require(smallest > 0.0, "every budget > 0", f"{smallest:g}")
        if not isinstance(mechanism, Laplace | Gaussian):
            check_mechanism(mechanism, setting.people.num_levels)
        # A pure mechanism has no failures: its delta_local must be 0.
        mechanism_delta_local = 0.0 if mechanism is None else mechanism.delta_local
        require(
            setting.failure == mechanism_delta_local,
            f"delta_local = {mechanism_delta_local:g}, the mechanism's own",
            f"{setting.failure:g}",
        )

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the epsilon that Theorem 2 states for this delta."""
        tests = self._tests(setting)
        return epsilon_at(tests.delta, delta)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns delta_s(epsilon) of eq. (5)."""
        return self._tests(setting).delta(epsilon)

    def trade_off(self, setting: Setting, slope: float) -> tuple[float, float]:
        """Returns (alpha, f_s(alpha)) of Theorem 1 at the slope t >= 0."""
        self.check(setting)
        return self._tests(setting).trade_off(slope)

    def clone_probabilities(self, setting: Setting) -> tuple[Floats, float]:
        """Returns p_i of each level, shape (levels,), and the target user's w."""
        self.check(setting)
        target_user, epsilons = target_user_budget(setting), setting.people.epsilons
        mechanism = setting.mechanism
        if isinstance(mechanism, Laplace):
            return laplace_clone_probabilities(
                epsilons, target_user
            ), laplace_target_error(target_user)
        if not isinstance(mechanism, Gaussian):
            return mechanism_clone_probabilities(mechanism, epsilons, target_user)
        # The mechanism's deviations are for values in [-1, 1]; the paper's are in [0, 1].
        deviations = mechanism.deviations(np.append(epsilons, target_user)) / 2.0
        target_deviation, tail = float(deviations[-1]), setting.failure / 2.0
        clone_probabilities = gaussian_clone_probabilities(
            deviations[:-1], target_deviation, tail=tail
        )
        return clone_probabilities, gaussian_target_error(target_deviation, tail=tail)

    def _tests(self, setting: Setting) -> "_Tests":
        clone_probabilities, target_error = self.clone_probabilities(setting)
        _, counts = others(setting)
        clones = clone_count(np.minimum(2.0 * clone_probabilities, 1.0), counts)
        return _Tests(clones, target_error, setting.failure, self.as_printed)


@dataclass(frozen=True, eq=False)
class _Tests:
    """Tests between the two worlds, one for each slope.

    Attributes:
        clones: The distribution of C.
        target_error: w.
        failure: delta_1, the probability that the target user's randomizer fails.
        as_printed: As in `HypothesisTesting`.
    """

    clones: CloneCount
    target_error: float
    failure: float
    as_printed: bool

    def delta(self, epsilon: float) -> float:
        gain = (1.0 - self.failure) * (1.0 - 2.0 * self.target_error)
        # e^epsilon overflows past 709; delta has reached its limit by 700.
        rise = math.expm1(min(epsilon, 700.0))
        if not self.as_printed:
            rise += self.failure
        if gain + rise <= 0.0:
            return 0.0
        # At the best t, each term is a maximum over m, among them one that gives 0.
        totals, weights = self._terms()
        m = np.floor((totals + 1.0) * (gain / (2.0 * gain + rise)))
        m = np.minimum(m, totals)
        terms = gain * _weight(m, totals) - rise * _below(m, totals)
        stated = float(weights @ np.maximum(terms, 0.0))
        return min(stated if self.as_printed else stated + self.failure, 1.0)

    def trade_off(self, slope: float) -> tuple[float, float]:
        if not (math.isfinite(slope) and slope >= 0.0):
            raise InvalidInputError(f"Expected a finite t >= 0, got {slope:g}.")
        # Theorem 1 itself sums from 0.
        totals = self._totals()
        m = np.floor((totals + 1.0) * (slope / (slope + 1.0)))
        m = np.minimum(m, totals)
        below = _below(m, totals)
        alpha = min(float(self.clones.weights @ below), 1.0)
        reached = float(self.clones.weights @ (below + _weight(m, totals)))
        hidden = 2.0 * self.target_error * (1.0 - alpha)
        gain = (1.0 - self.failure) * (1.0 - 2.0 * self.target_error)
        beta = (1.0 - self.failure) * hidden
        # Theorem 1 prints the second sum in place of one minus that sum, and a failure as
        # if it hid the value.
        if self.as_printed:
            return alpha, beta + gain * reached + self.failure * (1.0 - alpha)
        # Sums of weights may round to more than 1.
        return alpha, beta + gain * max(1.0 - reached, 0.0)

    def _totals(self) -> Floats:
        totals: Floats = np.arange(self.clones.weights.size, dtype=np.float64)
        return totals + float(self.clones.start)

    def _terms(self) -> tuple[Floats, Floats]:
        """Returns i and w_i of eq. (5)."""
        weights = self.clones.weights
        totals = self._totals()
        # Printed sums start at i = 1, without P(C = 0).
        if self.as_printed:
            return totals[totals >= 1.0], weights[totals >= 1.0]
        return totals, weights


def _weight(m: Floats, totals: Floats) -> Floats:
    """Returns f_i(m)."""
    return binomial_weight(m, totals, 0.5)


def _below(m: Floats, totals: Floats) -> Floats:
    """Returns F_i(m - 1) for 0 <= m <= i."""
    # P(Binomial(i, 1/2) <= m - 1) as a regularized incomplete beta function.
    safe = np.maximum(m, 1.0)
    below: Floats = np.where(m > 0.0, betainc(totals - safe + 1.0, safe, 0.5), 0.0)
    return below
