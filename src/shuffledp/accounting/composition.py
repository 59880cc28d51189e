"""What many collections reveal together, from a certified bound of each.

*One collection.* Its profile H(E) = sup (P - E Q)_+, E = e^epsilon, is convex and falls.
The lower convex hull of bounds at some nodes, and of their mirror images H(1 / E) = 1
- 1 / E + H(E) / E, lies above it, and is the profile of a pair with finitely many ratios
X = dP / dQ that dominates it: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, PETS 2022,
arXiv:2207.04380, "connect the dots". No grid is needed: every node is exact.

*All of them.* With M_k(z) = E_Q[X_k^z] over the finite ratios, P(X_k = inf) = u_k, and T_k
collections of kind k, the bound at epsilon is

    1 - prod (1 - u_k)^{T_k}
    + 1 / (2 pi i)  integral over Re z = theta of  M(z) e^{epsilon (1 - z)} / (z (z - 1)) dz

with M = e^{s^2 (z^2 - z) / 2} prod M_k^{T_k} and any theta > 1. The first factor multiplies
X by a lognormal variable of mean 1: (X - E)_+ is convex, so the bound only rises - by about
s^2 / (2 var log X) of epsilon, a few parts in a million - and the integral ends.

*Errors.* All are added to the result. |M(x + iw)| <= M(x) e^{-s^2 w^2 / 2} and |z (z - 1)|
>= (x - 1)^2 + w^2 bound what is cut off, and, by the integrals along two lines at distance
d, the error of the trapezoid rule: at step h, their sum over e^{2 pi d / h} - 1 (Trefethen
and Weideman 2014, SIAM Review 56, Theorem 5.1).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from shuffledp.accounting.logarithm import log1p
from shuffledp.errors import CertificationError
from shuffledp.types import Complexes, Floats

# Evaluations of one profile at most, and the part of the variance that a chord between
# two nodes may add without being split: together well below 1 % of epsilon.
_EVALUATIONS = 200
_CHORD = 2e-5
# Epsilons beyond this count as infinite, so that e^-epsilon is a normal number.
_FARTHEST = 600.0
# A node with less of the mass beyond it than this is dropped: the hull only rises.
_COLLINEAR = 1e-9
# Covers the rounding of a difference of two slopes, as a part of their sum.
_SLOPES = 1e-13
_LEAST_MASS = 1e-290
# Variance of the smoothing noise, as a part of that of the composed loss.
_SMOOTHING = 5e-6
# Discretisation and truncation together: about this part of the result each.
_TOLERANCE = 1e-9
# Covers all rounding that is not multiplied by the number of collections.
_ARITHMETIC = 1e-12
_ULP = 2.3e-16
# Exponents beyond this are factored out, lest e^x overflow.
_LARGE = 500.0
# Saddles nearer to the pole than this mean losses of thousands beyond epsilon: delta is
# about 1, and so is the bound.
_NEAR_POLE = 3e-4
_MOST_POINTS = 4_000_000
# Nothing smaller is ever returned: it might have been rounded down to 0.
_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """A pair that dominates one collection, for neighbours in both directions.

    Attributes:
        losses: Values of log X, ascending, shape (atoms,).
        masses: Their masses under Q, or a little more, shape (atoms,).
        infinite: Mass under P where X is infinite.
    """

    losses: Floats
    masses: Floats
    infinite: float


def loss_distribution(
    upper: Callable[[float], float], *, ceiling: float, negligible: float
) -> LossDistribution:
    """Chooses nodes, evaluates a profile there, and connects the dots.

    Args:
        upper: A proven upper bound of the divergence at any epsilon in [0, ceiling), for
            all neighbours in both directions.
        ceiling: An epsilon known to hold with delta = 0, or infinity.
        negligible: A delta that may be added to that of every collection.
    """
    values: dict[float, float] = {}

    def evaluate(epsilon: float) -> float:
        values[epsilon] = 0.0 if epsilon >= ceiling else upper(epsilon)
        return values[epsilon]

    low, high, limit = 0.0, 0.0, min(ceiling, _FARTHEST)
    if evaluate(0.0) > negligible:
        high = min(4.0 * values[0.0], limit)
        while evaluate(high) > negligible and high < limit:
            low, high = high, min(2.0 * high, limit)
    # What never falls further is infinite anyway.
    enough = max(negligible, 1.001 * values[high])
    while high - low > 0.05 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if evaluate(middle) <= enough else (middle, high)
    while True:
        losses = np.array(sorted(loss for loss in values if loss <= high))
        result = connect_dots(losses, np.array([values[x] for x in losses.tolist()]))
        # Where a middle is known and was dropped, the profile is straight.
        new = [x for x in _middles_to_add(result) if x not in values]
        new = new[: max(0, _EVALUATIONS - len(values))]
        if not new:
            return result
        for middle in new:
            evaluate(middle)


def connect_dots(losses: Floats, values: Floats) -> LossDistribution:
    """Returns the pair whose profile is the hull of these points and their mirror images.

    Args:
        losses: Nodes, ascending, each >= 0, shape (nodes,).
        values: Upper bounds of the divergence there, shape (nodes,).
    """
    if not np.all((values >= 0.0) & np.isfinite(values)):
        raise CertificationError("Expected bounds of the divergence, each >= 0.")
    # The profile falls with epsilon and is at most 1, whether or not its bounds do.
    values = np.minimum.accumulate(np.minimum(values, 1.0))
    kept: list[int] = []
    for new in range(losses.size):
        while kept:
            fall, rise = _slopes(losses[[*kept[-2:], new]], values[[*kept[-2:], new]])
            if fall[-2] - rise[-2] > _COLLINEAR * (fall[-2] + rise[-2]):
                break
            kept.pop()
        kept.append(new)
    while len(kept) > 1 and values[kept[-2]] == values[kept[-1]]:
        kept.pop()
    nodes, infinite = losses[kept], float(values[kept[-1]])
    fall, rise = _slopes(nodes, values[kept])
    # Too much mass at E and 1 / E, taken from X = 1, is a spread that keeps the mean. So
    # rounding these upward raises the bound, but not the total over any number of rounds.
    outer = np.maximum(fall - rise + _SLOPES * (fall + rise), _LEAST_MASS)
    outer, nodes = outer[nodes > 0.0], nodes[nodes > 0.0]
    inner = np.maximum(outer * np.exp(-nodes) * (1.0 + 4.0 * _ULP), _LEAST_MASS)
    rest = max(math.fsum([1.0, -infinite, *(-outer), *(-inner)]), 0.0)
    # What rounding `inner` up took away comes back.
    middle = rest + _ULP * (rest + 8.0 * float(inner.sum())) + losses.size * _LEAST_MASS
    return LossDistribution(
        losses=np.concatenate([-nodes[::-1], [0.0], nodes]),
        masses=np.concatenate([outer[::-1], [middle], inner]),
        infinite=infinite,
    )


def _slopes(losses: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Returns minus the slopes left and right of each node, times its E.

    Their difference is the mass under P. Without E itself, nothing overflows or cancels.
    Left of the first node lies its mirror image.
    """
    falls, lengths = -np.diff(values), np.diff(losses)
    first = (1.0 - values[:1]) / (1.0 + np.exp(-losses[:1]))
    left = np.concatenate([first, falls / -np.expm1(-lengths)])
    return left, np.concatenate([falls / np.expm1(lengths), [0.0]])


