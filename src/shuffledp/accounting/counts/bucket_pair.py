"""Count of one bucket, with and without one message more: both ends of its profile.

P is the distribution of what an adversary sees of a bucket to which a user sends a
message, Q that without the user's message. Outcomes of equal likelihood ratio P / Q are
one atom, with a mass under P and one under Q.

*One bucket changes.* The divergence of P from Q at E = e^epsilon is the sum of p - E q
over atoms whose ratio exceeds E, and that of Q from P likewise.

*A message moves from one bucket to another.* The two buckets are independent: (P, Q) is
compared with (Q, P), its own mirror image, so that one direction is enough. Per atom y
of the second bucket, the first contributes its atoms with p q_y > E q p_y, a tail of
both masses: one search per atom, no double sum.

*Errors.* The masses are those of a pair that differs from the true one by a factor of
e^{+-drift} per outcome, and by `missing` in total; both are paid for where pairs are
composed (`report_bounds`). What is computed from the masses is bounded here: sums of
positive terms have relative errors, and an atom near the threshold counts in full.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.counts.poisson_pair import PoissonPair
from shuffledp.accounting.lower.attacked_pair import AttackedPair, ratios_of
from shuffledp.types import Floats

ULP = 2.3e-16

# Atoms whose ratio is nearer to the threshold may be on its wrong side.
_TIE = 1e-9
# Atoms that are looked at together.
_BLOCK = 2**13


@dataclass(frozen=True, eq=False)
class BucketPair:
    """Distributions of one bucket with and without one more message.

    Attributes:
        with_message: P of every atom, shape (atoms,); ratios P / Q ascend.
        without: Q of every atom, shape (atoms,).
        missing: Bound of the mass, of either distribution, by which the atoms may be
            wrong in absolute terms.
        drift: The masses are right up to a factor of e^{+-drift}, apart from that.
    """

    with_message: Floats
    without: Floats
    missing: float
    drift: float

    @staticmethod
    def of(
        with_message: Floats, without: Floats, *, missing: float, drift: float
    ) -> "BucketPair":
        """Returns the pair of these outcomes, in any order, without those of no mass."""
        p, q = with_message, without
        occurs = (p > 0.0) | (q > 0.0)
        if not occurs.all():
            p, q = p[occurs], q[occurs]
        ratios = ratios_of(p, q)
        # A million atoms are in order already, mostly.
        if not (ratios[:-1] <= ratios[1:]).all():
            order = np.argsort(ratios, kind="stable")
            p, q = p[order], q[order]
        return BucketPair(p, q, missing, drift)

    def thinned(self, probability: float) -> "BucketPair":
        """Returns the pair of a message that is sent with this probability only."""
        if probability == 1.0:
            # With what is known of it already.
            return self
        p = (1.0 - probability) * self.without + probability * self.with_message
        # The order of the ratios stays: they are 1 - probability + probability P / Q.
        return BucketPair(p, self.without, self.missing, self.drift + 4.0 * ULP)

    @cached_property
    def ratios(self) -> Floats:
        """P / Q of every atom, ascending; infinite where Q is 0."""
        return ratios_of(self.with_message, self.without)

    def delta(self, epsilon: float, *, moved: bool) -> tuple[float, float]:
        """Returns delta at `epsilon` >= 0 for these masses, and a bound of its error.

        Args:
            epsilon: Of the divergence.
            moved: Whether the message moves to another bucket; otherwise it appears or
                disappears, whichever tells more.
        """
        growth = math.exp(min(epsilon, 700.0))
        p, q = self.with_message, self.without
        if moved:
            gain, size = _gain(self._sorted, growth, self.ratios, q, p)
        else:
            unit_masses, threshold = np.ones(1), np.array([1.0])
            appears = _gain(self._sorted, growth, threshold, unit_masses, unit_masses)
            disappears = _gain(
                self._reversed, growth, threshold, unit_masses, unit_masses
            )
            gain, size = max(appears, disappears)
        doubt = (4.0 * p.size + 40.0) * ULP
        return max(gain, 0.0), doubt * size * (1.0 + 1e-9)

    @cached_property
    def _sorted(self) -> "_Tails":
        return _Tails.of(self.ratios, self.with_message, self.without)

    @cached_property
    def _reversed(self) -> "_Tails":
        p, q = self.with_message[::-1], self.without[::-1]
        return _Tails.of(ratios_of(q, p), q, p)

    def merged(self, num_atoms: int) -> "BucketPair":
        """Returns about the same pair in fewer atoms: neighbors add up to one.

        It says a little less than this pair, and is for searches only.

        Args:
            num_atoms: About how many atoms of finite losses are left.
        """
        usual = np.flatnonzero((self.with_message > 0.0) & (self.without > 0.0))
        length = usual.size // num_atoms
        if length < 2:
            return self
        # Atoms that only one of both worlds can cause are first and last.
        first, end = int(usual[0]), int(usual[-1]) + 1
        starts = np.concatenate(
            [
                np.arange(first),
                np.arange(first, end, length),
                np.arange(end, self.without.size),
            ]
        )
        p, q = (
            np.add.reduceat(masses, starts)
            for masses in (self.with_message, self.without)
        )
        return BucketPair(p, q, self.missing, self.drift)

    def spread(self, losses: Floats) -> "BucketPair":
        """Returns a pair with few atoms that dominates this one, in every composition.

        Every atom's mass moves to the two nodes beside its ratio so that both totals
        stay: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), arXiv:2207.04380.

        Args:
            losses: Logarithms of ratios, ascending, with steps of at most 0.5, shape
                (nodes,); those beyond the ratios that occur are not used.
        """
        finite = self.without > 0.0
        ratios, q = self.ratios[finite], self.without[finite]
        infinite = float(self.with_message[~finite].sum())
        nodes = np.exp(losses)
        nodes = nodes[(nodes > ratios[0]) & (nodes < ratios[-1])]
        # The smallest ratio may be 0: below the first node, shares are relative to it.
        nodes = np.unique(np.concatenate([ratios[:1], nodes, ratios[-1:]]))
        if nodes.size < 2 or nodes.size >= ratios.size:
            return self
        # Where the nodes lie among the ratios, which are many more, and ascend.
        starts = np.searchsorted(ratios, nodes[1:-1], side="left")
        sizes = np.diff(starts, prepend=0, append=ratios.size)
        left, right = np.repeat(nodes[:-1], sizes), np.repeat(nodes[1:], sizes)
        # Sums of positive terms; between some nodes there may be no ratio.
        occupied = sizes > 0
        first = (np.cumsum(sizes) - sizes)[occupied]
        gaps = np.diff(nodes)[occupied]
        masses = np.zeros(nodes.size)
        masses[:-1][occupied] += np.add.reduceat(q * (right - ratios), first) / gaps
        masses[1:][occupied] += np.add.reduceat(q * (ratios - left), first) / gaps
        nodes, masses = nodes[masses > 0.0], masses[masses > 0.0]
        # Steps are too short for a share's rounding to matter.
        return BucketPair.of(
            np.append(nodes * masses, infinite),
            np.append(masses, 0.0),
            missing=self.missing,
            drift=self.drift + (ratios.size + 40.0) * ULP,
        )


@dataclass(frozen=True, eq=False)
class BucketChange:
    """A change of the counts of one group, by one user.

    Attributes:
        pair: A bucket with and without the user's message.
        moved: Whether the message moves to another bucket; otherwise it appears or
            disappears.
        times: How many such changes, at least 1.
        proven: An upper bound of one change that pays for all its errors, in the place of
            that of the atoms; None if there is none.
    """

    pair: BucketPair
    moved: bool
    times: int
    proven: PoissonPair | None = None

    @property
    def buckets(self) -> int:
        """How many buckets are different."""
        return self.times * (2 if self.moved else 1)

    @property
    def missing(self) -> float:
        """Bound of the mass by which all changes' atoms may be wrong together."""
        return 0.0 if self.proven is not None else self.buckets * self.pair.missing

    @property
    def drift(self) -> float:
        """All changes' masses together are right up to a factor of e^{+-drift}."""
        if self.proven is not None:
            return 0.0
        # With the sums that a spread over nodes takes.
        return self.buckets * (self.pair.drift + (self.pair.without.size + 50.0) * ULP)

    @property
    def attacked_pair(self) -> AttackedPair:
        """The pairs of all buckets that are different, for an adversary who sees them."""
        return AttackedPair(
            self.pair.with_message,
            self.pair.without,
            self.times,
            is_mirrored=self.moved,
            missing=self.missing,
            drift=self.drift,
        )


