"""Estimates of each question of a form: shares, quantiles and means.

The estimates are those of a questionnaire, from counts of the same buckets.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product

import numpy as np

from shuffledp.asked_combination import AskedCombination
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion, FormQuestion
from shuffledp.statistics.counts.answer_shares import Numbers
from shuffledp.statistics.questionnaire.distribution_estimate import (
    DistributionEstimate,
)
from shuffledp.statistics.questionnaire.distribution_question import (
    DistributionQuestion,
)
from shuffledp.statistics.questionnaire.group_mean_estimate import GroupMeanEstimate
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.number_question import (
    NumberEstimate,
    NumberQuestion,
)
from shuffledp.statistics.questionnaire.question import (
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.statistics.stage_runs import NumberRow

# Of people below a number.
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class EntryEstimate:
    """Estimates of one question, or of a combination.

    Attributes:
        people: Numbers of people whose shares are shown; None if there are none.
        numbers: Rows of means and quantiles; None if there are none.
    """

    people: QuestionEstimate | None
    numbers: Numbers | None


def share_labels(
    questions: tuple[FormQuestion, ...], asked: FormQuestion
) -> tuple[str, ...]:
    """Returns the labels of the shares of a question of a form.

    Args:
        questions: Of the form.
        asked: One of them.
    """
    before = ""
    if len(questions) > 1 and not isinstance(asked, AskedCombination):
        # In a form of one question its text stands above the table.
        before = f"{asked.text}: "
    if isinstance(asked, AskedQuestion):
        return tuple(before + option for option in asked.options)
    if isinstance(asked, AskedNumber):
        return tuple(
            before + _with_unit(f"{low:g} to {high:g}", asked.unit)
            for low, high in pairwise(asked.edges or ())
        )
    combined = [questions[index] for index in asked.of]
    if isinstance(combined[-1], AskedNumber):
        return ()
    answers = [
        [f"{choice.text}: {option}" for option in choice.options]
        for choice in combined
        if isinstance(choice, AskedQuestion)
    ]
    return tuple(" & ".join(cell) for cell in product(*answers))


def estimate_entry(
    questions: tuple[FormQuestion, ...], asked: FormQuestion, counts: QuestionCounts
) -> EntryEstimate:
    """Returns the estimates of a question of a form from the counts of its groups.

    Args:
        questions: Of the form.
        asked: One of them.
        counts: Of its groups, in their order.
    """
    labels = share_labels(questions, asked)
    if isinstance(asked, AskedNumber) and asked.edges is not None:
        tree = DistributionQuestion(
            "number", asked.edges, asked.fan_out, asked.skippable
        )
        distribution = tree.estimate(counts)
        quantiles = partial(_quantile_rows, asked, distribution)
        return EntryEstimate(distribution, quantiles)
    if isinstance(asked, AskedNumber):
        # Any valid name does: rows are named after the question of the form.
        digits = NumberQuestion(
            "number", asked.low, asked.high, len(asked.levels), asked.skippable
        )
        mean = digits.estimate(counts)
        return EntryEstimate(None, partial(_number_rows, asked, mean))
    if isinstance(asked, AskedCombination):
        choice, number = questions[asked.of[0]], questions[asked.of[-1]]
        if isinstance(number, AskedNumber):
            assert isinstance(choice, AskedQuestion)
            names = tuple(
                f"{number.text}: mean & {choice.text}: {option}"
                for option in choice.options
            )
            by_group = GroupMeanQuestion(
                "number", choice.options, number.low, number.high, len(number.levels)
            )
            means = by_group.estimate(counts)
            return EntryEstimate(None, partial(_mean_rows, number.unit, names, means))
    return EntryEstimate(counts.each_bucket(labels), None)


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def _quantile_rows(
    asked: AskedNumber, estimate: DistributionEstimate, confidence: float
) -> tuple[NumberRow, ...]:
    numbers = estimate.quantiles(_QUANTILES).tolist()
    intervals = estimate.quantile_intervals(_QUANTILES, confidence).tolist()
    # Of so few answers that there may be none, noise would be shown as quantiles.
    is_known = np.isfinite(estimate.distribution().standard_error).any()
    rows = tuple(
        # An interval ends at edges: there is no standard error.
        NumberRow(
            f"{asked.text}: {share:.0%} are below",
            asked.unit,
            number if is_known else None,
            None,
            (low, high) if is_known else (None, None),
        )
        for share, number, (low, high) in zip(
            _QUANTILES, numbers, intervals, strict=True
        )
    )
    return (*rows, *_answered_rows(asked, estimate.answered, confidence))


def _number_rows(
    asked: AskedNumber,
    estimate: NumberEstimate | GroupMeanEstimate,
    confidence: float,
) -> tuple[NumberRow, ...]:
    name = (f"{asked.text}: mean",)
    rows = _mean_rows(asked.unit, name, estimate, confidence)
    if isinstance(estimate, NumberEstimate):
        return rows
    return (*rows, *_answered_rows(asked, estimate.people, confidence))


def _answered_rows(
    asked: AskedNumber, people: QuestionEstimate, confidence: float
) -> tuple[NumberRow, ...]:
    """Returns the number of people who answered, where people may skip."""
    if not asked.skippable:
        return ()
    return _mean_rows("people", (f"{asked.text}: answered",), people, confidence)


def _mean_rows(
    unit: str, names: tuple[str, ...], estimate: QuestionEstimate, confidence: float
) -> tuple[NumberRow, ...]:
    rows = zip(
        names,
        estimate.value.tolist(),
        estimate.standard_error.tolist(),
        estimate.interval(confidence).tolist(),
        strict=True,
    )
    return tuple(
        NumberRow(
            name,
            unit,
            _finite_or_none(value),
            _finite_or_none(error),
            (_finite_or_none(low), _finite_or_none(high)),
        )
        for name, value, error, (low, high) in rows
    )


def _finite_or_none(number: float) -> float | None:
    """Returns a number, or None: of a group that may be empty nothing is known."""
    return number if math.isfinite(number) else None
