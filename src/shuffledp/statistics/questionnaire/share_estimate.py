"""Shares of the people who answered, where their number is an estimate itself."""

from dataclasses import dataclass

import numpy as np

from shuffledp.statistics.questionnaire.dishonest_shifts import furthest_ratio
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.types import Floats

# Fewest people that shares are divided by.
LEAST_ANSWERS = 1.0


@dataclass(frozen=True, eq=False)
class ShareEstimate(QuestionEstimate):
    """Shares of those who answered: ratios of two unbiased estimates.

    Attributes:
        of_all: Shares of all people, answers or not.
        answered: The number of people who answered, shape (1,).
    """

    of_all: QuestionEstimate
    answered: QuestionEstimate

    def manipulation(self, report_size: float, num_liars: int = 1) -> Floats:
        """Returns how far shares may be from those without dishonest people.

        It is infinite where these people could make up all who answered. Arguments and
        errors are those of `QuestionEstimate.manipulation`.
        """
        n = self.num_users
        answered = self.answered.manipulation(report_size, num_liars)
        return furthest_ratio(
            self.of_all.value * n,
            np.broadcast_to(self.answered.value, self.value.shape),
            self.of_all.manipulation(report_size, num_liars) * n,
            np.broadcast_to(answered, self.value.shape),
            LEAST_ANSWERS,
        )
