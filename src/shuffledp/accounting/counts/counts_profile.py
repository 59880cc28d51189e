"""Both ends of the profile of one user whose answers change, over all groups of counts.

An adversary sees the counts of all buckets. Other users' messages, and noise beyond that
of the honest people who are relied upon, do not depend on the target user and are added
on top: post-processing. In a group whose users contribute to at most s buckets, at most
s messages move; pairs of buckets that change are independent of each other, of other
groups and of other rounds, so that the s-fold composition bounds every change (as
`items/items_profile` says). A group of one bucket has no other to move to: its message
appears or disappears, and the profile is the larger of both directions, which is that of
some pair and composes (Zhu, Dong and Wang 2022, arXiv:2106.08567, Proposition 7).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from weakref import WeakKeyDictionary

import numpy as np

from shuffledp.accounting.counts.bucket_pair import BucketChange, BucketPair
from shuffledp.accounting.counts.count_noise import CountNoise
from shuffledp.accounting.counts.poisson_pair import PoissonPair
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.lower.composed_attack import (
    ComposedAttack,
    after_errors,
    composed_attack,
)
from shuffledp.accounting.rounds.composition import Composed, composed
from shuffledp.accounting.rounds.loss_distribution import (
    LossDistribution,
    connect_dots,
)
from shuffledp.accounting.rounds.node_choice import loss_distribution
from shuffledp.accounting.rounds.part_losses import Kinds
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# A composed loss beyond which probability is charged whole: this part of delta in all.
_NEGLIGIBLE = 1e-4
_SMALLEST = 1e-45
# Of that, what is left out on either side of the noise.
_OUTSIDE = 1e-8
# Chords between nodes of a loss distribution are cut into this many parts, unless Poisson
# noise has a larger mean.
_PARTS, _SMOOTH = 3, 2e4
# Losses of a bucket up to which those of its change are nodes, too.
_FEW_LOSSES = 2
# Losses of a bucket that are counted first.
_SAMPLE = 100
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

    @classmethod
    def of_groups(
        cls,
        groups: Iterable[tuple[int, int, CountNoise]],
        rate: float,
        *,
        delta: float,
        times: int,
        is_attacked: bool = True,
    ) -> "CountsProfile":
        """Returns the profile of a person who sends each answer with this probability.

        Args:
            groups: Buckets, the most of a person, and the noise of each group.
            rate: In [0, 1].
            delta: About the size of the divergence that is asked for.
            times: In how many collections the same people take part.
            is_attacked: Whether to bound the profile from below, too.
        """
        certified: list[BucketChange] = []
        attacked: list[BucketChange] = []
        for buckets, most, noise in groups if rate > 0.0 else ():
            can_move = buckets > 1
            # Fewer than `most` other buckets may exist to move to.
            fewer = min(most, buckets - most) if can_move else 1
            for changes, number, of in (
                (certified, most, noise.certified),
                (attacked, fewer, noise.attacked),
            ):
                if number and (is_attacked or changes is certified):
                    change = of(rate, buckets=buckets, moved=can_move, times=number)
                    changes.append(replace(change, times=change.times * times))
        return cls(tuple(certified), tuple(attacked), delta)

    @property
    def is_constant(self) -> bool:
        """Whether nothing depends on the user."""
        return not self.certified

    @property
    def missing(self) -> float:
        """Bound of the mass by which certified pairs of all buckets may be wrong."""
        return math.fsum(change.missing for change in self.certified)

    @property
    def drift(self) -> float:
        """Certified masses together are right up to a factor of e^{+-drift}."""
        return math.fsum(change.drift for change in self.certified)

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        if self.is_constant:
            return 0.0
        only = _only_change(self.certified)
        if only is not None:
            return _upper(only, epsilon)
        return self._composed.delta(epsilon)

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        if not self.attacked:
            return 0.0
        only = _only_change(self.attacked)
        return after_errors(
            partial(_lower, only) if only is not None else self._scores.lower,
            epsilon,
            missing=math.fsum(change.missing for change in self.attacked),
            drift=math.fsum(change.drift for change in self.attacked),
        )

    @property
    def attacked_pairs(self) -> tuple[AttackedPair, ...]:
        """Pairs that the adversary sees, to compose with those of others."""
        return tuple(change.attacked_pair for change in self.attacked)

    @cached_property
    def kinds(self) -> Kinds:
        """Loss distribution of each change, and how often it takes place."""
        times = sum(change.times for change in self.certified)
        negligible = max(_NEGLIGIBLE * self.delta / max(times, 1), _SMALLEST)
        return tuple(
            (_losses_of_change(change, negligible), change.times)
            for change in self.certified
        )

    @cached_property
    def _composed(self) -> Composed:
        return composed(self.kinds)

    @cached_property
    def _scores(self) -> ComposedAttack:
        return composed_attack(self.attacked_pairs)


def _only_change(changes: Sequence[BucketChange]) -> BucketChange | None:
    """Returns the change, if there is one."""
    first, *others = changes
    return None if others or first.times > 1 else first


def _upper(change: BucketChange, epsilon: float) -> float:
    if change.proven is not None:
        return change.proven.upper(epsilon)
    divergence, error = change.pair.delta(epsilon, moved=change.moved)
    return min(divergence + error, 1.0)


def _lower(change: BucketChange, epsilon: float) -> float:
    divergence, error = change.pair.delta(epsilon, moved=change.moved)
    return divergence - error


def _losses_of_change(change: BucketChange, negligible: float) -> LossDistribution:
    if change.proven is not None:
        return _losses_of_proven(change.proven, negligible)
    return _losses_of_pair(change.pair, change.moved, negligible)


# By pair as long as it lives: certificates take them from the search, which ends with the
# same noise.
_LOSSES: WeakKeyDictionary[BucketPair, dict[tuple[bool, float], LossDistribution]] = (
    WeakKeyDictionary()
)


def _losses_of_pair(
    pair: BucketPair, is_moved: bool, negligible: float
) -> LossDistribution:
    computed = _LOSSES.setdefault(pair, {})
    key = is_moved, negligible
    if key not in computed:
        # Quotients of a million atoms are forgotten with the copy that keeps them.
        copied = replace(pair)
        upper = partial(_upper, BucketChange(fewer_atoms(copied), is_moved, 1))
        corners = _corners(copied, is_moved)
        computed[key] = _losses_below(
            upper, negligible, is_smooth=False, corners=corners
        )
    return computed[key]


# Groups with the same noise share one, and certificates take it from the search.
@lru_cache(maxsize=64)
def _losses_of_proven(proven: PoissonPair, negligible: float) -> LossDistribution:
    is_smooth = proven.mean > _SMOOTH
    no_corners = np.zeros(0)
    # Narrow windows, of probabilities that are resolved.
    narrow = replace(proven, outside=_OUTSIDE * negligible)
    return _losses_below(
        narrow.upper, negligible, is_smooth=is_smooth, corners=no_corners
    )


def _losses_below(
    upper: Callable[[float], float],
    negligible: float,
    *,
    is_smooth: bool,
    corners: Floats,
) -> LossDistribution:
    try:
        losses = loss_distribution(upper, ceiling=float("inf"), negligible=negligible)
        if is_smooth:
            return losses
        # Few counts make a profile of corners, which so few chords do not follow.
        nodes = losses.losses[losses.losses >= 0.0]
        steps = np.diff(nodes, append=nodes[-1]) / _PARTS
        finer = np.unique([nodes + part * steps for part in range(_PARTS)])
        finer = np.union1d(finer, corners)
        return connect_dots(finer, np.array([upper(x) for x in finer.tolist()]))
    except (OverflowError, ValueError, IndexError) as error:
        raise CertificationError("No proven bound for this noise.") from error


def _corners(pair: BucketPair, is_moved: bool) -> Floats:
    """Returns the positive losses of a change, if they are few; otherwise none."""
    ratios = pair.ratios
    usual = ratios[(ratios > 0.0) & np.isfinite(ratios)]
    # Where some of the losses are many, all are.
    for some_ratios in (usual[:: usual.size // _SAMPLE + 1], usual):
        # Ratios that differ by rounding are one.
        losses = np.unique(np.round(np.log(some_ratios), 12))
        if losses.size > _FEW_LOSSES:
            return np.zeros(0)
    # Between these, a profile is linear in e^epsilon: the chords are the profile.
    corners = np.abs(losses - losses[:, None] if is_moved else losses)
    return np.unique(corners[corners > 0.0])


def fewer_atoms(pair: BucketPair) -> BucketPair:
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
