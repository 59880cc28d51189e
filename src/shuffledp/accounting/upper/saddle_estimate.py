"""The blanket bound by its saddle point: no bound, and far quicker than one.

Searches for budgets and epsilons begin where this estimate vanishes, and end with the bound
itself. With phi(z) = E[e^{z L}] and G(u) = E[u^M], the bound (blanket.py) is

    1 / (2 pi i)  integral over Re z = theta of  H(phi(z)) / z^2  dz,

H(x) the integral of G from 0 to x. As log G is concave, of slope g, H(x) is about
G(x) (1 - e^{-g x}) / g (chernoff.py). On the real axis the integrand has its least value at
one theta; the integral is about that value over (2 pi)^{1/2} times its width there
(Daniels 1954, Annals of Mathematical Statistics 25).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shuffledp.accounting.upper.atoms import Atoms, bounded_above
from shuffledp.accounting.upper.rare_loss_estimate import (
    RARE,
    added_by_rare,
    without_rare,
)
from shuffledp.types import Floats

# Logarithms of theta about that of a normal loss, and finer steps about the least of them.
_REACH, _COARSE, _STEPS = (-3.0, 5.0), 33, (0.06, 0.02)
# The logarithm of the integrand bends by 2 and more, in that of theta, where it is least;
# the points about a kink do not tell.
_LEAST_BEND = 0.1
# Of e; more overflows.
_MOST_POWER = 700.0
# Thirds of the distance between points, where a parabola leads nowhere.
_NARROWINGS = 4
# Which part of the bound the largest losses may add where they are moved down, how often
# this is tried again with a smaller bound, and by how much it must be smaller.
_TAKEN, _MOST_BOUNDED, _LESS = 1e-3, 8, 0.9
# A power of e that few losses have if most are near each other, and their share then.
_FAR, _FAR_SHARE = 10.0, 0.05
# Logarithms of theta about the same for a rough saddle, and about the best of these: an
# eighth more or less makes no difference.
_ROUGH, _LESS_ROUGH = np.arange(-7.0, 5.0), np.array([-0.5, -0.25, 0.0, 0.25, 0.5])
# How often all of them are moved where the least is the first or the last.
_MOST_MOVES = 4


class SaddleEstimate(NamedTuple):
    """About a bound, and by how much noise makes it larger.

    Attributes:
        size: The bound, in the unit of losses; 0 where all are negative.
        bend: Its second derivative in the level that the sum is to exceed, over the size.
        has_rare: Whether losses far above most others decide.
    """

    size: float
    bend: float
    has_rare: bool


def saddle_estimate(
    loss: Atoms, probabilities: Floats, counts: Floats
) -> SaddleEstimate:
    """Returns about the bound for this loss.

    Args:
        loss: The target user's.
        probabilities: Probability of a blanket message in each group, shape (groups,).
        counts: Other people in each group, shape (groups,).
    """
    about, theta, is_far = _about(loss, probabilities, counts)
    least_bend = theta**2
    if not is_far:
        return SaddleEstimate(about, least_bend, False)
    # Few losses far above all others make the integrand rise where others would let it
    # fall, and no parabola tells how large it is: without these it is known.
    for num_rare in RARE:
        parts = without_rare(loss, float(probabilities @ counts), num_rare)
        if parts is None:
            continue
        usual, rare = parts
        center = log_center(usual, probabilities, counts)
        added = added_by_rare(usual, rare, probabilities, counts, center)
        if added is not None:
            about, theta, _ = _about(usual, probabilities, counts)
            size = about + added[0]
            bend = (about * theta**2 + added[1]) / size
            return SaddleEstimate(size, max(bend, least_bend), True)
    for _ in range(_MOST_BOUNDED):
        bounded, taken = bounded_above(loss, _TAKEN * about)
        before = about
        about, theta, _ = _about(bounded, probabilities, counts)
        about += taken
        if not about < _LESS * before:
            break
    return SaddleEstimate(about, max(theta**2, least_bend), True)


def _about(
    loss: Atoms, probabilities: Floats, counts: Floats
) -> tuple[float, float, bool]:
    """Returns the size, the saddle, and whether losses far above most others decide."""
    if loss.losses.max() <= 0.0:
        return 0.0, 0.0, False

    def log_sizes(logs: Floats) -> Floats:
        thetas = np.exp(logs)
        powers = np.multiply.outer(thetas, loss.losses)
        x = np.expm1(np.minimum(powers, _MOST_POWER)) @ loss.masses
        steps = np.multiply.outer(x, probabilities)
        log_g = np.log1p(steps) @ counts
        slope = np.maximum((probabilities / (1.0 + steps)) @ counts, 1e-300)
        sizes: Floats = log_g + np.log(-np.expm1(-slope * (1.0 + x)) / slope)
        return sizes - 2.0 * logs

    logs = log_center(loss, probabilities, counts) + np.linspace(*_REACH, _COARSE)
    sizes = log_sizes(logs)
    for _ in range(_MOST_MOVES):
        # Of few losses far above 0, or far below: a far smaller, or larger, theta.
        at = np.argmin(sizes)
        if 0 < at < sizes.size - 1:
            break
        logs += (logs[-2] - logs[0]) * (-1.0 if at == 0 else 1.0)
        sizes = log_sizes(logs)
    for step in _STEPS:
        # About the vertex of the parabola through the least of the points before.
        vertex, _, _ = _parabola(logs, sizes)
        finer = vertex + step * np.arange(-3.0, 4.0)
        finer_sizes = log_sizes(finer)
        is_inside = 0 < np.argmin(finer_sizes) < finer.size - 1
        if not (is_inside and finer_sizes.min() <= sizes.min()):
            # No parabola is near where rare losses begin to decide.
            logs, sizes = _narrowed(log_sizes, logs, sizes)
            break
        logs, sizes = finer, finer_sizes
    log_theta, least, bend = _parabola(logs, sizes)
    # In the logarithm of theta the width is that in theta over theta.
    bend = max(bend, _LEAST_BEND)
    log_about = least + log_theta - 0.5 * math.log(2.0 * math.pi * bend)
    # Where rare losses decide, the least value says nothing.
    about = math.exp(min(log_about, _MOST_POWER))
    theta = math.exp(log_theta)
    return about, theta, _is_far(loss, theta)


def _is_far(loss: Atoms, theta: float) -> bool:
    """Returns whether losses far above most others make up the moment's slope there."""
    powers = theta * loss.losses
    slopes = loss.masses * loss.losses * np.exp(np.minimum(powers, _MOST_POWER))
    rare, usual = slopes[powers > _FAR].sum(), slopes[powers <= _FAR].sum()
    return bool(rare > _FAR_SHARE * abs(usual))


