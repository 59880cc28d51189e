"""The lower bound by scores: every message has a score, the adversary sees the sum.

All others hold one value, the target user x or x'. An adversary who sees all messages
can add up their scores s in {0, ..., K}, in T rounds those of all rounds, and guess x
from a sum of at least a. With p and q the generating functions of the target user's
score on x and on x', and G that of all others together, this test alone proves, for any
theta > 0 and z = theta + i w,

    delta >= P(sum >= a) - e^eps Q(sum >= a)
           = integral_{-pi}^{pi} e^{-z a} G^T (p^T - e^eps q^T) / (1 - e^{-z}) dw / (2 pi).

A rule with N equally spaced points is exact up to copies: the same difference at
a + j N, weighted by e^{theta j N}, for all j != 0. It is at most P(sum >= b), b = a + j N,
and at most 1 - e^eps + e^eps Q(sum < b). For these there are Chernoff's bounds,

    P(sum >= b) <= e^{-x b} G^T p^T, x >= 0,     Q(sum < b) <= e^{-x b} G^T q^T, x <= 0,

taken in points x on either side of theta. They are subtracted, and so is a bound of every
rounding error, of the grouping and of the points at which |G^T (p^T - e^eps q^T)| is
certainly negligible (see `ScoreSum.coincidences`), which are nearly all of them.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.lower.score_sum import (
    ScoreSum,
    least_coincidences,
    log1p_of_any,
    powers_less_1,
    tilted_moments,
)
from shuffledp.accounting.lower.visible_points import visible_points
from shuffledp.cover import ScoreAttack
from shuffledp.types import Complexes, Floats, Ints

# Lowers a result by more than the rounding of its last few operations.
_ARITHMETIC = 1.0 - 1e-10
# Rounding of one operation, twice over.
_ROUNDING = 2.5e-16
# What is left out of the integral is below exp(-_NEGLIGIBLE) of it.
_NEGLIGIBLE = 45.0
# Tilts beyond this, times K, are not tried; those beyond the second would overflow.
_STEEPEST = 600.0
_OVERFLOW = 690.0
# Nothing smaller is returned: it might have been rounded up.
_SMALLEST = 1e-300
# Thresholds tried at a time, on either side of the middle.
_HALF = 32
# Of a term: products of complex numbers on the way to its threshold, and a few more.
_OPERATIONS = 16.0 + 8.0 * (_HALF + 1)


@dataclass(frozen=True, eq=False)
class ScoreBound:
    """The attack on one target user; build it with `score_bound`.

    Attributes:
        second: Probability of each score of the target user under x', shape (K + 1,).
        difference: The probabilities under x less those under x', shape (K + 1,).
        others: The scores of all users except the target user.
        rounds: How many times all this is repeated.
    """

    second: Floats
    difference: Floats
    others: ScoreSum
    rounds: int

    def delta(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        with np.errstate(all="ignore"):
            try:
                value = self._delta(epsilon)
            except (OverflowError, ValueError, ZeroDivisionError):
                # Numbers too extreme to prove anything.
                return 0.0
        return value if value > 0.0 else 0.0

    def _delta(self, epsilon: float) -> float:
        tilt = self._tilt(epsilon)
        if tilt is None:
            return 0.0
        integrand = ScoreIntegrand(self, epsilon, tilt)
        half = integrand.half
        center, largest_value = 0.0, 0.0
        while True:
            offsets = np.unique(np.round(np.linspace(-half, half, 2 * _HALF + 1)))
            values = integrand.differences(center + offsets)
            best_index = int(np.argmax(values))
            largest_value = max(largest_value, float(values[best_index]))
            if half <= _HALF:
                largest_value *= math.exp(integrand.level) * _ARITHMETIC
                return largest_value if largest_value > _SMALLEST else 0.0
            center, half = (
                center + float(offsets[best_index]),
                2 * math.ceil(half / _HALF),
            )

    def _tilt(self, epsilon: float) -> float | None:
        """Returns about the tilt at which x is e^epsilon times as likely as x'."""

        def excess(tilt: float) -> float:
            # As `target_user`, without errors.
            powers, _ = powers_less_1(np.array([tilt + 0j]), self.second.size)
            ratio = powers @ self.difference / (1.0 + powers @ self.second)
            return self.rounds * float(log1p_of_any(ratio).real[0]) - epsilon

        steepest = _STEEPEST / (self.second.size - 1)
        if not excess(steepest) > 0.0:
            return None
        if epsilon == 0.0:
            return 0.0
        # Imported on use: optimization takes long to load.
        from scipy.optimize import brentq

        # Any tilt is valid; below 1e-25, none moves a sum.
        return float(brentq(excess, 0.0, steepest, xtol=1e-25, maxiter=300, disp=False))

    def target_user(self, z: Complexes) -> tuple[Complexes, Complexes, Floats, Floats]:
        """Returns log(p / q) and log q, and bounds of their errors, each shape as `z`."""
        excess, size = powers_less_1(z, self.second.size)
        x = excess @ self.second
        ratio = excess @ self.difference / (1.0 + x)
        log_ratio, log_second = log1p_of_any(ratio), log1p_of_any(x)
        below = np.abs(1.0 + x)
        rounding = _ROUNDING * (self.second.size + 8)
        error = size @ self.second / below
        ratio_error = size @ np.abs(self.difference) / below + np.abs(ratio) * error
        ratio_error = ratio_error / np.abs(1.0 + ratio) + np.abs(log_ratio)
        error = error + np.abs(log_second)
        return log_ratio, log_second, rounding * ratio_error, rounding * error


