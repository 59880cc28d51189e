"""Reports of the targets that users ask for, collected before their items.

Targets are reported as they are, without a name; or by k-ary response over the K targets on
offer, at a local budget of their own, which the shuffle amplifies. That budget protects
the choice of a target.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.counts.sending_rates import positions_of
from shuffledp.accounting.exposure import Exposure, SingleMessages
from shuffledp.analyzer.choice_counts import ChoiceCounts, count_choices
from shuffledp.arrays import as_number, level_array, without_minus_zero
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, parameters_of
from shuffledp.population import MAX_BUDGET, Population, check_budgets
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomness import Rng, check_rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.tallying import Seen, checked, tally_of
from shuffledp.tally import Tally
from shuffledp.types import Ints


@dataclass(frozen=True)
class Choices:
    """One report of a choice per user, a shuffle, and counts of the choices.

    Attributes:
        targets: Central epsilons on offer, strictly increasing.
        epsilon: Local budget of a report, above 0; None if choices are reported as they
            are, as they always are where there is only one.
    """

    targets: tuple[float, ...]
    epsilon: float | None = None

    def __post_init__(self) -> None:
        values = without_minus_zero(level_array(self.targets, "targets"))
        check_budgets(values)
        if not values.size or not np.all(np.diff(values) > 0.0):
            raise InvalidInputError("Expected distinct targets in ascending order.")
        object.__setattr__(self, "targets", tuple(values.tolist()))
        if self.epsilon is not None:
            budget = as_number(self.epsilon, "budget of a choice")
            if not 0.0 < budget <= MAX_BUDGET:
                raise InvalidInputError(
                    f"Expected a budget of a choice from 0 to {MAX_BUDGET:g}, got "
                    f"{budget:g}."
                )
            object.__setattr__(self, "epsilon", budget)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Choices":
        """Returns the protocol with this identity's record."""
        return cls(**parameters_of(record, "targets", "epsilon"))

    @property
    def randomizer(self) -> KRandomizedResponse | None:
        """The randomizer of a choice; None if it is reported as it is."""
        # A single target is known without a report, and k-ary response needs two.
        if self.epsilon is None or len(self.targets) == 1:
            return None
        return KRandomizedResponse(len(self.targets))

    @property
    def identity(self) -> Identity:
        """The identity of the protocol."""
        inner = self.randomizer
        name = "no-noise" if inner is None else inner.mechanism
        parameters = {"targets": list(self.targets), "epsilon": self.epsilon}
        return Identity.of("choices", name, parameters, "agnostic")

    def exposures(self, people: Population) -> tuple[Exposure, ...]:
        """Returns the exposures that are certified: one report each.

        Args:
            people: {epsilon: people}, as local budgets.

        Raises:
            InvalidInputError: If choices are reported as they are, or people have other
                budgets.
        """
        if self.randomizer is None:
            raise InvalidInputError(
                "Expected a budget of choices: what is reported as it is, is known."
            )
        # The budget is public, and the same for all people.
        if people.epsilons.tolist() != [self.epsilon]:
            raise InvalidInputError(
                f"Expected people of one local budget, {self.epsilon:g}."
            )
        return (SingleMessages("one choice", self.randomizer, "agnostic", people),)

    def randomize(self, targets: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one report of a choice per person.

        Args:
            targets: Each person's target, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            UnknownLevelError: If a target is none of those on offer.
        """
        check_rng(rng)
        indices = positions_of(targets, self.targets)
        if not indices.size:
            raise InvalidInputError("Expected at least one person's target.")
        if self.randomizer is not None:
            budgets = np.full(indices.size, self.epsilon)
            indices = self.randomizer.randomize(indices, budgets, rng=rng)
        messages = indices.astype(np.int32)[:, None]
        # No level is sent: the budget of a choice is the same for all people.
        return Reports(self.identity, messages, None, "pool")

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts how many reports name each target: additive over parts.

        Raises:
            InvalidInputError: If reports are another protocol's, or were not shuffled.
        """
        size = len(self.targets)

        def count(
            messages: NDArray[Any], groups: Ints | None, num_groups: int
        ) -> NDArray[np.int64]:
            # Without levels and cohorts, all reports are one pile.
            del groups, num_groups
            if messages.ndim != 2 or messages.shape[1] != 1:
                raise InvalidInputError("Expected reports of one choice each.")
            if messages.size and not 0 <= messages.min() <= messages.max() < size:
                raise InvalidInputError(f"Expected choices in [0, {size}).")
            counts = np.bincount(messages.ravel(), minlength=size)
            return counts[None, :].astype(np.int64)

        return tally_of(shuffled, self.identity, count=count, arrangement="pool")

    def estimate(self, seen: Seen) -> ChoiceCounts:
        """Estimates how many people chose each target.

        Args:
            seen: From `shuffle`, or a tally.

        Raises:
            InvalidInputError: If these are not reports of these choices.
        """
        tally = checked(seen, self.identity, self.tally)
        size = len(self.targets)
        # A tally may come from another process: its counts are not trusted.
        if tally.counts.shape != (1, 1, size) or tally.levels.size:
            raise InvalidInputError(f"Expected a tally of {size} choices.")
        counts = tally.counts[0, 0]
        if counts.sum() != tally.num_users:
            raise InvalidInputError("Expected one choice of each person.")
        return count_choices(counts, np.array(self.targets), epsilon=self.epsilon)


PROTOCOL = Choices
