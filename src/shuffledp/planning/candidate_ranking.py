"""Candidates of a plan that are worth a certificate, by errors that are quick to predict.

At given levels, errors are known before anything is certified. For central targets, levels
are estimated, and errors with them; where no estimate succeeds, an error lies between those
at the largest and at the smallest target for all people, and is at most that at targets as
levels. What a plan states is certified all the same: of every mode the best candidate, of
the recommended mode the next one, too, if it is near, and whatever may be one of these as
far as estimates can tell. Where two are estimated to be so near, these two will do, and
one where another mode is better.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.calibration.fitted_budgets import estimated_people
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import CertificationError
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.types import Mode

# Errors of estimated levels are right to a few hundredths.
_DOUBT = 1.1
# Where targets differ, errors were 0.57 times that of the largest target for all or more,
# and 1.26 times that of the smallest for all or less, in 726 trials.
_BELOW_LARGEST_TARGET, _ABOVE_SMALLEST_TARGET = 2.0, 1.5
# A certificate of the next candidate is not worth its time where its error is larger.
_NEAR = 2.0
# Estimates that are certified of one mode: of more, whose errors are nearly the same, any
# will do, as will the best of a mode in which all are worse than in another. Budgets of
# which nothing is estimated take longest to be found.
_MOST_CERTIFIED = 2


@dataclass(frozen=True)
class Candidate:
    """A candidate with its predicted error.

    Attributes:
        name: Of the protocol.
        error: Its predicted error, bias included; NaN if only limits are known.
        least: About the least that the error may be.
        most: About the most that it may be.
        unbiased: Whether it may be recommended before biased ones.
    """

    name: str
    error: float
    least: float
    most: float
    unbiased: bool = True

    @property
    def known(self) -> bool:
        """Whether the error is no estimate."""
        return self.least == self.most

    @property
    def is_estimate(self) -> bool:
        """Whether the error itself is estimated."""
        return not (self.known or math.isnan(self.error))

    @property
    def is_enclosed(self) -> bool:
        """Whether only limits of the error are known."""
        return math.isnan(self.error) and math.isfinite(self.most)

    @classmethod
    def certain(cls, name: str, error: float) -> "Candidate":
        """Returns an unbiased candidate whose levels are given or certified."""
        return cls(name, error, error, error)

    @classmethod
    def for_targets(
        cls,
        name: str,
        wish: Wish,
        estimate: Callable[[Wish], float],
        *,
        unbiased: bool = True,
    ) -> "Candidate":
        """Returns a candidate whose error is estimated, or enclosed by two estimates.

        Args:
            name: Of the protocol.
            wish: With targets.
            estimate: Returns about the error at the targets of a wish; raises
                CertificationError if nothing is estimated.
            unbiased: See the class.
        """

        def error_at(targets: Wish) -> float:
            with suppress(CertificationError):
                return estimate(targets)
            return math.nan

        error = error_at(wish)
        # An infinite error says that nothing is known from messages at these levels.
        if math.isfinite(error):
            return cls(name, error, error / _DOUBT, error * _DOUBT, unbiased)
        limits = [
            error_at(wish.strictest) * _ABOVE_SMALLEST_TARGET,
            # Levels are no smaller than targets.
            error_at(wish.as_levels) * _DOUBT,
        ]
        most = min(
            (limit for limit in limits if math.isfinite(limit)), default=math.inf
        )
        loosest = error_at(wish.loosest) / _BELOW_LARGEST_TARGET
        return cls(
            name,
            math.nan,
            min(loosest, most) if math.isfinite(loosest) else 0.0,
            most,
            unbiased,
        )


def people_estimate(wish: Wish, protocol: Any) -> Population:
    """Returns about the people of `Wish.fit`, quickly; nothing is certified.

    Args:
        wish: Levels or targets, people, delta.
        protocol: The candidate.

    Raises:
        CertificationError: If nothing is estimated.
    """
    people = Population.from_counts(dict(wish.asked))
    if wish.targets is None:
        return people
    promise = Promise(protocol, wish.delta, wish.absent)
    is_stratified = promise.exposure(people).mode == "stratified"
    return estimated_people(
        promise, people.counts, people.epsilons.tolist(), apart=is_stratified
    )


def left_out_reasons(
    candidates: Sequence[Candidate], mode: Mode, *, least: float
) -> dict[int, str]:
    """Returns why candidates of one mode need no certificate, by their positions.

    Args:
        candidates: All of the mode.
        mode: Of the collection.
        least: The least certified error in other modes; infinite if there is none.
    """
    unbiased = [each for each in candidates if each.unbiased] or list(candidates)
    best_candidate, *others = sorted(unbiased, key=lambda each: each.most)
    limit = best_candidate.most
    if not math.isfinite(limit):
        return {}
    rivals = [each for each in others if each.error <= _NEAR * best_candidate.most]
    # The best of a mode and, where it may be recommended, the next.
    if rivals and best_candidate.least < least:
        limit = max(limit, rivals[0].most)
    may_be_best = min(each.least for each in candidates) < least
    most_certified = _MOST_CERTIFIED if may_be_best else 1
    estimates = [
        each for each in candidates if each.least <= limit and each.is_estimate
    ]
    estimates.sort(key=lambda each: each.error)
    spare = estimates[most_certified:]
    if len(estimates) >= most_certified:
        spare += [each for each in candidates if each.is_enclosed]
    spare = [each for each in spare if each is not best_candidate]
    return {
        position: (
            f"{each.name} ({mode}): its error is {_about(each)}, and that of "
            f"{best_candidate.name} {_about(best_candidate)}; it was not certified."
        )
        for position, each in enumerate(candidates)
        if each.least > limit or any(each is other for other in spare)
    }


def _about(candidate: Candidate) -> str:
    if math.isnan(candidate.error):
        if candidate.most < math.inf:
            return f"about {candidate.least:.3g} to {candidate.most:.3g}"
        return f"at least about {candidate.least:.3g}"
    return f"{'' if candidate.known else 'about '}{candidate.error:.3g}"