def score_bound(attack: ScoreAttack, others: ScoreSum, rounds: int = 1) -> ScoreBound:
    """Prepares the attack in `rounds` rounds; `others` excludes the target user."""
    return ScoreBound(attack.second, attack.difference, others, rounds)


class ScoreIntegrand:
    """The integral at one epsilon, for thresholds counted from `center`.

    Everything is in units of e^level, a bound of e^{-z center} G^T (p^T + e^eps q^T) on
    the line Re z = theta.
    """

    def __init__(self, bound: ScoreBound, epsilon: float, tilt: float) -> None:
        self.bound, self.epsilon, self.rounds = bound, epsilon, float(bound.rounds)
        with_x = bound.second + bound.difference
        means, variances = tilted_moments(np.stack([with_x, bound.second]), tilt)
        others_mean, others_variance = bound.others.tilted(tilt)
        self.center = round(self.rounds * (others_mean + float(means.mean())))
        variance = self.rounds * (others_variance + float(variances.max()))
        spread = max(math.sqrt(variance), 0.5)
        # The best threshold lies between the target user's two sums, or a few scores
        # off.
        distance_of_means = self.rounds * abs(float(means[0] - means[1]))
        top = with_x.size - 1
        self.half = math.ceil(max(_HALF, 2 * top, distance_of_means))
        self.line = min(max(tilt, 0.5 / spread), _STEEPEST / top)
        self.level = 0.0
        on_line = np.array([self.line, self.line + 1j / spread])
        exponent, growth, doubt, ratio_error = self._exponent_parts(on_line)
        log_sum = np.logaddexp(growth[0].real, 0.0)
        self.level = (
            float(exponent[0].real + log_sum + doubt[0] + ratio_error[0]) + 1e-9
        )
        # How much p and e^eps q cancel, where the integral gathers most of its value.
        cancel = math.log(abs(np.expm1(growth[1]))) - log_sum
        self.enough = (
            _NEGLIGIBLE
            + math.log(spread)
            - cancel
            + (distance_of_means / spread) ** 2 / 8.0
        )
        self._place_copies(spread, top)
        self._evaluate_factors()

    def _exponent_parts(
        self, z: Complexes
    ) -> tuple[Complexes, Complexes, Floats, Floats]:
        """Returns log(e^{eps - z center} G^T q^T) - level, log(p^T / (e^eps q^T)), errors.

        Both errors are bounds; nan or inf where nothing is known.
        """
        log_ratio, log_second, ratio_error, error = self.bound.target_user(z)
        log_others, others_error = self.bound.others.log_generating(z)
        exponent = self.rounds * (log_others + log_second) - z * self.center
        size = np.abs(z) * (abs(self.center) + 2.0 * self.half)
        doubt = self.rounds * (others_error + error)
        doubt += 4.0 * _ROUNDING * (size + self.epsilon + abs(self.level) + 4.0)
        growth = self.rounds * log_ratio - self.epsilon
        return (
            exponent + (self.epsilon - self.level),
            growth,
            doubt,
            self.rounds * ratio_error,
        )

    def _place_copies(self, spread: float, top: int) -> None:
        """Chooses N and the two lines whose bounds make the copies negligible."""
        distance = math.sqrt(2.0 * self.enough) / spread
        distance = min(distance, _OVERFLOW / top - self.line)
        for _ in range(50):
            self.sides = self.line + distance * np.array([-1.0, 1.0])
            exponent, growth, doubt, ratio_error = self._exponent_parts(self.sides + 0j)
            # Left of 0, the bound is Q's.
            counts_p = np.where(self.sides >= 0.0, growth.real + ratio_error, 0.0)
            self.beside = exponent.real + counts_p + doubt
            highest_score = self.beside.max() + distance * self.half
            if highest_score <= self.enough:
                break
            distance /= 2.0
        else:
            raise OverflowError
        self.nodes = 2 * math.ceil(self.enough / distance) + 1
        decay = math.exp(-distance * self.nodes)
        self.beside = self.beside + math.log(decay / (1.0 - decay))
        self.constant = 0.0
        if self.sides[0] < 0.0:
            # All copies' 1 - e^eps are one geometric series.
            decay = math.exp(-self.line * self.nodes)
            total = math.exp(-self.level) * math.expm1(self.epsilon)
            self.constant = total * decay / (1.0 - decay) * (1.0 - 1e-12)

    def _evaluate_factors(self) -> None:
        """Evaluates the factors without a threshold, at all points that matter."""
        indices, left_out = self._visible()
        self.z = self.line + 2j * math.pi / self.nodes * indices
        exponent, growth, doubt, ratio_error = self._exponent_parts(self.z)
        scale = np.where(indices > 0, 2.0, 1.0) / self.nodes / -np.expm1(-self.z)
        factor = scale * np.exp(exponent)
        change = np.expm1(growth)
        terms = factor * change
        error = np.abs(terms) * np.expm1(
            doubt + (_OPERATIONS + indices.size) * _ROUNDING
        )
        term_errors = np.abs(factor * np.exp(growth + doubt)) * np.expm1(ratio_error)
        is_bounded = doubt + ratio_error < 1.0
        self.terms: Complexes = np.where(is_bounded, terms, 0.0)
        # Nowhere on the line are terms larger than in theta.
        largest_term = 2.0 / self.nodes / -math.expm1(-self.line)
        self.error = float(
            np.where(is_bounded, error + term_errors, largest_term).sum()
        )
        self.error += left_out * largest_term

    def _visible(self) -> tuple[Ints, float]:
        """Returns the points 0, ..., N // 2 that matter, and the rest's total factor."""
        bound, tilt = self.bound, self.line
        weights = np.exp(tilt * np.arange(bound.second.size))
        weighted_masses = (
            np.stack([bound.second + bound.difference, bound.second]) * weights
        )
        least_factors = least_coincidences(
            weighted_masses / weighted_masses.sum(axis=1, keepdims=True)
        ).min(axis=0)
        # Less by more than rounding.
        coincidences = (bound.others.coincidences(tilt) + least_factors) * (1.0 - 1e-6)
        return visible_points(
            self.rounds * coincidences,
            self.nodes,
            enough=self.enough + math.log(self.nodes),
        )

    def differences(self, offsets: Floats) -> Floats:
        """Returns lower bounds of P - e^eps Q for thresholds at these offsets."""
        values = self._sums(offsets)
        copies = np.exp(self.beside - np.multiply.outer(offsets, self.sides))
        errors = self.error * np.exp(-self.line * offsets) + copies.sum(axis=1)
        result: Floats = values + self.constant - errors
        return np.where(np.isfinite(result), result, -np.inf)

    def _sums(self, offsets: Floats) -> Floats:
        """Returns the integrals for thresholds at these offsets, whole and ascending."""
        middle = offsets.size // 2
        gaps = np.diff(offsets)
        sums = np.empty(offsets.size)
        # From each to the next by a product: exponentials take twenty times as long.
        factors = {gap: np.exp(-self.z * gap) for gap in np.unique(gaps).tolist()}
        inverses = {gap: np.exp(self.z * gap) for gap in factors}
        at_middle = self.terms * np.exp(-self.z * offsets[middle])
        for indices, steps, part in (
            (range(middle + 1, offsets.size), factors, gaps[middle:]),
            (range(middle - 1, -1, -1), inverses, gaps[:middle][::-1]),
        ):
            terms = at_middle.copy()
            for index, gap in zip(indices, part.tolist(), strict=True):
                terms *= steps[gap]
                sums[index] = terms.sum().real
        sums[middle] = at_middle.sum().real
        return sums
