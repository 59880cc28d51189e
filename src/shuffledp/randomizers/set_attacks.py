"""Attacks on randomizers that favor a set of messages per value (set_response.py).

Messages in S_x only speak for x, those in S_x' only for x'. The others' value determines
how often they send them: with density `low`, or `high` if the message is in the set of
their own value, too. Where it is rare it tells more: in a sum of scores a message should
count as much as the target user's difference over the others' probability, 1 / low or 1
/ high.

* *The others hold a third value z.* Messages that speak are in S_z, and frequent, or not,
  and rare. The adversary looks at two counts, for x and for x', of the rare messages or of
  all of them, or at a sum of scores.
* *They hold x, or x'.* Messages that speak for that value are frequent, and those for the
  other are rare. This tells more where most messages of S_x are in S_z, too, and where so
  few users send anything rare that one message, or none, is enough.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.cover import Attack, ScoreAttack, TwoCountAttack
from shuffledp.randomizers.score_weights import FEW_PEOPLE, whole_weights
from shuffledp.types import Floats, Ints

# Shares of all messages below this are rounding.
_NOTHING = 1e-12


@dataclass(frozen=True)
class _Kind:
    """Messages that speak for x, or for x', and are alike to the adversary.

    Attributes:
        score: The contribution of each to the sum, beside those of other messages.
        share: Of all messages.
        for_x: Whether they speak for x.
        favored: Whether the value that the others hold favors them.
    """

    score: int
    share: float
    for_x: bool
    favored: bool


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum of scores, for any target user.

    Attributes:
        others: Probability of each score for a user of each level, shape (levels, scores).
        shares: Of the messages of each score that speak for x, and for x', shape
            (2, scores).
        middle: The score of messages that speak for neither.
    """

    others: Floats
    shares: Floats
    middle: int


class SetAttacks:
    """The attacks on users of one population; their common part is computed once."""

    def __init__(
        self,
        shares: tuple[float, float, float | None],
        low: Floats,
        gap: Floats,
        people: Ints,
    ) -> None:
        """Computes the part that does not depend on the target user.

        Args:
            shares: Of messages in S_x; in S_x and S_x'; in S_x and S_z, but not in S_x'.
                The latter is None if there are two values.
            low: Density of messages that a user does not favor, shape (levels,).
            gap: By how much that of the others is higher, shape (levels,).
            people: How many chose each level, shape (levels,).
        """
        self._inside, self._both, third = shares
        self._low, self._gap = low, gap
        self._only = self._inside - self._both
        self._neither = _positive_share(1.0 - 2.0 * self._only - self._both)
        self._counts: list[tuple[float, Floats]] = []
        self._sums: list[_Sum] = []
        # Where sets do not meet, the messages of a fourth value can be told apart.
        self._stray = (
            _positive_share(1.0 - 3.0 * self._inside) if self._both == 0.0 else 0.0
        )
        rare_weight, frequent_weight = whole_weights(low, low + gap, people)
        if third is None:
            # Of few people, skewness may matter more than variance.
            self._sums.append(self._holding(1, -1, x=True))
            if self._both + self._neither == 0.0:
                # Of two kinds of messages one count says all.
                return
        else:
            self._add_third(third, rare_weight, frequent_weight)
            if third == 0.0 and people.sum() > FEW_PEOPLE:
                return
        self._sums.append(self._holding(frequent_weight, -rare_weight, x=True))
        if third != 0.0:
            self._sums.append(self._holding(rare_weight, -frequent_weight, x=False))

    def on(self, least: float, gap: float) -> tuple[Attack, ...]:
        """Returns the attacks on a target user with these densities, low and high - low."""
        strays, stray = self._strays, self._stray
        attacks: list[Attack] = [
            TwoCountAttack(hits, least * share, gap * share, strays, stray * least)
            for share, hits in self._counts
        ]
        for each in self._sums:
            share_x, share_y = each.shares
            second = least * share_x + (least + gap) * share_y
            second[each.middle] += least * self._neither + (least + gap) * self._both
            attacks.append(ScoreAttack(each.others, second, gap * (share_x - share_y)))
        return tuple(attacks)

    @functools.cached_property
    def _strays(self) -> Floats | None:
        """Others' probabilities, shared by all target users: levels may be 10^8."""
        return self._stray * self._low if self._stray > 0.0 else None

    def _add_third(self, often: float, rare_weight: int, frequent_weight: int) -> None:
        """Adds the attacks on people who hold z.

        Args:
            often: Share of the messages that speak for x and are in S_z; as many do for x'.
            rare_weight: Score of other messages that speak for x.
            frequent_weight: Score of those.
        """
        seldom = _positive_share(self._only - often)
        self._counts.append((self._only, self._low * self._only + self._gap * often))
        if often == 0.0 or seldom == 0.0:
            # All that speaks is alike.
            rare_weight = frequent_weight = 1
        else:
            self._counts.append((seldom, self._low * seldom))
        kinds = [
            _Kind(sign * score, share, for_x=sign > 0, favored=favored)
            for score, share, favored in (
                (rare_weight, seldom, False),
                (frequent_weight, often, True),
            )
            for sign in (1, -1)
        ]
        self._sums.append(
            self._score_sum(kinds, favored=_positive_share(self._inside - 2.0 * often))
        )

    def _holding(self, score_x: int, score_y: int, *, x: bool) -> _Sum:
        """Returns the sum where the others hold x, or x', and messages score this."""
        kinds = [
            _Kind(score_x, self._only, for_x=True, favored=x),
            _Kind(score_y, self._only, for_x=False, favored=not x),
        ]
        return self._score_sum(kinds, favored=self._both)

    def _score_sum(self, kinds: Sequence[_Kind], *, favored: float) -> _Sum:
        """Returns a sum; `favored` is the others' favored share of neutral messages."""
        middle = -min(kind.score for kind in kinds)
        size = middle + max(kind.score for kind in kinds) + 1
        # Levels side by side in memory: whole columns are added.
        others = np.zeros((size, self._low.size))
        shares = np.zeros((2, size))
        for kind in kinds:
            density = self._low + self._gap if kind.favored else self._low.copy()
            density *= kind.share
            others[middle + kind.score] += density
            shares[0 if kind.for_x else 1, middle + kind.score] += kind.share
        # Not what is left of 1: a small probability would be mostly rounding.
        neutral_share = _positive_share(self._both + self._neither)
        neither = self._low * neutral_share
        neither += self._gap * favored
        others[middle] += neither
        return _Sum(others.T, shares, middle)


def _positive_share(part: float) -> float:
    """Returns a share, or 0 if it is only rounding error."""
    return part if part > _NOTHING else 0.0
