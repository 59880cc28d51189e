"""The certified bound and the attack of populations that send two messages."""

import math
from dataclasses import dataclass, field, replace

from shuffledp.accounting.two_messages.binary_population import (
    MAX_BANDS,
    MAX_BANDS_COMPOSED,
    BinaryPopulation,
    narrower,
    nested,
    wider,
)
from shuffledp.accounting.two_messages.branch_and_bound import (
    MANY_BANDS,
    WorstData,
    likely_worst,
    search,
)
from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.accounting.two_messages.tilted_bounds import data_bounds
from shuffledp.accounting.upper.blanket_population import others_of
from shuffledp.cover import Cover, TwoMessages
from shuffledp.errors import CertificationError
from shuffledp.types import Floats, Ints

# Nothing smaller is ever returned: it might have been rounded down to 0.
_SMALLEST = 1e-306
# Covers the rounding of the exponential.
_ROUNDING = 1e-12
# e to the power of more may overflow.
_LARGE = 700.0
# An attack needs data, and no proof that none are worse.
_ATTACK_EFFORT = 100
# Of many bands a search starts from the boxes of the nearest one, after so many
# searches of its own. A profile at one epsilon takes fewer than these, a loss
# distribution many more. What is composed anyway needs no searches of its own.
_SEARCHES_ALONE = 20
# Of few bands, the boxes of another search serve where they are no more than these: its
# own, of few cuts, are found sooner than many boxes are evaluated.
_MOST_STARTED = 64
# So near, as a part of epsilon, are the last steps to an answer: the same boxes serve.
_NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class TwoMessageBound:
    """A bound over all data of a population, for each pair of the target's values.

    Attributes:
        populations: The others and the target user, for each pair.
        is_composed: Whether the bound is always composed with itself, at epsilons that do
            not depend on a target.
    """

    populations: tuple[BinaryPopulation, ...]
    is_composed: bool = False
    _known: dict[tuple[BinaryPopulation, float], WorstData] = field(
        default_factory=dict, repr=False
    )
    _estimates: dict[tuple[BinaryPopulation, float], float] = field(
        default_factory=dict, repr=False
    )
    _likely: dict[
        tuple[BinaryPopulation, float], tuple[TiltedPopulation, WorstData | None]
    ] = field(default_factory=dict, repr=False)

    def of_pair(self, pair: int) -> "TwoMessageBound":
        """Returns the bound for one of the pairs; both share their computed results."""
        return replace(self, populations=(self.populations[pair],))

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        log_upper = max(
            (result.upper for result in self._searches(epsilon)), default=-math.inf
        )
        delta = math.exp(min(log_upper, 0.0)) * (1.0 + _ROUNDING)
        if not math.isfinite(delta):
            raise CertificationError(f"No finite bound at epsilon {epsilon:g}.")
        return min(max(delta, _SMALLEST), 1.0)

    def estimate(self, epsilon: float) -> float:
        """Returns about the divergence at the likely worst data."""
        log_uppers = [-math.inf]
        for population in self.populations:
            if _is_hidden(population, epsilon):
                continue
            key = population, epsilon
            if key not in self._estimates:
                self._estimates[key] = self._likely_worst(population, epsilon).upper
            log_uppers.append(self._estimates[key])
        return math.exp(min(max(log_uppers), 0.0))

    def slack(self, epsilon: float) -> float:
        """Returns by which part the bound exceeds the worst data that were found."""
        log_lower = max(
            (result.lower for result in self._searches(epsilon)), default=-math.inf
        )
        return min(max(1.0 - math.exp(log_lower) / self.delta(epsilon), 0.0), 1.0)

    def _searches(self, epsilon: float) -> list[WorstData]:
        results = []
        for population in self.populations:
            if _is_hidden(population, epsilon):
                continue
            if (population, epsilon) not in self._known:
                start, is_near = self._start(population, epsilon)
                tilted, likely = self._tilted(population, epsilon)
                self._known[population, epsilon] = search(
                    tilted,
                    likely=likely,
                    start=start,
                    is_near=is_near,
                    is_quick=self.is_composed,
                )
            results.append(self._known[population, epsilon])
        return results

    def _likely_worst(self, population: BinaryPopulation, epsilon: float) -> WorstData:
        """Returns data that are likely to be worst."""
        tilted, likely = self._tilted(population, epsilon)
        if likely is None:
            likely = likely_worst(tilted)
            self._likely[population, epsilon] = tilted, likely
        return likely

    def _tilted(
        self, population: BinaryPopulation, epsilon: float
    ) -> tuple[TiltedPopulation, WorstData | None]:
        """Returns the population at an epsilon, and `_likely_worst` if it is known."""
        key = population, epsilon
        if key not in self._likely:
            # Those of one epsilon at a time, since tilted populations keep their grids.
            if any(at != epsilon for _, at in self._likely):
                self._likely.clear()
            self._likely[key] = TiltedPopulation(population, epsilon), None
        return self._likely[key]

    def _start(
        self, population: BinaryPopulation, epsilon: float
    ) -> tuple[Floats | None, bool]:
        """Returns boxes to start from, None if of its own, and whether they are near."""
        others = (
            key
            for key, known in self._known.items()
            if key[0] is population and self._may_start(known)
        )
        nearest = min(others, key=lambda key: abs(key[1] - epsilon), default=None)
        if nearest is None:
            return None, False
        alone = not self.is_slow or len(self._known) < _SEARCHES_ALONE
        is_near = abs(nearest[1] - epsilon) <= _NEAR * epsilon
        if alone and not (self.is_composed or is_near):
            return None, False
        return self._known[nearest].boxes, is_near

    def _may_start(self, known: WorstData) -> bool:
        """Returns whether the boxes of a search are few enough to start another from."""
        if self.is_slow or not self.is_composed:
            return True
        return known.boxes is not None and known.boxes.shape[1] <= _MOST_STARTED

    @property
    def key(self) -> tuple[object, ...]:
        """All that the bound depends on: targets with equal keys may share it."""
        return tuple(population.key for population in self.populations)

    @property
    def num_bands(self) -> int:
        """The largest number of bands of a population."""
        return max(population.counts.size for population in self.populations)

    @property
    def is_slow(self) -> bool:
        """Whether a search takes many boxes."""
        return self.num_bands >= MANY_BANDS

    def settles(self, epsilon: float) -> bool:
        """Returns whether the bound is as near as was aimed for to some data's divergence.

        Only slow ones say so, and those that are composed: others cost little beside it.
        """
        return (self.is_slow or self.is_composed) and all(
            result.is_settled for result in self._searches(epsilon)
        )


