"""The base of randomizers with finitely many values and messages, given by a table.

A subclass states the probability of every message, for every value, at every level. The
base derives from this table the device and everything the accountant needs.

*Draws.* In double precision no table keeps a budget to the last bit. With B the blanket of
a level, the least probability of each message over all values, scaled to 1, devices draw
(1 - t) P + t B for the table P. If P keeps a budget of eps + eta, this keeps eps where

    t >= eta gamma e^eps / (e^eps - 1),    gamma the sum of all least probabilities,

as P(x) <= e^eps gamma B wherever P keeps eps. eta is the measured excess over eps, if
any, plus a bound on all rounding; if the excess is more than rounding, the level is
refused.

The cover and the attacks are derived in finite_cover.py.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from shuffledp.arrays import check_integers_below
from shuffledp.cover import Attack, Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.checks import categories_and_budgets
from shuffledp.randomizers.finite_cover import (
    attacks_on_table,
    blanket,
    covers_of_table,
)
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, bernoulli_draws, stream_of
from shuffledp.types import Floats, Ints

MOST_VALUES, MOST_MESSAGES = 32, 256
# A table that exceeds a level by more than this is not a table of that level.
_HAIR = 1e-12
# Of one operation in double precision.
_UNIT = 2.0**-53
# Bounds the relative rounding of sums and ratios of probabilities, draws included.
_SAFE = 2e-12
# A smaller probability has fewer digits than a double.
_SMALLEST = 1e-290


class FiniteChannel(ABC):
    """A table of probabilities per level; values are 0, 1, ... and so are messages.

    Subclasses are frozen dataclasses that hold public parameters only.
    """

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The name of the randomizer."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate: all that the table depends on."""

    @property
    @abstractmethod
    def num_values(self) -> int:
        """The number of possible values of a user, from 2 to 32."""

    @property
    @abstractmethod
    def num_messages(self) -> int:
        """The number of messages, from 2 to 256."""

    @abstractmethod
    def chances(self, epsilons: Floats) -> Floats:
        """Returns the probability of each message, shape (levels, values, messages).

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).
        """

    @property
    def assumptions(self) -> tuple[str, ...]:
        """None beyond those of every collection."""
        return ()

    @property
    def changes(self) -> int:
        """1: a report is one message."""
        return 1

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0

    def drawn(self, epsilons: Floats) -> Floats:
        """Returns the probabilities that devices use, a hair more private than the table.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).

        Returns:
            Shape (levels, values, messages).

        Raises:
            InvalidInputError: If `chances` are not a table, or do not keep a level.
        """
        levels = np.asarray(epsilons, dtype=np.float64)
        table = self._checked_table(levels)
        min_probabilities = table.min(axis=1)
        gamma = min_probabilities.sum(axis=1)
        excess = _largest_log_ratios(table) - levels
        worst_pair = int(np.argmax(excess / np.maximum(levels, 1.0)))
        if excess[worst_pair] > _HAIR * max(float(levels[worst_pair]), 1.0):
            raise InvalidInputError(
                "Expected probabilities whose ratios keep the level "
                f"{levels[worst_pair]:g}, got a "
                f"ratio with logarithm {levels[worst_pair] + excess[worst_pair]:.12g}."
            )
        # Each draw, the products of draws and this mixture lose a few units each.
        rounding = 16.0 * (self.num_messages + 8) * _UNIT * (1.0 + levels)
        eta = np.maximum(excess, 0.0) + rounding
        with np.errstate(divide="ignore"):
            # t >= eta gamma e^eps / (e^eps - 1); at level 0 devices draw from B alone.
            share = np.minimum(eta * gamma / -np.expm1(-levels) * (1.0 + _SAFE), 1.0)
        mixed = share[:, None, None] * (min_probabilities / gamma[:, None])[:, None, :]
        rounded_table: Floats = (1.0 - share)[:, None, None] * table + mixed
        return rounded_table

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws one message per person, in the order of `values`.

        Args:
            values: Integers in [0, num_values), shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            Messages in [0, num_messages), shape (n,).

        Raises:
            InvalidInputError: If shapes differ, a value or a budget is out of range, or a
                level is not kept.
        """
        values, epsilons = categories_and_budgets(
            values, epsilons, num_categories=self.num_values, rng=rng
        )
        return self.draw(values, epsilons, rng=rng)

    def draw(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws messages of people whose values and budgets have been checked."""
        kind = np.min_scalar_type(self.num_messages - 1)
        messages: Ints = np.empty(values.size, dtype=kind)
        for people in batches(values.size, width=self.num_values * self.num_messages):
            levels, level_indices = np.unique(epsilons[people], return_inverse=True)
            table = self.drawn(levels)
            stream = stream_of(rng, people)
            messages[people] = _drawn_messages(
                table, level_indices, values[people], rng=stream
            )
        return messages

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are integers in [0, num_messages)."""
        check_integers_below(messages, self.num_messages, what="messages")

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
        del epsilons
        return math.log2(self.num_messages)

    @property
    def law_values(self) -> tuple[float, ...]:
        """The values whose distributions determine all others, which are mixtures."""
        return tuple(range(self.num_values))

    def law(self, epsilon: float, value: float) -> tuple[Ints, Floats]:
        """Returns all messages and the probability of each, both of shape (messages,).

        Args:
            epsilon: A level.
            value: One of `law_values`.
        """
        index = self.law_values.index(value)
        return np.arange(self.num_messages), self.drawn(np.array([epsilon]))[0, index]

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of one message alone, measured from the densities."""
        if epsilon >= level:
            return 0.0
        (rows,) = self.drawn(np.array([level]))
        growth = math.exp(epsilon) * (1.0 - _SAFE)
        excess = rows[:, None] * (1.0 + _SAFE) - growth * rows[None, :]
        divergence = np.maximum(excess, 0.0).sum(axis=2).max() * (1.0 + _SAFE)
        return min(float(divergence), 1.0)

    def covers(
        self, target_users: Sequence[float], population: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns one cover for each pair of values that is unlike all others."""
        del delta
        omega, gamma = blanket(self.drawn(population.epsilons).min(axis=1), population)
        tables = self.drawn(np.array(target_users, dtype=np.float64))
        return [covers_of_table(rows, omega, gamma) for rows in tables]

    def attacks(
        self, target_users: Sequence[float], population: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns attacks by scores on each target user."""
        others = self.drawn(population.epsilons)
        tables = self.drawn(np.array(target_users, dtype=np.float64))
        return [attacks_on_table(rows, others, population.counts) for rows in tables]

    def _checked_table(self, levels: Floats) -> Floats:
        """Returns the table, each row scaled to 1."""
        values, messages = self.num_values, self.num_messages
        if not (2 <= values <= MOST_VALUES and 2 <= messages <= MOST_MESSAGES):
            raise InvalidInputError(
                f"Expected 2 to {MOST_VALUES} values and 2 to {MOST_MESSAGES} messages, "
                f"got {values} and {messages}."
            )
        table = np.asarray(self.chances(levels), dtype=np.float64)
        shape = (levels.size, values, messages)
        if table.shape != shape:
            raise InvalidInputError(
                f"Expected probabilities of shape {shape}, got {table.shape}."
            )
        # Written this way round, it refuses NaN, too.
        if not np.all((table == 0.0) | ((table >= _SMALLEST) & (table <= 1.0))):
            raise InvalidInputError(
                f"Expected probabilities of 0, or from {_SMALLEST:g} to 1."
            )
        total = table.sum(axis=2, keepdims=True)
        if not np.all(np.abs(total - 1.0) <= 1e-9):
            raise InvalidInputError(
                "Expected probabilities that add up to 1 for every value."
            )
        scaled: Floats = table / total
        return scaled


def _largest_log_ratios(table: Floats) -> Floats:
    """Returns the largest logarithm of a ratio of two values' probabilities, per level."""
    min_probabilities, max_probabilities = table.min(axis=1), table.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.where(
            max_probabilities > 0.0, np.log(max_probabilities / min_probabilities), 0.0
        )
    largest_ratios: Floats = ratios.max(axis=1)
    return largest_ratios


def _drawn_messages(table: Floats, levels: Ints, values: Ints, *, rng: Rng) -> Ints:
    """Draws messages, one draw after the other, the rarest message first.

    Args:
        table: Probabilities, shape (levels, values, messages).
        levels: Each person's, shape (n,).
        values: Each person's, shape (n,).
        rng: The only source of randomness.
    """
    # The rarest first: each draw has a probability of 1/2 at most, so that neither it
    # nor its complement loses digits, and the draws are exact.
    order = np.argsort(table, axis=2, kind="stable")
    ranked = np.take_along_axis(table, order, axis=2)
    # Sums from the small end of what is left lose no digits.
    remaining_masses = np.cumsum(ranked[:, :, ::-1], axis=2)[:, :, ::-1]
    heads = np.divide(
        ranked,
        remaining_masses,
        out=np.zeros_like(ranked),
        where=remaining_masses > 0.0,
    )
    last = table.shape[2] - 1
    messages: Ints = order[levels, values, last]
    waiting = np.arange(values.size)
    for step in range(last):
        probability = heads[levels[waiting], values[waiting], step]
        hits = bernoulli_draws(probability, rng=stream_of(rng, waiting))
        settled = waiting[hits]
        messages[settled] = order[levels[settled], values[settled], step]
        waiting = waiting[~hits]
    return messages
