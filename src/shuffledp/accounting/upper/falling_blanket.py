"""The blanket in steps that hides a target user among noisy numbers best, or nearly so.

With v = theta / omega, the exponent of the blanket bound is at most

    G(v) times the integral of (e^{l v} - 1) / v,    G(v) = sum of n_i min over y of f_i v,

where l is the target's loss per unit of length and f_i a person's least density: a gamma
is the least of f_i / omega, and what theta multiplies cancels. It is made as small as can
be, over all v that rise outward. Whatever is found here is a blanket; nothing is proven by
its being the best.
"""

import math

import numpy as np

from shuffledp.cover import NoiseDensities
from shuffledp.types import Floats, Ints

# log v is a straight line between so many points, which end on a grid of such parts, so
# that processors which round differently find the same.
_KNOTS, _PARTS = 24, 256.0
# Of a smooth minimum, in logarithms.
_TEMPERATURE = 0.03
_MOST_STEPS = 150
# After so many steps few people are as many messages as at the end, but for this part.
_FIRST_STEPS, _NEARLY = 12, 0.95
_NO_EXPONENT = 1e3
# Factors of the first theta that are tried, in logarithms.
_FACTORS = np.arange(-12.0, 3.0, 0.5)
# Exponents beyond are too large to go on with; omega is never smaller than that.
_MOST_EXPONENT, _MOST_SPAN = 500.0, 550.0


def falling_blanket(
    noise: NoiseDensities,
    least: Floats,
    people: Floats,
    own: Floats,
    *,
    epsilon: float,
    fewest: float,
) -> Floats | None:
    """Returns about the best omega, its density in each cell, or None if none is found.

    It never rises outward, is one number up to size 1, and has a mass of 1 on both sides
    together.

    Args:
        noise: The target user's densities.
        least: Least density of people's messages in each cell, shape (groups, cells).
        people: In each group, shape (groups,).
        own: That of a person with the target's level, shape (cells,).
        epsilon: About where the bound is asked for, > 0.
        fewest: With fewer blanket messages omega is of no use, and may be missed.
    """
    # Whoever sends nothing in a cell hides nobody there.
    present = (least.min(axis=1) > 0.0) & (people > 0.0)
    widths = np.diff(noise.edges)
    # A tail that adds nothing has no width, and no density.
    if not present.any() or own.min() <= 0.0 or widths.min() <= 0.0:
        return None
    search = _Search(noise, np.log(least[present]), people[present], epsilon)
    log_density = search.best(np.log(own), fewest=fewest)
    if log_density is None:
        return None
    log_density = np.maximum(log_density - log_density[0], -_MOST_SPAN)
    # Rounding may not let it rise.
    density: Floats = np.minimum.accumulate(np.exp(log_density))
    density /= 2.0 * float(density @ widths)
    return density


