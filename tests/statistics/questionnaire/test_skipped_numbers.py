"""Numbers that people may leave out: as protected as an answer, and how many answered."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import asked_questions
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.questionnaire.meaning import meaning_of
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts
from shuffledp.statistics.questionnaire.question_file import questions_of

NUMBER = sdp.NumberQuestion("age", 0, 100, digits=5, skippable=True)
TREE = sdp.DistributionQuestion("age", tuple(range(0, 101, 10)), 3, skippable=True)
KINDS = [NUMBER, TREE]
IDS = ["number", "distribution"]


def exact_counts(question: Any, answers: Any, variances: Any) -> QuestionCounts:
    """Returns exact counts that state noise of the given variances."""
    buckets = question.encode(answers, rng=np.random.default_rng(1))
    groups = [
        np.bincount(buckets[:, index], minlength=group.buckets).astype(float)
        for index, group in enumerate(question.groups)
    ]
    return QuestionCounts(
        tuple(
            GroupCounts(held, variance, 0.0, 1)
            for held, variance in zip(groups, variances, strict=True)
        ),
        len(answers),
        0.0,
        0.0,
    )


def noisy(counts: QuestionCounts, rng: np.random.Generator) -> QuestionCounts:
    groups = tuple(
        replace(
            group,
            value=group.value
            + rng.normal(0.0, group.noise_variance**0.5, group.value.size),
        )
        for group in counts.groups
    )
    return replace(counts, groups=groups)


def variances_of(question: Any) -> list[float]:
    return [20.0 * (index + 1.0) for index in range(len(question.groups))]


ANSWERS = np.concatenate([np.linspace(0, 99, 900), np.full(300, np.nan)])


@pytest.mark.parametrize("question", KINDS, ids=IDS)
def test_those_who_skip_send_as_many_messages_as_others(question: Any) -> None:
    buckets = question.encode(ANSWERS, rng=np.random.default_rng(1))
    last = [group.buckets - 1 for group in question.groups]

    # A bucket of each group, which noise hides like any other, whatever the answer.
    assert np.all((buckets >= 0) & (buckets <= last))
    assert [group.most for group in question.groups] == [1] * len(last)
    assert np.all(buckets[900:] == last)


@pytest.mark.parametrize("question", KINDS, ids=IDS)
def test_numbers_of_other_questions_are_not_left_out(question: Any) -> None:
    with pytest.raises(InvalidInputError, match="numbers in"):
        replace(question, skippable=False).encode(ANSWERS, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match="skippable to be true or false"):
        replace(question, skippable="no")


def test_the_mean_is_of_those_who_answered() -> None:
    counts = exact_counts(NUMBER, ANSWERS, variances_of(NUMBER))

    estimate = NUMBER.estimate(counts)

    assert isinstance(estimate, sdp.GroupMeanEstimate)
    # Rounding to 31 steps of 900 numbers: 5 standard errors.
    assert abs(estimate.value[0] - 49.5) < 5 * 100 / 31 / 2 / 30
    assert estimate.people.value[0] == pytest.approx(900.0)


def test_the_number_of_people_is_the_least_squares_of_all_counts() -> None:
    counts = exact_counts(NUMBER, ANSWERS, variances_of(NUMBER))

    people = NUMBER.estimate(counts).people  # type: ignore[union-attr]

    # By generalized least squares: ones + zeros = N, and n - skips = N, of each digit.
    design, precision = [], []
    for group in counts.groups:
        design += [1.0, 1.0]
        precision += [1.0 / (2.0 * group.noise_variance), 1.0 / group.noise_variance]
    smallest = 1.0 / float(np.dot(np.square(design), precision))
    assert people.standard_error[0] ** 2 == pytest.approx(smallest)


@pytest.mark.slow
def test_intervals_of_means_and_of_people_cover() -> None:
    question = replace(NUMBER, digits=2)
    counts = exact_counts(question, ANSWERS, [900.0, 1_800.0])
    exact: Any = question.estimate(counts)
    rng = np.random.default_rng(2)

    rows = []
    for _ in range(200):
        drawn: Any = question.estimate(noisy(counts, rng))
        low, high = drawn.interval()[0]
        rows.append(
            (drawn.value[0], drawn.people.value[0], low <= exact.value[0] <= high)
        )

    means, people, covered = np.array(rows).T
    # A deviation from 200 draws is off by 5%; 5 of these. Rounding was drawn once.
    rounding = 50.0 / 3.0 / 900.0**0.5
    error = (exact.standard_error[0] ** 2 - rounding**2) ** 0.5
    assert means.std() == pytest.approx(error, rel=0.25)
    assert people.std() == pytest.approx(exact.people.standard_error[0], rel=0.25)
    # 95% at least, off by 1.5%; 5 of these.
    assert covered.mean() > 0.87


def test_the_distribution_is_of_those_who_answered() -> None:
    estimate = TREE.estimate(exact_counts(TREE, ANSWERS, variances_of(TREE)))

    np.testing.assert_allclose(
        estimate.distribution().value,
        [np.mean(ANSWERS[:900] < edge) for edge in range(10, 100, 10)],
    )
    assert estimate.answered.value[0] == pytest.approx(900.0)
    assert estimate.value.sum() == pytest.approx(900.0)
    assert estimate.value.size == 10
    assert estimate.quantiles([0.5])[0] == pytest.approx(49.5, abs=1.0)
    assert estimate.between(0, 50).value[0] == pytest.approx(np.sum(ANSWERS < 50))


@pytest.mark.slow
def test_errors_of_distributions_are_those_of_draws() -> None:
    counts = exact_counts(TREE, ANSWERS, variances_of(TREE))
    exact, rng = TREE.estimate(counts), np.random.default_rng(3)

    drawn = [TREE.estimate(noisy(counts, rng)) for _ in range(400)]

    below = np.array([each.distribution().value for each in drawn])
    answered = np.array([each.answered.value[0] for each in drawn])
    # A deviation from 400 draws is off by 3.5%; 5 of these.
    np.testing.assert_allclose(
        below.std(axis=0), exact.distribution().standard_error, rtol=0.18
    )
    stated = exact.answered.standard_error[0]
    assert answered.std() == pytest.approx(stated, rel=0.18)


def test_without_skips_everybody_answered() -> None:
    question = replace(TREE, skippable=False)
    counts = exact_counts(question, ANSWERS[:900], variances_of(question))
    estimate = question.estimate(counts)
    assert estimate.answered.value[0] == 900.0
    assert estimate.answered.standard_error[0] == 0.0


def test_of_too_few_answers_nothing_is_known() -> None:
    nobody = np.append(np.full(1_000, np.nan), 20.0)
    tree = TREE.estimate(exact_counts(TREE, nobody, variances_of(TREE)))
    assert np.all(np.isinf(tree.distribution().standard_error))
    assert tree.quantile_intervals([0.5]).tolist() == [[0.0, 100.0]]
    mean = NUMBER.estimate(exact_counts(NUMBER, nobody, variances_of(NUMBER)))
    assert np.all(np.isinf(mean.interval()))


@pytest.mark.parametrize("question", KINDS, ids=IDS)
def test_consistent_answers_are_possible_with_skips(question: Any) -> None:
    counts = exact_counts(question, ANSWERS, [9_000.0] * len(question.groups))
    raw = question.estimate(noisy(counts, np.random.default_rng(4)))

    consistent = raw.consistent()

    people = consistent.people if question is NUMBER else consistent.answered
    assert 0.0 <= people.value[0] <= len(ANSWERS)
    if question is TREE:
        assert consistent.value.min() >= 0.0
        assert consistent.value.sum() == pytest.approx(people.value[0])


def test_questions_without_the_term_mean_what_they_meant() -> None:
    questions = [
        sdp.NumberQuestion("age", 0, 100, digits=2),
        sdp.DistributionQuestion("x", (0, 1, 2), 2),
    ]
    assert meaning_of(questions) == DIGEST
    for index, question in enumerate(questions):
        changed: list[Any] = [*questions]
        changed[index] = replace(question, skippable=True)  # type: ignore[type-var]
        assert meaning_of(changed) != DIGEST


# Of the first version that had these questions.
DIGEST = "3f61b10cacd57a64377badf7f6926370561a438ecf07e5ecd277849da7aacdb5"


def test_a_rehearsal_says_how_many_answered() -> None:
    terms = {"kind": "number", "low": 0, "high": 100, "digits": 2, "skippable": True}
    people = {"age": [50.0] * 1_500 + [None] * 500}

    result = sdp.rehearse(people, questions={"age": terms}, targets=2.0, seed=1)

    mean, answered = result.summary.rows
    assert (mean.truth, answered.truth) == (50.0, 0.75)
    assert mean.covered
    assert answered.covered
    assert answered.name == "answered"


def test_forms_refuse_numbers_that_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "form.toml"
    path.write_text(
        '[questions.age]\nkind = "number"\nlow = 0\nhigh = 9\nskippable = true\n'
    )
    assert questions_of(path).questions[0].skippable  # type: ignore[attr-defined]
    (asked,) = asked_questions(path) or ()
    assert isinstance(asked, AskedNumber)
    assert asked.skippable