@dataclass(frozen=True, eq=False)
class TwoMessageAttack:
    """The exact divergence for the worst data that a search finds."""

    population: BinaryPopulation
    _known: dict[float, Floats] = field(default_factory=dict, repr=False)

    def delta(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        try:
            tilted = TiltedPopulation(self.population, epsilon, upward=False)
            log_lower = self._worst(tilted, epsilon)
        except CertificationError:
            return 0.0
        return math.exp(min(log_lower, 0.0)) * (1.0 - _ROUNDING)

    def _worst(self, tilted: TiltedPopulation, epsilon: float) -> float:
        """Returns the logarithm of the divergence at the worst data that are found."""
        for searched, data in self._known.items():
            if abs(searched - epsilon) <= _NEAR * epsilon:
                lower, _ = data_bounds(tilted, data[None, :])
                return max(float(lower[0]), likely_worst(tilted).lower)
        results = search(tilted, effort=_ATTACK_EFFORT)
        self._known[epsilon] = results.worst
        return results.lower


def two_message_bound(
    pairs: tuple[Cover, ...],
    counts: Ints,
    target_user: int,
    *,
    absent: int,
    is_composed: bool,
) -> TwoMessageBound | None:
    """Prepares the bound for a target user, if all users send one of two messages.

    Args:
        pairs: The target user's cover, for each pair of values that may be worst.
        counts: Users at each level, the target user included, shape (levels,).
        target_user: Index of the target user's level.
        absent: How many of the others may be absent or collude.
        is_composed: Whether one changed value shows in several shuffles.
    """
    max_bands = MAX_BANDS_COMPOSED if is_composed else MAX_BANDS
    populations = []
    for cover in pairs:
        if cover.bits is None or cover.bits.gap <= 0.0:
            return None
        # Of nested intervals, the narrowest hide best: all who stay may do as they do.
        if absent and not nested(cover.bits):
            return None
        min_probabilities = cover.bits.least.sum(axis=0)
        others = others_of(min_probabilities, counts, target_user, absent)
        if not others.any():
            return None
        populations.append(wider(cover.bits, others, max_bands))
    return TwoMessageBound(tuple(populations), is_composed)


def two_message_attack(bits: TwoMessages, others: Ints) -> TwoMessageAttack | None:
    """Prepares the attack on a target user among these others, shape (levels,)."""
    if bits.gap <= 0.0 or not others.any():
        return None
    try:
        return TwoMessageAttack(narrower(bits, others))
    except CertificationError:
        return None


def _is_hidden(population: BinaryPopulation, epsilon: float) -> bool:
    """Whether the target user's own draw is enough, whatever the others send."""
    if epsilon > _LARGE:
        return False
    covered = math.expm1(epsilon) * population.stray
    return population.gap * (1.0 + _ROUNDING) <= covered
