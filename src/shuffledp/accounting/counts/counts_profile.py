"""Both ends of the profile of one user whose answers change, over all groups of counts.

An adversary sees the counts of all buckets. Other users' messages, and noise beyond that
of the honest people who are relied upon, do not depend on the target user and are added
on top: post-processing. In a group whose users contribute to at most s buckets, at most
s messages move; pairs of buckets that change are independent of each other, of other
groups and of other rounds, so that the s-fold composition bounds every change (see
`items_profile`). A group of one bucket has no other to move to: its message appears or
disappears, and the profile is the larger of both directions, which is that of some pair
and composes (Zhu, Dong and Wang 2022, arXiv:2106.08567, Proposition 7).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from shuffledp.accounting.counts.bucket_pair import ULP, BucketChange, BucketPair
from shuffledp.accounting.counts.bucket_scores import BucketScores, bucket_scores
from shuffledp.accounting.rounds.composition import Composed, composed
from shuffledp.accounting.rounds.loss_distribution import (
    LossDistribution,
    connect_dots,
    loss_distribution,
)
from shuffledp.accounting.rounds.part_losses import Kinds
from shuffledp.errors import CertificationError

# A composed loss beyond which probability is charged whole: this part of delta in all.
_NEGLIGIBLE = 1e-4
_SMALLEST = 1e-45
# Chords between nodes of a loss distribution are cut into this many parts.
_PARTS = 3
# Pairs with more atoms than this are spread over nodes, so many per standard deviation.
_MANY_ATOMS = 10_000
_FINENESS = 500


@dataclass(frozen=True, eq=False)
class CountsProfile:
    """Upper and lower bounds of one privacy profile, for noise as it is distributed.

    Attributes:
        certified: Changes of each group, in all rounds together, of pairs that say no
            less than the adversary sees; none if nothing is sent.
        attacked: Changes of pairs that the adversary sees.
        delta: About the size of the divergence that is asked for.
    """

    certified: tuple[BucketChange, ...]
    attacked: tuple[BucketChange, ...]
    delta: float

    @property
    def is_constant(self) -> bool:
        """Whether nothing depends on the user."""
        return not self.certified

    @property
    def missing(self) -> float:
        """Bound of the mass by which the distributions of all buckets may be wrong."""
        return max(
            math.fsum(change.buckets * change.pair.missing for change in changes)
            for changes in (self.certified, self.attacked)
        )

    @property
    def drift(self) -> float:
        """Masses of all buckets together are right up to a factor of e^{+-drift}."""
        # With the sums that a spread over nodes takes.
        return max(
            math.fsum(
                change.buckets
                * (change.pair.drift + (change.pair.without.size + 50.0) * ULP)
                for change in changes
            )
            for changes in (self.certified, self.attacked)
        )

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        if self.is_constant:
            return 0.0
        only = _only(self.certified)
        if only is not None:
            return _upper(only.pair, epsilon, moved=only.moved)
        return self._composed.delta(epsilon)

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        if not self.attacked:
            return 0.0
        only = _only(self.attacked)
        if only is not None:
            value, error = only.pair.delta(epsilon, moved=only.moved)
            return max(value - error, 0.0)
        return self._scores.lower(epsilon)

    @cached_property
    def kinds(self) -> Kinds:
        """Loss distribution of each change, and how often it takes place."""
        times = sum(change.times for change in self.certified)
        negligible = max(_NEGLIGIBLE * self.delta / max(times, 1), _SMALLEST)
        return tuple(
            (_losses(change, negligible), change.times) for change in self.certified
        )

    @cached_property
    def _composed(self) -> Composed:
        return composed(self.kinds)

    @cached_property
    def _scores(self) -> BucketScores:
        return bucket_scores(self.attacked)


def _only(changes: Sequence[BucketChange]) -> BucketChange | None:
    """Returns the change, if there is one."""
    first, *others = changes
    return None if others or first.times > 1 else first


def _upper(pair: BucketPair, epsilon: float, *, moved: bool) -> float:
    value, error = pair.delta(epsilon, moved=moved)
    return min(value + error, 1.0)


def _losses(change: BucketChange, negligible: float) -> LossDistribution:
    upper = partial(_upper, _fewer_atoms(change.pair), moved=change.moved)
    try:
        losses = loss_distribution(upper, ceiling=float("inf"), negligible=negligible)
        # Few counts make a profile of corners, which so few chords do not follow.
        nodes = losses.losses[losses.losses >= 0.0]
        steps = np.diff(nodes, append=nodes[-1]) / _PARTS
        finer = np.unique([nodes + part * steps for part in range(_PARTS)])
        return connect_dots(finer, np.array([upper(x) for x in finer.tolist()]))
    except (OverflowError, ValueError, IndexError) as error:
        raise CertificationError("No proven bound for this noise.") from error


def _fewer_atoms(pair: BucketPair) -> BucketPair:
    """Returns a pair that dominates this one, quicker to evaluate hundreds of times."""
    if pair.with_message.size <= _MANY_ATOMS:
        return pair
    ratios = pair.ratios
    usual = (ratios > 0.0) & np.isfinite(ratios)
    losses, masses = np.log(ratios[usual]), pair.without[usual]
    mean = float(masses @ losses)
    deviation = math.sqrt(max(float(masses @ (losses - mean) ** 2), 1e-12))
    step = min(deviation / _FINENESS, 0.5)
    reach = min(float(np.abs(losses).max()), _MANY_ATOMS / 2.0 * step)
    return pair.spread(np.arange(-reach, reach + step, step))
