"""The distributions of a sum of scores in both worlds, as a pair to compose with others.

As in `score_attack`, all others hold one value, the target user x or x', and the adversary
adds up the scores of all messages. Let G, p and q be the generating functions of the
others' sum and of the target user's score on x and on x', at z = i w. With N points w on
the circle, the masses under x' of all sums in a block, and the change D from x' to x, are

    1 / N  sum_w e^{-i w a} (1 - e^{-i w m}) / (1 - e^{-i w}) G (q, and p - q)

for the block a, ..., a + m - 1, up to copies N further on: Chernoff's bounds of the
others' sum bound these. Looking at blocks only is post-processing.

*From below.* Errors are bounded by e for masses and by e' for changes. A block where
D > e' gets the mass q + e under x', and q + e + D - e' under x; one where D < -e' likewise,
with D + e'. All other outcomes get the rest of 1, the same under both, and the
larger of both sums of changes is scaled to the smaller. At E > 1 the divergence is then a
sum of D - e' - (E - 1) (q + e) over some of the first blocks, at most that of the true
distributions for these blocks; at E < 1 it is 1 - E and a sum of -D - e' - (1 - E) (q + e)
over some of the second ones, likewise. A pair whose divergence is nowhere larger is
dominated, also in products (docs/theory/composition.md).
"""

import math

import numpy as np

from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.lower.score_sum import (
    ScoreSum,
    powers_less_1,
    tilted_moments,
)
from shuffledp.accounting.lower.visible_points import visible_points
from shuffledp.cover import ScoreAttack
from shuffledp.types import Complexes, Floats, Ints

# Blocks per deviation of the sum, and deviations that they reach to either side.
_FINENESS, _REACH = 100, 9.0
# Points of the circle are this many reaches, or twice as many after each trial.
_POINTS, _TRIALS = 2.5, 6
# Copies with a mass below this are no matter; points left out of sums add less than e^-45.
_COPIES, _NEGLIGIBLE = 1e-17, 45.0
# A block with no larger part of all changes than this may be given away.
_HARDLY = 1e-3
# Tilts beyond this, times K, are not tried.
_STEEPEST = 600.0
# Rounding of one operation, twice over.
_ROUNDING = 2.5e-16
# Rows of a matrix of blocks and points; this bounds the memory.
_ROWS = 256


def score_pair(
    attack: ScoreAttack, others: ScoreSum, times: int
) -> AttackedPair | None:
    """Returns a pair that the attack's distributions dominate; None if nothing is proven.

    Args:
        attack: Scores of the target user.
        others: The scores of all users except the target user.
        times: In how many collections the same people take part.
    """
    with np.errstate(all="ignore"):
        try:
            masses, changes, error = _mass_blocks(attack, others)
        except (OverflowError, ValueError, ZeroDivisionError):
            return None
    if not (np.isfinite(masses).all() and np.isfinite(changes).all()):
        return None
    # A block where hardly anything changes takes the excess of all bounds over 1.
    largest_changes = changes.max(axis=0)
    roomy = np.flatnonzero(masses > 2.0 * error * masses.size)
    if roomy.size:
        middle = roomy[np.argmin(np.abs(largest_changes[roomy]))]
        if largest_changes[middle] <= _HARDLY * np.maximum(largest_changes, 0.0).sum():
            changes[:, middle] = 0.0
    rises, falls = np.maximum(changes, 0.0)
    total = min(rises.sum(), falls.sum())
    if not total > 0.0:
        return None
    change = rises * (total / rises.sum()) - falls * (total / falls.sum())
    tells = change != 0.0
    second, change = masses[tells], change[tells]
    other = 1.0 - math.fsum(second)
    # Without such a block, upper bounds of masses are off by twice their errors.
    missing = 0.0 if other >= 0.0 else 2.0 * error * (second.size + 1)
    second, change = np.append(second, max(other, 0.0)), np.append(change, 0.0)
    # No outcome loses more than its mass.
    first = np.maximum(second + change, 0.0)
    return AttackedPair(first, second, times, missing=times * missing)


