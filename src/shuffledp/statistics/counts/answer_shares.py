"""Estimates of a form: shares of people, and numbers in units of their own."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp.analyzer.counts import CountsEstimate
from shuffledp.identity import Identity
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.statistics.stage_runs import NumberRow
from shuffledp.types import Floats

Numbers = Callable[[float], tuple[NumberRow, ...]]


@dataclass(frozen=True, eq=False)
class AnswerShares:
    """Estimated shares of the people who took part, of all questions one after another.

    Attributes:
        counts: Of all buckets, in people.
        people: Of each question whose shares are shown, numbers of people.
        of_numbers: Of each question for numbers, its rows at a confidence.
    """

    counts: CountsEstimate
    people: tuple[QuestionEstimate, ...]
    of_numbers: tuple[Numbers, ...] = ()

    @property
    def value(self) -> Floats:
        """Unbiased estimates, shape (answers,); a rare answer may come out below 0."""
        return np.concatenate([each.value for each in self.people]) / self.num_users

    @property
    def standard_error(self) -> Floats:
        """About the shares of the people who took part, shape (answers,)."""
        errors = [each.standard_error for each in self.people]
        return np.concatenate(errors) / self.num_users

    @property
    def population_error(self) -> Floats:
        """Standard errors about the population that they come from, shape (answers,)."""
        f = np.clip(self.value, 0.0, 1.0)
        error: Floats = np.sqrt(self.standard_error**2 + f * (1.0 - f) / self.num_users)
        return error

    @property
    def num_users(self) -> int:
        """People in the collection."""
        return self.counts.num_users

    @property
    def identity(self) -> Identity:
        """Of the protocol that estimated them."""
        return self.counts.identity

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of two-sided confidence intervals, shape (answers, 2).

        Args:
            confidence: Probability that an interval contains the true share, in (0, 1).
        """
        ends = [each.interval(confidence) for each in self.people]
        return np.concatenate(ends) / self.num_users

    def numbers(self, confidence: float = 0.95) -> tuple[NumberRow, ...]:
        """Returns means and quantiles: see `NumbersEstimate`."""
        return tuple(row for rows in self.of_numbers for row in rows(confidence))
