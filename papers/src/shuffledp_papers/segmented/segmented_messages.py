"""Algorithm 1 with any local randomizers, certified by the blanket of its own messages.

A user of level k sends one message of R_(k) about their value and, ceil(m) times with
probability m / ceil(m), a blanket message of one distribution omega; all are shuffled
together. Messages are 0, 1, ...; R_(k) is a table of their probabilities for every value,
and a message outside the support of omega, such as the empty one of the Poisson randomizer,
is allowed.

*Privacy, as printed.* Theorem 2 bounds the divergence by the variation ratio with p and
beta of R_(k), the ratio q of R_(k) to omega over gamma = m / ceil(m), and n ceil(m) blanket
messages. The variation ratio of Theorem 1 is false in general, so this certifies nothing.

*Privacy, certified.* The number of messages from omega is a sum of n ceil(m) Bernoulli
draws of probability gamma, whatever the values: the theorem of the accountant
(`accounting.upper.blanket`), with draws in place of users. It may count the others'
messages about their own values, too: a user of level j sends a draw from omega with
probability min R_(j) / omega.

*Estimate.* Let g be scores of messages with E g(R_(k)(x)) = a_k + b_k v(x). Then

    (sum over messages of g - n m E g(omega) - sum_k n_k a_k) / sum_k n_k b_k

is unbiased for the mean of v; for sets, v says whether an item is held, a = 0 and
b_k = lambda_k.

Errata. The list of levels ends with E_K, not E_n; property I of the variation ratio is
about R_v, not R_1.

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
from shuffledp.population import Population
from shuffledp.randomizers.finite_cover import covers_of_table
from shuffledp.types import Floats, Ints
from shuffledp_papers.bounds.bound import check_delta, check_epsilon
from shuffledp_papers.bounds.wang2024 import variation_ratio_delta

# Tolerated error of a sum of probabilities.
_ROUNDING = 1e-9
# More than the rounding of a sum of differences.
_SAFE = 1e-12
_MOST_BLANKET = 1e5


@dataclass(frozen=True, eq=False)
class SegmentedMessages:
    """The protocol that all users run, with their randomizers and blanket messages.

    Attributes:
        people: Central targets, and the number of users who chose each.
        tables: R_(k) of each target, shape (values, messages), in the order of targets.
        omega: Distribution of a blanket message, shape (messages,).
        blanket: m > 0, the expected number of blanket messages per user.
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
                "Expected tables of shape (values, messages) and a distribution of these "
                f"messages, got {shape} and {self.omega.shape}."
            )
        if any(table.shape != shape for table in self.tables):
            raise InvalidInputError("Expected tables of one shape.")
        for table in (*self.tables, self.omega[None, :]):
            off = np.abs(table.sum(axis=1) - 1.0)
            # Written this way round, it refuses NaN, too.
            if not (np.all(table >= 0.0) and np.all(off <= _ROUNDING)):
                raise InvalidInputError("Expected probabilities that add up to 1.")
        if not 0.0 < as_number(self.blanket, "blanket") <= _MOST_BLANKET:
            raise InvalidInputError(
                f"Expected 0 < m <= {_MOST_BLANKET:g}, got {self.blanket:g}."
            )

    @property
    def blanket_draws(self) -> int:
        """Largest number of blanket messages, n ceil(m)."""
        return self.people.num_users * math.ceil(self.blanket)

    @property
    def blanket_probability(self) -> float:
        """Probability gamma = m / ceil(m) of each of them."""
        return self.blanket / math.ceil(self.blanket)

    def stated_delta(self, level: int, epsilon: float) -> float:
        """Returns the delta that Theorem 2 states for the users of a target.

        Args:
            level: Position of the target.
            epsilon: In nats, >= 0.

        Raises:
            OutsidePreconditions: If the table has no finite p and q.
        """
        rows = self.tables[level]
        # 0 / 0, a message that is never sent, is NaN and left out of both maxima.
        with np.errstate(divide="ignore", invalid="ignore"):
            p = float(np.nanmax(rows.max(axis=0) / rows.min(axis=0)))
            q = float(np.nanmax(rows.max(axis=0) / self.omega))
        # The largest total variation over pairs of values.
        beta = max(
            0.5 * float(np.abs(first - second).sum())
            for first in rows
            for second in rows
        )
        return variation_ratio_delta(
            epsilon,
            p=p,
            beta=beta,
            q=q / self.blanket_probability,
            # n ceil(m) blanket messages, and the message of the target user; by Lemma 2
            # the others' messages about their own values may be left out.
            num_users=self.blanket_draws + 1,
        )

    def certified_delta(
        self, level: int, epsilon: float, *, delta: float, own: bool = False
    ) -> float:
        """Returns a proven delta of the users of a target.

        Args:
            level: Position of the target.
            epsilon: In nats, >= 0.
            delta: Magnitude of the answer; sets how much of the tails is cut off.
            own: Whether to count the others' messages about their own values; Lemma 2
                does not.
        """
        epsilon, tail = check_epsilon(epsilon), check_delta(delta) * 1e-12
        rows = self.tables[level]
        # Without any blanket: the message itself, rounded to the safe side. exp overflows
        # beyond 709; a smaller factor only raises delta.
        growth = math.exp(min(epsilon, 700.0)) * (1.0 - _SAFE)
        excess = rows[:, None] * (1.0 + _SAFE) - growth * rows[None, :]
        alone = float(np.maximum(excess, 0.0).sum(axis=2).max()) * (1.0 + _SAFE)
        gammas = [0.0, self.blanket_probability * (1.0 - _SAFE)]
        counts = [1, self.blanket_draws]
        # Groups of draws: none for the message itself, n ceil(m) blanket messages, and with
        # `own` the other users of every level. Probabilities are rounded down.
        if own:
            others = self.people.counts.tolist()
            others[level] -= 1
            counts += others
            gammas += [self._omega_share(table) for table in self.tables]
        covers = covers_of_table(rows, self.omega, np.array(gammas))
        (bound,) = blanket_bounds([covers], np.array(counts), [0], tail=tail)
        # Either number is a bound; where the blanket has none, the message alone has one.
        with suppress(CertificationError):
            alone = min(alone, bound.delta(epsilon))
        return min(alone, 1.0)

    def draw_counts(self, holders: Ints, *, rng: np.random.Generator) -> Ints:
        """Draws the count of each message after the shuffle, shape (messages,).

        Args:
            holders: Number of users with each target and value, shape
                (targets, values).
            rng: A simulation's generator.
        """
        by_target = np.asarray(holders)
        shape = (self.people.num_levels, self.tables[0].shape[0])
        if by_target.shape != shape or np.any(
            by_target.sum(axis=1) != self.people.counts
        ):
            raise InvalidInputError(
                f"Expected numbers of these people, of shape {shape}."
            )
        # Counts are sufficient: users with equal target and value are drawn together.
        sent = rng.binomial(self.blanket_draws, self.blanket_probability)
        total = rng.multinomial(sent, self.omega)
        for table, row in zip(self.tables, by_target, strict=True):
            for distribution, count in zip(table, row.tolist(), strict=True):
                # NumPy refuses sums above 1, as rounding may leave them.
                probabilities = distribution / distribution.sum()
                total = total + rng.multinomial(count, probabilities)
        counts: Ints = total
        return counts

    def _omega_share(self, table: Floats) -> float:
        """Returns the probability that a message is a draw from omega, for any value."""
        sent = self.omega > 0.0
        # min over x of R(x)(y) / omega(y): the part of R that is omega for every value.
        ratio = (table.min(axis=0)[sent] / self.omega[sent]).min()
        return min(float(ratio), 1.0) * (1.0 - _SAFE)


