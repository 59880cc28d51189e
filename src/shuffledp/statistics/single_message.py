"""Any randomizer behind a shuffler: one message per person, for the accountant alone."""

from dataclasses import dataclass

import numpy as np

from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.shuffler.shuffle import ShuffledReports
from shuffledp.types import Ints, Mode


@dataclass(frozen=True)
class SingleMessage:
    """What `account` needs to know of a collection.

    Attributes:
        randomizer: What the devices run.
        mode: "agnostic" unlinks levels from messages: everybody hides among everybody.
            "stratified" keeps each level with its message: people hide among their own.
    """

    randomizer: LocalRandomizer
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        check_mode(self.mode)


def check_mode(mode: str) -> None:
    """Raises InvalidInputError unless this is one of the two modes."""
    if mode not in ("agnostic", "stratified"):
        raise InvalidInputError(
            f"Expected mode 'agnostic' or 'stratified', got {mode!r}."
        )


def check_shuffled(shuffled: ShuffledReports, people: Population, mode: Mode) -> Ints:
    """Returns the position of each report's level in the population, shape (n,).

    Raises:
        UnknownLevelError: If a level is not one of the population's.
        InvalidInputError: If these are not shuffled reports of this mode, or do not come
            from as many people per level as expected.
    """
    if not isinstance(shuffled, ShuffledReports):
        raise InvalidInputError(
            f"Expected ShuffledReports, got {type(shuffled).__name__}: an analyst sees "
            "nothing that was not shuffled."
        )
    if not isinstance(people, Population):
        raise InvalidInputError(f"Expected a Population, got {type(people).__name__}.")
    if shuffled.linked != (mode == "stratified"):
        raise InvalidInputError(
            f"Expected reports of mode {mode!r}, got the other mode's."
        )
    indices = people.level_indices(shuffled.levels)
    per_level = np.bincount(indices, minlength=people.num_levels)
    if not np.array_equal(per_level, people.counts):
        raise InvalidInputError(
            "Expected as many reports per level as the population has people."
        )
    return indices
