"""The blanket messages of all users but the target, in few groups of similar users."""

from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.upper.counting import num_terms
from shuffledp.accounting.upper.cover_count import (
    CountDistribution,
    cover_count,
    grouped_downward,
)
from shuffledp.types import Floats, Ints

# Up to these numbers of terms, or of expected messages, the sum is used: it is exact.
MAX_TERMS = 5_000.0
FEW_MESSAGES = 300.0


class BlanketPopulation:
    """The blanket messages of all users except one, for target users of one population.

    Args:
        gammas: Probability of a blanket message at each level, shape (levels,).
        counts: People at each level, target users included, shape (levels,).
        target_users: Positions of the target users' levels, distinct.
        absent: How many of the others may be absent or collude: those who give most.
        tail: Probability that may be dropped.
    """

    def __init__(
        self,
        gammas: Floats,
        counts: Ints,
        target_users: Sequence[int],
        *,
        absent: int,
        tail: float,
    ) -> None:
        self._gammas, self._tail = gammas, tail
        self._counts, self._absent = counts, absent
        # All but one person of each target user's level; those few are added back.
        self._target_users = np.asarray(target_users, dtype=np.int64)
        others = counts.copy()
        others[self._target_users] -= 1
        self._groups = grouped_downward(gammas, others)
        self._base: CountDistribution | None = None

    def groups(self, target_user: int) -> tuple[Floats, Ints]:
        """Returns few groups of draws, stochastically smaller than the others' own."""
        if self._absent:
            others = others_of(self._gammas, self._counts, target_user, self._absent)
            return grouped_downward(self._gammas, others)
        probabilities, people = self._groups
        singles, ones = self._others(target_user)
        # Without bands of levels, the singles' probabilities are those of groups.
        distinct, group = np.unique(
            np.concatenate([probabilities, singles]), return_inverse=True
        )
        totals = np.zeros(distinct.size, dtype=np.int64)
        np.add.at(totals, group, np.concatenate([people, ones]))
        return distinct, totals

    def is_small(self, telling: float) -> bool:
        """Returns whether the sum over the number of blanket messages is short."""
        probabilities, people = self._groups
        few = float(probabilities @ people) <= FEW_MESSAGES
        return few or num_terms(probabilities, people, telling) <= MAX_TERMS

    def distribution(self, target_user: int) -> CountDistribution:
        """Returns the distribution of the number of blanket messages of the others."""
        if self._absent:
            return cover_count(*self.groups(target_user), tail=self._tail)
        if self._base is None:
            self._base = cover_count(*self._groups, tail=self._tail)
        left_out = cover_count(*self._others(target_user), tail=self._tail)
        return self._base.plus(left_out, tail=self._tail)

    def _others(self, target_user: int) -> tuple[Floats, Ints]:
        others = self._target_users[self._target_users != target_user]
        return grouped_downward(self._gammas[others], np.ones_like(others))


def others_of(gammas: Floats, counts: Ints, target_user: int, absent: int) -> Ints:
    """Returns how many others there are, without those who would give most cover.

    Args:
        gammas: How much cover people of each level give, shape (levels,).
        counts: People at each level, the target user included, shape (levels,).
        target_user: Index of the target user's level.
        absent: How many of the others are left out.
    """
    left = counts.copy()
    left[target_user] -= 1
    if not absent:
        return left
    # Without these M is stochastically smallest, whichever people are absent.
    # Those of whom some are absent: all others' need no order. One level may be empty.
    most = min(absent + 1, gammas.size)
    threshold = np.partition(gammas, gammas.size - most)[gammas.size - most]
    candidates = np.flatnonzero(gammas >= threshold)
    order = candidates[np.argsort(-gammas[candidates], kind="stable")]
    available = left[order]
    left[order] -= np.clip(absent - (np.cumsum(available) - available), 0, available)
    return left
