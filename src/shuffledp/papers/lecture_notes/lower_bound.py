"""No local protocol beats 1 / sqrt(n) on the mean of bits: by listing every transcript.

Bits are drawn evenly, people answer one after the other, each with a budget of eps and a
randomizer that may depend on what was answered before. Given the transcript a, bits stay
independent, and

    P(X_i = 1 | A = a) lies in [1 / (e^eps + 1), e^eps / (e^eps + 1)],

so that whatever is made of a, the mean squared error about the mean of the bits is at least

    e^eps / ((e^eps + 1)^2 n),

and some data set has at least the average's. Randomized response attains it for every n.
At eps = 1 the chances lie in [0.269, 0.731], within the printed [1/4, 3/4].

Errata. The printed proof ends with P(A = a | X_i = 1) in that interval; what Bayes' rule
gives, and what is used, is P(X_i = 1 | A = a). The distance that is bounded below is that
to the output of the analyst, not to the transcript a.

Source: Wang, lecture notes, Theorem 9.2, after Chan, Shi, Song (2012), "Optimal lower bound
for differentially private multi-party aggregation".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.papers.lecture_notes.average import checked
from shuffledp.types import Floats

# Of transcripts times data sets.
_MOST = 2**22


def least_error(num_users: int, epsilon: float) -> float:
    """Returns the root of the mean squared error that nothing beats on every data set.

    >>> round(least_error(100, 1.0), 5)
    0.04434
    """
    people, budget = checked(num_users, epsilon)
    return 0.5 / math.cosh(budget / 2.0) / math.sqrt(people)


@dataclass(frozen=True, eq=False)
class Transcripts:
    """What transcripts say about evenly drawn bits.

    Attributes:
        chances: Of each transcript, shape (transcripts,).
        joint: Of every data set given a transcript, shape (transcripts, 2, ..., 2).
    """

    chances: Floats
    joint: Floats

    @property
    def num_users(self) -> int:
        """How many people there are."""
        return self.joint.ndim - 1

    def ones(self) -> Floats:
        """Returns P(X_i = 1 | A = a), shape (transcripts, n)."""
        n = self.num_users
        others = [tuple(j + 1 for j in range(n) if j != i) for i in range(n)]
        return np.stack([self.joint.sum(axis=axes)[:, 1] for axes in others], axis=1)

    def dependence(self) -> float:
        """Returns the largest distance of a data set's chance from that of free bits."""
        ones = self.ones()
        free = self.joint.shape[0] * [1.0]
        product = np.array(free).reshape((-1,) + (1,) * self.num_users)
        for i in range(self.num_users):
            shape = [1] * (self.num_users + 1)
            shape[0], shape[i + 1] = -1, 2
            both = np.stack([1.0 - ones[:, i], ones[:, i]], axis=1)
            product = product * both.reshape(shape)
        return float(np.abs(product - self.joint).max())

    def error(self) -> float:
        """Returns the root mean squared error of the best there is: the posterior mean."""
        ones = self.ones()
        variance = (ones * (1.0 - ones)).sum(axis=1) / self.num_users**2
        return math.sqrt(float(self.chances @ variance))


def transcripts(tables: Sequence[Floats]) -> Transcripts:
    """Lists all transcripts of people who answer one after the other.

    Args:
        tables: Of each person: the chance of every message, for every transcript of those
            before her and either bit, shape (transcripts before, 2, messages).

    Raises:
        InvalidInputError: If tables do not follow each other, or are too large to list.
    """
    joint: Floats = np.ones((1, 1))
    for person, table in enumerate(tables):
        chances = np.asarray(table, dtype=np.float64)
        before = joint.shape[0]
        if chances.ndim != 3 or chances.shape[:2] != (before, 2):
            raise InvalidInputError(
                f"Expected a table of shape ({before}, 2, messages) for person {person}, "
                f"got {chances.shape}."
            )
        if not (np.all(chances >= 0.0) and np.allclose(chances.sum(axis=2), 1.0)):
            raise InvalidInputError("Expected chances that add up to 1.")
        if before * chances.shape[2] * 2 ** (person + 1) > _MOST:
            raise InvalidInputError(
                "Expected fewer people or messages: too many to list."
            )
        # (transcripts, bits so far) times (transcripts, bit, message).
        flat = joint.reshape(before, -1)
        grown = 0.5 * flat[:, None, :, None] * chances.transpose(0, 2, 1)[:, :, None, :]
        joint = grown.reshape(before * chances.shape[2], -1)
    chances = joint.sum(axis=1)
    seen = chances > 0.0
    given = joint[seen] / chances[seen, None]
    return Transcripts(chances[seen], given.reshape((-1,) + (2,) * len(tables)))


def adaptive_tables(
    num_users: int, epsilon: float, *, rng: np.random.Generator
) -> tuple[Floats, ...]:
    """Draws a protocol: one bit each, by randomizers that depend on all answers before.

    All of them use their whole budget: with the chance of a 1 drawn evenly for one value,
    that for the other is the largest that the budget allows.

    Args:
        num_users: n.
        epsilon: Everybody's budget.
        rng: A simulation's generator.
    """
    people, budget = checked(num_users, epsilon)
    found, before = [], 1
    for _ in range(people):
        low = rng.random(before)
        high = np.minimum(low * math.exp(budget), 1.0 - (1.0 - low) * math.exp(-budget))
        ones = np.stack([low, high], axis=1)
        swapped = rng.random(before) < 0.5
        ones[swapped] = ones[swapped, ::-1]
        found.append(np.stack([1.0 - ones, ones], axis=2))
        before *= 2
    return tuple(found)
