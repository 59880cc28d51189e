"""Privacy blanket: with probability gamma, a message ignores its user's value.

With the loss L = (R(x) - e^epsilon R(x')) / omega of a blanket message, whose mean is -a,
a = e^epsilon - 1, and M ~ Binomial(n, gamma),

    delta <= E[(L_1 + ... + L_M)_+] / (gamma n).

*Hoeffding*, for losses in an interval of length b:

    delta = b^2 / (4 a gamma n) (1 - gamma (1 - e^{-2 a^2 / b^2}))^n.

*Bennett*, for losses up to b with E[L^2] <= c, phi(u) = (1 + u) ln(1 + u) - u and
t = c / b^2 phi(a b / c):

    delta = b / (gamma n ln(1 + a b / c)) ((1 - gamma (1 - e^-t))^n - (1 - gamma)^n).

Bounds of L:

| randomizer | gamma                 | length b             | largest b               |
|------------|-----------------------|----------------------|-------------------------|
| any        | e^-eps_0              | (E + 1) (e0 - 1/e0)  | e0 - E / e0             |
| Laplace    | e^(-eps_0 / 2)        | (E + 1) (h - 1/h)    | h - E / h               |
| k-ary      | k / (e^eps_0 + k - 1) | (E + 1) (1 - gamma)k | (1 - gamma)k - gamma a  |

with E = e^epsilon, e0 = e^eps_0, h = e^(eps_0 / 2); the second moments stand below.

Source: Balle, Bell, Gascon, Nissim (2019), "The Privacy Blanket of the Shuffle Model",
arXiv:1903.02837, section 5, and the authors' program
(BorjaBalle/amplification-by-shuffling). Its first version divided Bennett's bound by a m
more, for every number m of blanket messages; for binary response at 10000 people, budget 1
and delta 1e-6 that gives 0.0327, below the 0.0356 that an attack reaches.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.population import Population
from shuffledp_papers.bounds.bound import PublishedBound, Setting, check_pure, require
from shuffledp_papers.bounds.invert import epsilon_at

# Divergences about which the profile of the numerical bound is precise, tried in order.
_USUAL_DELTA, _SMALLEST_DELTA = 1e-12, 1e-290


@dataclass(frozen=True)
class Losses:
    """Bounds of the loss of one blanket message.

    Attributes:
        gamma: Probability of a blanket message.
        length: Length of an interval that contains all losses.
        largest: Upper bound of all losses.
        square: Upper bound of the second moment.
    """

    gamma: float
    length: float
    largest: float
    square: float


def losses(setting: Setting, epsilon: float) -> Losses:
    """Returns the paper's bounds of the loss, for 0 < epsilon < the local budget."""
    # Other mechanisms have the bounds for any randomizer.
    if setting.mechanism is not None:
        if setting.mechanism_name == "kary-response":
            categories = float(setting.mechanism.parameters["categories"])
            return _of_response(setting.largest_budget, epsilon, categories)
        if setting.mechanism_name == "one-bit":
            return _of_response(setting.largest_budget, epsilon, 2.0)
        if setting.mechanism_name == "laplace":
            return _of_laplace(setting.largest_budget, epsilon)
    return _of_any(setting.largest_budget, epsilon)


def _of_any(budget: float, epsilon: float) -> Losses:
    gamma, ratio = math.exp(-budget), math.exp(epsilon)
    # e0 - 1/e0 = 2 sinh(eps_0), and e0 - E / e0 as a product keeps its digits.
    return Losses(
        gamma,
        (ratio + 1.0) * 2.0 * math.sinh(budget),
        -math.exp(budget) * math.expm1(epsilon - 2.0 * budget),
        math.exp(budget) * (ratio**2 + 1.0)
        - 2.0 * gamma * math.exp(epsilon - 2.0 * budget),
    )


def _of_laplace(budget: float, epsilon: float) -> Losses:
    ratio, half = math.exp(epsilon), math.exp(budget / 2.0)
    squares = (ratio**2 + 1.0) / 3.0 * (2.0 * half + math.exp(-budget))
    return Losses(
        math.exp(-budget / 2.0),
        (ratio + 1.0) * 2.0 * math.sinh(budget / 2.0),
        -half * math.expm1(epsilon - budget),
        squares - 2.0 * ratio * (2.0 / half - math.exp(-budget)),
    )


