"""Shares of the people who answered, where their number is an estimate itself."""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.statistics.questionnaire.dishonest_shifts import furthest_ratio
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.types import Floats

# Fewest people that shares are divided by.
LEAST_ANSWERS = 1.0
# Standard errors from 0 at which a number of people may be divided by.
_FAR = 5.0


@dataclass(frozen=True, eq=False)
class ShareEstimate(QuestionEstimate):
    """Shares of those who answered: ratios of two unbiased estimates.

    Attributes:
        of_all: Shares of all people, answers or not.
        answered: The number of people who answered, shape (1,).
    """

    of_all: QuestionEstimate
    answered: QuestionEstimate

    @classmethod
    def of(
        cls,
        of_all: QuestionEstimate,
        answered: QuestionEstimate,
        linear: QuestionEstimate,
    ) -> "ShareEstimate":
        """Returns the ratios of two estimates.

        Args:
            of_all: Shares of all people.
            answered: The number of people who answered, shape (1,).
            linear: The linear part of the ratios, which has their errors.
        """
        n = of_all.num_users
        # Far from 0, ratios are about normal.
        is_known = answered.value[0] > _FAR * answered.standard_error[0]
        return cls(
            of_all.labels,
            of_all.value / (max(answered.value[0], LEAST_ANSWERS) / n),
            np.where(is_known, linear.standard_error, math.inf),
            np.where(is_known, linear.excess_kurtosis, 0.0),
            n,
            of_all,
            answered,
            # Dishonest people may skip, too: no multiple of one message bounds a ratio.
            message_shift=np.full(len(of_all.labels), math.inf),
            step=linear.step,
        )

    def manipulation(self, report_size: float, num_liars: int = 1) -> Floats:
        """Returns how far shares may be from those without dishonest people.

        It is infinite where these people could make up all who answered. Arguments and
        errors are those of `QuestionEstimate.manipulation`.
        """
        n = self.num_users
        answered_shift = self.answered.manipulation(report_size, num_liars)
        return furthest_ratio(
            self.of_all.value * n,
            np.broadcast_to(self.answered.value, self.value.shape),
            self.of_all.manipulation(report_size, num_liars) * n,
            np.broadcast_to(answered_shift, self.value.shape),
            LEAST_ANSWERS,
        )
