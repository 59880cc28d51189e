"""The blanket bound where few losses are far above all others: the rare ones by themselves.

No line is good for both: where the integrand of rare losses is small, that of usual ones is
large, and they cancel by orders at many points. Let J be a loss above some c, else 0, and U
a loss that is not above c, else 0. Then, of m + 1 messages,

    (sum of L)_+  <=  (sum of U)_+ 1{no J}  +  sum over rare i of (J_i + sum of others' U)_+
                      +  sum over i < j of 1{J_i > 0} J_j.

Over m + 1, the mean of the first is the bound for a loss that is U, and anything below 0
where it is rare; that of the second is the integral of E[e^{z J}; J > 0] G(E[e^{z U}])
over z^2 (rare_integrand.py), as the others are m; that of the last, m / 2 P(J > 0) E[J].
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting.upper.atoms import Atoms, bounded_above
from shuffledp.accounting.upper.few_at_saddle import few_of
from shuffledp.accounting.upper.integrals.contour_ends import ends_of
from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand
from shuffledp.accounting.upper.integrals.rare_integrand import RareIntegrand
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.rare_loss_estimate import added_by_rare
from shuffledp.accounting.upper.saddle_estimate import (
    SaddleEstimate,
    log_center,
    saddle_estimate,
)

# In place of rare losses, in deviations of the sum of all others.
_BELOW = -4.0
# By how much noise may make the integral of usual losses larger, whatever part of the bound
# that is, and its deviation as a part of what a rare loss adds.
_MOST_GROWN, _MOST_SPREAD = 0.02, 0.1
# By how many times the stated part more may be added before it is divided again, with the
# bound that is then known.
_MISTAKEN = 10.0


def divided_ends(
    loss: Atoms,
    about: SaddleEstimate,
    unit: float,
    log_g: LogProduct,
    *,
    smoother: float,
    part: float,
    noise: float = 0.0,
    negligible: float = 0.0,
) -> tuple[float, float]:
    """Returns upper and lower end of the bound, with rare losses by themselves.

    Args:
        loss: The target user's.
        about: About the bound for it.
        unit: Of the loss.
        log_g: Of the other people.
        smoother: Times which the noise is the usual one, at least.
        part: Of the bound, about, which may be added by each of these: what is taken from
            the largest losses, two rare ones, and noise.
        noise: Variance of the noise, at least.
        negligible: An upper end of this size need not be any lower.

    Raises:
        OverflowError: If no loss is rare, or it takes too much work.
        ValueError: If numbers are too extreme.
        ZeroDivisionError: Likewise.
    """
    if not about.has_rare:
        raise OverflowError
    size = about.size
    while True:
        bounded, taken = bounded_above(loss, part * size)
        divided = _divided(bounded, log_g, part * size)
        added = taken + divided.by_two
        rare = RareIntegrand(
            divided.loss_with(0.0),
            divided.rare,
            log_g,
            smoother=smoother,
            noise=max(divided.rare_noise(part), noise),
        )
        upper, lower = ends_of(rare, unit, negligible=0.5 * negligible)
        if divided.usual.losses.max() > 0.0:
            loss_if_none = divided.loss_with(_BELOW * divided.deviation)
            usual = ContourIntegrand(
                loss_if_none,
                log_g,
                smoother=smoother,
                noise=max(divided.noise(loss_if_none, part * size), noise),
            )
            ends = ends_of(usual, unit, negligible=0.5 * negligible)
            upper, lower = upper + ends[0], lower + ends[1]
        most = upper / unit
        if added <= _MISTAKEN * part * most or not most < size:
            break
        size = most
    # What messages with two rare losses may have been counted twice.
    lower *= max(1.0 - 2.0 * divided.messages * divided.chance, 0.0)
    return upper + unit * added, lower


@dataclass(frozen=True, eq=False)
class _Divided:
    """A loss, and its rare values.

    Attributes:
        usual: The loss where it is not rare, on few values.
        rare: Where it is.
        chance: The probability of a rare one.
        by_two: What messages with two of them may add.
        log_g: Of the other people.
    """

    usual: Atoms
    rare: Atoms
    chance: float
    by_two: float
    log_g: LogProduct

    @property
    def messages(self) -> float:
        """About how many losses are added up, at least 1."""
        return max(float(self.log_g.probabilities @ self.log_g.counts), 1.0)

    @property
    def deviation(self) -> float:
        """About that of the sum of usual losses."""
        losses, masses = self.usual.losses, self.usual.masses
        return math.sqrt(
            self.messages * float(masses @ (losses - masses @ losses) ** 2)
        )

    def loss_with(self, value: float) -> Atoms:
        """Returns the loss with this value for all that are rare."""
        losses = np.append(self.usual.losses, value)
        masses = np.append(self.usual.masses, self.chance)
        return replace(self.usual, losses=losses, masses=masses)

    def noise(self, loss: Atoms, most_added: float) -> float:
        """Returns a variance of noise that adds about so much to the bound for a loss."""
        about = saddle_estimate(loss, self.log_g.probabilities, self.log_g.counts)
        if not about.size > 0.0:
            return 0.0
        grown = min(most_added / about.size, _MOST_GROWN)
        return 2.0 * grown / (self.messages * about.bend)

    def rare_noise(self, part: float) -> float:
        """Returns a variance of noise that adds this part to what rare losses add."""
        people = self.log_g.probabilities, self.log_g.counts
        loss = self.loss_with(0.0)
        added = added_by_rare(loss, self.rare, *people, log_center(loss, *people))
        if added is None:
            return 0.0
        size, bend = added
        spread = _MOST_SPREAD * size / self.chance
        variance = min(2.0 * part * size / max(bend, 1e-300), spread**2)
        return variance / self.messages


def _divided(loss: Atoms, log_g: LogProduct, most_by_two: float) -> _Divided:
    """Returns the loss with as many rare values as two of them permit.

    Raises:
        OverflowError: If none is rare, or all are.
    """
    order = loss.losses.argsort(kind="stable")
    values, masses = loss.losses[order], loss.masses[order]
    chances = masses[::-1].cumsum()[::-1]
    means = (masses * values)[::-1].cumsum()[::-1]
    messages = float(log_g.probabilities @ log_g.counts)
    # Upward by what sums over all values may have lost.
    by_two = 0.5 * messages * chances * means * (1.0 + 1e-14 * (values.size + 10))
    fits = (values > 0.0) & (by_two <= most_by_two)
    first = int(np.argmax(fits))
    if not fits[first] or first == 0:
        raise OverflowError
    usual = replace(loss, losses=values[:first], masses=masses[:first])
    return _Divided(
        few_of(usual, log_g),
        replace(loss, losses=values[first:], masses=masses[first:]),
        float(chances[first]),
        float(by_two[first]),
        log_g,
    )