@dataclass(frozen=True, eq=False)
class MessageScores:
    """Scores that the analyst adds up, and the statistics that they estimate.

    Attributes:
        messages: g, the score of every message in every statistic, shape
            (messages, statistics).
        values: v, every value's part in the statistics, shape (values, statistics).
    """

    messages: Floats
    values: Floats

    def slopes(self, table: Floats) -> tuple[float, float]:
        """Returns a and b with E g(R(x)) = a + b v(x).

        Raises:
            InvalidInputError: If the mean scores are not on a straight line.
        """
        means, values = (table @ self.messages).ravel(), self.values.ravel()
        # Least squares: a and b are exact if the residuals below are rounding only.
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
            protocol: The protocol that ran.
            counts: Of each message after the shuffle, shape (messages,).
        """
        a, b = self._sums(protocol)
        blanket = protocol.people.num_users * protocol.blanket
        # The expected score of all blanket messages, n m E g(omega).
        noise = blanket * (protocol.omega @ self.messages)
        # Unbiased if levels and values are independent.
        estimate: Floats = (np.asarray(counts) @ self.messages - noise - a) / b
        return estimate

    def error(self, protocol: SegmentedMessages, shares: Floats) -> float:
        """Returns the sum over statistics of squared errors about a population.

        Args:
            protocol: The protocol to run.
            shares: Of the values, the same at every target, shape (values,).
        """
        _, b = self._sums(protocol)
        squares = self.messages**2
        # Messages are independent given the values: variances of scores add up.
        variance = 0.0
        people = protocol.people.counts.tolist()
        for table, count in zip(protocol.tables, people, strict=True):
            sent = shares @ table
            variance += count * float(
                (sent @ squares - (sent @ self.messages) ** 2).sum()
            )
        # A blanket draw has score g(omega) with probability gamma, and 0 otherwise.
        gamma = protocol.blanket_probability
        square = gamma * (protocol.omega @ squares)
        mean = gamma * (protocol.omega @ self.messages)
        variance += protocol.blanket_draws * float((square - mean**2).sum())
        return variance / b**2

    def _sums(self, protocol: SegmentedMessages) -> tuple[float, float]:
        """Returns sum_k n_k a_k and sum_k n_k b_k."""
        # Erratum: the printed sums of the denominators are over people i, not levels k.
        lines = np.array([self.slopes(table) for table in protocol.tables])
        a, b = (protocol.people.counts @ lines).tolist()
        return float(a), float(b)