@dataclass(frozen=True, eq=False)
class _Tails:
    """Masses of two distributions from each atom on, in the order of their ratio."""

    ratios: Floats
    first: Floats
    second: Floats

    @staticmethod
    def of(ratios: Floats, first: Floats, second: Floats) -> "_Tails":
        """Returns the sums of these masses, with a last one of 0."""
        sums = (np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in (first, second))
        return _Tails(ratios, *sums)


def _gain(
    tails: _Tails, growth: float, ratios: Floats, first: Floats, second: Floats
) -> tuple[float, float]:
    """Sums first P(tail) - growth second Q(tail) over atoms of an independent bucket.

    Args:
        tails: Of the bucket with the message.
        growth: e^epsilon.
        ratios: Of the other bucket's atoms: a tail begins beyond growth times that.
        first: Their masses where the message is in the first bucket.
        second: Their masses where it is not.

    Returns:
        The sum, and that of the sizes of all its terms, near the threshold included.
    """
    gained_mass = lost_mass = near_gained = near_lost = 0.0
    # In blocks that fit into a processor's cache: there may be a million atoms.
    for start in range(0, ratios.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        with np.errstate(over="ignore"):
            threshold = growth * ratios[block]
        nearer = threshold * (1.0 - _TIE)
        if nearer[0] > tails.ratios[-1]:
            # Nothing lies beyond the thresholds that are left, which ascend.
            break
        ends = np.searchsorted(tails.ratios, threshold[[0, -1]], side="right")
        if ends[0] == ends[1] and (
            ends[0] == 0 or tails.ratios[ends[0] - 1] < nearer[0]
        ):
            # One tail for all of them.
            gained_mass += float(first[block].sum() * tails.first[ends[0]])
            lost_mass += float(second[block].sum() * tails.second[ends[0]])
            continue
        first_tail = np.searchsorted(tails.ratios, threshold, side="right")
        gained_mass += float(first[block] @ tails.first[first_tail])
        lost_mass += float(second[block] @ tails.second[first_tail])
        # Few atoms lie just below a threshold: the other tails begin where they did.
        is_near = tails.ratios[np.maximum(first_tail, 1) - 1] >= nearer
        tied = np.flatnonzero(is_near & (first_tail > 0))
        if tied.size:
            before = np.searchsorted(tails.ratios, nearer[tied], side="left")
            after, tied = first_tail[tied], start + tied
            near_gained += float(
                first[tied] @ (tails.first[before] - tails.first[after])
            )
            near_lost += float(
                second[tied] @ (tails.second[before] - tails.second[after])
            )
    size = gained_mass + near_gained + growth * (lost_mass + near_lost)
    return gained_mass - growth * lost_mass, size
