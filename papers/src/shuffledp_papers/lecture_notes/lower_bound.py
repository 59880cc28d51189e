"""Lower bound of order 1 / sqrt(n) for any local mean of bits, by all transcripts.

Bits are uniform; users answer one after the other, each with a budget of eps and a
randomizer that may depend on all earlier answers. Given the transcript a, bits stay
independent, and

    P(X_i = 1 | A = a) lies in [1 / (e^eps + 1), e^eps / (e^eps + 1)],

so that the mean squared error of any estimator, about the mean of the bits, is at least

    e^eps / ((e^eps + 1)^2 n),

which randomized response attains for every n.
At eps = 1 these probabilities lie in [0.269, 0.731], within the printed [1/4, 3/4].

Source: Wang, lecture notes, Theorem 9.2, after Chan, Shi, Song (2012), "Optimal lower bound
for differentially private multi-party aggregation".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats
from shuffledp_papers.lecture_notes.mean_errors import checked

# The largest number of transcripts times data sets that is enumerated.
_MOST = 2**22


def least_error(num_users: int, epsilon: float) -> float:
    """Returns the least root mean squared error that any protocol has on all data sets.

    >>> round(least_error(100, 1.0), 5)
    0.04434
    """
    people, budget = checked(num_users, epsilon)
    # e^eps / (e^eps + 1)^2 = 1 / (4 cosh(eps / 2)^2), without overflow.
    # A mean over data sets: some data set has at least that error.
    return 0.5 / math.cosh(budget / 2.0) / math.sqrt(people)


@dataclass(frozen=True, eq=False)
class Transcripts:
    """Posterior distributions of uniform bits, given a transcript.

    Attributes:
        probabilities: Probability of each transcript, shape (transcripts,).
        joint: Probability of every data set, given a transcript, shape
            (transcripts, 2, ..., 2).
    """

    probabilities: Floats
    joint: Floats

    @property
    def num_users(self) -> int:
        """Number of users."""
        return self.joint.ndim - 1

    def ones(self) -> Floats:
        """Returns P(X_i = 1 | A = a), shape (transcripts, n)."""
        # By Bayes' rule. The printed proof ends with P(A = a | X_i = 1) instead.
        n = self.num_users
        others = [tuple(j + 1 for j in range(n) if j != i) for i in range(n)]
        return np.stack([self.joint.sum(axis=axes)[:, 1] for axes in others], axis=1)

    def dependence(self) -> float:
        """Returns the largest distance of a posterior from a product distribution."""
        ones = self.ones()
        # 0 up to rounding: given the transcript, bits stay independent.
        free = self.joint.shape[0] * [1.0]
        product = np.array(free).reshape((-1,) + (1,) * self.num_users)
        for i in range(self.num_users):
            shape = [1] * (self.num_users + 1)
            shape[0], shape[i + 1] = -1, 2
            both = np.stack([1.0 - ones[:, i], ones[:, i]], axis=1)
            product = product * both.reshape(shape)
        return float(np.abs(product - self.joint).max())

    def error(self) -> float:
        """Returns the root mean squared error of the posterior mean, the least one."""
        # The notes write the distance to the transcript; bounded is that to the analyst's
        # output, which is least for the posterior mean.
        ones = self.ones()
        # Given a transcript, bits are independent: variances add up.
        variance = (ones * (1.0 - ones)).sum(axis=1) / self.num_users**2
        return math.sqrt(float(self.probabilities @ variance))


def transcripts(tables: Sequence[Floats]) -> Transcripts:
    """Computes all transcripts of users who answer one after the other.

    Args:
        tables: Per user: the probability of every message, for every earlier transcript
            and either bit, shape (earlier transcripts, 2, messages).

    Raises:
        InvalidInputError: If tables do not follow each other, or are too large to list.
    """
    joint: Floats = np.ones((1, 1))
    for person, table in enumerate(tables):
        probabilities = np.asarray(table, dtype=np.float64)
        before = joint.shape[0]
        if probabilities.ndim != 3 or probabilities.shape[:2] != (before, 2):
            raise InvalidInputError(
                f"Expected a table of shape ({before}, 2, messages) for person {person}, "
                f"got {probabilities.shape}."
            )
        if not (
            np.all(probabilities >= 0.0) and np.allclose(probabilities.sum(axis=2), 1.0)
        ):
            raise InvalidInputError("Expected probabilities that add up to 1.")
        if before * probabilities.shape[2] * 2 ** (person + 1) > _MOST:
            raise InvalidInputError(
                "Expected fewer people or messages: too many to list."
            )
        # (transcripts, bits so far) times (transcripts, bit, message).
        flat = joint.reshape(before, -1)
        grown = (
            0.5
            * flat[:, None, :, None]
            * probabilities.transpose(0, 2, 1)[:, :, None, :]
        )
        joint = grown.reshape(before * probabilities.shape[2], -1)
    # Transcripts of probability 0 have no posterior.
    probabilities = joint.sum(axis=1)
    possible = probabilities > 0.0
    given = joint[possible] / probabilities[possible, None]
    return Transcripts(
        probabilities[possible], given.reshape((-1,) + (2,) * len(tables))
    )


def adaptive_tables(
    num_users: int, epsilon: float, *, rng: np.random.Generator
) -> tuple[Floats, ...]:
    """Draws a protocol of one bit per user, each randomizer depending on all answers.

    Args:
        num_users: n.
        epsilon: The local budget of every user.
        rng: A simulation's generator.
    """
    people, budget = checked(num_users, epsilon)
    tables, before = [], 1
    for _ in range(people):
        low = rng.random(before)
        # The whole budget is used: the largest P(1) that it allows for the other value.
        high = np.minimum(low * math.exp(budget), 1.0 - (1.0 - low) * math.exp(-budget))
        ones = np.stack([low, high], axis=1)
        # Either value may be the one with the larger P(1).
        swapped = rng.random(before) < 0.5
        ones[swapped] = ones[swapped, ::-1]
        tables.append(np.stack([1.0 - ones, ones], axis=2))
        before *= 2
    return tuple(tables)
