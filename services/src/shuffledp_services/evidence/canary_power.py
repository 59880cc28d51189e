"""Power of an audit of a collection, computed before anything is sent.

"Seen" means: in one epoch, by one test, while all other tests of the epoch win nothing, the
running e-value goes from 1 to 1 / alpha. That takes a p-value of 1e-5 or so at alpha = 1%;
several epochs see less than that together.

Budgets. The share of correct guesses depends on the unknown way in which a system leaks.
Two cases are computed: "at best" each canary's bit is guessed as under binary response,
from which the messages of any mechanism with this epsilon can be computed (Kairouz, Oh,
Viswanath 2014); "as noise" it comes with normal noise of the same (epsilon, delta), and
only the half with the largest scores is guessed. Guesses are then independent, and in 90%
of all audits the number of correct ones reaches its 10% quantile.

Losses are seen by one canary that is missing with a receipt. The power of the order test is
an approximation; its p-value is not.
"""

import bisect
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom, norm

from shuffledp.audit.audit_power import EXCESSES
from shuffledp.errors import InvalidInputError
from shuffledp.types import Ints
from shuffledp_services.evidence.canary_guessing_test import (
    guessing_p_value,
    num_guesses,
)
from shuffledp_services.evidence.e_values import calibrated
from shuffledp_services.evidence.evidence import ALPHA, EpochTest
from shuffledp_services.evidence.inversions import two_sided_p_value
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles

POWERS = (0.5, 0.9)

# No auditor sends more; and 16 points of a profile give nearly the power of all of them.
_MOST = 100_000
_POINTS = 16


@dataclass(frozen=True)
class GuessPower:
    """How many canaries of one level show a budget that is larger than promised.

    Attributes:
        level: Their privacy level or target.
        epsilon: The epsilon promised to it, at the requested delta.
        excess: The relative excess of the true epsilon over the promise.
        at_best: Canaries, if the system leaks as binary response; None if not even 100,000
            are enough.
        as_noise: The same, if it leaks as normal noise.
    """

    level: float
    epsilon: float
    excess: float
    at_best: int | None
    as_noise: int | None


