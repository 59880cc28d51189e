"""Algorithm 1 with any local randomizers, certified by the blanket of its own messages.

A person of level k sends one message of R_(k) about what she holds and, ceil(m) times with
chance m / ceil(m), a blanket message of one law omega; all are shuffled together. Messages
are 0, 1, ...; R_(k) is a table of their chances for every value, and a message that omega
never has, such as the empty one of the Poisson randomizer, is allowed.

*Privacy, as printed.* By Lemma 2 what others say about themselves may be left out. Theorem
2 bounds the rest by the variation ratio with p and beta of R_(k), the ratio q of R_(k) to
omega over gamma = m / ceil(m), and n ceil(m) blanket messages. The variation ratio of
Theorem 1 is false in general, so this is no certificate.

*Privacy, certified.* n ceil(m) coins of chance gamma say how many messages come from omega,
whatever anybody holds: the theorem of the accountant (`accounting.upper.blanket`), with
coins in place of people. It may count what others say about themselves, too: a person of
level j sends a draw from omega with chance min R_(j) / omega.

*Estimate.* Let g be scores of messages with E g(R_(k)(x)) = a_k + b_k v(x). Then

    (sum over messages of g - n m E g(omega) - sum_k n_k a_k) / sum_k n_k b_k

is unbiased for the mean of v, if levels and values are independent; for sets, v says
whether an item is held, a = 0 and b_k = lambda_k.

Errata. The list of levels ends with E_K, not E_n; in the printed denominators the sum is
over levels k, not over people i; property I of the variation ratio is about R_v, not R_1.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Algorithm 1, Lemma 2, Theorem 2 and section 5.2.
"""

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.upper.blanket import blanket_bounds
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.papers.bounds.bound import check_delta, check_epsilon
from shuffledp.papers.bounds.wang2024 import variation_ratio_delta
from shuffledp.population import Population
from shuffledp.randomizers.finite_cover import covers_of_table
from shuffledp.types import Floats, Ints

# What sums of chances may be off.
_ROUNDING = 1e-9
# More than the rounding of a sum of differences.
_SAFE = 1e-12
_MOST_BLANKET = 1e5


@dataclass(frozen=True, eq=False)
class SegmentedMessages:
    """What everybody runs, and among whom.

    Attributes:
        people: Central targets, and how many people chose each.
        tables: R_(k) of each target, shape (values, messages), in the order of targets.
        omega: The law of a blanket message, shape (messages,).
        blanket: m > 0, blanket messages per person in the mean.
    """

    people: Population
    tables: tuple[Floats, ...]
    omega: Floats
    blanket: float

    def __post_init__(self) -> None:
        if len(self.tables) != self.people.num_levels:
            raise InvalidInputError(
                f"Expected a table for each of {self.people.num_levels} targets, got "
                f"{len(self.tables)}."
            )
        shape = self.tables[0].shape
        if len(shape) != 2 or self.omega.shape != shape[1:]:
            raise InvalidInputError(
                "Expected tables of shape (values, messages) and a law of these "
                f"messages, got {shape} and {self.omega.shape}."
            )
        if any(table.shape != shape for table in self.tables):
            raise InvalidInputError("Expected tables of one shape.")
        for table in (*self.tables, self.omega[None, :]):
            off = np.abs(table.sum(axis=1) - 1.0)
            # Written this way round, it refuses NaN, too.
            if not (np.all(table >= 0.0) and np.all(off <= _ROUNDING)):
                raise InvalidInputError("Expected chances that add up to 1.")
        if not 0.0 < as_number(self.blanket, "blanket") <= _MOST_BLANKET:
            raise InvalidInputError(
                f"Expected 0 < m <= {_MOST_BLANKET:g}, got {self.blanket:g}."
            )

    @property
    def coins(self) -> int:
        """How often a blanket message may be sent, n ceil(m)."""
        return self.people.num_users * math.ceil(self.blanket)

    @property
    def coin(self) -> float:
        """With which chance it is sent, gamma = m / ceil(m)."""
        return self.blanket / math.ceil(self.blanket)

    def stated_delta(self, level: int, epsilon: float) -> float:
        """Returns the delta that Theorem 2 states for people of a target.

        Args:
            level: Position of the target.
            epsilon: In nats, >= 0.

        Raises:
            OutsidePreconditions: If the table has no finite p and q.
        """
        rows = self.tables[level]
        with np.errstate(divide="ignore", invalid="ignore"):
            p = float(np.nanmax(rows.max(axis=0) / rows.min(axis=0)))
            q = float(np.nanmax(rows.max(axis=0) / self.omega))
        beta = max(
            0.5 * float(np.abs(one - other).sum()) for one in rows for other in rows
        )
        return variation_ratio_delta(
            epsilon, p=p, beta=beta, q=q / self.coin, num_users=self.coins + 1
        )

    def certified_delta(
        self, level: int, epsilon: float, *, delta: float, own: bool = False
    ) -> float:
        """Returns a proven delta of people of a target.

        Args:
            level: Position of the target.
            epsilon: In nats, >= 0.
            delta: About the size that is of interest.
            own: Whether to count what others say about themselves, too; Lemma 2 does
                not.
        """
        epsilon, tail = check_epsilon(epsilon), check_delta(delta) * 1e-12
        rows = self.tables[level]
        growth = math.exp(min(epsilon, 700.0)) * (1.0 - _SAFE)
        excess = rows[:, None] * (1.0 + _SAFE) - growth * rows[None, :]
        alone = float(np.maximum(excess, 0.0).sum(axis=2).max()) * (1.0 + _SAFE)
        gammas, counts = [0.0, self.coin * (1.0 - _SAFE)], [1, self.coins]
        if own:
            people = self.people.counts.tolist()
            people[level] -= 1
            counts += people
            gammas += [self._share(table) for table in self.tables]
        covers = covers_of_table(rows, self.omega, np.array(gammas))
        (bound,) = blanket_bounds([covers], np.array(counts), [0], tail=tail)
        with suppress(CertificationError):
            alone = min(alone, bound.delta(epsilon))
        return min(alone, 1.0)

    def draw_counts(self, holders: Ints, *, rng: np.random.Generator) -> Ints:
        """Draws how often each message comes out of the shuffler, shape (messages,).

        Args:
            holders: How many people of each target hold each value, shape
                (targets, values).
            rng: A simulation's generator.
        """
        held = np.asarray(holders)
        wanted = (self.people.num_levels, self.tables[0].shape[0])
        if held.shape != wanted or np.any(held.sum(axis=1) != self.people.counts):
            raise InvalidInputError(
                f"Expected numbers of these people, of shape {wanted}."
            )
        total = rng.multinomial(rng.binomial(self.coins, self.coin), self.omega)
        for table, row in zip(self.tables, held, strict=True):
            for law, count in zip(table, row.tolist(), strict=True):
                total = total + rng.multinomial(count, law / law.sum())
        found: Ints = total
        return found

    def _share(self, table: Floats) -> float:
        """Returns with which chance a person sends a draw from omega in any case."""
        sent = self.omega > 0.0
        ratio = (table.min(axis=0)[sent] / self.omega[sent]).min()
        return min(float(ratio), 1.0) * (1.0 - _SAFE)


