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

from shuffledp.audit.audit_messages import Messages
from shuffledp.audit.confidence_bounds import (
    delta_lower_bound,
    epsilon_lower_bound,
    probability_lower_bound,
    probability_upper_bound,
)
from shuffledp.audit.score_learning import fit_scores
from shuffledp.audit.scores import Score
from shuffledp.types import Floats, Ints

# (lower bounds of R(x)(S), upper bounds of R(x')(S)) -> least epsilon or delta.
GuaranteeBound = Callable[[Floats, Floats], Floats]
# Thresholds that are tried of each score; more of them in the tails.
_THRESHOLDS = 200
# Median count of an event that was not observed, under Jeffreys' prior.
_UNSEEN = 0.23


@dataclass(frozen=True, eq=False)
class MessageEvent:
    """A set of messages: those whose score is on one side of a threshold.

    Attributes:
        score: The score of a message.
        threshold: The last score that belongs to the event.
        above: Whether scores from the threshold upward belong to it, or downward.
    """

    score: Score
    threshold: float
    above: bool

    def contains(self, scores: Floats) -> NDArray[np.bool_]:
        """Returns which messages, given by their scores, belong to the event, (n,)."""
        members: NDArray[np.bool_] = (
            scores >= self.threshold if self.above else scores <= self.threshold
        )
        return members

    def __str__(self) -> str:
        return self.score.words(self.threshold, above=self.above)


def guarantee_bounds(
    epsilon: float, delta: float
) -> tuple[GuaranteeBound, GuaranteeBound]:
    """Returns the bounds of epsilon at this delta, and of delta at this epsilon."""
    return partial(epsilon_lower_bound, delta=delta), partial(
        delta_lower_bound, epsilon=epsilon
    )


def learn_scores(messages: Messages, other_messages: Messages) -> list[Score]:
    """Learns scores from the first half of the learning messages."""
    return fit_scores(_first_half(messages), _first_half(other_messages))


def choose_event(
    scores: list[Score],
    messages: Messages,
    other_messages: Messages,
    *,
    proves: GuaranteeBound,
    alpha: float,
    growth: float,
) -> MessageEvent:
    """Returns the event expected to prove most for x against x'.

    Args:
        scores: Scores that favor x over x', or the reverse.
        messages: Messages about x; the second half is used.
        other_messages: The same about x'.
        proves: The bound that two probabilities prove.
        alpha: The error probability of each bound.
        growth: Messages to be counted per message used to choose.
    """
    parts = _second_half(messages), _second_half(other_messages)
    # No bound is negative: the first event that is tried replaces this one.
    largest_excess, event = -1.0, MessageEvent(scores[0], 0.0, True)
    for score in scores:
        first, other = (np.sort(score(part)) for part in parts)
        thresholds = _thresholds(first, other)
        for above in (True, False):
            hits, misses = (
                _hits(part, thresholds, above=above) for part in (first, other)
            )
            # One standard deviation to the cautious side of both counts: the best of many
            # events looks better than it is, a rare one most of all.
            hits = np.maximum(hits - np.sqrt(hits), 0.0)
            likely_misses = misses + np.sqrt(misses) + _UNSEEN
            misses = np.minimum(likely_misses, float(other.size))
            # Scaled to the number of messages that will be counted.
            low = probability_lower_bound(hits * growth, first.size * growth, alpha)
            high = probability_upper_bound(misses * growth, other.size * growth, alpha)
            proven = proves(low, high)
            index = int(np.argmax(proven))
            if proven[index] > largest_excess:
                largest_excess = float(proven[index])
                event = MessageEvent(score, float(thresholds[index]), above)
    return event


def _first_half(messages: Messages) -> Messages:
    return messages.at(np.arange(len(messages) // 2))


def _second_half(messages: Messages) -> Messages:
    return messages.at(np.arange(len(messages) // 2, len(messages)))


def _thresholds(first: Floats, other: Floats) -> Floats:
    """Returns thresholds at quantiles of the scores, denser in the tails."""
    all_scores = np.unique(np.concatenate([first, other]))
    if all_scores.size <= _THRESHOLDS:
        return all_scores
    half = _THRESHOLDS // 4
    # Half of the thresholds are even, a quarter for each tail; ranks may coincide.
    ranks = np.geomspace(1.0, all_scores.size / 2.0, half).astype(np.int64) - 1
    even = np.linspace(0, all_scores.size - 1, 2 * half).astype(np.int64)
    thresholds: Floats = all_scores[
        np.unique([*ranks, *even, *(all_scores.size - 1 - ranks)])
    ]
    return thresholds


def _hits(scored: Floats, tried: Floats, *, above: bool) -> Ints:
    """Returns how many sorted scores belong to each event, shape (thresholds,)."""
    if above:
        return scored.size - np.searchsorted(scored, tried, side="left")
    return np.searchsorted(scored, tried, side="right")
