"""Renyi divergence of shuffled messages, turned into (epsilon, delta).

With m = floor((n - 1) / (2 e^eps_0)) + 1, s = e^eps_0 - e^-eps_0 and
few = e^{-(n - 1) / (8 e^eps_0)}, for every whole order l >= 2, the shuffled messages have
a Renyi divergence of at most ln(B) / (l - 1), where (Theorem 1)

    B = 1 + binom(l, 2) (e^eps_0 - 1)^2 / (m e^eps_0)
          + sum_{i = 3 .. l} binom(l, i) i Gamma(i / 2) (s^2 / (2 m))^{i / 2}
          + ((1 + s)^l - 1 - l s) few,

and also where B = e^{l^2 (e^eps_0 - 1)^2 / m} + e^{eps_0 l} few (Theorem 2). With either,

    epsilon = (ln(B) + ln(1 / delta) - ln(l)) / (l - 1) + ln(1 - 1 / l)

(Canonne, Kamath, Steinke 2020, arXiv:2004.00010); the best of many orders is taken.

Source: Girgis, Data, Diggavi, Suresh, Kairouz (2021), "On the Renyi Differential Privacy
of the Shuffle Model", arXiv:2105.05180.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, logsumexp

from shuffledp.errors import CertificationError
from shuffledp_papers.bounds.bound import PublishedBound, Setting

_LARGEST_ORDER = 2**17
# Orders are tried in steps of 5 percent, until this many in a row have not helped.
_PATIENCE = 25
_STEP = 1.05


def sum_log_moment(setting: Setting, order: int) -> float:
    """Returns ln(B) of Theorem 1 at a whole order >= 2, for a largest budget above 0."""
    budget, m = setting.largest_budget, _hidden_among(setting)
    # s = e^eps_0 - e^-eps_0, without the overflow of e^eps_0.
    log_s = budget + math.log(-math.expm1(-2.0 * budget))
    pairs = math.log(order) + math.log(order - 1.0) - math.log(2.0)
    # (e^eps_0 - 1)^2 / e^eps_0, whose square might overflow.
    second = pairs + budget + 2.0 * math.log(-math.expm1(-budget)) - math.log(m)
    i = np.arange(3.0, order + 1.0)
    choices = gammaln(order + 1.0) - gammaln(i + 1.0) - gammaln(order - i + 1.0)
    base = log_s - 0.5 * math.log(2.0 * m)
    higher = choices + np.log(i) + gammaln(0.5 * i) + i * base
    few_clones = _log_remainder(log_s, order, pairs) - _exponent(setting)
    # Logarithms of the terms 1, i = 2, ((1 + s)^l - 1 - l s) few, and i = 3 .. l.
    return float(logsumexp(np.concatenate([[0.0, second, few_clones], higher])))


def closed_log_moment(setting: Setting, order: int) -> float:
    """Returns ln(B) of Theorem 2 at a whole order >= 2, for a largest budget above 0."""
    budget, m = setting.largest_budget, _hidden_among(setting)
    # ln(e^eps_0 - 1).
    log_rise = budget + math.log(-math.expm1(-budget))
    exponent = 2.0 * (math.log(order) + log_rise) - math.log(m)
    # Beyond, e^exponent overflows, and other orders are better.
    if exponent > 700.0:
        return math.inf
    few_clones = budget * order - _exponent(setting)
    return float(np.logaddexp(math.exp(exponent), few_clones))


def _hidden_among(setting: Setting) -> float:
    """Returns m, about half the expected number of clones."""
    others = setting.num_users - 1.0
    return math.floor(others * math.exp(-setting.largest_budget) / 2.0) + 1.0


def _exponent(setting: Setting) -> float:
    """Returns (n - 1) / (8 e^eps_0), the negative logarithm of `few`."""
    return (setting.num_users - 1.0) * math.exp(-setting.largest_budget) / 8.0


def _log_remainder(log_s: float, order: int, pairs: float) -> float:
    """Returns ln((1 + s)^l - 1 - l s)."""
    # l ln(1 + s). Above 40, 1 + l s is not subtracted, which only rounds up.
    rise = order * float(np.logaddexp(0.0, log_s))
    if rise > 40.0:
        return rise
    s = math.exp(log_s)
    if order * s < 1e-3:
        # Taylor's remainder, rounded up: the difference would lose its digits.
        return pairs + 2.0 * log_s + rise
    return math.log(math.expm1(rise) - order * s)


def _smallest(of_order: Callable[[int], float]) -> float:
    """Returns the smallest value over many whole orders from 2 on."""
    # A coarse geometric grid first, then up to some 32 orders on both sides of its best.
    best, at, since, order = math.inf, 2, 0, 2
    while order <= _LARGEST_ORDER and since < _PATIENCE:
        value = of_order(order)
        if math.isnan(value):
            raise CertificationError("A formula has no value in double precision.")
        best, at, since = (value, order, 0) if value < best else (best, at, since + 1)
        order = max(order + 1, math.floor(order * _STEP))
    width = math.ceil((_STEP - 1.0) * at)
    near = range(max(2, at - width), at + width + 1, max(1, width // 16))
    return min(best, *(of_order(order) for order in near))


@dataclass(frozen=True)
class _RenyiBound(PublishedBound, ABC):
    """A bound of Renyi divergences, at the best of many orders.

    Attributes:
        rounds: Number of collections: their Renyi divergences add up.
    """

    rounds: int = 1

    @abstractmethod
    def log_moment(self, setting: Setting, order: int) -> float:
        """Returns ln(B) at a whole order >= 2, for a largest budget above 0."""

    def over(self, rounds: int) -> PublishedBound:
        """Returns the bound of several collections."""
        return replace(self, rounds=rounds)

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the smallest epsilon over all orders that are tried, at least 0."""

        def of_order(order: int) -> float:
            moment = self._moment(setting, order)
            return (moment - math.log(delta)) / (order - 1) + math.log1p(-1.0 / order)

        if setting.largest_budget == 0.0:
            return 0.0
        return max(_smallest(of_order), 0.0)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the smallest delta over all orders that are tried, at most 1."""

        def of_order(order: int) -> float:
            growth = (order - 1) * (math.log1p(-1.0 / order) - epsilon)
            return self._moment(setting, order) + growth

        if setting.largest_budget == 0.0:
            return 0.0
        return math.exp(min(_smallest(of_order), 0.0))

    def _moment(self, setting: Setting, order: int) -> float:
        return self.rounds * self.log_moment(setting, order) - math.log(order)


class Girgis2021Sum(_RenyiBound, row="girgis2021-sum"):
    """Theorem 1: a sum over the moments up to the order."""

    def log_moment(self, setting: Setting, order: int) -> float:
        """Returns ln(B) of Theorem 1."""
        return sum_log_moment(setting, order)


class Girgis2021Closed(_RenyiBound, row="girgis2021-closed"):
    """Theorem 2: a closed form for every order."""

    def log_moment(self, setting: Setting, order: int) -> float:
        """Returns ln(B) of Theorem 2."""
        return closed_log_moment(setting, order)
