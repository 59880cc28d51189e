"""Strings from an open set: Bloom filters, RAPPOR, a shuffle, a list of candidates.

A device hashes its string into a few bits, randomizes them once at its user's level (the
permanent response, which it stores), and again for every report (rappor_devices.py). The
analyst brings a list of candidates and estimates how many people hold each. Hash functions
differ between cohorts, and people hide within their cohort (cohorts.py).

Source: Erlingsson, Pihur, Korolova (2014), "RAPPOR", arXiv:1407.6981.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.exposure import Exposure, SingleMessages
from shuffledp.analyzer.bit_shares import bit_shares, ones_per_group
from shuffledp.analyzer.string_estimate import StringEstimate
from shuffledp.analyzer.string_shifts import string_shifts
from shuffledp.analyzer.strings import check_candidates, check_rate, decode_strings
from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, check_mode, parameters_of
from shuffledp.population import Population
from shuffledp.randomizers import bloom
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.rappor import Rappor
from shuffledp.randomness import Rng, check_rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.strings.cohorts import (
    cohorts_of,
    dealt_evenly,
    smallest_cohort,
)
from shuffledp.statistics.strings.drawn_ones import drawn_ones
from shuffledp.statistics.strings.memoized import MemoizedStrings, check_memoized
from shuffledp.statistics.strings.rappor_devices import (
    permanent_responses,
    reported_bits,
)
from shuffledp.statistics.strings.string_labels import WORDS
from shuffledp.statistics.tallying import (
    Seen,
    check_counts,
    check_generator,
    check_holders,
    check_people,
    checked,
    tally_of,
)
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints, Mode

MAX_COHORTS = 2**16


@dataclass(frozen=True)
class Strings:
    """RAPPOR in cohorts, a shuffle of every bit within them, and decoded shares.

    >>> import numpy as np, shuffledp as sdp
    >>> strings, rng = sdp.Strings(num_bits=32, num_cohorts=2), np.random.default_rng(1)
    >>> people = sdp.Population.from_counts({4.0: 20_000})
    >>> browsers = np.repeat(["fox", "ape"], [15_000, 5_000])
    >>> reports = strings.randomize(browsers, people.budgets(), rng=rng)
    >>> tally = strings.tally(sdp.shuffle(reports, rng=rng))
    >>> estimate = strings.estimate(tally, people, candidates=["fox", "ape", "owl"])
    >>> estimate.found.tolist()
    [True, True, False]

    Attributes:
        num_bits: Length of a filter.
        num_hashes: How many positions a string sets, 1 to 8.
        num_cohorts: In how many groups people hash differently.
        one_given_one: Probability to report 1 where the permanent response has a 1.
        one_given_zero: Probability to report 1 where it has a 0.
        mode: "agnostic" unlinks levels from bits: people hide among their cohort, and
            the estimate is unbiased if levels and strings are independent. "stratified"
            keeps them together: always unbiased; people hide in their level of the cohort.
    """

    num_bits: int = 128
    num_hashes: int = 2
    num_cohorts: int = 16
    one_given_one: float = 0.75
    one_given_zero: float = 0.5
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        whole_number(self.num_bits, "bits", least=2, most=bloom.MAX_BITS)
        whole_number(self.num_hashes, "hashes", least=1, most=bloom.MAX_HASHES)
        whole_number(self.num_cohorts, "cohorts", least=1, most=MAX_COHORTS)
        check_mode(self.mode)
        _ = self.randomizer  # Checks the probabilities of its responses.

    @property
    def randomizer(self) -> Rappor:
        """The randomizer that devices run on their filters."""
        return Rappor(
            self.num_bits,
            self.num_hashes,
            one_given_one=self.one_given_one,
            one_given_zero=self.one_given_zero,
        )

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Strings":
        """Returns the protocol with this identity's record."""
        # Records name parameters without `num_`.
        sizes = ("bits", "hashes", "cohorts")
        terms = parameters_of(record, *sizes, "one_given_one", "one_given_zero")
        counts = {f"num_{name}": terms.pop(name) for name in sizes}
        return cls(**counts, **terms, mode=record["mode"])

    @property
    def identity(self) -> Identity:
        """The identity of the randomizer, the cohorts and the mode."""
        inner = self.randomizer
        terms = {**inner.parameters, "cohorts": int(self.num_cohorts)}
        return Identity.of(WORDS.name, inner.mechanism, terms, self.mode)

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one report, and any number of them.

        Raises:
            PopulationError: If a cohort would be left without one of the levels.
        """
        # Every cohort contains at least these people, and more people cover no less:
        # both guarantees hold in every cohort.
        population, inner = smallest_cohort(people, self.num_cohorts), self.randomizer
        always = "any number of reports from the same permanent response"
        return (
            SingleMessages("one report", inner, self.mode, population),
            SingleMessages(always, inner.permanent, self.mode, population),
        )

    def memoize(
        self, strings: bloom.Strings, levels: ArrayLike, *, rng: Rng
    ) -> MemoizedStrings:
        """Runs once on the devices: draws the permanent responses that they store.

        Args:
            strings: One per person, in the order of arrival, shape (n,). They are
                compared byte by byte: normalize them alike on every device.
            levels: Each person's lifetime budget in nats, finite and >= 0, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            InvalidInputError: If shapes differ, or a value is not a string or not a level.
        """
        check_rng(rng)
        texts, epsilons = bloom.as_strings(strings), level_array(levels)
        if len(texts) != epsilons.size:
            raise InvalidInputError("Expected as many strings as privacy levels.")
        # Dealt in the order of arrival, which must not depend on the strings.
        cohorts = cohorts_of(epsilons, self.num_cohorts)
        bits = permanent_responses(texts, cohorts, epsilons, self.randomizer, rng=rng)
        return MemoizedStrings(bits, cohorts, epsilons, self.identity)

    def report(self, memoized: MemoizedStrings, *, rng: Rng) -> Reports:
        """Runs on the devices: draws a report, with fresh noise, from stored responses.

        Raises:
            InvalidInputError: If these are not permanent responses, or another protocol's.
        """
        check_rng(rng)
        check_memoized(memoized, self.identity)
        bits = reported_bits(memoized.bits, self.randomizer, rng=rng)
        return Reports(
            self.identity, bits, memoized.levels, "columns", memoized.cohorts
        )

    def randomize(
        self, strings: bloom.Strings, levels: ArrayLike, *, rng: Rng
    ) -> Reports:
        """Runs on the devices that report only once: `memoize`, then `report`."""
        return self.report(self.memoize(strings, levels, rng=rng), rng=rng)

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts the ones of every bit in each cohort: additive over parts.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """

        def count(
            bits: NDArray[Any], groups: Ints | None, num_groups: int
        ) -> NDArray[Any]:
            if bits.dtype != np.bool_ or bits.shape[1:] != (self.num_bits,):
                raise InvalidInputError(f"Expected {self.num_bits} bits per report.")
            return ones_per_group(bits, groups, num_groups)

        return tally_of(
            shuffled,
            self.identity,
            count=count,
            # The certificate assumes that every bit is shuffled apart.
            arrangement="columns",
            num_cohorts=self.num_cohorts,
        )

    def draw_tally(
        self,
        strings: bloom.Strings,
        holders: Ints,
        people: Population,
        *,
        rng: np.random.Generator,
    ) -> Tally:
        """Draws the tally of a whole collection from its distribution.

        Args:
            strings: Different strings.
            holders: Numbers of people of each level who hold each, shape (levels, strings).
            people: The population that takes part.
            rng: A simulation's generator.

        Raises:
            InvalidInputError: If holders are not those of the population.
        """
        check_generator(rng)
        texts = bloom.as_strings(strings)
        dealt = dealt_evenly(people, self.num_cohorts)
        ones = drawn_ones(
            texts,
            check_holders(holders, people, len(texts)),
            dealt,
            probabilities=self.randomizer.effective_probabilities(people.epsilons),
            shape=(self.num_bits, self.num_hashes),
            rng=rng,
        )
        # Unlinked bits show only their sum over the levels of a cohort.
        if self.mode == "agnostic":
            ones = ones.sum(axis=1, keepdims=True)
        return Tally(self.identity, people.epsilons, dealt, ones)

    def estimate(
        self,
        seen: Seen,
        people: Population,
        *,
        candidates: bloom.Strings,
        false_discovery_rate: float = 0.05,
    ) -> StringEstimate:
        """Estimates how many people hold each candidate.

        Args:
            seen: From `shuffle`, or a tally.
            people: The population that took part.
            candidates: Different strings, at most num_bits num_cohorts / 1.5 of them.
            false_discovery_rate: Mean share of found strings without a holder, in (0, 1).

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            PopulationError: If a level has fewer people than there are cohorts.
            InvalidInputError: If reports do not fit the protocol, or the people per level
                and cohort; if candidates are too many, or two are the same.
        """
        rate = check_rate(false_discovery_rate)
        candidate_list = check_candidates(
            candidates, num_cohorts=self.num_cohorts, num_bits=self.num_bits
        )
        smallest_cohort(people, self.num_cohorts)  # Raises if one lacks a level.
        tally = checked(seen, self.identity, self.tally)
        # Cohorts are public: how many people each has follows from the levels.
        dealt = dealt_evenly(people, self.num_cohorts)
        check_people(tally, people, dealt)
        check_counts(tally, width=self.num_bits)
        p1, p0 = self.randomizer.effective_probabilities(people.epsilons)
        shares = bit_shares(
            tally.counts, mode=self.mode, level_counts=dealt, p_set=p1, p_unset=p0
        )
        estimate = decode_strings(
            shares,
            candidate_list,
            num_hashes=self.num_hashes,
            num_users=people.num_users,
            false_discovery_rate=rate,
            mode=self.mode,
        )
        return replace(estimate, identity=self.identity)

    def manipulation(
        self, people: Population, num_liars: int = 1, *, estimate: StringEstimate
    ) -> Floats:
        """Returns the largest shifts by dishonest people: see `string_shifts`."""
        dealt = dealt_evenly(people, self.num_cohorts)
        p1, p0 = self.randomizer.effective_probabilities(people.epsilons)
        return string_shifts(
            estimate, dealt, p1 - p0, mode=self.mode, num_liars=num_liars
        )


PROTOCOL = Strings
