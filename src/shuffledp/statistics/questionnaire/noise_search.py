"""The search for the smallest noise of all groups together that keeps a target.

Sizes are searched with an approximation; its result is then certified.
"""

import math
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.counts.bucket_pair import BucketChange
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_exposure import CountsExposure
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.counts.counts_profile import fewer_atoms
from shuffledp.accounting.counts.noise_truncation import LARGEST_CAP, cut_bound
from shuffledp.accounting.epsilon_solver import round_up
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.statistics.questionnaire.approximate_delta import approximate_delta
from shuffledp.statistics.questionnaire.noise_division import NoiseDivision
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import AnswerGroup, Question

# A search ends when the size is known to this part.
_CLOSE = 1e-3
_MOST_STEPS = 60
# Steps of a certified search that an approximation foresees.
_LONGEST_STRIDE = 8
# Between sizes that are tried as long as all are too small, or all are enough: first, and
# at most.
_FIRST_FACTOR, _LARGEST_FACTOR = 1.02, 1.3
# Atoms of a bucket that are left before these are spread over nodes, in approximations.
_MERGED_ATOMS = 50_000
# Of delta, what cut noise may cost.
_CUT = 1e-4


@dataclass(frozen=True)
class NoiseSearch:
    """A search for the smallest noise that keeps a target.

    Attributes:
        questions: Of the questionnaire.
        people: How many people ask for each target.
        delta: Of the targets.
        honest: People who surely add noise.
        room: Noise messages of all honest people together.
        deltas: Approximate deltas of noise and target, which searches with other room may
            share: noise depends on room only where it needs more.
        certified_deltas: Those that were certified, likewise.
    """

    questions: tuple[Question, ...]
    people: Population
    delta: float
    honest: int
    room: float
    deltas: dict[tuple[Any, ...], float] = field(default_factory=dict)
    certified_deltas: dict[tuple[Any, ...], float] = field(default_factory=dict)

    def questionnaire(self, noise: tuple[Noise, ...]) -> Questionnaire:
        """Returns the questionnaire with this noise, at which all answers are sent.

        Reports have one size if their noise is Poisson. Geometric noise comes in long
        jumps, and sizes vary.
        """
        targets = tuple(self.people.epsilons.tolist())
        varying = Questionnaire(
            self.questions, noise, targets, (1.0,) * len(targets), self.honest
        )
        if not all(isinstance(each, PoissonNoise) for each in noise):
            return varying
        return replace(varying, report_size=self._report_size(varying))

    def _report_size(self, varying: Questionnaire) -> int | None:
        """Returns the smallest size at which next to nothing is cut; None if too large."""
        groups = varying.counts.parameters.groups
        answers = sum(group.most for group in groups)
        terms = [(group.buckets, group.most, group.noise) for group in groups]
        allowed_cut = _CUT * self.delta / self.honest

        def fits(cap: int) -> bool:
            return cut_bound(terms, num_honest=self.honest, cap=cap) <= allowed_cut

        # Doubled until it fits, then halved.
        high = 1
        while not fits(high):
            if high >= LARGEST_CAP:
                return None
            high = min(2 * high, LARGEST_CAP)
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle, high)
        return answers + high

    def approximate(
        self, division: NoiseDivision, target: float, deviation: float
    ) -> float | None:
        """Returns about the smallest size of a division; None if there is none.

        Args:
            division: How noise is divided.
            target: That is to be kept.
            deviation: Of Gaussian noise that keeps it at a sensitivity of 1.
        """
        size = division.first_size(target, deviation)
        # The last size that was too small, and that was enough, with log(delta / goal).
        low: tuple[float, float] | None = None
        high: tuple[float, float] | None = None
        # Whether the last one was too small.
        is_low: bool | None = None
        factor = _FIRST_FACTOR
        for _ in range(_MOST_STEPS):
            noise = division.noise(size, self.room)
            if noise is None:
                # More noise needs more messages still.
                return None
            excess = math.log(self._approximate_delta(noise, target) / self.delta)
            if excess > 0.0:
                is_far = factor == _LARGEST_FACTOR
                if is_far and high is None and low is not None and excess > low[1]:
                    # Pairs of messages are as many as can be: more noise does not help.
                    return None
                # An end that stays twice is far from where it would lead.
                high = _flatter(high) if is_low else high
                low, is_low = (size, excess), True
            else:
                low = _flatter(low) if is_low is False else low
                high, is_low = (size, excess), False
            if low is None or high is None:
                size = size * factor if excess > 0.0 else size / factor
                factor = min(factor**2, _LARGEST_FACTOR)
            elif high[0] / low[0] < 1.0 + _CLOSE:
                return high[0]
            else:
                size = _size_between(low, high)
        return None

    def certified(
        self, division: NoiseDivision, size: float, target: float
    ) -> tuple[Noise, ...] | None:
        """Returns noise of about this size that is proven to keep a target, or None.

        Args:
            division: How noise is divided.
            size: From `approximate`.
            target: That is to be kept.
        """
        before, stride = math.inf, 1
        for steps in range(_MOST_STEPS, 0, -1):
            noise = division.noise(round_up(size), self.room)
            if noise is None:
                return None
            delta = self._certified_delta(noise, target)
            if delta <= self.delta:
                return noise
            # What errors of the proof add to delta does not fall with more noise.
            if not (delta / before) ** (steps / stride) * delta <= self.delta:
                return None
            if before < math.inf:
                # As many steps as lead there if delta falls as it did.
                fall = math.log(before / delta) / stride
                stride = max(int(math.log(delta / self.delta) / fall), 1)
            else:
                stride = self._stride(division, size, target, delta - self.delta)
            before = delta
            size *= (1.0 + _CLOSE) ** stride
        return None

    def _stride(
        self, division: NoiseDivision, size: float, target: float, too_much: float
    ) -> int:
        """Returns after how many steps an approximation is about so much smaller.

        At most _LONGEST_STRIDE; 1 if it does not fall so far.
        """
        larger = size * (1.0 + _CLOSE) ** _LONGEST_STRIDE
        noise, more_noise = (division.noise(each, self.room) for each in (size, larger))
        if noise is None or more_noise is None:
            return 1
        first = self._approximate_delta(noise, target)
        last = self._approximate_delta(more_noise, target)
        if not last < first - too_much:
            return 1
        fall = math.log(first / last) / _LONGEST_STRIDE
        return max(int(math.log(first / (first - too_much)) / fall), 1)

    def _approximate_delta(self, noise: tuple[Noise, ...], target: float) -> float:
        # Not by the noise itself, which keeps its distribution.
        key = *map(astuple, noise), target
        if key not in self.deltas:
            self.deltas[key] = approximate_delta(self._changes(noise), target)
        return self.deltas[key]

    def _changes(self, noise: tuple[Noise, ...]) -> list[BucketChange]:
        groups = [group for asked in self.questions for group in asked.groups]
        return [
            _approximate_change(each, group)
            for group, each in zip(groups, noise, strict=True)
        ]

    def _certified_delta(self, noise: tuple[Noise, ...], target: float) -> float:
        """Returns the certified delta; NaN if nothing is proven."""
        key = *map(astuple, noise), target
        if key not in self.certified_deltas:
            try:
                self.certified_deltas[key] = self._delta_of(noise, target)
            except CertificationError:
                self.certified_deltas[key] = math.nan
        return self.certified_deltas[key]

    def _delta_of(self, noise: tuple[Noise, ...], target: float) -> float:
        counts = self.questionnaire(noise).counts
        (exposure,) = counts.exposures(self.people)
        assert isinstance(exposure, CountsExposure)
        query = AccountingQuery({}, self.people.counts, self.delta, None)
        return float(exposure.bounds(1.0, query).upper(target))


def _approximate_change(noise: Noise, group: AnswerGroup) -> BucketChange:
    # Of a copy, with which its million atoms are forgotten.
    change = replace(noise).certified(
        1.0, buckets=group.buckets, moved=group.buckets > 1, times=group.most
    )
    # An approximation needs no more atoms than a loss distribution.
    return replace(change, pair=fewer_atoms(change.pair.merged(_MERGED_ATOMS)))


def _flatter(end: tuple[float, float] | None) -> tuple[float, float] | None:
    """Returns an end as if it were half as wrong (Dowell and Jarratt 1971, BIT 11)."""
    return None if end is None else (end[0], 0.5 * end[1])


def _size_between(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Returns a size near the one at which delta is just kept, by a line in logarithms.

    Args:
        low: A size that is too small, and log(delta / goal) there.
        high: One that is large enough, likewise.
    """
    width = math.log(high[0] / low[0])
    part = low[1] / (low[1] - high[1])
    # A little beyond the root, toward the end that is farther: both ends come near.
    part += math.copysign(0.4 * _CLOSE / width, 0.5 - part)
    return low[0] * math.exp(width * min(max(part, 0.05), 0.95))