@dataclass(frozen=True, eq=False)
class Scores:
    """What the analyst adds up, and what of it people hold.

    Attributes:
        messages: g, the score of every message in every statistic, shape
            (messages, statistics).
        values: v, what of it every value stands for, shape (values, statistics).
    """

    messages: Floats
    values: Floats

    def slopes(self, table: Floats) -> tuple[float, float]:
        """Returns a and b with E g(R(x)) = a + b v(x).

        Raises:
            InvalidInputError: If there are none.
        """
        means, values = (table @ self.messages).ravel(), self.values.ravel()
        apart = values - values.mean()
        if not float(apart @ apart) > 0.0:
            raise InvalidInputError("Expected values that differ.")
        b = float(apart @ means / (apart @ apart))
        a = float(means.mean() - b * values.mean())
        if np.abs(means - a - b * values).max() > _ROUNDING * max(1.0, abs(a), abs(b)):
            raise InvalidInputError("Expected mean scores on a straight line.")
        return a, b

    def estimate(self, protocol: SegmentedMessages, counts: Ints) -> Floats:
        """Returns the estimated means of v, shape (statistics,).

        Args:
            protocol: What ran.
            counts: How often each message came out, shape (messages,).
        """
        a, b = self._sums(protocol)
        blanket = protocol.people.num_users * protocol.blanket
        noise = blanket * (protocol.omega @ self.messages)
        found: Floats = (np.asarray(counts) @ self.messages - noise - a) / b
        return found

    def error(self, protocol: SegmentedMessages, shares: Floats) -> float:
        """Returns the sum over statistics of squared errors about a population.

        Args:
            protocol: What will run.
            shares: Of the values, at every target alike, shape (values,).
        """
        _, b = self._sums(protocol)
        squares = self.messages**2
        variance = 0.0
        people = protocol.people.counts.tolist()
        for table, count in zip(protocol.tables, people, strict=True):
            law = shares @ table
            variance += count * float(
                (law @ squares - (law @ self.messages) ** 2).sum()
            )
        once = protocol.coin * (protocol.omega @ squares)
        mean = protocol.coin * (protocol.omega @ self.messages)
        variance += protocol.coins * float((once - mean**2).sum())
        return variance / b**2

    def _sums(self, protocol: SegmentedMessages) -> tuple[float, float]:
        """Returns sum_k n_k a_k and sum_k n_k b_k."""
        lines = np.array([self.slopes(table) for table in protocol.tables])
        a, b = (protocol.people.counts @ lines).tolist()
        return float(a), float(b)