@dataclass(frozen=True)
class CollectionPower:
    """Power of one epoch with a given number of canaries.

    Attributes:
        canaries: The number of canaries.
        alpha: The probability of ever accusing a system that keeps its promises.
        p_value: The largest p-value with which one test alone accuses.
        guesses: The power for each level, and each excess.
        right: The least share of correct guesses that accuses; None if not even all do.
        losses: The share of lost reports that is seen with probabilities 1/2 and 9/10,
            if every canary has a receipt.
        kept: The share of messages that stay in order, seen with probabilities 1/2 and
            9/10 in a batch that should be in random order; None if it cannot be seen.
    """

    canaries: int
    alpha: float
    p_value: float
    guesses: tuple[GuessPower, ...]
    right: float | None
    losses: tuple[float, float]
    kept: tuple[float | None, float | None]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The power in sentences."""
        fifty, ninety = self.losses
        sentences = [
            f"If the shuffler loses {fifty:.2%} of all reports after giving receipts, "
            f"{self.canaries:,} canaries show it with probability 50%, and {ninety:.2%} "
            "with 90%."
        ]
        some, more = self.kept
        sentences.append(
            f"{self.canaries:,} canaries cannot see that an order is kept, unless it must "
            "be that of hashes."
            if some is None or more is None
            else f"If {some:.0%} of all messages stay in the order of sending, that shows "
            f"with probability 50%, and {more:.0%} with 90%."
        )
        if self.right is None:
            sentences.append(
                "So few canaries cannot see a budget above the promise: not even if all "
                "their values were guessed."
            )
            return tuple(sentences)
        sentences.append(f"If {self.right:.1%} of all guesses are right, that accuses.")
        for level in dict.fromkeys(guess.level for guess in self.guesses):
            sentences.append(_sentence([g for g in self.guesses if g.level == level]))
        return tuple(sentences)


def _sentence(guesses: list[GuessPower]) -> str:
    first = guesses[0]
    about = f"Level {first.level:g}, promised epsilon {first.epsilon:.3g}:"
    if all(guess.at_best is None for guess in guesses):
        return (
            f"{about} not even {_MOST:,} canaries see {guesses[-1].excess:.0%} more; what "
            "is seen is a leak."
        )
    needed = [
        f"{guess.excess:.0%} more takes "
        + " or ".join(
            f"{'more than ' if n is None else ''}{n or _MOST:,}"
            for n in (guess.at_best, guess.as_noise)
        )
        for guess in guesses
    ]
    return f"{about} {'; '.join(needed)} canaries, at best or if it leaks as noise."


def collection_power(
    sent: Ints, *, promises: PrivacyProfiles, delta: float, alpha: float = ALPHA
) -> CollectionPower:
    """Computes the power of one epoch.

    Args:
        sent: Canaries at each level of the promises, shape (levels,).
        promises: The profiles certified for the expected population.
        delta: The delta at which promises are compared, in (0, 1).
        alpha: The probability of ever accusing a system that keeps its promises.

    Raises:
        InvalidInputError: If there are no canaries, or nothing is promised at `delta`.
    """
    if sent.shape != promises.levels.shape or (sent < 0).any() or not sent.sum():
        raise InvalidInputError(
            "Expected numbers of canaries at each level, not all 0."
        )
    count, p_value = int(sent.sum()), single_test_p_value(alpha)
    guessed = np.array([num_guesses(n) for n in sent.tolist()])

    def accuses(right: int) -> bool:
        attained = guessing_p_value(right, guessed, sent, promises=promises)
        return attained <= p_value

    # The p-value falls with the number of correct guesses.
    right = bisect.bisect_left(range(int(guessed.sum()) + 1), True, key=accuses)
    guesses = [
        _guess_power(
            level_index, excess, promises=promises, delta=delta, p_value=p_value
        )
        for level_index in np.flatnonzero(sent).tolist()
        for excess in EXCESSES
    ]
    order_shares = [_order_share(count, power, p_value) for power in POWERS]
    # One canary of m is enough: a share s is seen with probability 1 - (1 - s)^m.
    losses = [-math.expm1(math.log1p(-power) / count) for power in POWERS]
    return CollectionPower(
        count,
        alpha,
        p_value,
        tuple(guesses),
        right / int(guessed.sum()) if right <= guessed.sum() else None,
        (losses[0], losses[1]),
        (order_shares[0], order_shares[1]),
    )


def single_test_p_value(alpha: float) -> float:
    """Returns the p-value with which one test makes an epoch accuse by itself.

    >>> f"{single_test_p_value(0.01):.2g}"
    '1.3e-05'
    """
    # An epoch's e-value is the average of all tests', and the others win nothing.
    needed = len(EpochTest) / alpha
    root = brentq(lambda log: calibrated(math.exp(log)) - needed, -600.0, 0.0)
    # The root may be rounded up; the smaller p-value is on the safe side.
    return math.exp(float(root)) * (1.0 - 1e-9)


def _guess_power(
    level_index: int,
    excess: float,
    *,
    promises: PrivacyProfiles,
    delta: float,
    p_value: float,
) -> GuessPower:
    column = PrivacyProfiles(
        promises.levels[level_index : level_index + 1],
        promises.epsilons[:, level_index : level_index + 1],
        promises.deltas[:, level_index : level_index + 1],
    )
    epsilons = column.epsilons[column.deltas <= delta]
    # Fewer points have less power, so that the number of canaries is an upper bound.
    rows = slice(None, None, max(1, len(column.deltas) // _POINTS))
    column = PrivacyProfiles(column.levels, column.epsilons[rows], column.deltas[rows])
    if not epsilons.size:
        raise InvalidInputError(f"Expected a promise at delta {delta:g}.")
    epsilon = float(epsilons.min())
    true = (1.0 + excess) * epsilon
    at_best = _needed(float(expit(true)), promises=column, p_value=p_value)
    as_noise = _needed(_as_noise(true, delta), promises=column, p_value=p_value)
    level = float(column.levels[0])
    return GuessPower(level, epsilon, excess, at_best, as_noise)


def _needed(right: float, *, promises: PrivacyProfiles, p_value: float) -> int | None:
    """Returns how many canaries suffice if guesses are right with this probability."""

    def enough(canaries: int) -> bool:
        guessed = num_guesses(canaries)
        # Reached in 90% of all audits.
        few = int(binom.ppf(0.1, guessed, right))
        sizes = np.array([guessed]), np.array([canaries])
        return guessing_p_value(few, *sizes, promises=promises) <= p_value

    if not enough(_MOST):
        return None
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _as_noise(epsilon: float, delta: float) -> float:
    """Returns the share of correct guesses in the better half, under normal noise."""

    # The distance of both means, in standard deviations, at which normal noise keeps
    # exactly (epsilon, delta): Balle, Wang (2018).
    def excess(distance: float) -> float:
        away = epsilon / distance
        first = norm.cdf(distance / 2.0 - away)
        second = np.exp(epsilon + norm.logcdf(-distance / 2.0 - away))
        return float(first - second) - delta

    distance = float(brentq(excess, 1e-6 * max(epsilon, 1e-6), 2.0 * epsilon + 40.0))

    def sides(bound: float) -> tuple[float, float]:
        half = distance / 2.0
        return float(norm.sf(bound - half)), float(norm.cdf(-bound - half))

    # The larger half of the scores is guessed: those beyond this bound.
    middle = float(brentq(lambda b: sum(sides(b)) - 0.5, 0.0, distance + 40.0))
    return sides(middle)[0] / sum(sides(middle))


def _order_share(count: int, power: float, p_value: float) -> float | None:
    """Returns the share of messages in order that is detected with this probability."""
    pairs = count * (count - 1) // 2
    if pairs < 1 or two_sided_p_value(0, [count]) > p_value:
        return None
    low, high = 0, pairs // 2 + 1
    while high - low > 1:
        middle = (low + high) // 2
        detected = two_sided_p_value(middle, [count]) <= p_value
        low, high = (middle, high) if detected else (low, middle)
    # An approximation: inversions are normal, with the spread of a random order.
    spread = math.sqrt(2.0 * (2 * count + 5) / (9.0 * count * (count - 1)))
    tau = 1.0 - 2.0 * low / pairs + float(norm.ppf(power)) * spread
    # If messages keep their position with probability s, and the others are in random
    # order, two are in order with (1 + tau) / 2, tau = s^2 + (2 / 3) s (1 - s).
    return math.sqrt(1.0 + 3.0 * tau) - 1.0 if tau < 1.0 else None
