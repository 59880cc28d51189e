"""A question for one, or several, of some options: how many people picked each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.projection import project, project_within
from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_label, check_labels
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.question import (
    AnswerGroup,
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.types import Ints


@dataclass(frozen=True, eq=False)
class ChoiceEstimate(QuestionEstimate):
    """Unbiased numbers of people who picked each option.

    >>> import numpy as np, shuffledp as sdp
    >>> errors = {"standard_error": np.full(3, 9.0), "excess_kurtosis": np.zeros(3)}
    >>> errors["message_shift"] = errors["step"] = np.ones(3)
    >>> value, options = np.array([70.0, 42.0, -8.0]), ("bus", "car", "tram")
    >>> raw = sdp.ChoiceEstimate(options, value, **errors, num_users=100, most=1)
    >>> raw.consistent().value.tolist()
    [64.0, 36.0, 0.0]

    Attributes:
        most: How many options a person may pick.
    """

    most: int

    def consistent(self, *, complete: bool = False) -> ConsistentEstimate:
        """Returns the nearest numbers of people that are possible.

        They are nearer to the truth, and biased: see `ConsistentEstimate`. Of one option
        per person, they add up to at most all people; of several, each is at most all.

        Args:
            complete: Whether all people answered: then numbers of one option per person add
                up to all people. Not seen in the reports, which hide who left it out.

        Raises:
            InvalidInputError: If people may pick several options, and `complete` is set.
        """
        n = float(self.num_users)
        expect_instance(complete, bool)
        if complete and self.most > 1:
            raise InvalidInputError(
                "Expected complete only where people pick one option: of several, the "
                "numbers have no known sum."
            )
        if self.most > 1:
            # Several options of one person have no sum to keep: each number is cut by
            # itself.
            projection = np.clip(self.value, 0.0, n)
        else:
            projection = (project if complete else project_within)(self.value, n)
        return ConsistentEstimate(self, projection, 0.0, n, self.labels)


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question for at most `most` of some options.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.ChoiceQuestion("color", ("red", "green", "blue"))
    >>> question.encode([2, 0, -1], rng=np.random.default_rng(1)).tolist()
    [[2], [0], [-1]]

    Attributes:
        name: Of the question.
        options: Different texts, at least 2. Answers are their positions, from 0, or -1
            for no answer.
        most: s, how many options a person may pick, from 1 to all.
    """

    name: str
    options: tuple[str, ...]
    most: int = 1

    def __post_init__(self) -> None:
        check_label(self.name, "a question's name")
        options = expect_list(self.options, "options", of="texts")
        object.__setattr__(self, "options", check_labels(options, "options"))
        if len(self.options) < 2 or len(set(self.options)) < len(self.options):
            raise InvalidInputError("Expected at least 2 options, all different.")
        whole_number(self.most, "options per person", least=1, most=len(self.options))

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """One group, with a bucket for each option."""
        # Every count is an estimate: its variance adds to the squared error as it is.
        return (AnswerGroup(len(self.options), self.most, 1.0),)

    def adapted(self, num_users: int, *, noise: float) -> "ChoiceQuestion":
        """Returns the question: there is nothing to choose."""
        del num_users, noise
        return self

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns positions of options, shape (n, most).

        Args:
            answers: Positions of options, shape (n,) if `most` is 1, otherwise (n, most),
                filled up with -1.
            rng: Not used: nothing is rounded.

        Raises:
            InvalidInputError: If shapes differ, or positions are out of range or repeated.
        """
        del rng
        buckets = unmasked(answers, "answers")
        if self.most == 1 and buckets.ndim == 1:
            buckets = buckets[:, None]
        last = len(self.options) - 1
        if (
            buckets.ndim != 2
            or buckets.shape[1] != self.most
            or buckets.dtype.kind not in "iu"
        ):
            raise InvalidInputError(
                f"Expected positions of options as rows of {self.most} whole numbers."
            )
        if buckets.size and not -1 <= buckets.min() <= buckets.max() <= last:
            raise InvalidInputError(
                f"Expected positions of options from 0 to {last}, or -1 for no answer; "
                f"{last + 1}, the number of options, is not one of them."
            )
        # Sorted, equal options are neighbors; -1, no answer, may stand in a row several
        # times.
        rows = np.sort(buckets, axis=1)
        if np.any((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] >= 0)):
            raise InvalidInputError("Expected different options in a row.")
        return buckets.astype(np.int64)

    def estimate(self, counts: QuestionCounts) -> ChoiceEstimate:
        """Returns the number of people who picked each option."""
        expect_instance(counts, QuestionCounts)
        picked_counts = counts.each_bucket(self.options)
        return ChoiceEstimate(**vars(picked_counts), most=self.most)
