"""The search for the smallest noise of all groups together that keeps a target.

Sizes are searched with an approximation; what it finds is then certified.
"""

import math
from dataclasses import dataclass, replace

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.counts.bucket_pair import BucketChange
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_exposure import CountsExposure
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.counts.noise_truncation import LARGEST_CAP, cut_bound
from shuffledp.accounting.epsilon_solver import round_up
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.statistics.questionnaire.approximate_delta import approximate_delta
from shuffledp.statistics.questionnaire.noise_division import NoiseDivision
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import Question

# A search ends when the size is known to this part.
_CLOSE = 1e-3
_MOST_STEPS = 60
# Of delta, what cut noise may cost.
_CUT = 1e-4


@dataclass(frozen=True)
class NoiseSearch:
    """A search for the smallest noise that keeps a target.

    Attributes:
        questions: What is asked.
        people: How many people ask for each target.
        delta: Of the targets.
        honest: People who surely add noise.
        room: Noise messages of all honest people together.
    """

    questions: tuple[Question, ...]
    people: Population
    delta: float
    honest: int
    room: float

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
        allowed = _CUT * self.delta / self.honest

        def fits(cap: int) -> bool:
            return cut_bound(terms, honest=self.honest, cap=cap) <= allowed

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
        size, factor = division.first_size(target, deviation), 1.3
        smaller: float | None = None
        for _ in range(_MOST_STEPS):
            noise = division.noise(size, self.room)
            if noise is None:
                # More noise needs more messages still.
                return None
            if approximate_delta(self._changes(noise), target) > self.delta:
                smaller, size = size, size * factor
            elif smaller is not None and size / smaller < 1.0 + _CLOSE:
                return size
            else:
                # From above: the last size that was too small, if there is one.
                factor = math.sqrt(factor) if smaller is not None else factor
                size = smaller * factor if smaller is not None else size / factor
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
        before = math.inf
        for steps in range(_MOST_STEPS, 0, -1):
            noise = division.noise(round_up(size), self.room)
            if noise is None:
                return None
            try:
                delta = self._delta_of(noise, target)
            except CertificationError:
                return None
            if delta <= self.delta:
                return noise
            # What errors of the proof add to delta does not fall with more noise.
            if (delta / before) ** steps * delta > self.delta:
                return None
            before = delta
            size *= 1.0 + _CLOSE
        return None

    def _changes(self, noise: tuple[Noise, ...]) -> list[BucketChange]:
        wanted = [group for asked in self.questions for group in asked.groups]
        return [
            each.certified(
                1.0,
                buckets=group.buckets,
                moved=group.buckets > 1,
                times=group.most,
            )
            for group, each in zip(wanted, noise, strict=True)
        ]

    def _delta_of(self, noise: tuple[Noise, ...], target: float) -> float:
        counts = self.questionnaire(noise).counts
        (exposure,) = counts.exposures(self.people)
        assert isinstance(exposure, CountsExposure)
        query = AccountingQuery({}, self.people.counts, self.delta, None)
        return float(exposure.bounds(1.0, query).upper(target))
