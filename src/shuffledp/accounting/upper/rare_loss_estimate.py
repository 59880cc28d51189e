"""About what rare losses, far above all others, add to the blanket bound.

The saddle point does not tell: on the real axis the integrand is least where the rare
losses begin to decide, and larger there by orders than its integral. With S the sum of the
other people's usual losses, a rare loss J of probability p adds about p E[(S + J)_+]. That
expectation is about the one of a normal S after the tilt under which S has mean -J (Daniels
1987, International Statistical Review 55).
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import erfcx

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.types import Floats

# How many messages have a rare loss, on average, as is tried in turn, and which part of
# what one of them adds two may add.
RARE = 0.03, 1e-6
_MOST_BY_TWO = 0.3
# Tilts from so far below that of a normal loss, in logarithms, up to this power of e.
_BELOW, _LARGEST_POWER, _NUM_TILTS = 4.0, 60.0, 41
# Groups of rare losses, for sums of two of them.
_NUM_GROUPS = 24
# Multiples of the deviation from which the tail is that of an exponential.
_FAR = 30.0


def without_rare(
    loss: Atoms, messages: float, num_rare: float
) -> tuple[Atoms, Atoms] | None:
    """Returns the loss with 0 for rare values, and these; None if it cannot be divided.

    The rare values are the largest ones.

    Args:
        loss: The target user's.
        messages: About how many losses are added up.
        num_rare: How many of these are rare, at most, on average.
    """
    order = loss.losses.argsort(kind="stable")
    values, masses = loss.losses[order], loss.masses[order]
    above = messages * masses[::-1].cumsum()[::-1]
    first = int(np.count_nonzero(above >= num_rare))
    if not 0 < first < values.size or not values[first - 1] > 0.0:
        return None
    usual = np.where(np.arange(values.size) < first, values, 0.0)
    return (
        replace(loss, losses=usual, masses=masses),
        replace(loss, losses=values[first:], masses=masses[first:]),
    )


def added_by_rare(
    usual: Atoms,
    rare: Atoms,
    probabilities: Floats,
    counts: Floats,
    log_center: float,
) -> tuple[float, float] | None:
    """Returns about what the rare losses add, and its second derivative.

    The derivative is that in the level which the sum is to exceed. None where two rare
    losses matter.

    Args:
        usual: The loss with 0 for rare values.
        rare: The rare values.
        probabilities: Probability of a blanket message in each group, shape (groups,).
        counts: Other people in each group, shape (groups,).
        log_center: The logarithm of the tilt that would decide if losses were normal.
    """
    tail = _Tail(usual, probabilities, counts, log_center)
    means, densities = tail.at(-rare.losses)
    by_one = float(rare.masses @ means)
    losses, masses = _grouped(rare)
    pairs, _ = tail.at(-np.add.outer(losses, losses))
    by_two = 0.5 * float(probabilities @ counts) * float(masses @ pairs @ masses)
    # None also where these are no numbers, or nothing.
    if not (by_one > 0.0 and by_two <= _MOST_BY_TWO * by_one):
        return None
    return by_one, float(rare.masses @ densities)


class _Tail:
    """E[(S - y)_+] of the sum S of all others' losses, and its density at y, about.

    Args:
        loss: One loss.
        probabilities: See `added_by_rare`, as for what follows.
        counts: Likewise.
        log_center: Likewise.
    """

    def __init__(
        self, loss: Atoms, probabilities: Floats, counts: Floats, log_center: float
    ) -> None:
        lowest = log_center - _BELOW
        highest = math.log(_LARGEST_POWER / float(loss.losses.max()))
        tilts = np.exp(np.linspace(lowest, max(highest, lowest + _BELOW), _NUM_TILTS))
        powers = np.multiply.outer(tilts, loss.losses)
        weights = np.exp(np.minimum(powers, 700.0)) * loss.masses
        first, second = weights @ loss.losses, weights @ loss.losses**2
        factors = 1.0 + np.multiply.outer(weights.sum(axis=1) - 1.0, probabilities)
        ratios = probabilities / factors
        self._mean = float(loss.masses @ loss.losses) * float(probabilities @ counts)
        self._means = first * (ratios @ counts)
        variances = second * (ratios @ counts) - first**2 * (ratios**2 @ counts)
        deviations = np.sqrt(np.maximum(variances, 1e-300))
        log_chances = np.log(factors) @ counts - tilts * self._means
        self._log_excesses = log_chances + np.log(
            deviations * _normal(tilts * deviations)
        )
        self._log_densities = log_chances - np.log(
            deviations * math.sqrt(2.0 * math.pi)
        )

    def at(self, levels: Floats) -> tuple[Floats, Floats]:
        """Returns E[(S - y)_+], and the density, at every level y."""
        is_far = levels >= self._means[0]
        excesses = np.exp(np.interp(levels, self._means, self._log_excesses))
        least = float(np.exp(self._log_excesses[0]))
        excesses = np.where(is_far, excesses, np.maximum(self._mean - levels, least))
        densities = np.exp(np.interp(levels, self._means, self._log_densities))
        return excesses, np.where(is_far, densities, 0.0)


def _normal(tilts: Floats) -> Floats:
    """Returns E[e^{-tilt Z} Z_+] of standard normal Z."""
    part = 1.0 - math.sqrt(0.5 * math.pi) * tilts * erfcx(tilts / math.sqrt(2.0))
    # The difference cancels far out, where it is about 1 / tilt^2.
    part = np.where(tilts > _FAR, 1.0 / np.maximum(tilts, 1.0) ** 2, part)
    mean: Floats = part / math.sqrt(2.0 * math.pi)
    return mean


def _grouped(rare: Atoms) -> tuple[Floats, Floats]:
    """Returns mean and probability of groups of rare losses."""
    ratio = rare.losses / rare.losses.min()
    places = np.log(ratio) * (_NUM_GROUPS / max(math.log(ratio.max()), 1e-300))
    groups = np.minimum(places.astype(int), _NUM_GROUPS - 1)
    masses, sums = np.zeros(_NUM_GROUPS), np.zeros(_NUM_GROUPS)
    np.add.at(masses, groups, rare.masses)
    np.add.at(sums, groups, rare.masses * rare.losses)
    return sums / np.maximum(masses, 1e-300), masses
