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

import numpy as np

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.types import Floats

# Logarithms of theta about that of a normal loss, and finer steps about the least of them.
_REACH, _COARSE, _STEPS = (-3.0, 5.0), 33, (0.06, 0.02)
# How often all of them are moved down where the least is the first.
_MOST_MOVES = 4


def saddle_estimate(loss: Atoms, probabilities: Floats, counts: Floats) -> float:
    """Returns about the bound for this loss, in its unit; 0 where losses are negative.

    Args:
        loss: The target user's.
        probabilities: Probability of a blanket message in each group, shape (groups,).
        counts: Other people in each group, shape (groups,).
    """
    if loss.losses.max() <= 0.0:
        return 0.0
    mean = float(loss.masses @ loss.losses)
    variance = float(loss.masses @ (loss.losses - mean) ** 2)
    messages = max(float(probabilities @ counts), 1.0)

    def log_sizes(logs: Floats) -> Floats:
        thetas = np.exp(logs)
        powers = np.multiply.outer(thetas, loss.losses)
        x = np.expm1(np.minimum(powers, 700.0)) @ loss.masses
        steps = np.multiply.outer(x, probabilities)
        log_g = np.log1p(steps) @ counts
        slope = np.maximum((probabilities / (1.0 + steps)) @ counts, 1e-300)
        sizes: Floats = log_g + np.log(-np.expm1(-slope * (1.0 + x)) / slope)
        return sizes - 2.0 * logs

    # Of a normal loss: the larger the mean, below 0, the larger theta.
    center = (-mean + math.sqrt(mean**2 + 4.0 * variance / messages)) / (2.0 * variance)
    logs = math.log(center) + np.linspace(*_REACH, _COARSE)
    sizes = log_sizes(logs)
    for _ in range(_MOST_MOVES):
        if np.argmin(sizes) > 0:
            break
        # Of few losses above 0, far above most: a far smaller theta.
        logs -= logs[-2] - logs[0]
        sizes = log_sizes(logs)
    for step in _STEPS:
        # About the vertex of the parabola through the least of the points before.
        vertex, _, _ = _parabola(logs, sizes)
        logs = vertex + step * np.arange(-3.0, 4.0)
        sizes = log_sizes(logs)
    log_theta, least, bend = _parabola(logs, sizes)
    # In the logarithm of theta the width is that in theta over theta.
    return math.exp(least + log_theta - 0.5 * math.log(2.0 * math.pi * bend))


def _parabola(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Returns vertex, least value and second derivative about the least of the points."""
    at = int(np.clip(np.argmin(y), 1, y.size - 2))
    left, middle, right = y[at - 1 : at + 2].tolist()
    step = float(x[1] - x[0])
    bend = max((left - 2.0 * middle + right) / step**2, 1e-300)
    rise = (right - left) / (2.0 * step)
    move = min(max(-rise / bend, -step), step)
    return float(x[at]) + move, middle + rise * move + 0.5 * bend * move**2, bend