def _of_response(budget: float, epsilon: float, categories: float) -> Losses:
    decay, ratio = math.exp(-budget), math.exp(epsilon)
    weight = 1.0 + (categories - 1.0) * decay
    # `share` is (1 - gamma) of the table; gamma a is subtracted below.
    gamma, share = categories * decay / weight, -math.expm1(-budget) / weight
    return Losses(
        gamma,
        share * categories * (ratio + 1.0),
        share * categories - gamma * math.expm1(epsilon),
        gamma * (2.0 - gamma) * math.expm1(epsilon) ** 2
        + share**2 * categories * (ratio**2 + 1.0),
    )


class Balle2019Hoeffding(PublishedBound, row="balle2019-hoeffding"):
    """The blanket with Hoeffding's inequality."""

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the bound, at most 1; from the local budget on, 0."""
        if epsilon >= setting.largest_budget:
            return 0.0
        if epsilon == 0.0:
            return 1.0
        try:
            loss, rise = losses(setting, epsilon), math.expm1(epsilon)
            # e^{-2 a^2 / b^2} - 1.
            factor = math.expm1(-2.0 * (rise / loss.length) ** 2)
            log_delta = (
                2.0 * math.log(loss.length)
                - math.log(4.0 * rise * loss.gamma * setting.num_users)
                + setting.num_users * math.log1p(loss.gamma * factor)
            )
        except OverflowError:
            # A budget too large for double precision: the trivial bound.
            return 1.0
        return math.exp(min(log_delta, 0.0))


class Balle2019Bennett(PublishedBound, row="balle2019-bennett"):
    """The blanket with Bennett's inequality."""

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the bound, at most 1; from the local budget on, 0."""
        if epsilon >= setting.largest_budget:
            return 0.0
        if epsilon == 0.0:
            return 1.0
        people = setting.num_users
        try:
            loss, rise = losses(setting, epsilon), math.expm1(epsilon)
            # No second moment is below the square of the mean; rounding may be.
            square = max(loss.square, rise**2)
            u = rise * loss.largest / square
            factor = math.expm1(-square / loss.largest**2 * _phi(u))
            # Logarithms of both n-th powers; their difference is taken by expm1.
            some = people * math.log1p(loss.gamma * factor)
            none = people * math.log1p(-loss.gamma) if loss.gamma < 1.0 else -math.inf
            log_delta = (
                math.log(loss.largest)
                - math.log(loss.gamma * people * math.log1p(u))
                + some
                + math.log(max(-math.expm1(none - some), 5e-324))
            )
        except (OverflowError, ZeroDivisionError, ValueError):
            # Too close to 0 or to the local budget for double precision.
            return 1.0
        return math.exp(min(log_delta, 0.0))


class Balle2019Blanket(PublishedBound, row="balle2019-blanket"):
    """The blanket itself, evaluated numerically for one randomizer at one level."""

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless one pure, single-message one is given."""
        check_pure(setting)
        require(setting.mechanism is not None, "a given randomizer", "any randomizer")
        if setting.mechanism is not None:
            changes = setting.mechanism.changes
            require(changes == 1, "one message per person", f"{changes}")
        require(setting.num_users >= 2, "at least 2 people", f"{setting.num_users}")

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the smallest epsilon of the blanket, at most the local budget."""
        return epsilon_at(
            _blanket(setting, delta), delta, ceiling=setting.largest_budget
        )

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the blanket's divergence."""
        delta = _blanket(setting, _USUAL_DELTA)(epsilon)
        # A profile is precise about the delta for which it was computed.
        if delta < _USUAL_DELTA:
            delta = min(delta, _blanket(setting, _SMALLEST_DELTA)(epsilon))
        return min(delta, 1.0)


def _blanket(setting: Setting, delta: float) -> Callable[[float], float]:
    """Returns the bound as a function of epsilon, precise at deltas about this one."""
    budget = setting.largest_budget
    if setting.mechanism is None or budget == 0.0:
        return lambda epsilon: 0.0
    population = Population.from_counts({budget: setting.num_users})
    (profile,) = upper_profiles(setting.mechanism, population, [0], delta=delta)
    # Of two messages the accountant has a smaller bound, which is not this paper's.
    profile = replace(profile, bounds={"blanket": profile.bounds["blanket"]})
    return lambda epsilon: 0.0 if epsilon >= budget else profile.delta(epsilon)


def _phi(u: float) -> float:
    """Returns (1 + u) ln(1 + u) - u; near 0, a little less."""
    # Two terms of the alternating series: a smaller phi only makes the bound weaker.
    if u < 1e-3:
        return u * u * (0.5 - u / 6.0)
    return (1.0 + u) * math.log1p(u) - u
