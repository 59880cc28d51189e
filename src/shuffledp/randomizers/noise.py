"""Base of the randomizers that add noise to a number."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import float_array, one_number_each
from shuffledp.cover import Attack, Cover, NoiseDensities
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population, check_budgets
from shuffledp.randomizers.drawn_counts import check_population, exact_sums
from shuffledp.randomizers.grid import (
    SMALLEST_LEVEL,
    check_cells,
    grid_points,
    midpoints,
    positions,
    within_bounds,
)
from shuffledp.randomizers.level_nodes import (
    MANY_LEVELS,
    between_nodes,
    level_nodes,
    population_at,
)
from shuffledp.randomizers.noise_attack import attacks_of_many_levels, noise_attacks
from shuffledp.randomizers.sampled_cells import MessageCounts, draw_grid_points
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, check_rng, stream_of
from shuffledp.types import Floats, Ints

_SMALLEST = 1e-306


class AddedNoise(ABC):
    """Noise around a number, which is scaled to [-1, 1] for the accountant."""

    # Whether gamma first rises and then falls with the budget, for every omega.
    has_unimodal_covers: ClassVar[bool] = False
    # By how much `probabilities_of_runs` may be off, beyond rounding.
    error_of_runs: ClassVar[float] = 0.0

    @abstractmethod
    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Returns probabilities of the message's bins, shape (levels, bins).

        Args:
            epsilons: Local budgets, shape (levels,).
            value: Common value of these users, in [-1, 1].
        """

    def probabilities_of_runs(
        self, epsilons: Floats, runs: Sequence[tuple[float, Ints]]
    ) -> list[Floats]:
        """Returns probabilities of runs of bins, each of shape (runs, levels).

        Each is off by `error_of_runs` at most, beyond rounding.

        Args:
            epsilons: Local budgets, ascending, shape (levels,).
            runs: Values in [-1, 1], each with the first bins of runs, ascending from 0.
        """
        return [
            np.add.reduceat(self.bins(epsilons, value).T, starts, axis=0)
            for value, starts in runs
        ]

    @property
    @abstractmethod
    def low(self) -> float:
        """Smallest possible value."""

    @property
    @abstractmethod
    def high(self) -> float:
        """Largest possible value."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of cells of the range of values, N."""

    @property
    @abstractmethod
    def delta_local(self) -> float:
        """The delta that every level promises on the device; 0 for pure privacy."""

    @property
    @abstractmethod
    def cells_beyond(self) -> int:
        """The largest distance of a message from the range of values, in cells."""

    @abstractmethod
    def draw_cells(self, points: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws the grid cell of each user's message, shape (n,).

        Args:
            points: Users' values as points of the grid in 0, ..., N, shape (n,).
            epsilons: Their local budgets, shape (n,).
            rng: The only source of randomness.
        """

    @abstractmethod
    def draw_population(
        self, points: Ints, level: float, *, rng: np.random.Generator
    ) -> Iterator[MessageCounts]:
        """Draws which cells a population's messages fall into, part by part.

        Args:
            points: How many people are at each point of the grid, shape (N + 1,).
            level: The local budget of them all.
            rng: A simulation's.
        """

    @abstractmethod
    def cover_of(
        self, target_user: float, population: Population, *, delta: float
    ) -> Cover:
        """The cover of one target user, whose worst pair of values is -1 and 1."""

    def noise_densities(
        self, target_user: float, *, delta: float
    ) -> NoiseDensities | None:
        """The densities around one target user's values, None unless proofs use them.

        Args:
            target_user: The local budget.
            delta: Order of magnitude of the divergence to bound.
        """
        return None

    @property
    def changes(self) -> int:
        """1: a report is one message."""
        return 1

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions behind the densities."""
        return (
            "Devices send the cell of a public grid that a number with the stated density "
            "falls into, as `randomize` does without rounding: noise added in floating "
            "point has gaps that tell more.",
        )

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        """Draws one message per person, in the order of `values`.

        Args:
            values: Numbers in [low, high], shape (n,).
            epsilons: Each person's local budget in nats, shape (n,).
            rng: The only source of randomness.

        Returns:
            Cells of the grid, shape (n,): 0, ..., N - 1 within the range of values.

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        check_rng(rng)
        numbers, budgets = one_number_each(values, epsilons)
        self._check_device_inputs(numbers, budgets)
        # Unbounded noise reaches cells that need more than 32 bits.
        kind = np.dtype(np.int64)
        if not self.cells_beyond:
            kind = np.min_scalar_type(self.cells - 1)
        grid_positions = positions(numbers, self.low, self.high, self.cells)
        messages: Ints = np.empty(numbers.size, dtype=kind)
        for people in batches(numbers.size):
            stream = stream_of(rng, people)
            # The value is moved, not the message: guarantees for all values still hold.
            points = grid_points(grid_positions[people], rng=stream)
            messages[people] = self.draw_cells(points, budgets[people], rng=stream)
        return messages

    def draw_sums(
        self,
        values: Floats,
        counts: Ints,
        epsilons: Floats,
        *,
        rng: np.random.Generator,
    ) -> NDArray[np.object_]:
        """Draws the sums of all messages of a population, without one draw per user.

        Args:
            values: Numbers in [low, high], shape (values,).
            counts: How many people of each level hold each value, (levels, values).
            epsilons: Local budgets in nats, shape (levels,).
            rng: A simulation's.

        Returns:
            Number, sum and sum of squares of each level's messages, exact whole numbers
            of Python, shape (levels, 3).

        Raises:
            InvalidInputError: If shapes differ, a value, a count or a budget is out of
                range, or noise spreads over too many cells to be counted.
        """
        numbers = float_array(values, "values")
        people, epsilons = check_population(
            counts, epsilons, num_values=numbers.size, rng=rng
        )
        self._check_device_inputs(numbers, epsilons)
        grid_positions = positions(numbers, self.low, self.high, self.cells)
        points = draw_grid_points(grid_positions, people, self.cells, rng=rng)
        sums = np.zeros((epsilons.size, 3), dtype=np.object_)
        for row, (level, starts) in enumerate(
            zip(epsilons.tolist(), points, strict=True)
        ):
            for messages, often in self.draw_population(starts, level, rng=rng):
                # As on devices: what is farther out is sent as the outermost cell.
                part = exact_sums(within_bounds(messages, self.cells), often)
                sums[row] += np.array(part, dtype=np.object_)
        return sums

    def _check_device_inputs(self, numbers: Floats, budgets: Floats) -> None:
        """Raises InvalidInputError unless all of them are in range."""
        # Written this way round, it refuses NaN, too.
        if not np.all((numbers >= self.low) & (numbers <= self.high)):
            raise InvalidInputError(
                f"Expected values to be numbers in [{self.low:g}, {self.high:g}]."
            )
        check_budgets(budgets)
        if self.cells_beyond and not np.all(budgets >= SMALLEST_LEVEL):
            raise InvalidInputError(
                f"Expected levels of at least {SMALLEST_LEVEL:g}: noise for smaller ones "
                "has no bounds worth sending."
            )

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are cells of the grid, shape (n,)."""
        check_cells(messages, self.cells, self.cells_beyond)

    def decode(self, messages: Ints) -> Floats:
        """Returns the middle of each cell, in the units of the values."""
        return midpoints(messages, self.low, self.high, self.cells)

    def covers(
        self, target_users: Sequence[float], population: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns one cover per target user."""
        nodes = None
        hiding = population
        if self.has_unimodal_covers and population.num_levels >= MANY_LEVELS:
            nodes = level_nodes(population.epsilons)
            hiding = population_at(nodes, population)
        covers: list[tuple[Cover, ...]] = []
        for target_user in target_users:
            cover = self.cover_of(target_user, hiding, delta=delta)
            if nodes is not None:
                cover = between_nodes(cover, nodes)
            # Equal people have one blanket, of which nothing is lost.
            if population.num_levels > 1:
                noise = self.noise_densities(target_user, delta=delta)
                cover = replace(cover, noise=noise)
            covers.append((cover,))
        return covers

    def attacks(
        self, target_users: Sequence[float], population: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns one attack per target user: an additive score of all messages."""
        # With an odd number of cells, 0 is not a point of the grid.
        middle = 2.0 * (self.cells // 2) / self.cells - 1.0
        if population.num_levels >= MANY_LEVELS:
            return attacks_of_many_levels(
                self.bins,
                self.probabilities_of_runs,
                target_users,
                population,
                middle=middle,
                error=self.error_of_runs,
            )
        # The evidence of pure noise is bounded, and few scores do.
        precise = self.delta_local > 0.0
        return noise_attacks(
            self.bins, target_users, population, middle=middle, precise=precise
        )


def pure_local_delta(measured: float, epsilon: float, divergence: float) -> float:
    """Returns the divergence of a pure mechanism, 0 from its measured budget on.

    Args:
        measured: The largest logarithm of a ratio of densities.
        epsilon: Where the divergence is asked for.
        divergence: The formula there, whatever it is beyond the budget.
    """
    if epsilon >= measured:
        return 0.0
    # Nothing is known; no divergence exceeds 1.
    if math.isnan(divergence):
        return 1.0
    return max(divergence * (1.0 + 1e-12), _SMALLEST)
