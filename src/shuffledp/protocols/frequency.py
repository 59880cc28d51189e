"""How often each category occurs among people at different privacy levels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.frequency import (
    FrequencyEstimate,
    agnostic_frequencies,
    stratified_frequencies,
)
from shuffledp.arrays import one_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.protocols.single_message import check_mode
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import Reports, ShuffledReports
from shuffledp.types import Mode


@dataclass(frozen=True)
class Frequency:
    """k-ary randomized response, a shuffle, and unbiased frequencies.

    Attributes:
        num_categories: k, at least 2; values are 0, ..., k - 1.
        mode: "agnostic" unlinks levels from messages: everybody hides among everybody,
            and the estimate is unbiased if levels and values are independent.
            "stratified" keeps each level with its message: the estimate is always
            unbiased, and people hide among their own level only.
    """

    num_categories: int
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        KRandomizedResponse(self.num_categories)
        check_mode(self.mode)

    @property
    def randomizer(self) -> KRandomizedResponse:
        """What the devices run."""
        return KRandomizedResponse(self.num_categories)

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
        return Reports(messages, epsilons, linked=self.mode == "stratified")

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
        if not isinstance(shuffled, ShuffledReports):
            raise InvalidInputError(
                f"Expected ShuffledReports, got {type(shuffled).__name__}: an analyst "
                "sees nothing that was not shuffled."
            )
        if not isinstance(people, Population):
            raise InvalidInputError(
                f"Expected a Population, got {type(people).__name__}."
            )
        if shuffled.linked != (self.mode == "stratified"):
            raise InvalidInputError(
                f"Expected reports of mode {self.mode!r}, got the other mode's."
            )
        k, messages = self.num_categories, shuffled.messages
        if messages.size and (messages.min() < 0 or messages.max() >= k):
            raise InvalidInputError(f"Expected messages to be integers in [0, {k}).")
        indices = people.level_indices(shuffled.levels)
        per_level = np.bincount(indices, minlength=people.num_levels)
        if not np.array_equal(per_level, people.counts):
            raise InvalidInputError(
                "Expected as many reports per level as the population has people."
            )
        keep, flip = self.randomizer.densities(people.epsilons)
        if self.mode == "agnostic":
            return agnostic_frequencies(
                np.bincount(messages, minlength=k),
                level_counts=people.counts,
                keep=keep,
                flip=flip,
            )
        cells = np.bincount(indices * k + messages, minlength=people.num_levels * k)
        return stratified_frequencies(
            cells.reshape(people.num_levels, k),
            level_counts=people.counts,
            keep=keep,
            flip=flip,
        )
