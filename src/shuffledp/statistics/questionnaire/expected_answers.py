"""Answers that predicted errors of a questionnaire assume."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np

from shuffledp.arguments import expect_mapping
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.number_range import half_range
from shuffledp.planning.collection_design import ValueAssumption
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import Question, QuestionEstimate
from shuffledp.types import Floats


def expected_counts(
    asked: Questionnaire, num_users: int, means: Mapping[str, float]
) -> tuple[Floats, ...]:
    """Returns counts of all groups' buckets, if answers are spread evenly over buckets.

    Args:
        asked: The questionnaire.
        num_users: How many people take part.
        means: Of some numbers, by question; of others the middle of the range.
    """
    counts = []
    for question in asked.questions:
        lean = 0.0
        if _has_mean(question) and question.name in means:
            half = half_range(question.low, question.high)
            lean = (means[question.name] - question.low - half) / half
        for group in question.groups:
            even = np.full(group.buckets, num_users * group.most / group.buckets)
            if lean:
                # Two buckets for each digit: weights of all digits add up to 1, so that
                # equally likely ones in all digits have this mean.
                pairs = group.buckets // 2 * 2
                even[0:pairs:2] *= 1.0 - lean
                even[1:pairs:2] *= 1.0 + lean
            counts.append(even)
    return tuple(counts)


def assumed_means(
    questions: Sequence[Question], means: Mapping[str, float] | None
) -> ValueAssumption | None:
    """Returns the means that predicted errors assume; None if no error depends on one.

    Args:
        questions: That are asked.
        means: That are stated, by question.

    Raises:
        InvalidInputError: If one is of no question with a mean, or out of its range.
    """
    stated = dict(expect_mapping(means or {}, "expected means by question"))
    numbers = {each.name: each for each in questions if _has_mean(each)}
    unknown = sorted(str(name) for name in stated if name not in numbers)
    if unknown:
        raise InvalidInputError(
            "Expected means of questions that estimate a mean, got "
            f"{', '.join(unknown)}."
        )
    for name, stated_mean in stated.items():
        low, high = numbers[name].low, numbers[name].high
        if not low <= as_number(stated_mean, "expected mean") <= high:
            raise InvalidInputError(
                f"Expected a mean of {name} from {low:g} to {high:g}, got {stated_mean:g}."
            )
    # Without skips, the error of a mean of all people is that of any numbers.
    values = {
        name: float(stated.get(name, each.low + half_range(each.low, each.high)))
        for name, each in numbers.items()
        if isinstance(each, GroupMeanQuestion) or each.skippable
    }
    if not values:
        return None
    means_text = ", ".join(f"{name} {plain(value)}" for name, value in values.items())
    skips = any(isinstance(numbers[name], NumberQuestion) for name in values)
    third = " One of three people is taken to skip a number." if skips else ""
    return ValueAssumption(
        values,
        f"Predicted errors of means assume a mean ({means_text}), and groups of equal "
        "size; expected_mean of a question (in Python expected_means) changes it. The "
        "farther a mean is from the middle of the range, and the smaller a group, the "
        f"larger is the error.{third}",
    )


def least_ratio(
    expected: Mapping[str, QuestionEstimate], other: Mapping[str, QuestionEstimate]
) -> float:
    """Returns the smallest ratio of two plans' errors, over all that are finite."""
    errors, others = (
        np.concatenate([_errors(each) for each in estimates.values()])
        for estimates in (expected, other)
    )
    is_known = np.isfinite(errors) & np.isfinite(others)
    return float(np.min(errors[is_known] / others[is_known], initial=np.inf))


def _errors(estimate: QuestionEstimate) -> Floats:
    # Of unlisted strings a plan knows none.
    if estimate.labels:
        return estimate.standard_error
    return np.array(list(estimate.predicted_errors.values()))


def _has_mean(question: Question) -> TypeGuard[NumberQuestion | GroupMeanQuestion]:
    return isinstance(question, NumberQuestion | GroupMeanQuestion)