def _mass_blocks(attack: ScoreAttack, others: ScoreSum) -> tuple[Floats, Floats, float]:
    """Returns upper bounds of masses under x', and lower bounds of rises and falls.

    Returns:
        Masses, shape (blocks,); rises and falls, negative where there may be none, shape
        (2, blocks); a bound of the error of a mass.
    """
    top = attack.second.size - 1
    mean, variance = others.tilted(0.0)
    means, variances = tilted_moments(attack.second[None, :], 0.0)
    center = round(mean + float(means[0]))
    spread = max(math.sqrt(variance + float(variances[0])), 0.5)
    width = max(int(spread / _FINENESS), 1)
    reach = math.ceil(_REACH * spread) + 2 * top + width
    nodes, copies = _nodes(others, center, spread, reach, top)
    coincidences = others.coincidences(0.0) * (1.0 - 1e-6)
    indices, left_out = visible_points(
        coincidences, nodes, enough=_NEGLIGIBLE + math.log(nodes)
    )
    z = 2j * math.pi / nodes * indices
    total = float(np.abs(attack.difference).sum())
    starts = np.arange(-reach, reach - width + 1, width)
    # At each point as often as its mirror image is one, too.
    often = np.where(indices > 0, 2.0, 1.0) / nodes
    log_others, error = others.log_generating(z)
    # Of thresholds, of the sum over points, and of the kernel.
    error = error + _ROUNDING * (np.abs(z) * (abs(center) + 3.0 * reach) + 32.0)
    error += _ROUNDING * indices.size
    excess, size = powers_less_1(z, top + 1)
    factor = often * np.exp(log_others - z * center)
    bounds = []
    for values, row, largest_shift in (
        (1.0 + excess @ attack.second, attack.second, 1.0),
        (excess @ attack.difference, np.abs(attack.difference), total),
    ):
        own_error = _ROUNDING * (top + 9.0) * (size @ row + np.abs(values))
        terms = np.abs(factor) * (np.abs(values) * np.expm1(error) + own_error)
        off = width * (float(terms.sum()) + 2.0 * left_out * largest_shift / nodes)
        bounds.append(
            (
                _block_sums(factor * values, z, starts, width),
                off + copies * largest_shift,
            )
        )
    (masses, mass_error), (changes, change_error) = bounds
    return (
        np.maximum(masses, 0.0) + mass_error,
        np.stack([changes, -changes]) - change_error,
        mass_error,
    )


def _nodes(
    others: ScoreSum, center: int, spread: float, reach: int, top: int
) -> tuple[int, float]:
    """Returns N, and a bound of the mass of all copies of one block.

    Raises:
        OverflowError: If copies matter, however many points there are.
    """
    nodes = 2 * math.ceil(_POINTS * reach / 2.0) + 1
    for _ in range(_TRIALS):
        # The others' sum is less than the whole sum by a score, at most.
        above = center - reach + nodes - top
        below = center + reach - nodes
        # Of a normal sum the second is the best one, of rare scores a smaller one.
        usual = (above - center) / spread**2
        tilts = np.minimum(usual * 2.0 ** np.arange(1, -8, -1), _STEEPEST / top)
        logs, errors = others.log_generating(np.append(tilts, -tilts) + 0j)
        tails = logs.real + errors - np.append(tilts * above, -tilts * below)
        # Of the steepest tilts nothing may be known.
        tails = np.where(np.isnan(tails), np.inf, tails)
        tail_bounds = np.reshape(tails, (2, tilts.size)).min(axis=1)
        copies = float(np.exp(tail_bounds).sum())
        if copies <= _COPIES:
            return nodes, copies
        nodes = 2 * nodes + 1
    raise OverflowError


def _block_sums(terms: Complexes, z: Complexes, starts: Ints, width: int) -> Floats:
    """Returns the sums over the blocks that begin at these offsets."""
    half = z.imag / 2.0
    kernel = np.ones(z.size) * width
    moves = half != 0.0
    kernel[moves] = np.sin(width * half[moves]) / np.sin(half[moves])
    # Blocks are centered, which makes the kernel real.
    terms = terms * kernel * np.exp(-1j * half * (width - 1))
    cuts = range(_ROWS, starts.size, _ROWS)
    return np.concatenate(
        [
            (np.exp(-np.multiply.outer(part, z)) @ terms).real
            for part in np.split(starts, cuts)
        ]
    )