def _middles_to_add(distribution: LossDistribution) -> list[float]:
    """Returns the middles of the chords that cost too much, the worst first.

    A chord of length h adds h^2 / 6 to the variance of the mass under it. Composed tails
    are made by tilts e^{t loss}; what counts is the worst share of a tilted variance.
    """
    losses, masses = distribution.losses, distribution.masses
    nodes = losses[losses.size // 2 :]
    weights = masses[losses.size // 2 :] * np.exp(nodes)
    if nodes.size < 2:
        return []
    lengths, centres = np.diff(nodes), 0.5 * (nodes[:-1] + nodes[1:])
    density = weights / np.convolve(np.pad(lengths, 1, "edge"), [1.0, 1.0], "valid")
    under = lengths * (density[:-1] + density[1:])
    # Under the tilt t = -(log density)', the mass gathers at that chord.
    slopes = -np.diff(np.log(density)) / lengths
    tilts = np.maximum(np.append(slopes, 0.0), 0.0)[:, np.newaxis]
    logs = np.log(masses) + losses + tilts * losses
    norms = logsumexp(logs, axis=1, keepdims=True)
    tilted = np.exp(logs - norms)
    means = (tilted * losses).sum(axis=1, keepdims=True)
    variances = (tilted * (losses - means) ** 2).sum(axis=1, keepdims=True)
    added = np.exp(np.minimum(np.log(under) + tilts * centres - norms, 0.0))
    added *= lengths**2 / 6.0
    # Two collections or more are rarely all near the last node.
    weight = np.where(means > 0.7 * nodes[-1], 0.1, 1.0)
    costs = (weight * added / (added + variances + 1e-300)).max(axis=0)
    least = max(_CHORD, 0.25 * float(costs.max()))
    return [float(centres[i]) for i in np.argsort(-costs) if costs[i] > least]


@dataclass(frozen=True, eq=False)
class Composed:
    """Kinds of collections and how often each takes place."""

    parts: tuple[tuple[LossDistribution, int], ...]

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        with np.errstate(all="ignore"):
            try:
                total = self._delta(epsilon)
            except (OverflowError, ValueError, ZeroDivisionError):
                total = math.nan
        if not math.isfinite(total):
            raise CertificationError(
                f"No proven bound at epsilon {epsilon:g}: the numbers are too extreme."
            )
        return min(total, 1.0)

    def _delta(self, epsilon: float) -> float:
        if any(one.infinite >= 1.0 for one, _ in self.parts):
            return 1.0
        logs = math.fsum(n * math.log1p(-one.infinite) for one, n in self.parts)
        infinite = -math.expm1(logs) * (1.0 + 1e-14)
        largest = math.fsum(n * float(one.losses[-1]) for one, n in self.parts)
        if epsilon >= largest * (1.0 + 1e-14):
            return infinite
        integrand = Integrand(self.parts, epsilon)
        if integrand.saddle - 1.0 < _NEAR_POLE:
            return 1.0
        value, error = integrand.integral()
        finite = math.exp(integrand.level) * (max(value, 0.0) + error)
        return max(infinite + finite, _SMALLEST)


def composed(parts: Sequence[tuple[LossDistribution, int]]) -> Composed:
    """Returns what these collections, each so many times, reveal together."""
    if not parts or any(rounds < 1 for _, rounds in parts):
        raise ValueError("Expected each kind of collection at least once.")
    return Composed(tuple(parts))


class Integrand:
    """M(z) e^{epsilon (1 - z)} / (z (z - 1)) along the line through its saddle."""

    def __init__(
        self, parts: Sequence[tuple[LossDistribution, int]], epsilon: float
    ) -> None:
        self.parts, self.epsilon, self.smoothing = parts, epsilon, 0.0
        # By how much the masses' total differs from 1, without rounding.
        self.excesses = [math.fsum([*one.masses, -1.0]) for one, _ in parts]
        self.saddle = theta = self._saddle()
        # Roundings in one sum over the losses.
        self.ulps = [one.losses.size + 3.0 * theta * one.losses[-1] for one, _ in parts]
        kinds = range(len(parts))
        self.tilted, self.doubts = zip(*map(self._tilted, kinds), strict=True)
        variance = 0.0
        for masses, (one, rounds) in zip(self.tilted, parts, strict=True):
            mean = float(masses @ one.losses)
            variance += rounds * float(masses @ (one.losses - mean) ** 2)
        # The pole may be nearer than the losses' width; next to 1 it adds less, since
        # the level gains s^2 theta (theta - 1) / 2.
        self.smoothing = _SMOOTHING * (variance + 2.0 / (theta * (theta - 1.0)))
        variance += 1.0 / theta**2 + 1.0 / (theta - 1.0) ** 2
        self.level = self._log_size(theta)
        # About the size of the result over e^level.
        self.size = 0.4 / (theta * (theta - 1.0) * math.sqrt(variance))
        # The best lines beside the saddle; the pole at 1 stays outside.
        widest, choices = (
            min(theta - 1.0, 12.0 / math.sqrt(variance)),
            [(0.0, 0.0, 0.0)],
        )
        while max(choices)[0] == 0.0:
            choices = [self._strip(widest * part) for part in (0.95, 0.8, 0.5, 0.25)]
            widest /= 8.0
            if not widest > 1e-12:
                raise OverflowError
        self.step, self.distance, self.mass = max(choices)

    def integral(self) -> tuple[float, float]:
        """Returns the integral over e^level, and a bound of all its errors."""
        heights = np.linspace(1.0, 15.0, 141) / math.sqrt(self.smoothing)
        small = [self._beyond(w) < self.size * _TOLERANCE for w in heights.tolist()]
        return self.trapezoid(
            self.step, math.ceil(heights[np.argmax(small)] / self.step)
        )

    def trapezoid(self, step: float, last: int) -> tuple[float, float]:
        """Returns the rule with at least points 0, ..., last, and its error bound."""
        if not last < _MOST_POINTS:
            raise OverflowError
        # A square of points: e^{i w loss} is the product of one for a row and a column.
        side = math.isqrt(last) + 1
        columns = step * np.arange(side, dtype=np.float64)
        heights = np.add.outer(side * columns, columns).ravel()
        real = -0.5 * self.smoothing * heights**2
        phase = (self.smoothing * (self.saddle - 0.5) - self.epsilon) * heights
        # Each factor's size, not less than e^-20, and its error as a part of that: the
        # error of a product is largest where all factors have at least their size.
        sizes, doubts = real.copy(), _ARITHMETIC + 4.0 * _ULP * np.abs(phase)
        for kind, (one, rounds) in enumerate(self.parts):
            masses = self.tilted[kind]
            x = _turned(masses, one.losses, side * columns, columns)
            logs = log1p(x)
            log_sizes = np.maximum(logs.real, -20.0)
            real += rounds * np.maximum(logs.real, -1e4)
            phase += rounds * logs.imag
            sizes += rounds * log_sizes
            # A sum is off by its number of terms, each |e^{i w loss} - 1| <= w |loss|.
            sums = 4.0 * float(masses @ np.abs(one.losses)) * heights
            sums *= self.doubts[kind] + 2.0 * _ULP * (self.ulps[kind] + 10.0)
            ulps = 8.0 * _ULP * (np.abs(x) + np.abs(logs.imag) - log_sizes)
            doubts += rounds * (sums * np.exp(-log_sizes) + ulps)
        z = self.saddle + 1j * heights
        factor = step / math.pi / (z * (z - 1.0))
        factor[0] *= 0.5
        value = float((factor * np.exp(real + 1j * phase)).real.sum())
        little = np.exp(sizes) * np.expm1(np.minimum(doubts, 1.0))
        wrong = np.where(doubts < 1.0, little, np.exp(sizes + doubts))
        error = float(np.abs(factor) @ wrong) + self._beyond(float(heights[-1]))
        # 1 / (e^r - 1) with r = 2 pi distance / step, which may be large.
        decay = math.exp(-2.0 * math.pi * self.distance / step)
        error += self.mass * decay / (1.0 - decay)
        # What may be wrong with the level, too.
        doubt = self.epsilon * self.saddle + abs(self.level) + 10.0
        doubt *= (len(self.parts) + 4.0) * _ULP
        for each, (_, rounds) in zip(self.doubts, self.parts, strict=True):
            doubt += rounds * each
        return value, error + math.expm1(doubt) * (abs(value) + error)

    def _beyond(self, height: float) -> float:
        """Returns a bound of the integral beyond both heights, over 2 pi e^level."""
        power = -0.5 * self.smoothing * height**2
        return math.exp(power) / (math.pi * self.smoothing * height**3)

    def _strip(self, distance: float) -> tuple[float, float, float]:
        """Returns the step allowed by two lines, their distance, the integrals there."""
        mass = 0.0
        for x in (self.saddle - distance, self.saddle + distance):
            log_size = self._log_size(x) - self.level
            if not log_size < 300.0:
                return 0.0, 0.0, 0.0
            # The integral of 1 / ((x - 1)^2 + w^2) is pi / (x - 1); 1.01 is for rounding.
            mass += 1.01 * math.exp(log_size) / (2.0 * (x - 1.0))
        decay = math.log1p(mass / (self.size * _TOLERANCE))
        return 2.0 * math.pi * distance / decay, distance, mass

    def _log_size(self, x: float) -> float:
        """Returns log M(x) + epsilon (1 - x) on the real axis."""
        total = self.epsilon * (1.0 - x) + 0.5 * self.smoothing * x * (x - 1.0)
        for kind, (_, rounds) in enumerate(self.parts):
            total += rounds * self._log_moment(kind, x)
        return total

    def _log_moment(self, kind: int, x: float) -> float:
        """Returns log M_k(x), accurate near 0."""
        one, excess = self.parts[kind][0], self.excesses[kind]
        top = x * float(one.losses[-1])
        if top < _LARGE:
            return math.log1p(float(one.masses @ np.expm1(x * one.losses)) + excess)
        return top + math.log(float(one.masses @ np.exp(x * one.losses - top)))

    def _tilted(self, kind: int) -> tuple[Floats, float]:
        """Returns masses times e^{theta loss} / M_k(theta), and the latter's doubt."""
        one, log = self.parts[kind][0], self._log_moment(kind, self.saddle)
        powers = self.saddle * one.losses
        masses = one.masses * np.exp(powers - log)
        # M_k(theta) - 1 was a sum of terms of size |e^{theta loss} - 1|, and the excess.
        untilted = one.masses * math.exp(-log)
        terms = np.where(powers > 0.0, masses, untilted) @ -np.expm1(-np.abs(powers))
        size = float(terms) + abs(self.excesses[kind]) * math.exp(-log)
        size += powers[-1] >= _LARGE
        return masses, _ULP * ((self.ulps[kind] + 10.0) * size + abs(log))

    def _saddle(self) -> float:
        """Returns roughly where the integrand is smallest on the axis beyond 1."""
        variance = sum(n * float(one.masses @ one.losses**2) for one, n in self.parts)
        found = minimize_scalar(
            lambda t: self._log_size(1.0 + math.exp(t)) - math.log1p(math.exp(t)) - t,
            bounds=(-20.0, math.log(1e4 / math.sqrt(variance))),
            method="bounded",
            options={"xatol": 1e-3},
        )
        return 1.0 + math.exp(float(found.x))


def _turned(masses: Floats, losses: Floats, rows: Floats, columns: Floats) -> Complexes:
    """Returns sum masses (e^{i w losses} - 1) at all w = row + column, accurate near 0."""

    def less_1(angles: Floats) -> Complexes:
        sine, cosine = np.sin(0.5 * angles), np.cos(0.5 * angles)
        result: Complexes = 2.0 * sine * (1j * cosine - sine)
        return result

    row = less_1(np.outer(rows, losses)) * masses
    column = less_1(np.outer(losses, columns))
    # In pieces too small for threads, which would cost more than they bring.
    pieces = np.array_split(row, row.size * columns.size // 200_000 + 1)
    both = np.concatenate([piece @ column for piece in pieces])
    # (1 + a) (1 + b) - 1 = a b + a + b.
    both += row.sum(axis=1)[:, np.newaxis] + np.einsum("l,lc->c", masses, column)
    result: Complexes = both.ravel()
    return result
