"""The certified upper bound: a victim hides behind the blanket messages of the others.

Heterogeneous privacy blanket. If every other person i sends, with probability gamma_i and
whatever her value, a message from one common distribution omega, then the divergence of
the shuffled messages under a victim's two values is at most

    sum_m P(M = m) / (m + 1) E[(L(Y_1) + ... + L(Y_{m+1}))_+],

with Y_j ~ omega independent, L the victim's loss against omega, and M the number of others
who send a blanket message: a sum of independent coins with the gamma_i. For equal
randomizers this is Balle, Bell, Gascon, Nissim (2019), arXiv:1903.02837, Lemma 5.3; the
proof (reveal who sends what she would not send anyway) never needs them to be equal.

Two evaluators: `counting` adds up the sum, exactly, where it has few terms; `contour`
integrates, at a cost that does not depend on how many there would be.
"""

from typing import Protocol

import numpy as np

from shuffledp.accounting.contour import contour_bound
from shuffledp.accounting.counting import counting_bound, num_terms
from shuffledp.accounting.cover_count import cover_count, grouped_downward
from shuffledp.cover import Cover
from shuffledp.types import Ints

# Up to so many terms, or expected blanket messages, the sum is used: it is exact.
MAX_TERMS = 5_000.0
FEW_MESSAGES = 300.0


class UpperBound(Protocol):
    """The blanket bound for one victim, ready to be evaluated at any epsilon."""

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""


def blanket_bounds(
    covers: list[Cover], counts: Ints, victims: list[int], *, tail: float
) -> list[UpperBound]:
    """Prepares the bound for victims of several levels of one crowd.

    Args:
        covers: What each victim hides behind; each `gap` must be positive.
        counts: People at each level of the crowd, victims included, shape (levels,).
        victims: Positions of the victims' levels, distinct.
        tail: Probability that may be dropped.
    """
    gammas = covers[0].blanket_probabilities
    # Everybody but one person of each victim's level; those few are added back below.
    rest = counts.copy()
    rest[victims] -= 1
    probabilities, people = grouped_downward(gammas, rest)
    few = float(probabilities @ people) <= FEW_MESSAGES
    few = few or num_terms(probabilities, people, covers[0].telling) <= MAX_TERMS
    base = cover_count(probabilities, people, tail=tail) if few else None
    bounds: list[UpperBound] = []
    for victim, cover in zip(victims, covers, strict=True):
        others = np.array(
            [other for other in victims if other != victim], dtype=np.int64
        )
        singles, ones = grouped_downward(gammas[others], np.ones_like(others))
        if base is None:
            chances = np.concatenate([probabilities, singles])
            numbers = np.concatenate([people, ones]).astype(np.float64)
            bounds.append(contour_bound(cover, chances, numbers))
        else:
            left_out = cover_count(singles, ones, tail=tail)
            distribution = base.plus(left_out, tail=tail)
            bounds.append(counting_bound(cover, distribution, tail=tail))
    return bounds
