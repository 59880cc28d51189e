"""Both ends of the profile of one person whose set of items is replaced by any other.

The adversary sees a count per item. With Poisson(m) blanket messages from each of H honest
people, the target user's own included, blanket counts of d items are independent
Poisson(H m / d), and their total says nothing about anybody. Whatever else is in the
counts - others' items, blanket messages of people who are not honest - does not depend on
the target user and is added on top: post-processing. So no other cover is needed, or
used.

Let the target user's set A, of at most s items, become B. Counts of items in both sets,
or in neither, have the same distribution in both worlds and are independent of the
rest. At most s items are only in A, at most s only in B. Pair them up; an item without
a partner gets an imaginary one that no other user sends, among Poisson(H m / d) blanket
messages, which the adversary may see as well. Each couple is an `ItemPair`, all are
independent, and fewer than s couples reveal no more than s couples: the s-fold
composition bounds every replacement.

In several collections, with independent randomness, all couples of all of them are
independent, however sets change from one to the next: as many times s couples.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.items.item_pair import LARGEST_MEAN, SMALLEST_MEAN, ItemPair
from shuffledp.accounting.items.items_attack import ItemsAttack, items_attack
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.loss_distribution import (
    LossDistribution,
    connect_dots,
    loss_distribution,
)
from shuffledp.accounting.rounds.part_losses import Kinds
from shuffledp.errors import CertificationError, InvalidInputError

# A composed loss beyond which probability is charged whole: this part of delta in all.
_NEGLIGIBLE = 1e-4
_SMALLEST = 1e-45
_ROUNDING = 8e-16
# Up to this mean, chords are cut into this many parts.
_SMOOTH, _PARTS = 2e4, 3


@dataclass(frozen=True)
class ItemsProfile:
    """Upper and lower bounds of one privacy profile, for exact Poisson counts.

    Attributes:
        mean: H m / d, honest blanket messages per item.
        send_probability: lambda, in [0, 1].
        set_size: s, the most items that the target user may hold.
        num_items: d.
        delta: About the size of the divergence that is asked for.
        times: In how many collections the same people take part.
    """

    mean: float
    send_probability: float
    set_size: int
    num_items: int
    delta: float
    times: int = 1

    def __post_init__(self) -> None:
        if not SMALLEST_MEAN <= self.mean <= LARGEST_MEAN:
            raise InvalidInputError(
                f"Expected from {SMALLEST_MEAN:g} to {LARGEST_MEAN:g} blanket messages "
                f"per item, got {self.mean:g}."
            )

    @property
    def is_constant(self) -> bool:
        """Whether no item is ever sent."""
        return self.send_probability == 0.0

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        if self.is_constant:
            return 0.0
        if self._most_couples == 1:
            return self._above.upper(epsilon)
        return composed([(self._losses, self._most_couples)]).delta(epsilon)

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        if self.is_constant or self._least_couples == 0:
            return 0.0
        if self._least_couples == 1:
            return self._below.lower(epsilon)
        return self._attack.delta(epsilon)

    @property
    def kinds(self) -> Kinds:
        """Loss distribution of a replaced item, and how many there are at most."""
        return () if self.is_constant else ((self._losses, self._most_couples),)

    @property
    def _most_couples(self) -> int:
        """How many items may be replaced at most."""
        return self.times * self.set_size

    @property
    def _least_couples(self) -> int:
        """How many can be replaced in a full set."""
        # Disjoint sets attain s couples; if 2 s > d, only d - s items can be new.
        return self.times * min(self.set_size, self.num_items - self.set_size)

    @property
    def _above(self) -> ItemPair:
        # Down for the upper bound, up for the lower one: more blanket messages are
        # post-processing.
        return ItemPair(self.mean * (1.0 - _ROUNDING), self.send_probability)

    @property
    def _below(self) -> ItemPair:
        return ItemPair(self.mean * (1.0 + _ROUNDING), self.send_probability)

    @cached_property
    def _losses(self) -> LossDistribution:
        upper = self._above.upper
        try:
            losses = loss_distribution(
                upper,
                ceiling=float("inf"),
                negligible=max(
                    _NEGLIGIBLE * self.delta / self._most_couples, _SMALLEST
                ),
            )
            if self.mean > _SMOOTH:
                return losses
            # Few counts make a profile of corners, which so few chords do not follow.
            nodes = losses.losses[losses.losses >= 0.0]
            steps = np.diff(nodes, append=nodes[-1]) / _PARTS
            finer = np.unique([nodes + part * steps for part in range(_PARTS)])
            return connect_dots(finer, np.array([upper(x) for x in finer.tolist()]))
        except (OverflowError, ValueError, IndexError) as error:
            raise CertificationError(
                f"No proven bound at {self.mean:g} blanket messages per item."
            ) from error

    @cached_property
    def _attack(self) -> ItemsAttack:
        return items_attack(self._below, self._least_couples)
