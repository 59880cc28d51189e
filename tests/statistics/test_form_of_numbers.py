"""A form with numbers and combinations: its encoding, its devices and its estimates."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp.asked_combination import AskedCombination
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.questionnaire.distribution_question import (
    DistributionQuestion,
)
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.table_question import TableQuestion
from shuffledp.statistics.stage_runs import AnswerRun, NumbersEstimate
from shuffledp.statistics.survey import Offer
from shuffledp.tally import Tally

EDGES = (16.0, 25.0, 35.0, 45.0, 55.0, 65.0, 120.0)
WAY = AskedQuestion("Way?", ("bike", "bus", "car"))
SMOKES = AskedQuestion("Smoker?", ("yes", "no"))
AGE = AskedNumber.in_intervals("Age?", EDGES, unit="years")
MINUTES = AskedNumber.in_digits("Minutes?", 0, 120, digits=4)
ASKED = (WAY, AGE, SMOKES, MINUTES)
BOTH = AskedCombination.among(ASKED, 0, 2)
BY_WAY = AskedCombination.among(ASKED, 0, 3)
SURVEY = CountsSurvey((*ASKED, BOTH, BY_WAY))
OFFER = Offer((1.0, 3.0), 1e-4, 0)
PEOPLE = (500, 1_500)


def values(rng: np.random.Generator, num_users: int) -> Any:
    """A way, whether people smoke, which some do not say, their age and a time."""
    way = rng.choice(3, num_users, p=[0.5, 0.3, 0.2])
    smokes = rng.choice([3, 4, 5], num_users, p=[0.2, 0.7, 0.1])
    age = rng.uniform(16.0, 120.0, num_users)
    minutes = np.clip(rng.normal(20.0 + 20.0 * way, 8.0), 0.0, 120.0)
    picked = np.sort(np.column_stack([way, smokes]), axis=1)
    return np.column_stack([picked, age, minutes])


@pytest.fixture(scope="module")
def chosen() -> Tally:
    return SURVEY.choosing(OFFER).exact(PEOPLE)


@pytest.fixture(scope="module")
def plan(chosen: Tally) -> Identity:
    return SURVEY.choosing(OFFER).make_rule().plan(chosen, sum(PEOPLE), spare=0)


def test_the_encoding_is_that_of_a_questionnaire() -> None:
    given = values(np.random.default_rng(1), 500)
    way, smokes = given[:, 0].astype(int), given[:, 1].astype(int) - 3
    smokes[smokes == 2] = -1
    age, minutes = given[:, 2], given[:, 3]
    # The same draws: only numbers that are rounded use any.
    rng, again = np.random.default_rng(2), np.random.default_rng(2)

    buckets = FormEncoding(SURVEY.questions).encode(given, rng=rng)

    tree = DistributionQuestion("age", EDGES, fan_out=4).encode(age, rng=again)
    digits = NumberQuestion("minutes", 0, 120, digits=4).encode(minutes, rng=again)
    table = TableQuestion("t", {"way": WAY.options, "smokes": SMOKES.options})
    cells = table.encode(np.column_stack([way, smokes]), rng=again)
    # Already rounded, so that both say the same of a person.
    rounded = digits @ np.array([8, 4, 2, 1]) * 8.0
    by_way = GroupMeanQuestion("m", WAY.options, 0, 120, digits=4).encode(
        np.column_stack([way, rounded]), rng=again
    )
    expected = [way[:, None], tree, smokes[:, None], digits, cells, by_way]
    assert np.array_equal(buckets, np.concatenate(expected, axis=1))


def test_a_number_on_an_edge_lies_above_it_and_ends_are_inside() -> None:
    encoding = FormEncoding((AGE,))

    buckets = encoding.encode(
        [[16.0], [24.9], [25.0], [65.0], [120.0]], rng=np.random.default_rng(1)
    )

    assert buckets.tolist() == [[0, 0], [0, 0], [0, 1], [1, 5], [1, 5]]


@pytest.mark.parametrize("number", [15.9, 120.1, -1e300, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", [2, 3])
def test_numbers_out_of_range_are_refused(number: float, column: int) -> None:
    row = [0.0, 3.0, 30.0, 30.0]
    row[column] = number if column == 2 or not 0 <= number <= 120 else 121.0

    with pytest.raises(InvalidInputError, match=r"Expected numbers in \["):
        FormEncoding(SURVEY.questions).encode([row], rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    "rows",
    [
        [[0.0, 0.5, 30.0, 30.0]],
        [[0.0, 6.0, 30.0, 30.0]],
        [[0.0, np.nan, 30.0, 30.0]],
        [[0.0, 1.0, 30.0, 30.0]],
        [["0", "3", "30", "30"]],
        [[True, True, True, True]],
        [[0.0]],
        [0.0, 3.0],
    ],
    ids=["half", "beyond", "NaN", "two ways", "text", "flags", "short", "flat"],
)
def test_answers_outside_the_form_are_refused(rows: Any) -> None:
    with pytest.raises(InvalidInputError):
        FormEncoding(SURVEY.questions).encode(rows, rng=np.random.default_rng(1))


@pytest.mark.slow
def test_shares_and_numbers_are_unbiased_and_their_errors_true(
    chosen: Tally, plan: Identity
) -> None:
    rng = np.random.default_rng(3)
    run = SURVEY.answering(OFFER, plan)
    given = values(rng, sum(PEOPLE))
    way, smokes = given[:, 0].astype(int), given[:, 1].astype(int) - 3
    shares = [
        np.bincount(way, minlength=3),
        np.histogram(given[:, 2], EDGES)[0],
        np.bincount(smokes, minlength=3)[:2],
        np.bincount((2 * way + smokes)[smokes < 2], minlength=6),
    ]
    truth = np.concatenate(shares) / sum(PEOPLE)
    means = [given[:, 3].mean(), *(given[way == k, 3].mean() for k in range(3))]
    levels = np.repeat(OFFER.choices, PEOPLE)
    found, of_means, runs = [], [], 40

    for _ in range(runs):
        rng.shuffle(levels)
        estimate = estimated(run, given, levels, chosen, rng)
        found.append((estimate.value - truth) / estimate.standard_error)
        rows = [row for row in estimate.numbers() if row.standard_error]
        errors = [row.standard_error for row in rows]
        of_means.append((np.array([row.value for row in rows]) - means) / errors)

    # Means and variances of 40 standard normal numbers: five deviations of each.
    for deviations in (found, of_means):
        assert np.all(np.abs(np.mean(deviations, axis=0)) <= 5.0 / np.sqrt(runs))
        spread = np.var(deviations, axis=0) - 1.0
        assert np.all(np.abs(spread) <= 5.0 * np.sqrt(2.0 / runs))


def estimated(
    run: AnswerRun, given: Any, levels: Any, chosen: Tally, rng: np.random.Generator
) -> Any:
    messages = run.randomize(given, levels, rng=rng)
    assert run.code.known(messages.ravel()).all()
    estimate = run.estimate(run.tally(messages.ravel(), None), chosen)
    assert isinstance(estimate, NumbersEstimate)
    return estimate


@pytest.mark.slow
def test_rows_say_what_they_are(chosen: Tally, plan: Identity) -> None:
    rng = np.random.default_rng(4)
    run = SURVEY.answering(OFFER, plan)
    levels = np.repeat(OFFER.choices, PEOPLE)
    estimate = estimated(run, values(rng, sum(PEOPLE)), levels, chosen, rng)

    rows = estimate.numbers()

    assert SURVEY.labels[3] == "Age?: 16 to 25 years"
    assert SURVEY.labels[-1] == "Way?: car & Smoker?: no"
    assert estimate.value.shape == (len(SURVEY.labels),)
    assert [row.name for row in rows[4:7]] == [
        "Age?: 90% are below",
        "Minutes?: mean",
        "Minutes?: mean & Way?: bike",
    ]
    assert all(row.interval[0] <= row.value <= row.interval[1] for row in rows)
    assert [row.unit for row in rows] == ["years"] * 5 + [""] * 4
    shifts = run.manipulation(run_tally(run, levels, rng), chosen, 1)
    assert shifts.shape == estimate.value.shape
    assert np.all(np.isfinite(shifts) & (shifts > 0.0))


def run_tally(run: AnswerRun, levels: Any, rng: np.random.Generator) -> Tally:
    messages = run.randomize(values(rng, levels.size), levels, rng=rng)
    return run.tally(messages.ravel(), None)


@pytest.mark.slow
def test_a_report_of_lies_moves_shares_as_far_as_stated_and_no_further(
    chosen: Tally, plan: Identity
) -> None:
    rng = np.random.default_rng(6)
    run = SURVEY.answering(OFFER, plan)
    levels = np.repeat(OFFER.choices, PEOPLE)
    messages = run.randomize(values(rng, levels.size), levels, rng=rng)
    stated = run.manipulation(run.tally(messages.ravel(), None), chosen, 1)
    before = run.estimate(run.tally(messages.ravel(), None), chosen).value
    largest = np.zeros(stated.shape)

    for bucket in range(run.code.count // 2):
        lies = messages.copy()
        lies[0] = 2 * bucket
        after = run.estimate(run.tally(lies.ravel(), None), chosen).value
        largest = np.maximum(largest, np.abs(after - before))

    assert np.all(largest <= stated)
    # The bound is for reports that were as bad before, in the other direction.
    assert np.all(largest >= stated / 2.5)


def test_a_group_that_may_be_empty_has_no_bounds(chosen: Tally, plan: Identity) -> None:
    rng = np.random.default_rng(5)
    run = SURVEY.answering(OFFER, plan)
    given = values(rng, sum(PEOPLE))
    given[:, 0] = 0.0

    estimate = estimated(run, given, np.repeat(OFFER.choices, PEOPLE), chosen, rng)

    assert estimate.numbers()[-1].interval == (None, None)


@pytest.mark.parametrize(
    "change",
    [
        {"levels": ((4, 2), (1, 7))},
        {"levels": ((1, 6),), "edges": (*EDGES[:-1], 130.0)},
        {"levels": ((1, 2), (4, 6))},
        {"levels": ((0, 2), (1, 6))},
        {"levels": ()},
        {"levels": ((2**31, 2), (1, 6))},
        {"levels": "16"},
        {"levels": ((4.0, 2), (1, 6))},
        {"levels": ((1, 2),), "steps": 1},
        {"edges": None},
        {"edges": None, "steps": 2},
        {"edges": None, "steps": True, "levels": ((1, 2),)},
        {"edges": EDGES[::-1]},
        {"edges": (16.0, float("nan"), 120.0), "levels": ((1, 2),)},
        {"low": float("nan")},
        {"low": 120.0},
        {"high": float("inf")},
        {"high": 1e16},
        {"text": " "},
        {"unit": None},
    ],
    ids=str,
)
def test_other_encodings_of_a_number_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        replace(AGE, **change)


@pytest.mark.parametrize(
    "questions",
    [
        (*ASKED, replace(BOTH, of=(2, 0))),
        (*ASKED, replace(BOTH, of=(0, 9))),
        (*ASKED, replace(BOTH, groups=(((0, 1, 3), (2, 1, 3)),))),
        (*ASKED, replace(BY_WAY, groups=BY_WAY.groups[1:])),
        (*ASKED, replace(BOTH, groups=BY_WAY.groups)),
        (WAY, MINUTES, AskedCombination((1, 0), (((1, 1, 2), (0, 1, 3)),))),
        (WAY, AGE, AskedCombination((0, 1), (((0, 1, 3), (1, 1, 6)),))),
        (MINUTES,),
        tuple(
            AskedNumber.in_digits(str(place), 0, 1, digits=24) for place in range(11)
        ),
    ],
    ids=[
        *("turned", "unknown", "cells", "digits", "of others"),
        *("number first", "intervals", "one mean", "groups"),
    ],
)
def test_forms_of_forged_combinations_are_refused(questions: Any) -> None:
    with pytest.raises(InvalidInputError):
        CountsSurvey(questions)
