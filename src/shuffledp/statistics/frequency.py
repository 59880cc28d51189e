"""How often each category occurs among people at different privacy levels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.frequency import (
    FrequencyEstimate,
    agnostic_error,
    agnostic_frequencies,
    stratified_error,
    stratified_frequencies,
)
from shuffledp.arrays import as_number, one_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import Reports, ShuffledReports
from shuffledp.statistics.single_message import check_mode, check_shuffled
from shuffledp.types import Mode


@dataclass(frozen=True)
class Frequency:
    """A randomizer of categories, a shuffle, and unbiased frequencies.

    Attributes:
        num_categories: k, at least 2; values are 0, ..., k - 1.
        mode: "agnostic" unlinks levels from messages: everybody hides among everybody,
            and the estimate is unbiased if levels and values are independent.
            "stratified" keeps each level with its message: the estimate is always
            unbiased, and people hide among their own level only.
        oracle: What the devices run, for the same k; by default k-ary response.
    """

    num_categories: int
    mode: Mode = "agnostic"
    oracle: FrequencyOracle | None = None

    def __post_init__(self) -> None:
        KRandomizedResponse(self.num_categories)
        check_mode(self.mode)
        if self.oracle is None:
            return
        if isinstance(self.oracle, type) or not isinstance(
            self.oracle, FrequencyOracle
        ):
            raise InvalidInputError(
                "Expected a randomizer of categories, such as SubsetSelection, got "
                f"{getattr(self.oracle, '__name__', type(self.oracle).__name__)}."
            )
        if self.oracle.num_categories != self.num_categories:
            raise InvalidInputError(
                f"Expected a randomizer of {self.num_categories} categories, got one of "
                f"{self.oracle.num_categories}."
            )

    @property
    def randomizer(self) -> FrequencyOracle:
        """What the devices run."""
        return self.oracle or KRandomizedResponse(self.num_categories)

    @property
    def _coordinates_apart(self) -> bool:
        """Whether one changed value may show in several coordinates, shuffled apart."""
        return self.randomizer.changes > 1

    def randomize(self, values: ArrayLike, levels: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one randomized message per person.

        Args:
            values: Integers in [0, k), shape (n,).
            levels: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            InvalidInputError: If shapes differ, or a value or a level is out of range.
        """
        integers, epsilons = one_each(values, levels, what="values")
        messages = self.randomizer.randomize(integers, epsilons, rng=rng)
        linked = self.mode == "stratified"
        return Reports(messages, epsilons, linked, self._coordinates_apart)

    def estimate(
        self, shuffled: ShuffledReports, people: Population
    ) -> FrequencyEstimate:
        """Estimates how often each category occurs, from what the shuffler let through.

        Args:
            shuffled: From `shuffle`.
            people: The population that took part.

        Raises:
            UnknownLevelError: If a level is not one of the population's.
            InvalidInputError: If messages are out of range, were shuffled for the other
                mode, or do not come from as many people per level as expected.
        """
        indices = check_shuffled(shuffled, people, self.mode)
        if shuffled.coordinates_apart != self._coordinates_apart:
            wanted = "apart" if self._coordinates_apart else "together"
            raise InvalidInputError(
                f"Expected reports whose coordinates were shuffled {wanted}."
            )
        randomizer, messages = self.randomizer, shuffled.messages
        randomizer.check_messages(messages)
        keep, flip = randomizer.densities(people.epsilons)
        if self.mode == "agnostic":
            del indices  # As large as the collection.
            (counts,) = randomizer.support_counts(messages, None, 1)
            return agnostic_frequencies(
                counts, level_counts=people.counts, keep=keep, flip=flip
            )
        return stratified_frequencies(
            randomizer.support_counts(messages, indices, people.num_levels),
            level_counts=people.counts,
            keep=keep,
            flip=flip,
        )

    def predicted_error(self, people: Population, *, share: float) -> float:
        """Returns the standard error to expect, before anything is collected.

        Args:
            people: Who will take part.
            share: The share of the people who hold the category in question, the same at
                every level.

        Raises:
            InvalidInputError: If messages of these people carry no information, or the
                share is not in [0, 1].
        """
        number = as_number(share, "share")
        if not 0.0 <= number <= 1.0:
            raise InvalidInputError(f"Expected a share from 0 to 1, got {number:g}.")
        keep, flip = self.randomizer.densities(people.epsilons)
        error = agnostic_error if self.mode == "agnostic" else stratified_error
        shape = (1,) if self.mode == "agnostic" else (people.num_levels, 1)
        (expected,) = error(
            np.full(shape, number), level_counts=people.counts, keep=keep, flip=flip
        )
        return float(expected)
