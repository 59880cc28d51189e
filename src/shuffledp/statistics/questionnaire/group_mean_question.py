"""A question for a number and a group: the mean, and the number of people, by group.

Numbers are rounded to digits as in `NumberQuestion`; every digit has two buckets for each
group of people. With w_j for the weight of digit j, T is the sum over j of
w_j (ones - zeros), the sum of a group's numbers scaled to [-1, 1]; every digit also counts
the group's people, N = ones + zeros. With V_j for the noise variance of a bucket,

    var T = sum over j of 2 V_j w_j^2,  var N = 2 / (sum over j of 1 / V_j),  cov(T, N) = 0

if digits are weighted by 1 / V_j in N. No message of its own is needed for N: noise of
deviation 1 / mu is divided best with V_j = 2 / (mu^2 w_j), at which var T = var N =
4 / mu^2. That is the error of Gaussian noise of a trusted curator on (T, N), whose
sensitivity is 2: one number may change from -1 to 1, or one person from group to group.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import as_whole, float_array, unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_labels
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.group_mean_estimate import GroupMeanEstimate
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.question import (
    AnswerGroup,
    QuestionCounts,
)
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class GroupMeanQuestion:
    """A question for a group and a number, to estimate the mean by group.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.GroupMeanQuestion("pay", ("east", "west"), 0, 3, digits=2)
    >>> question.encode([[0, 1.0], [1, 2.0]], rng=np.random.default_rng(1)).tolist()
    [[0, 1], [3, 2]]

    Attributes:
        name: Of the question.
        people: Groups of people, as different texts, at least 2.
        low: Smallest possible number.
        high: Largest possible number.
        digits: J, as of `NumberQuestion`; a planner chooses for groups of equal size.
    """

    name: str
    people: tuple[str, ...]
    low: float
    high: float
    digits: int | None = None

    def __post_init__(self) -> None:
        people = check_labels(expect_list(self.people, "groups", of="texts"), "groups")
        object.__setattr__(self, "people", people)
        if len(people) < 2 or len(set(people)) < len(people):
            raise InvalidInputError("Expected at least 2 groups, as different texts.")
        # Raises if a term of the number is out of range.
        _ = self._number

    @property
    def _number(self) -> NumberQuestion:
        return NumberQuestion(self.name, self.low, self.high, self.digits)

    @property
    def _weights(self) -> Floats:
        parts = [group.error_weight for group in self._number.groups]
        return np.sqrt(2.0 * np.array(parts))

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """Two buckets per group of people for each digit, the most significant first."""
        return tuple(
            AnswerGroup(2 * len(self.people), 1, group.error_weight)
            for group in self._number.groups
        )

    def adapted(self, num_users: int, *, noise: float) -> "GroupMeanQuestion":
        """Returns the question with a number of digits: see `Question.adapted`."""
        in_group = max(as_whole(num_users, "people") // len(self.people), 1)
        return replace(self, digits=self._number.adapted(in_group, noise=noise).digits)

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns buckets of digits, 2 x group + digit, shape (n, digits).

        Args:
            answers: The position of each person's group, from 0, and their number, shape
                (n, 2). The position -1 stands for no answer; the number beside it has
                to be in range, too, and counts nowhere.
            rng: See `Question.encode`.

        Raises:
            InvalidInputError: If the shape is another, or an answer is out of range.
        """
        rows = unmasked(answers, "answers")
        if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iuf":
            raise InvalidInputError("Expected rows of a group's position and a number.")
        last = len(self.people) - 1
        position = float_array(rows[:, 0], "positions of groups")
        if not np.all(
            (position >= -1) & (position <= last) & (position == np.floor(position))
        ):
            raise InvalidInputError(
                f"Expected positions of groups from 0 to {last}, or -1 for no answer; "
                f"{last + 1}, the number of groups, is not one of them."
            )
        digits = self._number.encode(rows[:, 1], rng=rng)
        group = position.astype(np.int64)[:, None]
        return np.where(group >= 0, 2 * group + digits, -1)

    def estimate(self, counts: QuestionCounts) -> GroupMeanEstimate:
        """Returns the mean of each group's numbers."""
        expect_instance(counts, QuestionCounts)
        return GroupMeanEstimate.of(
            counts, self.people, self._weights, self.low, self.high
        )
