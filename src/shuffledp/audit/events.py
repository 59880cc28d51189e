"""Events that tell two values apart: learned, chosen, and then measured.

Messages go three ways. From the first part scores are learned; on the second, each score's
thresholds are tried, and the one event is chosen that would prove most; the third part is
used for nothing but counting how often that event happens. So it does not matter how many
events were tried: of each kind of statement there is one per ordered pair of values, which
was fixed before the counted messages were looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.confidence_bounds import (
    delta_lower_bound,
    epsilon_lower_bound,
    probability_lower_bound,
    probability_upper_bound,
)
from shuffledp.audit.messages import Messages
from shuffledp.audit.score_learning import fit_scores
from shuffledp.audit.scores import Score
from shuffledp.types import Floats, Ints

# (lower bounds of R(x)(S), upper bounds of R(x')(S)) -> what they prove.
PromiseBound = Callable[[Floats, Floats], Floats]
# Thresholds that are tried of each score; more of them in the tails.
_THRESHOLDS = 200
# What was seen no time comes about so often, in the median, by Jeffreys' prior.
_UNSEEN = 0.23


@dataclass(frozen=True, eq=False)
class MessageEvent:
    """A set of messages: those whose score is on one side of a threshold.

    Attributes:
        score: Of a message.
        threshold: The last score that belongs to it.
        above: Whether scores from the threshold upward belong to it, or downward.
    """

    score: Score
    threshold: float
    above: bool

    def contains(self, scores: Floats) -> NDArray[np.bool_]:
        """Returns which messages, given by their scores, belong to the event, (n,)."""
        found: NDArray[np.bool_] = (
            scores >= self.threshold if self.above else scores <= self.threshold
        )
        return found

    def __str__(self) -> str:
        return self.score.words(self.threshold, above=self.above)


def promise_bounds(epsilon: float, delta: float) -> tuple[PromiseBound, PromiseBound]:
    """Returns what two chances prove of epsilon at this delta, and of delta at epsilon."""
    return partial(epsilon_lower_bound, delta=delta), partial(
        delta_lower_bound, epsilon=epsilon
    )


def learn_scores(here: Messages, there: Messages) -> list[Score]:
    """Returns scores learned from the first half of what is there to learn from."""
    return fit_scores(_first(here), _first(there))


def choose_event(
    scores: list[Score],
    here: Messages,
    there: Messages,
    *,
    proves: PromiseBound,
    alpha: float,
    growth: float,
) -> MessageEvent:
    """Returns the event that proves most for x against x', as it looks beforehand.

    Args:
        scores: That suspect x rather than x', or the other way round.
        here: Messages about x, of which the second part is looked at.
        there: The same about x'.
        proves: What two chances prove.
        alpha: The probability that each bound may be wrong with.
        growth: How many messages will be counted for each of those looked at.
    """
    parts = _rest(here), _rest(there)
    best, found = -1.0, MessageEvent(scores[0], 0.0, True)
    for score in scores:
        one, other = (np.sort(score(part)) for part in parts)
        tried = _thresholds(one, other)
        for above in (True, False):
            hits, misses = (_hits(part, tried, above=above) for part in (one, other))
            # A deviation less of what speaks for the event, and more of what does not: of
            # many events some look better than they are, rare ones most of all.
            hits = np.maximum(hits - np.sqrt(hits), 0.0)
            more = misses + np.sqrt(misses) + _UNSEEN
            misses = np.minimum(more, float(other.size))
            low = probability_lower_bound(hits * growth, one.size * growth, alpha)
            high = probability_upper_bound(misses * growth, other.size * growth, alpha)
            proven = proves(low, high)
            place = int(np.argmax(proven))
            if proven[place] > best:
                best = float(proven[place])
                found = MessageEvent(score, float(tried[place]), above)
    return found


def _first(messages: Messages) -> Messages:
    return messages.at(np.arange(len(messages) // 2))


def _rest(messages: Messages) -> Messages:
    return messages.at(np.arange(len(messages) // 2, len(messages)))


def _thresholds(one: Floats, other: Floats) -> Floats:
    """Returns scores between which few messages lie in the tails, and many inside."""
    both = np.unique(np.concatenate([one, other]))
    if both.size <= _THRESHOLDS:
        return both
    half = _THRESHOLDS // 4
    ranks = np.geomspace(1.0, both.size / 2.0, half).astype(np.int64) - 1
    even = np.linspace(0, both.size - 1, 2 * half).astype(np.int64)
    chosen: Floats = both[np.unique([*ranks, *even, *(both.size - 1 - ranks)])]
    return chosen


def _hits(scored: Floats, tried: Floats, *, above: bool) -> Ints:
    """Returns how many sorted scores belong to each event, shape (thresholds,)."""
    if above:
        return scored.size - np.searchsorted(scored, tried, side="left")
    return np.searchsorted(scored, tried, side="right")
