"""Frequencies of categories among people at different privacy levels."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.exposure import Exposure, SingleMessages
from shuffledp.analyzer.frequency import (
    FrequencyEstimate,
    agnostic_error,
    agnostic_frequencies,
    stratified_error,
    stratified_frequencies,
)
from shuffledp.analyzer.manipulation import share_shifts
from shuffledp.arguments import expect_instance
from shuffledp.arrays import as_number, one_each
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, check_mode, described
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.population import Population
from shuffledp.randomizers.foreign_mechanism import rebuild
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomness import Rng
from shuffledp.reports import Arrangement, Reports, ShuffledReports
from shuffledp.statistics.tallying import (
    Seen,
    check_counts,
    check_generator,
    check_holders,
    check_people,
    checked,
    drawn_tally,
    tally_of,
)
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints, Mode

WORDS = StatisticLabels(
    name="frequency",
    title="Frequencies",
    asked="How often each category occurs",
    row="category",
    rows="categories",
    display=SHARES,
)


@dataclass(frozen=True, init=False)
class Frequency:
    """A randomizer of categories, a shuffle, and unbiased frequencies.

    >>> import numpy as np, shuffledp as sdp
    >>> rng = np.random.default_rng(3)
    >>> frequency, levels = sdp.Frequency(3), np.repeat([1.0, 2.0], 5_000)
    >>> reports = frequency.randomize(rng.integers(0, 3, 10_000), levels, rng=rng)
    >>> people = sdp.Population.from_budgets(levels)
    >>> estimate = frequency.estimate(sdp.shuffle(reports, rng=rng), people)
    >>> estimate.value.round(2)
    array([0.34, 0.33, 0.33])

    Attributes:
        num_categories: k, at least 2; values are 0, ..., k - 1.
        mode: "agnostic" unlinks levels from messages: users hide among all users,
            and the estimate is unbiased if levels and values are independent.
            "stratified" keeps each level with its message: the estimate is always
            unbiased, and people hide among their own level only.
        randomizer: Runs on devices, for the same k; by default k-ary response.
    """

    num_categories: int
    mode: Mode
    randomizer: FrequencyOracle

    def __init__(
        self,
        num_categories: int,
        mode: Mode = "agnostic",
        randomizer: FrequencyOracle | None = None,
    ) -> None:
        # Built even where another randomizer is given: it checks k.
        usual = KRandomizedResponse(num_categories)
        check_mode(mode)
        if randomizer is None:
            randomizer = usual
        # A class has the methods of its objects, and would pass as a randomizer.
        if isinstance(randomizer, type) or not isinstance(randomizer, FrequencyOracle):
            raise InvalidInputError(
                "Expected a randomizer of categories, such as SubsetSelection, got "
                f"{getattr(randomizer, '__name__', type(randomizer).__name__)}."
            )
        if randomizer.num_categories != num_categories:
            raise InvalidInputError(
                f"Expected a randomizer of {num_categories} categories, got one of "
                f"{randomizer.num_categories}."
            )
        object.__setattr__(self, "num_categories", num_categories)
        object.__setattr__(self, "mode", mode)
        object.__setattr__(self, "randomizer", randomizer)

    @classmethod
    def from_record(cls, record: dict[str, Any], mechanism: Any = None) -> "Frequency":
        """Returns the protocol with this identity's record.

        Args:
            record: Of its identity.
            mechanism: The class of a mechanism that is not this library's, or an object.
        """
        terms = Identity.from_record(record).record
        oracle = rebuild(terms["mechanism"], terms["parameters"], mechanism)
        # No randomizer of categories has 0 of them.
        return cls(getattr(oracle, "num_categories", 0), terms["mode"], oracle)

    @property
    def identity(self) -> Identity:
        """The identity of the protocol."""
        oracle = self.randomizer
        return Identity.of(WORDS.name, oracle.mechanism, described(oracle), self.mode)

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one report."""
        return (SingleMessages("one report", self.randomizer, self.mode, people),)

    @property
    def arrangement(self) -> Arrangement:
        """The parts of a report that the shuffler keeps together."""
        # Coordinates that one value changes are shuffled apart.
        return "columns" if self.randomizer.changes > 1 else "rows"

    def randomize(self, values: ArrayLike, levels: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one randomized report per person.

        Args:
            values: Integers in [0, k), shape (n,).
            levels: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            InvalidInputError: If shapes differ, or a value or a level is out of range.
        """
        integers, epsilons = one_each(values, levels, what="values")
        messages = self.randomizer.randomize(integers, epsilons, rng=rng)
        return Reports(self.identity, messages, epsilons, self.arrangement)

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts the messages that support each category: additive over parts.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """

        def count(
            messages: NDArray[Any], groups: Ints | None, num_groups: int
        ) -> NDArray[Any]:
            # Messages come from devices, which may send anything of the right shape.
            self.randomizer.check_messages(messages)
            return self.randomizer.support_counts(messages, groups, num_groups)

        return tally_of(
            shuffled, self.identity, count=count, arrangement=self.arrangement
        )

    def draw_tally(
        self, holders: Ints, people: Population, *, rng: np.random.Generator
    ) -> Tally:
        """Draws the tally of a whole collection from its distribution.

        >>> import numpy as np, shuffledp as sdp
        >>> people = sdp.Population.from_counts({1.0: 10**9})
        >>> tally = sdp.Frequency(2).draw_tally(
        ...     np.array([[3 * 10**8, 7 * 10**8]]), people, rng=np.random.default_rng(1)
        ... )
        >>> sdp.Frequency(2).estimate(tally, people).value.round(3)
        array([0.3, 0.7])

        Args:
            holders: Numbers of people of each level who hold each category, (levels, k).
            people: The population that takes part.
            rng: A simulation's generator.

        Raises:
            InvalidInputError: If holders are not those of the population, or the
                randomizer has too many messages to draw their numbers.
        """
        check_generator(rng)
        counts = check_holders(holders, people, self.num_categories)
        # An estimate depends on the messages only through these counts: none is drawn.
        support = self.randomizer.draw_support_counts(counts, people.epsilons, rng=rng)
        return drawn_tally(self.identity, people, support)

    def estimate(self, seen: Seen, people: Population) -> FrequencyEstimate:
        """Estimates how often each category occurs, from shuffled reports.

        Args:
            seen: From `shuffle`, or a tally.
            people: The population that took part.

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            InvalidInputError: If reports are another protocol's or none of its messages,
                or do not come from as many people per level as expected.
        """
        tally = checked(seen, self.identity, self.tally)
        check_people(tally, people)
        # Some randomizers have messages that support a fixed number of categories each.
        check_counts(
            tally,
            width=self.num_categories,
            each=getattr(self.randomizer, "supported", None),
        )
        keep, flip = self.randomizer.densities(people.epsilons)
        # One cohort: the counts of its only pile, or of a pile for each level.
        counts = tally.counts[0]
        if self.mode == "agnostic":
            estimate = agnostic_frequencies(
                counts[0], level_counts=people.counts, keep=keep, flip=flip
            )
        else:
            estimate = stratified_frequencies(
                counts, level_counts=people.counts, keep=keep, flip=flip
            )
        step = share_shifts(keep - flip, people.counts, mode=self.mode, num_liars=1)
        return replace(estimate, identity=self.identity, step=step)

    def manipulation(self, people: Population, num_liars: int = 1) -> Floats:
        """Returns by how much dishonest people can move each share, shape (k,).

        One report supports a category or does not: for k-ary response at one level, a
        share moves by 1 / (n (keep - flip)). In the stratified mode the lowest levels
        count most.

        >>> import shuffledp as sdp
        >>> people = sdp.Population.from_counts({1.0: 1_000})
        >>> sdp.Frequency(2).manipulation(people, num_liars=10).round(4)
        array([0.0216, 0.0216])

        Args:
            people: Levels and counts, as published.
            num_liars: How many of them send any messages they like.

        Raises:
            InvalidInputError: If messages carry no information, or there are fewer people.
        """
        expect_instance(people, Population)
        keep, flip = self.randomizer.densities(people.epsilons)
        shift = share_shifts(
            keep - flip, people.counts, mode=self.mode, num_liars=num_liars
        )
        return np.full(self.num_categories, shift)

    def predicted_error(self, people: Population, *, share: float) -> float:
        """Returns the standard error to expect, before anything is collected.

        Args:
            people: The population that will take part.
            share: The share of the people who hold the category in question, the same at
                every level.

        Raises:
            InvalidInputError: If messages of these people carry no information, or the
                share is not in [0, 1].
        """
        expect_instance(people, Population)
        share_value = as_number(share, "share")
        if not 0.0 <= share_value <= 1.0:
            raise InvalidInputError(
                f"Expected a share from 0 to 1, got {share_value:g}."
            )
        keep, flip = self.randomizer.densities(people.epsilons)
        error = agnostic_error if self.mode == "agnostic" else stratified_error
        # Stratified errors take the shares of each level, here the same at all of them.
        shape = (1,) if self.mode == "agnostic" else (people.num_levels, 1)
        (expected,) = error(
            np.full(shape, share_value),
            level_counts=people.counts,
            keep=keep,
            flip=flip,
        )
        return float(expected)


PROTOCOL = Frequency