class _Search:
    """The exponent of the bound as a function of a few numbers, and its derivatives.

    These numbers are log v at the first knot and by how much it rises to each next one.
    """

    def __init__(
        self, noise: NoiseDensities, log_least: Floats, people: Floats, epsilon: float
    ) -> None:
        widths = np.diff(noise.edges)
        cells = np.arange(widths.size)
        inside = int(np.searchsorted(noise.edges, 1.0)) - 1
        self._knots = np.linspace(inside, cells[-1], _KNOTS)
        to_cells = _interpolation(np.maximum(cells, inside), self._knots)
        self._rises = to_cells @ np.tril(np.ones((_KNOTS, _KNOTS)))
        middles = 0.5 * (self._knots[1:] + self._knots[:-1])
        looked_at = np.rint(np.concatenate([self._knots, middles]))
        self._looked_at: Ints = np.unique(looked_at).astype(np.int64)
        self._log_least = log_least[:, self._looked_at]
        self._people = people
        growth = math.exp(epsilon)
        near, far = noise.masses / widths
        self._losses = np.stack([near - growth * far, far - growth * near])
        self._widths = widths
        self._mean, self._telling = (
            math.expm1(epsilon),
            2.0 * (near - far) ** 2 * widths,
        )

    def best(self, log_own: Floats, *, fewest: float) -> Floats | None:
        """Returns log omega in each cell, up to a constant, or None.

        Args:
            log_own: Where the search begins, shape (cells,).
            fewest: The least number of blanket messages that is of use.
        """
        telling = float(self._telling @ np.exp(-log_own))
        # Of the smallest budgets nothing is left of either.
        if not (0.0 < telling < math.inf and self._mean > 0.0):
            return None
        first = np.interp(self._knots, np.arange(log_own.size), -log_own)
        # As if losses were small against 1 / v.
        first += math.log(self._mean) - math.log(telling)
        start = np.append(first[0], np.maximum(np.diff(first), 0.0))
        values = self._first_values(self._rises @ start)
        least = int(np.argmin(values))
        if not values[least] < _NO_EXPONENT:
            return None
        first_point = start + _FACTORS[least] * np.eye(1, _KNOTS)[0]
        if float(self._people.sum()) < 2.0 * fewest:
            point = self._minimum(first_point, _FIRST_STEPS)
            if self._messages(point) < _NEARLY * fewest:
                return None
        point = self._minimum(first_point, _MOST_STEPS)
        steps = np.rint(np.cumsum(point) * _PARTS) / _PARTS
        if not np.isfinite(steps).all():
            return None
        log_density: Floats = -np.interp(
            np.maximum(np.arange(log_own.size), self._knots[0]), self._knots, steps
        )
        return log_density

    def _minimum(self, start: Floats, most_steps: int) -> Floats:
        """Returns where the value is about least, or as far as that many steps lead."""
        from scipy.optimize import minimize

        found = minimize(
            self._value,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(None, None)] + [(0.0, None)] * (_KNOTS - 1),
            options={"maxiter": most_steps},
        )
        point: Floats = found.x
        return point

    def _messages(self, point: Floats) -> float:
        """Returns about how many blanket messages there are."""
        log_v = self._rises @ point
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # Those of all cells make 1 on both sides together.
            log_total = np.logaddexp.reduce(np.log(2.0 * self._widths) - log_v)
            ratios = self._log_least + log_v[self._looked_at] + log_total
            gammas = np.exp(np.minimum(ratios.min(axis=1), 0.0))
            return float(self._people @ gammas)

    def _first_values(self, log_v: Floats) -> Floats:
        """Returns the values of v times each of the factors."""
        # A factor is one of v, of all gammas, and of nothing else.
        log_messages = self._smooth_minima(log_v)[0] + _FACTORS
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            v = np.exp(np.add.outer(_FACTORS, log_v))[:, np.newaxis]
            exponents = np.minimum(self._losses * v, _MOST_EXPONENT)
            totals = (self._widths * np.expm1(exponents) / v).sum(axis=(1, 2))
            values = -(log_messages + np.log(-totals))
        return np.where(np.isfinite(totals) & (totals < 0.0), values, _NO_EXPONENT)

    def _smooth_minima(self, log_v: Floats) -> tuple[float, Floats]:
        """Returns the logarithm of about the number of messages, and its slopes."""
        ratios = (self._log_least + log_v[self._looked_at]) / -_TEMPERATURE
        top = ratios.max(axis=1)
        weights = np.exp(ratios - top[:, np.newaxis])
        sums = weights.sum(axis=1)
        log_gammas = -_TEMPERATURE * (np.log(sums) + top)
        largest = float(log_gammas.max())
        messages = self._people * np.exp(log_gammas - largest)
        everyone = float(messages.sum())
        slopes: Floats = (messages / everyone / sums) @ weights
        return math.log(everyone) + largest, slopes

    def _value(self, point: Floats) -> tuple[float, Floats]:
        """Returns -log of the exponent, or a large number, and its slopes."""
        log_v = self._rises @ point
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            v = np.exp(log_v)
            exponents = np.minimum(self._losses * v, _MOST_EXPONENT)
            parts = self._widths * np.expm1(exponents) / v
            total = float(parts.sum())
            slopes = (self._losses * np.exp(exponents) * self._widths - parts).sum(0)
            gradient = -self._rises.T @ (slopes / total)
        if not (total < 0.0 and np.isfinite(gradient).all()):
            # v is too large: there is no exponent, and the way back is down.
            return _NO_EXPONENT + total, slopes @ self._rises
        log_messages, message_slopes = self._smooth_minima(log_v)
        gradient -= message_slopes @ self._rises[self._looked_at]
        return -(log_messages + math.log(-total)), gradient


def _interpolation(positions: Floats, knots: Floats) -> Floats:
    """Returns the matrix from values at knots to those at positions between them."""
    left = np.clip(
        np.searchsorted(knots, positions, side="right") - 1, 0, knots.size - 2
    )
    share = (positions - knots[left]) / (knots[left + 1] - knots[left])
    matrix = np.zeros((positions.size, knots.size))
    rows = np.arange(positions.size)
    matrix[rows, left] = 1.0 - share
    matrix[rows, left + 1] += share
    return matrix
