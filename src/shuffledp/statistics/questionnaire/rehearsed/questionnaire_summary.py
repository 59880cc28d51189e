"""A questionnaire planned and run on known answers, and its summary."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp.labels import StatisticLabels
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.manipulation import Manipulation, manipulation_of
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question_file import QuestionFile
from shuffledp.statistics.questionnaire.questionnaire_plan import (
    QuestionnairePlan,
    plan_questionnaire,
)
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import AnswerColumns
from shuffledp.statistics.rehearsal_stage import Stage
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import CONSISTENT_NOTE, with_consistent
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.tally import Tally
from shuffledp.types import Floats

# A simulation keeps the messages of all people in memory at once.
MAX_MESSAGES = 3 * 10**8

_UNBIASED = (
    "Unbiased whatever targets depend on: all people send all answers, with noise that is "
    "enough for the smallest target."
)
_SKIPS = "A question that is left out is as protected as an answer: noise hides which."
_COMPLETE = (
    "Consistent shares add up to 1 where everybody of this table answered; reports do not "
    "tell: a collection in which questions are left out has sums of at most 1."
)


def rehearse_questionnaire(
    words: StatisticLabels,
    described: QuestionFile,
    answered: Mapping[str, AnswerColumns],
    answers: Mapping[str, NDArray[Any]],
    targets: Floats,
    *,
    stage: Stage,
    source: str,
    max_messages: int | None = None,
    consistent: bool = False,
) -> Summary:
    """Plans for these targets, randomizes, shuffles, estimates, and sums up.

    Args:
        words: Of the statistic.
        described: The questions.
        answered: How answers to each question were read, by its name.
        answers: Of n people to each question, by its name.
        targets: Central epsilon of each person, shape (n,).
        stage: Settings.
        source: Origin of the answers, as a phrase.
        max_messages: Messages of a person in the mean; None for the usual limit.
        consistent: Whether possible numbers stand beside the estimates.

    Raises:
        InvalidInputError: If a target is not above 0, or see `run_plan`.
        CertificationError: If nothing is found that can be proven.
    """
    people = Population.from_budgets(targets)
    stage.on_step("plan")
    plan = plan_questionnaire(
        described.questions,
        _wish_of(people, stage.delta),
        interest=described.interest,
        max_messages=max_messages,
        expected_means=described.expected_means,
        on_step=stage.on_step,
    )
    return run_plan(
        words,
        plan,
        answered,
        answers,
        targets,
        stage=stage,
        source=source,
        consistent=consistent,
    )


def run_plan(
    words: StatisticLabels,
    plan: QuestionnairePlan,
    answered: Mapping[str, AnswerColumns],
    answers: Mapping[str, NDArray[Any]],
    targets: Floats,
    *,
    stage: Stage,
    source: str,
    consistent: bool = False,
) -> Summary:
    """Randomizes, shuffles, estimates, and sums up, as a plan says.

    Args:
        words: Of the statistic.
        plan: For people of these targets.
        answered: How answers to each question were read, by its name.
        answers: Of n people to each question, by its name.
        targets: Central epsilon of each person, shape (n,).
        stage: Settings.
        source: Origin of the answers, as a phrase.
        consistent: Whether possible numbers stand beside the estimates.

    Raises:
        InvalidInputError: If all messages together are too many for one process.
    """
    tally = _tally(plan, answers, targets, stage)
    summary = summary_of(
        words,
        plan.questionnaire,
        answered,
        {name: each.truth(answers[name]) for name, each in answered.items()},
        (plan.guarantee, _size_sentence(plan)),
        (tally, Population.from_budgets(targets)),
        stage=stage,
        source=source,
        consistent=consistent,
    )
    return replace(summary, plan=plan)


def summary_of(
    words: StatisticLabels,
    asked: Questionnaire,
    answered: Mapping[str, AnswerColumns],
    truths: Mapping[str, Any],
    certified: tuple[Guarantee, str],
    collected: tuple[Tally, Population],
    *,
    stage: Stage,
    source: str,
    consistent: bool = False,
) -> Summary:
    """Estimates from a tally, and sums up.

    Args:
        words: Of the statistic.
        asked: The questionnaire that ran.
        answered: How answers to each question were read, by its name.
        truths: Of each question, from its `answered`.
        certified: The guarantee, and a sentence on the messages of a report.
        collected: The tally of all reports, and the people who sent them.
        stage: Settings.
        source: Origin of the answers, as a phrase.
        consistent: Whether possible numbers stand beside the estimates.
    """
    (guarantee, sent), (tally, people) = certified, collected
    stage.on_step("estimate")
    estimates = asked.estimate(tally, people)
    sections = tuple(
        section
        for name, estimate in estimates.items()
        for section in _question_sections(
            answered[name],
            estimate,
            truths[name],
            stage.confidence,
            consistent,
        )
    )
    circumstances = stage.circumstances(source)
    return Summary(
        words=words,
        source=source,
        rows=tuple(row for section in sections for row in section.rows),
        mode="agnostic",
        num_users=people.num_users,
        seed=stage.seed,
        confidence=stage.confidence,
        unbiased_if=_UNBIASED,
        guarantee=guarantee,
        manipulation=_manipulation(asked, people),
        caveats=(
            _SKIPS,
            sent,
            *((CONSISTENT_NOTE, _COMPLETE) if consistent else ()),
            *circumstances.caveats,
        ),
        warnings=circumstances.warnings,
        parts=sections,
        estimates=estimates,
    )


def _question_sections(
    answered: AnswerColumns,
    estimate: Any,
    truth: Any,
    confidence: float,
    consistent: bool,
) -> tuple[SummarySection, ...]:
    """Returns the sections of a question, with possible numbers if they are wanted."""
    sections = answered.sections(estimate, truth, confidence)
    if not consistent:
        return sections
    possible = answered.sections(
        answered.consistent(estimate, truth), truth, confidence
    )
    return tuple(
        replace(
            section,
            rows=tuple(
                with_consistent(
                    section.rows, _possible_values(section, projected_section)
                )
            ),
        )
        for section, projected_section in zip(sections, possible, strict=True)
    )


def _possible_values(
    section: SummarySection, projected_section: SummarySection
) -> Floats:
    """Returns possible numbers of a section's rows, NaN where nothing is known."""
    return np.array(
        [
            math.nan if math.isnan(row.estimate) else other.estimate
            for row, other in zip(section.rows, projected_section.rows, strict=True)
        ]
    )


