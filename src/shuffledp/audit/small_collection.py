"""Collections small enough to enumerate all outcomes, and their simplifications."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.testing.distribution_table import tabulate
from shuffledp.testing.exact_divergences import (
    MAX_OUTCOMES,
    exact_divergences,
    num_outcomes,
    reduce_table,
)

_MOST_PEOPLE, _MOST_LEVELS = 6, 3
_LEVELS = (0.05, 8.0)


@dataclass(frozen=True)
class SmallCollection:
    """A few users, their randomizer, and the epsilon of the divergence.

    Attributes:
        device: The randomizer.
        people: (level, number of users), ascending levels.
        epsilon: In nats, >= 0.
    """

    device: Any
    people: tuple[tuple[float, int], ...]
    epsilon: float

    @property
    def population(self) -> Population:
        """The levels and counts of all users."""
        return Population.from_counts(dict(self.people))

    @property
    def size(self) -> tuple[int, int, int]:
        """Numbers of users, levels and digits: the sort key of simplification."""
        numbers = [self.epsilon, *(level for level, _ in self.people)]
        numbers += [float(value) for value in self.device.parameters.values()]
        digits = sum(len(f"{number:.12g}") for number in numbers)
        return sum(count for _, count in self.people), len(self.people), digits

    def __str__(self) -> str:
        people = ", ".join(f"{count} at {level:g}" for level, count in self.people)
        return f"{self.device!r}; {people}; epsilon {self.epsilon:g}"

    def truth(self) -> tuple[dict[float, float], bool] | None:
        """Computes the exact divergence of each level's target users, over all data.

        Returns:
            The divergence by level; and whether no outcomes were merged, which would make
            it smaller. None if there are too many outcomes.
        """
        levels = tuple(level for level, _ in self.people)
        counts = tuple(count for _, count in self.people)
        distributions = tabulate(self.device, levels)
        table, is_complete = reduce_table(distributions.probabilities)
        if num_outcomes(distributions, table, counts) > MAX_OUTCOMES:
            return None
        exact = exact_divergences(
            distributions, table, counts, np.array([self.epsilon])
        )
        return dict(zip(levels, exact[:, 0].tolist(), strict=True)), is_complete


def random_collection(rng: np.random.Generator) -> SmallCollection:
    """Draws a collection of two to six users."""
    size = int(rng.integers(2, _MOST_PEOPLE + 1))
    max_levels = min(_MOST_LEVELS, size)
    low, high = np.log(_LEVELS).tolist()
    drawn_epsilons = np.exp(
        rng.uniform(low, high, size=int(rng.integers(1, max_levels + 1)))
    )
    levels = sorted(
        {float(f"{drawn_epsilon:.3g}") for drawn_epsilon in drawn_epsilons.tolist()}
    )
    counts = 1 + rng.multinomial(
        size - len(levels), rng.dirichlet(np.ones(len(levels)))
    )
    # Beyond the largest budget every divergence is 0.
    epsilon = float(f"{rng.uniform(0.0, 1.0) ** 2 * levels[-1]:.3g}")
    people = tuple(zip(levels, counts.tolist(), strict=True))
    return SmallCollection(_random_device(rng), people, epsilon)


def simplifications(small: SmallCollection) -> Iterator[SmallCollection]:
    """Yields simpler collections, first with fewer users."""
    people = sum(count for _, count in small.people)
    for index, (level, count) in enumerate(small.people):
        remaining = small.people[:index] + small.people[index + 1 :]
        # A collection has at least two users.
        if people > 2 and count > 1:
            fewer = (*remaining, (level, count - 1))
            yield replace(small, people=tuple(sorted(fewer)))
        elif people > 2 and len(small.people) > 1:
            yield replace(small, people=remaining)
        for other, others in remaining:
            # Users of two levels become users of one.
            merged = dict(remaining) | {other: others + count}
            yield replace(small, people=tuple(sorted(merged.items())))
        for rounded in _shorter_numbers(level):
            if rounded > 0.0 and rounded not in dict(remaining):
                changed_people = tuple(sorted((*remaining, (rounded, count))))
                yield replace(small, people=changed_people)
    for device in _simpler_devices(small.device):
        yield replace(small, device=device)
    for rounded in _shorter_numbers(small.epsilon):
        yield replace(small, epsilon=rounded)


def _shorter_numbers(number: float) -> list[float]:
    """Returns nearby numbers with fewer digits."""
    candidates = [0.0, float(round(number))]
    for digits in (1, 2):
        if number > 0.0:
            step = 10.0 ** (math.floor(math.log10(number)) + 1 - digits)
            down = math.floor(number / step) * step
            candidates += [float(f"{down:.12g}"), float(f"{down + step:.12g}")]
    return [candidate for candidate in dict.fromkeys(candidates) if candidate != number]


def _random_device(rng: np.random.Generator) -> Any:
    k = int(rng.integers(2, 6))
    kinds = (
        lambda: KRandomizedResponse(k),
        lambda: KRandomizedResponse(k),
        lambda: SubsetSelection(k, int(rng.integers(1, k))),
        lambda: HadamardResponse(min(k, 3)),
        lambda: LocalHashing(min(k, 4), 2),
        OneBit,
        lambda: Laplace(cells=k),
        lambda: ClipLaplace(cells=k),
    )
    return kinds[int(rng.integers(len(kinds)))]()


def _simpler_devices(device: Any) -> Iterator[Any]:
    for name in ("num_categories", "cells", "subset_size"):
        number = getattr(device, name, None)
        if isinstance(number, int):
            # Constructors refuse some combinations of parameters.
            try:
                yield replace(device, **{name: number - 1})
            except InvalidInputError:
                continue