def _narrowed(
    log_sizes: Callable[[Floats], Floats], logs: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    """Returns points close to where the integrand is least, and its logarithms there."""
    for _ in range(_NARROWINGS):
        step = (logs[1] - logs[0]) / 3.0
        logs = logs[np.argmin(sizes)] + step * np.arange(-3.0, 4.0)
        sizes = log_sizes(logs)
    return logs, sizes


def rough_saddle(loss: Atoms, probabilities: Floats, counts: Floats) -> float:
    """Returns roughly the theta at which the integrand is least; 0 if nothing is known.

    Args:
        loss: See `saddle_estimate`, as for what follows.
        probabilities: Likewise.
        counts: Likewise.
    """

    def log_sizes(logs: Floats) -> Floats:
        x = np.expm1(np.multiply.outer(np.exp(logs), loss.losses)) @ loss.masses
        log_g = np.log1p(np.multiply.outer(x, probabilities)) @ counts
        sizes = log_g + np.log1p(x) - 2.0 * logs
        # What overflows is far away.
        return np.where(np.isfinite(sizes), sizes, np.inf)

    with np.errstate(all="ignore"):
        try:
            logs = log_center(loss, probabilities, counts) + _ROUGH
            logs = logs[np.argmin(log_sizes(logs))] + _LESS_ROUGH
            theta = math.exp(logs[np.argmin(log_sizes(logs))])
        except (OverflowError, ValueError, ZeroDivisionError):
            return 0.0
    return theta if math.isfinite(theta) else 0.0


def log_center(loss: Atoms, probabilities: Floats, counts: Floats) -> float:
    """Returns the logarithm of theta if losses were normal.

    The larger the mean, below 0, the larger it is.

    Args:
        loss: See `saddle_estimate`, as for what follows.
        probabilities: Likewise.
        counts: Likewise.

    Raises:
        ZeroDivisionError: If the loss is one number.
    """
    mean = float(loss.masses @ loss.losses)
    variance = float(loss.masses @ (loss.losses - mean) ** 2)
    messages = max(float(probabilities @ counts), 1.0)
    center = (-mean + math.sqrt(mean**2 + 4.0 * variance / messages)) / (2.0 * variance)
    return math.log(center)


def _parabola(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Returns vertex, least value and second derivative about the least of the points."""
    at = int(np.clip(np.argmin(y), 1, y.size - 2))
    left, middle, right = y[at - 1 : at + 2].tolist()
    step = float(x[1] - x[0])
    bend = max((left - 2.0 * middle + right) / step**2, 1e-300)
    rise = (right - left) / (2.0 * step)
    move = min(max(-rise / bend, -step), step)
    return float(x[at]) + move, middle + rise * move + 0.5 * bend * move**2, bend
