"""Candidates of a plan that are worth a certificate, by errors that are quick to predict.

At given levels, errors are known before anything is certified. For central targets, levels
are estimated, and errors with them. What a plan states is certified all the same: of every
mode the best candidate, of the recommended mode the next one, too, and whatever may be one
of these as far as estimates can tell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.fitted_budgets import estimated_people
from shuffledp.accounting.promise import Promise
from shuffledp.planning.protocol_plan import Wish
from shuffledp.population import Population
from shuffledp.types import Mode

# Errors of estimated levels are right to a few hundredths.
_DOUBT = 1.1


@dataclass(frozen=True)
class Candidate:
    """A candidate with its predicted error.

    Attributes:
        name: Of the protocol.
        error: Its predicted error, bias included; NaN if it is not known.
        unbiased: Whether it may be recommended before biased ones.
        estimated: Whether its levels are estimated.
    """

    name: str
    error: float
    unbiased: bool = True
    estimated: bool = True

    @property
    def lowest(self) -> float:
        """About the least that the error may be; 0 if nothing is known."""
        if not math.isfinite(self.error):
            return 0.0
        return self.error / _DOUBT if self.estimated else self.error


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
    apart = promise.exposure(people).mode == "stratified"
    return estimated_people(
        promise, people.counts, people.epsilons.tolist(), apart=apart
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
    known = [each for each in candidates if math.isfinite(each.error)]
    unbiased = sorted(each.error for each in known if each.unbiased)
    errors = unbiased or sorted(each.error for each in known)
    # The best of a mode and, where it may be recommended, the next.
    wanted = 2 if errors and errors[0] < _DOUBT * least else 1
    if len(errors) < wanted:
        return {}
    limit = errors[wanted - 1]
    better = next(each for each in known if each.error == limit)
    return {
        position: (
            f"{each.name} ({mode}): its error is {_about(each)}, and that of "
            f"{better.name} {_about(better)}; it was not certified."
        )
        for position, each in enumerate(candidates)
        if each.lowest > limit
    }


def _about(candidate: Candidate) -> str:
    return f"{'about ' if candidate.estimated else ''}{candidate.error:.3g}"
