"""The search for the noise of the smallest error that keeps every target.

The noise at which the smallest target sends every answer is enough for all targets; with
less, people of small targets send answers with a probability below 1. Searches are not
trusted: every design is certified at the end.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.counts.bucket_pair import BucketChange
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_exposure import CountsExposure
from shuffledp.accounting.counts.counts_parameters import (
    CountGroup,
    CountsParameters,
    Noise,
)
from shuffledp.accounting.counts.counts_profile import CountsProfile, fewer_atoms
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.accounting.epsilon_solver import round_up
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.report_sizing import keeps_targets
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.counts.count_errors import (
    count_error,
    curator_count_error,
    curator_size,
)
from shuffledp.statistics.counts.largest_rates import largest_rates
from shuffledp.statistics.counts.noise_families import NoiseFamily
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.counts.secant_steps import CLOSE, log_excess, size_between
from shuffledp.statistics.questionnaire.protocol import Questionnaire

# A search of a size ends when the size is known to this part.
_NEAR = 1e-5
_MOST_STEPS = 40
# Steps by a fifth at first; where these do not end the answer is far, and each doubles.
_SHORT_STEPS = 8
# A size that is more than this times the usual first one is begun with.
_FAR_AWAY = 4.0
_A_LITTLE_LESS = 0.9


@dataclass(frozen=True, eq=False)
class CountsDesign:
    """Noise with its predicted error and its certified guarantee.

    Attributes:
        name: Of the noise.
        protocol: Of the devices.
        standard_error: Predicted, of a bucket's number of people.
        guarantee: Of each target, after the shuffle.
        hashed: The questionnaire if buckets are hashed, which also estimates: see
            `hashed_counts`. None: each bucket has its own noise.
        even_error: If buckets are hashed: the error if all of them are as frequent.
    """

    name: str
    protocol: Counts
    standard_error: float
    guarantee: Guarantee
    hashed: Questionnaire | None = None
    even_error: float | None = None

    @property
    def messages(self) -> float:
        """Messages of a report, dummies included: in the mean where sizes vary."""
        return self.protocol.parameters.mean_messages

    @property
    def is_constant(self) -> bool:
        """Whether all reports have the same size."""
        return self.protocol.parameters.report_size is not None

    @property
    def bits(self) -> float:
        """Bits of all messages of a report: each is a bucket and a sign, or a dummy."""
        buckets = sum(group.buckets for group in self.protocol.groups)
        return self.messages * (2 * buckets).bit_length()


@dataclass(frozen=True)
class CountsSearch:
    """A search for the best size of noise.

    Attributes:
        people: How many people ask for each target.
        buckets: d.
        most: s.
        share: Of people in the bucket whose error counts.
        delta: Of the targets.
        honest: People who surely add noise.
    """

    people: Population
    buckets: int
    most: int
    share: float
    delta: float
    honest: int

    def design(self, family: NoiseFamily, absent: int) -> CountsDesign:
        """Returns the best noise of a family, certified.

        Raises:
            CertificationError: If none is found that keeps all targets.
        """
        targets = self.people.epsilons.tolist()
        enough_noise = self._smallest(family, targets[0])
        size, rates = enough_noise, [1.0] * len(targets)
        if len(targets) > 1:

            def error(log: float) -> float:
                noise = family.noise(math.exp(log))
                return self._error(noise, self._rates(noise, in_few_atoms=True))

            error_of_enough = self._error(family.noise(enough_noise), rates)
            # Less than the largest target needs is of no use.
            tried_noise = _A_LITTLE_LESS * enough_noise
            if self._delta_of(family.noise(tried_noise), 1.0, targets[-1]) > self.delta:
                tried_noise = self._smallest(family, targets[-1])
            # Where a little less noise does not pay, still less does not either.
            if error(math.log(tried_noise)) < error_of_enough:
                smallest_noise = self._smallest(family, targets[-1])
                optimum = minimize_scalar(
                    error,
                    bounds=(math.log(smallest_noise), math.log(enough_noise)),
                    method="bounded",
                    options={"xatol": 1e-2},
                )
                size = (
                    math.exp(float(optimum.x))
                    if optimum.fun < error_of_enough
                    else size
                )
                rates = self._rates(family.noise(size))
        return self._certified(family, family.noise(size), rates, absent)

    def shuffler(self, absent: int) -> CountsDesign:
        """Returns the noise with which a trusted shuffler keeps all targets, certified.

        Raises:
            CertificationError: If none is found.
        """
        family = NoiseFamily(
            "noise from the shuffler", "shuffler", most=self.most, delta=self.delta
        )
        # The smallest target decides: with its noise, everybody sends their answers.
        noise = family.noise(self._smallest(family, float(self.people.epsilons[0])))
        rates = [1.0] * self.people.num_levels
        return self._certified(family, noise, rates, absent)

    def _certified(
        self, family: NoiseFamily, noise: Noise, rates: list[float], absent: int
    ) -> CountsDesign:
        targets = self.people.epsilons.tolist()
        protocol = Counts(
            (self._group(noise),), tuple(targets), tuple(rates), self._shared_by(noise)
        )
        guarantee = account(
            protocol, self.people, delta=self.delta, quantiles=False, absent=absent
        )
        # The search is not trusted: its result is certified as a whole.
        if not keeps_targets(guarantee):
            raise CertificationError(
                f"No noise found that keeps all targets at delta {self.delta:g}."
            )
        return CountsDesign(family.name, protocol, self._error(noise, rates), guarantee)

    def curator(self) -> float:
        """Returns the error of a trusted curator: see `curator_count_error`."""
        return curator_count_error(
            self.people,
            buckets=self.buckets,
            most=self.most,
            share=self.share,
            delta=self.delta,
        )

    def _shared_by(self, noise: Noise) -> int:
        return 1 if isinstance(noise, ShufflerNoise) else self.honest

    def _group(self, noise: Noise) -> CountGroup:
        return CountGroup(self.buckets, self.most, noise)

    def _delta_of(
        self, noise: Noise, rate: float, target: float, *, in_few_atoms: bool = False
    ) -> float:
        """Returns the certified delta of a target, whose people answer with this rate.

        Args:
            noise: The noise in each bucket.
            rate: Probability to send an answer.
            target: The central epsilon.
            in_few_atoms: Whether about the delta will do, which may be a little larger.
        """
        parameters = CountsParameters(
            (self._group(noise),), (target,), (rate,), self._shared_by(noise)
        )
        (exposure,) = parameters.exposures(
            Population.from_counts({target: max(self.honest, 2)})
        )
        assert isinstance(exposure, CountsExposure)
        query = AccountingQuery({}, self.people.counts, self.delta, None)
        is_exact = rate == 1.0 and not in_few_atoms
        if is_exact or isinstance(noise, PoissonNoise):
            return exposure.bounds(rate, query).upper(target)
        # Many probabilities are tried with one noise, whose pair has few atoms then.
        noise = noise.scaled(exposure.people.num_users / self.honest)
        change = _with_fewer_atoms(noise, self.buckets, self.most)
        thinned = replace(change, pair=change.pair.thinned(rate))
        profile = CountsProfile((thinned,), (), self.delta)
        return exposure.with_draws(profile, query).upper(target)

    def _smallest(self, family: NoiseFamily, target: float) -> float:
        """Returns about the smallest noise at which a target sends every answer."""
        num_changed = 1.0 if self.buckets == 1 else 2.0 * self.most
        # No noise is below that of a trusted curator; Poisson noise is twice as wide.
        size = math.sqrt(2.0) * num_changed / max(target, 0.1 * math.sqrt(num_changed))
        curator_noise = curator_size(target, num_changed, delta=self.delta)
        if curator_noise > _FAR_AWAY * size:
            size = curator_noise
        low: tuple[float, float] | None = None
        high: tuple[float, float] | None = None
        for step in range(_MOST_STEPS):
            size = round_up(size)
            if low is not None and high is not None and size in (low[0], high[0]):
                # Both ends are neighbors up to rounding: nothing lies between them.
                return high[0]
            try:
                delta = self._delta_of(family.noise(size), 1.0, target)
            except InvalidInputError as error:
                raise CertificationError(str(error)) from error
            excess = log_excess(delta, self.delta)
            if excess <= 0.0:
                high = size, excess
            else:
                if high is None and low is not None and excess > low[1]:
                    # More noise only adds to the errors of the proof.
                    break
                low = size, excess
            if -CLOSE <= excess <= 0.0:
                return size
            if low is None or high is None:
                growth = 1.2 if step < _SHORT_STEPS else 2.0
                size *= growth if excess > 0.0 else 1.0 / growth
            elif high[0] / low[0] - 1.0 < _NEAR:
                return high[0]
            else:
                size = size_between(low, high)
        if high is None:
            raise CertificationError(f"No noise found that keeps target {target:g}.")
        return high[0]

    def _rates(self, noise: Noise, *, in_few_atoms: bool = False) -> list[float]:
        """Returns about the largest probability to send, of each target."""
        delta_of = partial(self._delta_of, noise, in_few_atoms=in_few_atoms)
        return largest_rates(delta_of, self.people.epsilons.tolist(), self.delta)

    def _error(self, noise: Noise, rates: list[float]) -> float:
        counts = self.people.counts.astype(np.float64)
        num_users = self.people.num_users
        from_shuffler = isinstance(noise, ShufflerNoise)
        factor = 1.0 if from_shuffler else num_users / self.honest
        return count_error(
            noise.variance * factor, np.array(rates), counts, share=self.share
        )


@lru_cache(maxsize=2)
def _with_fewer_atoms(noise: Noise, buckets: int, most: int) -> BucketChange:
    """Returns changes of an answer that is sent, in few atoms that dominate it."""
    change = noise.certified(1.0, buckets=buckets, moved=buckets > 1, times=most)
    return replace(change, pair=fewer_atoms(change.pair))