def _wish_of(people: Population, delta: float) -> Wish:
    counts = zip(people.epsilons.tolist(), people.counts.tolist(), strict=True)
    return Wish(targets=dict(counts), delta=delta)


def _tally(
    plan: QuestionnairePlan,
    answers: Mapping[str, NDArray[Any]],
    targets: Floats,
    stage: Stage,
) -> Tally:
    """Returns the tally of all people's shuffled reports."""
    asked = plan.questionnaire
    size = plan.messages if plan.report_size is None else plan.report_size
    if targets.size * size > MAX_MESSAGES:
        raise InvalidInputError(
            f"Expected at most {MAX_MESSAGES:,} messages from all people together, got "
            f"{targets.size:,} people with {size:,.0f} each."
        )
    stage.on_step("randomize")
    reports = asked.randomize(answers, targets, rng=stage.rng)
    stage.on_step("shuffle")
    shuffled = shuffle(reports, rng=stage.rng)
    del reports  # Unshuffled messages are stored no longer than needed.
    return asked.tally(shuffled)


def _manipulation(asked: Questionnaire, people: Population) -> Manipulation:
    """Returns by how much dishonest people can move the share of people in a bucket."""
    counts, n = asked.counts, people.num_users
    even = [np.full(g.buckets, g.most / g.buckets) for g in counts.groups]
    errors = np.concatenate(counts.predicted_errors(people, even)) / n
    return manipulation_of(
        lambda liars: np.concatenate(counts.manipulation(people, liars)) / n,
        num_users=n,
        errors=errors,
    )


def _size_sentence(plan: QuestionnairePlan) -> str:
    size = (
        "reports of varying size"
        if plan.report_size is None
        else f"reports of {plan.report_size:,}"
    )
    smallest_target = min(level.target or 0.0 for level in plan.guarantee.levels)
    return (
        f"{plan.name.capitalize()} for target {plain(smallest_target)}: "
        f"{plan.messages:.3g} messages per person in the mean, {size}."
    )
