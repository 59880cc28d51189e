"""Precision test: counts closer to the truth than the devices' randomness allows.

A category's count is a sum of independent Bernoulli variables, one per honest user, each
with a variance of at least v for every value. The characteristic function of a Bernoulli
variable with variance v is exp(-2 v sin(t / 2)^2) at most, so that with V the sum of
variances, a count has every single value with probability at most

    (1 / 2 pi) int exp(-2 V sin(t / 2)^2) dt = exp(-V) I_0(V),

about 1 / sqrt(2 pi V), and lies within t of a number fixed beforehand with 2 t + 1 times
that.

Categories are tested in sequence. Given the former counts and the users in them, the draws
of the others are still independent where every message supports one category, and unchanged
where categories are independent.
"""

import math

import numpy as np
from scipy.special import ive
from scipy.stats import binom

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import (
    EpochView,
    SupportCounts,
    SupportDependence,
)
from shuffledp_services.evidence.evidence import AuditFinding, EpochTest

NEAR = 0.05


def precision_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Tests whether counts of the canaries' categories have enough noise.

    Raises:
        InvalidInputError: If a canary holds no category.
    """
    if seen.support is None:
        sentence = "No counts of categories were published."
        return AuditFinding.not_tested(EpochTest.PRECISION, sentence=sentence)
    categories = np.unique(canaries.pairs).astype(np.int64)
    k = seen.support.counts.size
    if (categories != np.unique(canaries.pairs)).any() or (
        (categories < 0) | (categories >= k)
    ).any():
        raise InvalidInputError(f"Expected canaries of categories in [0, {k}).")
    probabilities = np.array(_probabilities(canaries, seen, categories))
    near = int((probabilities <= NEAR).sum())
    # Where each category is near with 5% at most, given the former ones, their number
    # is at most binomial; with unknown dependence, the union bound holds.
    if seen.support.columns is SupportDependence.UNKNOWN:
        p_value = float(probabilities.min()) * probabilities.size
    else:
        p_value = float(binom.sf(near - 1, probabilities.size, NEAR))
    p_value = min(max(p_value, 1e-300), 1.0)
    sentence = (
        f"{near:,} of {probabilities.size:,} counts are closer to what canaries sent "
        f"than random draws are in {NEAR:.0%} of all cases: false-alarm "
        f"probability {p_value:.2g}, if devices draw as their levels say."
    )
    return AuditFinding.of_p_value(EpochTest.PRECISION, p_value, sentence=sentence)


def _probabilities(
    canaries: Canaries, seen: EpochView, categories: Ints
) -> list[float]:
    """Bounds the probability of each distance to the truth, given former counts."""
    support, people = seen.support, seen.people
    assert support is not None
    level = np.searchsorted(seen.levels, canaries.levels) if people.size > 1 else 0
    more = np.broadcast_to((support.keep - support.flip)[level], len(canaries))
    probabilities, before = [], 0.0
    for number, category in enumerate(categories.tolist()):
        from_canaries = float(more[canaries.values == category].sum())
        # The expectation if canaries alone hold the category; if others do, too, the
        # test loses power, not validity.
        expected = float(people @ support.flip) + from_canaries
        count = float(support.counts[category])
        each = _least_variances(support, number)
        # Absent users, and those in former counts, may be those with the largest variance.
        away = seen.absent + (
            before if support.columns is SupportDependence.ONE else 0.0
        )
        variance = max(float(people @ each) - away * float(each.max()), 0.0)
        # Each whole number in the window has a probability of exp(-V) I_0(V) at most.
        window = math.floor(2.0 * abs(count - expected)) + 1.0
        probabilities.append(min(window * float(ive(0, variance)), 1.0))
        before += count
    return probabilities


def _least_variances(support: SupportCounts, former: int) -> Floats:
    """Returns the least variance of a report's support at each level, over all values.

    Args:
        support: The probabilities of support.
        former: The number of former categories that the message does not support.
    """
    keep, flip = support.keep, support.flip
    if support.columns is not SupportDependence.ONE or not former:
        probabilities = np.stack([keep, flip])
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            # The user holds this category, one of the former, or another one.
            probabilities = np.stack(
                [
                    keep / (1.0 - former * flip),
                    flip / (1.0 - keep - (former - 1) * flip),
                    flip / (1.0 - former * flip),
                ]
            )
    # An impossible ratio counts as a variance of 0, the safe side.
    probabilities = np.where(
        (probabilities >= 0.0) & (probabilities <= 1.0), probabilities, 1.0
    )
    minimum: Floats = np.min(probabilities * (1.0 - probabilities), axis=0)
    return minimum
