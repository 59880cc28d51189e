"""A form whose numbers people may skip: its encoding, its devices and its estimates."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp.asked_combination import AskedCombination
from shuffledp.asked_number import AskedNumber
from shuffledp.asked_question import AskedQuestion, asked_questions, described
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.statistics.counts.counts_plan_rule import CountsPlanRule
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.questionnaire.distribution_question import (
    DistributionQuestion,
)
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.stage_runs import AnswerRun, NumberRow, NumbersEstimate
from shuffledp.statistics.survey import Offer
from shuffledp.tally import Tally

EDGES = (16.0, 25.0, 35.0, 45.0, 55.0, 65.0, 120.0)
WAY = AskedQuestion("Way?", ("bike", "bus", "car"))
AGE = AskedNumber.in_intervals("Age?", EDGES, unit="years", skippable=True)
MINUTES = AskedNumber.in_digits("Minutes?", 0, 120, digits=4, skippable=True)
ASKED = (WAY, AGE, MINUTES)
SURVEY = CountsSurvey((*ASKED, AskedCombination.among(ASKED, 0, 2)))
OFFER = Offer((1.0, 3.0), 1e-4, 0)
PEOPLE = (500, 1_500)


def values(rng: np.random.Generator, num_users: int) -> Any:
    """A way, an age, and a time: long ways are skipped the most."""
    way = rng.choice(4, num_users, p=[0.4, 0.3, 0.2, 0.1])
    age = rng.uniform(16.0, 120.0, num_users)
    age[rng.random(num_users) < 0.3] = np.nan
    minutes = np.clip(rng.normal(20.0 + 20.0 * way, 8.0), 0.0, 120.0)
    minutes[rng.random(num_users) < minutes / 120.0] = np.nan
    return np.column_stack([way, age, minutes])


@pytest.fixture(scope="module")
def chosen() -> Tally:
    return SURVEY.choosing(OFFER).exact(PEOPLE)


@pytest.fixture(scope="module")
def plan(chosen: Tally) -> Identity:
    rule = SURVEY.choosing(OFFER).make_rule()
    assert isinstance(rule, CountsPlanRule)
    return rule.plan(chosen, sum(PEOPLE), spare=0)


@pytest.mark.parametrize("fan_out", [2, 3, 4, 6])
def test_skips_are_encoded_as_by_a_questionnaire(fan_out: int) -> None:
    given = values(np.random.default_rng(1), 500)
    age, minutes = given[:, 1], given[:, 2]
    rng, again = np.random.default_rng(2), np.random.default_rng(2)
    asked = AskedNumber.in_intervals("A", EDGES, fan_out=fan_out, skippable=True)

    buckets = FormEncoding((asked, MINUTES)).encode(given[:, 1:], rng=rng)

    tree = DistributionQuestion("age", EDGES, fan_out, skippable=True)
    digits = NumberQuestion("minutes", 0, 120, 4, skippable=True)
    own = [tree.encode(age, rng=again), digits.encode(minutes, rng=again)]
    assert np.array_equal(buckets, np.concatenate(own, axis=1))
    groups = (*tree.groups, *digits.groups)
    encoded = FormEncoding((asked, MINUTES)).groups
    assert [each.buckets for each in encoded] == [each.buckets for each in groups]


def test_who_skips_lies_in_no_cell_of_a_combination() -> None:
    given = values(np.random.default_rng(1), 500)
    way, minutes = given[:, 0].astype(int), given[:, 2]
    rng, again = np.random.default_rng(2), np.random.default_rng(2)

    encoded = FormEncoding(SURVEY.questions).encode(given, rng=rng)

    own = NumberQuestion("m", 0, 120, 4, skippable=True).encode(minutes, rng=again)
    missing = np.isnan(minutes)
    rounded = np.where(missing, 0.0, own @ np.array([8, 4, 2, 1]) * 8.0)
    group = np.where(missing | (way == 3), -1, way)
    by_way = GroupMeanQuestion("m", WAY.options, 0, 120, digits=4).encode(
        np.column_stack([group, rounded]), rng=again
    )
    assert np.array_equal(encoded[:, 7:], by_way)


def test_every_skip_sends_as_many_messages_as_a_number() -> None:
    encoding = FormEncoding(ASKED[1:])

    stated, skipped = encoding.encode(
        [[44.0, 30.0], [np.nan, np.nan]], rng=np.random.default_rng(1)
    )

    buckets = [group.buckets for group in encoding.groups]
    assert all(stated < buckets)
    assert skipped.tolist() == [count - 1 for count in buckets]


@pytest.mark.parametrize("number", [np.inf, -np.inf, 15.9, 120.1])
def test_only_nan_is_a_skip(number: float) -> None:
    with pytest.raises(InvalidInputError, match="Expected numbers in"):
        FormEncoding((AGE,)).encode([[number]], rng=np.random.default_rng(1))
    needed = replace(AGE, skippable=False, levels=((4, 2), (1, 6)))
    with pytest.raises(InvalidInputError, match="Expected numbers in"):
        FormEncoding((needed,)).encode([[np.nan]], rng=np.random.default_rng(1))


@pytest.mark.parametrize("runs", [4, pytest.param(40, marks=pytest.mark.slow)])
def test_means_and_quantiles_are_of_those_who_answered(
    runs: int, chosen: Tally, plan: Identity
) -> None:
    rng = np.random.default_rng(3)
    run = SURVEY.answering(OFFER, plan)
    given = values(rng, sum(PEOPLE))
    way, age, minutes = given.T
    shares = [np.bincount(way.astype(int), minlength=4)[:3]]
    shares += [np.histogram(age[~np.isnan(age)], EDGES)[0]]
    truth = np.concatenate(shares) / sum(PEOPLE)
    means = [np.nanmean(minutes), *(np.nanmean(minutes[way == k]) for k in range(3))]
    answered = [np.sum(~np.isnan(age)), np.sum(~np.isnan(minutes))]
    known = np.array([answered[0], means[0], answered[1], *means[1:]])
    levels = np.repeat(OFFER.choices, PEOPLE)
    found, of_numbers = [], []

    for _ in range(runs):
        rng.shuffle(levels)
        estimate = estimated(run, given, levels, chosen, rng)
        found.append((estimate.value - truth) / estimate.standard_error)
        rows = [row for row in estimate.numbers() if row.standard_error]
        errors = [row.standard_error for row in rows]
        of_numbers.append((np.array([row.value for row in rows]) - known) / errors)

    # Means and variances of standard normal numbers: five deviations of each. Ratios have
    # a bias of less than a tenth of an error besides.
    for deviations in (found, of_numbers):
        assert np.all(np.abs(np.mean(deviations, axis=0)) <= 5.0 / np.sqrt(runs) + 0.1)
        spread = np.var(deviations, axis=0) - 1.0
        assert np.all(np.abs(spread) <= 5.0 * np.sqrt(2.0 / runs))
    rows = estimate.numbers()
    assert [row.name for row in rows[4:]] == [
        "Age?: 90% are below",
        "Age?: answered",
        "Minutes?: mean",
        "Minutes?: answered",
        *(f"Minutes?: mean & Way?: {way}" for way in WAY.options),
    ]
    assert [row.unit for row in rows[4:8]] == ["years", "people", "", "people"]
    true_median = np.nanquantile(age, 0.5, method="inverted_cdf")
    (median,) = [row for row in rows if "50%" in row.name]
    assert_holds(median, true_median)


def assert_holds(row: NumberRow, truth: float) -> None:
    low, high = row.interval
    assert low is not None
    assert high is not None
    assert low <= truth <= high


def estimated(
    run: AnswerRun, given: Any, levels: Any, chosen: Tally, rng: np.random.Generator
) -> Any:
    messages = run.randomize(given, levels, rng=rng)
    assert run.code.known(messages.ravel()).all()
    estimate = run.estimate(run.tally(messages.ravel(), None), chosen)
    assert isinstance(estimate, NumbersEstimate)
    return estimate


def test_nothing_is_said_of_numbers_that_everybody_skipped(
    chosen: Tally, plan: Identity
) -> None:
    rng = np.random.default_rng(5)
    run = SURVEY.answering(OFFER, plan)
    given = values(rng, sum(PEOPLE))
    given[:, 1:] = np.nan

    estimate = estimated(run, given, np.repeat(OFFER.choices, PEOPLE), chosen, rng)

    rows = {row.name: row for row in estimate.numbers()}
    for name in ("Age?: 50% are below", "Minutes?: mean"):
        assert rows[name].interval == (None, None)
    assert rows["Age?: 50% are below"].value is None
    assert_holds(rows["Age?: answered"], 0.0)
    assert_holds(rows["Minutes?: answered"], 0.0)
    json.dumps([row.to_dict() for row in rows.values()], allow_nan=False)


def test_skippable_is_stated_where_it_is_and_nowhere_else() -> None:
    assert AGE.to_dict()["skippable"] is True
    assert asked_questions([each.to_dict() for each in ASKED]) == ASKED
    needed = AskedNumber.in_digits("Minutes?", 0, 120, digits=4)
    assert "skippable" not in needed.to_dict()
    for other in (False, None, 1, "true"):
        with pytest.raises(InvalidInputError):
            asked_questions([{**needed.to_dict(), "skippable": other}])
    lines = dict(described([MINUTES]))
    assert lines["number"].endswith(
        "3, 3, 3, 3 buckets, the last for people who skip it"
    )


@pytest.mark.parametrize(
    ("asked", "change"),
    [
        (AGE, {"levels": ((4, 2), (1, 6))}),
        (AGE, {"skippable": False}),
        (AGE, {"skippable": 1}),
        (MINUTES, {"levels": ((8, 2), (4, 2), (2, 2), (1, 2))}),
        (MINUTES, {"levels": ((8, 3), (4, 3), (2, 3), (1, 2))}),
        (MINUTES, {"skippable": False}),
        (MINUTES, {"skippable": None}),
    ],
    ids=str,
)
def test_other_encodings_of_skips_are_refused(
    asked: AskedNumber, change: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError):
        replace(asked, **change)


def test_a_file_says_which_numbers_may_be_skipped(tmp_path: Any) -> None:
    path = tmp_path / "form.toml"
    path.write_text(
        """
        [questions.way]
        options = ["bike", "bus", "car"]
        [questions.age]
        kind = "distribution"
        edges = [16, 25, 35, 45, 55, 65, 120]
        unit = "years"
        skippable = true
        [questions.minutes]
        kind = "number"
        low = 0
        high = 120
        digits = 4
        skippable = true
        [questions.by-way]
        kind = "group-mean"
        people = "way"
        number = "minutes"
        """,
        encoding="utf-8",
    )

    questions: Any = asked_questions(path)

    texts = zip(questions, ("Way?", "Age?", "Minutes?"), strict=False)
    assert tuple(replace(q, text=text) for q, text in texts) == ASKED
    assert questions[3] == SURVEY.questions[3]
