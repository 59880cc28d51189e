"""Known answers to questions: how columns are read, and what is shown of them."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl
import pytest

import shuffledp as sdp
from shuffledp.datasets.frames import Frame, rows_of
from shuffledp.datasets.missing import cleaned_rows
from shuffledp.errors import InvalidInputError
from shuffledp.statistics.charts import BarChart, CurveChart, HeatChart
from shuffledp.statistics.questionnaire.hashed.hashed_rows import HashedRows
from shuffledp.statistics.questionnaire.question import (
    GroupCounts,
    Question,
    QuestionCounts,
)
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    AnswerColumns,
    CountedColumns,
)
from shuffledp.statistics.questionnaire.rehearsed.column_kinds import columns_of
from shuffledp.statistics.questionnaire.texts.discovery_search import DiscoveryDesign
from shuffledp.statistics.questionnaire.texts.prefix_layout import PrefixLayout
from shuffledp.statistics.summary_section import SummarySection

PEOPLE = {
    "way": ["bus", "car", None, "bus", "car", "bus"],
    "papers": [["Post"], [], ["Star", "Post"], None, ["Star"], ["Post", "Post"]],
    "age": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
    "sex": ["f", "m", "f", None, "m", "m"],
    "home": ["city", "land", "city", "city", "city", None],
    "pay": [1.0, 2.0, None, 3.0, 5.0, 4.0],
    "page": [7, 99_999, 7, None, 7, 0],
    "word": ["tea", "rum", "tea", None, "coffee", "tea"],
}
ATTRIBUTES = {"sex": ("f", "m"), "home": ("city", "land")}


def cells(**changes: Any) -> AnswerCells:
    frame = Frame(pl.DataFrame({**PEOPLE, **changes}))
    return AnswerCells(cleaned_rows(rows_of(frame, [*PEOPLE])))


def columns(question: Question, *named: str) -> AnswerColumns:
    (found,) = columns_of([question], {question.name: named} if named else {})
    return found


def sections(
    question: Question, *named: str, consistent: bool = False, **changes: Any
) -> tuple[SummarySection, ...]:
    """Returns what is shown of the answers of everybody in PEOPLE, a thousand times."""
    answered = columns(question, *named)
    answers = np.concatenate([answered.read(cells(**changes))] * 1_000)
    n = answers.shape[0]
    noise = tuple(sdp.PoissonNoise(1.0) for _ in question.groups)
    asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=n)
    tally = asked.draw_tally(
        {question.name: answers}, np.full(n, 1.0), rng=np.random.default_rng(1)
    )
    people = sdp.Population.from_counts({1.0: n})
    estimate = asked.estimate(tally, people)[question.name]
    truth = answered.truth(answers)
    if consistent:
        estimate = answered.consistent(estimate, truth)
    return answered.sections(estimate, truth, 0.999)


def truths(section: SummarySection) -> dict[str, float | None]:
    return {row.name: row.truth for row in section.rows}


QUESTIONS: dict[str, tuple[Question, tuple[str, ...]]] = {
    "choice": (sdp.ChoiceQuestion("way", ("bus", "car", "train")), ()),
    "several": (sdp.ChoiceQuestion("papers", ("Post", "Star"), 2), ()),
    "number": (sdp.NumberQuestion("age", 0, 100, digits=12), ()),
    "distribution": (
        sdp.DistributionQuestion("age", (0, 20, 40, 60, 80), fan_out=2),
        (),
    ),
    "table": (sdp.TableQuestion("who", ATTRIBUTES), ()),
    "pairs": (sdp.PairsQuestion("who", ATTRIBUTES), ()),
    "group": (
        sdp.GroupMeanQuestion("pay", ("f", "m"), 0, 5, digits=12),
        ("sex", "pay"),
    ),
    "hashed": (
        sdp.HashedChoiceQuestion("page", 100_000, rows=HashedRows(100_000, 4, 10)),
        (),
    ),
    "strings": (
        sdp.UnlistedStringsQuestion(
            "word",
            3,
            design=DiscoveryDesign(PrefixLayout(24, 10, 4, 10, 3), 0.5, 100.0),
        ),
        (),
    ),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_possible_numbers_are_shown_as_estimates_are(kind: str) -> None:
    question, named = QUESTIONS[kind]

    raw = sections(question, *named)
    possible = sections(question, *named, consistent=True)

    for section, nearest in zip(raw, possible, strict=True):
        names = [row.name for row in section.rows]
        assert [row.name for row in nearest.rows] == names
        shares = nearest.words.display.factor == 100.0
        for row in nearest.rows:
            assert not shares or -1e-9 <= row.estimate <= 1.0 + 1e-9


@pytest.mark.parametrize("kind", QUESTIONS)
def test_estimates_are_near_the_truth_of_their_own_rows(kind: str) -> None:
    question, named = QUESTIONS[kind]

    shown = sections(question, *named)

    for section in shown:
        for row in section.rows:
            if row.details["quantity"] != "quantile":
                assert row.truth is not None
                # 5 standard errors, of about 15 estimates: a false alarm in 10^5 runs.
                assert abs(row.estimate - row.truth) < 5.0 * row.standard_error
            assert row.details["question"] == question.name
            assert row.details["error"] == row.estimate - (row.truth or 0.0)


def test_truths_are_those_of_hand_counts() -> None:
    (way,) = sections(*QUESTIONS["choice"][:1])
    (papers,) = sections(QUESTIONS["several"][0])
    (age,) = sections(QUESTIONS["number"][0])
    below, quantiles, ranges = sections(QUESTIONS["distribution"][0])
    (table,) = sections(QUESTIONS["table"][0])
    (pages,) = sections(QUESTIONS["hashed"][0])
    means, groups = sections(QUESTIONS["group"][0], "sex", "pay")

    # Shares are of all six people, of whom one left the question out.
    assert truths(way) == {"bus": 3 / 6, "car": 2 / 6, "train": 0.0}
    assert truths(papers) == {"Post": 3 / 6, "Star": 2 / 6}
    assert truths(age) == {"mean": 35.0}
    assert list(truths(below).values()) == [1 / 6, 3 / 6, 5 / 6]
    assert truths(quantiles)["50% of people are below"] == 30.0
    assert list(truths(ranges).values()) == [1 / 6, 2 / 6, 2 / 6, 1 / 6]
    assert list(truths(table).values()) == [2 / 6, 0.0, 1 / 6, 1 / 6]
    assert truths(pages) == {"7": 3 / 6, "0": 1 / 6, "99999": 1 / 6}
    assert truths(means) == {"f": 1.0, "m": pytest.approx(11 / 3, rel=1e-12)}
    assert truths(groups) == {"f": 1 / 6, "m": 3 / 6}


def test_an_edge_counts_as_below_only_for_smaller_numbers() -> None:
    below, _, ranges = sections(QUESTIONS["distribution"][0])

    # Of 10, 20, ..., 60 one number is below 20, and 20 is in the range from 20 on.
    assert below.rows[0].truth == 1 / 6
    assert ranges.rows[0].truth == 1 / 6


def test_each_kind_declares_its_picture() -> None:
    below, quantiles, ranges = sections(QUESTIONS["distribution"][0])
    (table,) = sections(QUESTIONS["table"][0])
    (pairs,) = sections(QUESTIONS["pairs"][0])
    wide = sdp.TableQuestion(
        "who", {"sex": ("f", "m"), "home": tuple(f"h{i}" for i in range(20))}
    )

    assert isinstance(below.chart, CurveChart)
    assert below.chart.numbers == (20.0, 40.0, 60.0)
    assert [mark.share for mark in below.chart.quantiles] == [0.1, 0.25, 0.5, 0.75, 0.9]
    assert quantiles.chart is None
    assert isinstance(ranges.chart, BarChart)
    for section in (table, pairs):
        assert isinstance(section.chart, HeatChart)
        (heat,) = section.chart.tables
        assert (heat.rows, heat.columns) == (("f", "m"), ("city", "land"))
    # Columns that would be too narrow for numbers are a list.
    answers = np.zeros((10, 2), dtype=np.int64)
    asked = sdp.Questionnaire(
        (wide,), (sdp.PoissonNoise(1.0),), (1.0,), (1.0,), honest=10
    )
    tally = asked.draw_tally(
        {"who": answers}, np.full(10, 1.0), rng=np.random.default_rng(1)
    )
    found = asked.estimate(tally, sdp.Population.from_counts({1.0: 10}))["who"]
    (listed,) = columns(wide).sections(found, answers, 0.95)
    assert isinstance(listed.chart, BarChart)


def test_an_empty_group_has_no_truth_and_no_error() -> None:
    question = sdp.GroupMeanQuestion("pay", ("f", "x"), 0, 5, digits=2)
    answered = columns(question, "sex", "pay")
    read = answered.read(cells(sex=["f", None, None, None, None, None]))
    asked = sdp.Questionnaire(
        (question,), (sdp.PoissonNoise(0.01),) * 2, (1.0,), (1.0,), honest=6
    )
    tally = asked.draw_tally(
        {"pay": read}, np.full(6, 1.0), rng=np.random.default_rng(1)
    )
    estimate = asked.estimate(tally, sdp.Population.from_counts({1.0: 6}))["pay"]

    means, _ = answered.sections(estimate, answered.truth(read), 0.95)

    empty = means.rows[1]
    assert empty.truth is None
    assert empty.error is None
    assert empty.covered
    assert means.rows[0].truth == 1.0
    assert math.isfinite(means.root_mean_square_error)


@pytest.mark.parametrize(
    ("kind", "changes", "why"),
    [
        ("choice", {"way": ["bus", "tram", *["car"] * 4]}, "'tram' in row 1 "),
        ("several", {"papers": [["Sun"], *[None] * 5]}, "'Sun' in row 0 "),
        ("number", {"age": [0.0, 1.0, 100.5, 2.0, 3.0, 4.0]}, "'age'.* in row 2 "),
        ("distribution", {"age": [-1.0, *[1.0] * 5]}, "from 0 to 80 .* in row 0 "),
        ("table", {"home": ["city", *["sea"] * 5]}, "'sea' and others in rows 1, 2"),
        ("group", {"pay": [9.0, *[1.0] * 5]}, "from 0 to 5 .* in row 0 "),
        ("hashed", {"page": [1, 100_000, *[2] * 4]}, "to 99999, .* in row 1 "),
    ],
)
def test_bad_cells_are_named_with_row_and_column(
    kind: str, changes: dict[str, Any], why: str
) -> None:
    question, named = QUESTIONS[kind]

    with pytest.raises(InvalidInputError, match=why):
        columns(question, *named).read(cells(**changes))


def test_too_many_picks_are_refused_with_their_row() -> None:
    question = sdp.ChoiceQuestion("papers", ("Post", "Star", "Sun"), 2)
    picks = [None, ["Post", "Star", "Sun"], *[None] * 4]

    with pytest.raises(InvalidInputError, match=r"at most 2 .* got 3 in row 1 "):
        columns(question).read(cells(papers=picks))


def test_other_questions_and_other_numbers_of_columns_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"to rehearse as .*, got int"):
        columns_of([3], {})  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="2 columns of question pay"):
        columns(QUESTIONS["group"][0], "pay")
    assert columns(QUESTIONS["group"][0]).columns == ("pay group", "pay")


def test_titles_say_whose_shares_they_are_where_numbers_may_be_left_out() -> None:
    edges = (0.0, 20.0, 60.0)
    ages = [10.0, None, 30.0, 40.0, 50.0, None]

    always = sections(sdp.DistributionQuestion("age", edges, 2))
    below, quantiles, ranges, _ = sections(
        sdp.DistributionQuestion("age", edges, 2, skippable=True), age=ages
    )

    assert [each.words.title for each in always] == [
        "age: share of people below",
        "age: quantiles",
        "age: people by range",
    ]
    assert [each.words.title for each in (below, quantiles, ranges)] == [
        "age of those who answered: share of people below",
        "age of those who answered: quantiles",
        "age of all people: people by range",
    ]
    # One of four who answered is below 20, and one of six people.
    assert below.rows[0].truth == pytest.approx(1 / 4, rel=1e-12)
    assert ranges.rows[0].truth == pytest.approx(1 / 6, rel=1e-12)


ADDED_UP: list[tuple[Any, Any]] = [
    (sdp.ChoiceQuestion("way", ("a", "b")), np.array([[0], [1], [-1], [1]])),
    (
        sdp.ChoiceQuestion("way", ("a", "b"), most=2),
        np.array([[0, 1], [-1, -1], [1, -1]]),
    ),
    (
        sdp.NumberQuestion("age", -5, 100, digits=2, skippable=True),
        np.array([np.nan, -5.0, 99.9, 12.3456]),
    ),
    (
        sdp.DistributionQuestion("age", (0, 10, 20, 40), skippable=True),
        np.array([np.nan, 0.0, 10.0, 40.0, 39.0]),
    ),
    (
        sdp.GroupMeanQuestion("pay", ("f", "m", "x"), 1, 5, digits=2),
        np.array([[0.0, 1.5], [1.0, 5.0], [-1.0, 77.0], [0.0, 2.25]]),
    ),
]


@pytest.mark.parametrize(("question", "answers"), ADDED_UP)
def test_counts_of_parts_add_up_to_the_truth_of_all(
    question: Question, answers: Any
) -> None:
    answered = columns(question)
    assert isinstance(answered, CountedColumns)
    parts = [answered.count(part) for part in (answers[:1], answers[1:], answers[:0])]

    truth = answered.counted_truth(sum(parts[1:], start=parts[0]))

    assert {part.size for part in parts} == {answered.num_counts}
    whole = answered.truth(answers)
    for name in (field.name for field in fields(whole)):
        if name != "quantiles":
            # Numbers are added up in steps of 1e-12 of their range.
            np.testing.assert_allclose(
                getattr(truth, name), getattr(whole, name), rtol=0.0, atol=1e-10
            )


def test_counts_of_ranges_tell_no_quantiles() -> None:
    answered = columns(ADDED_UP[3][0])
    assert isinstance(answered, CountedColumns)

    truth = answered.counted_truth(answered.count(ADDED_UP[3][1]))

    assert np.isnan(truth.quantiles).all()


def test_tables_are_not_counted_in_parts() -> None:
    table = sdp.TableQuestion("who", {"sex": ("f", "m"), "home": ("city", "land")})

    assert not isinstance(columns(table, "a", "b"), CountedColumns)


def test_of_very_many_categories_those_are_listed_that_are_recognized() -> None:
    (pages,) = sections(QUESTIONS["hashed"][0])

    assert pages.words.title == "page: 3 frequent of 100,000"
    # The largest first.
    assert next(row.name for row in pages.rows) == "7"
    assert all(row.listed for row in pages.rows)


def test_without_a_frequent_category_the_largest_estimates_are_listed() -> None:
    question = sdp.HashedChoiceQuestion("page", 1_000, rows=HashedRows(1_000, 1, 6))

    # A single row tells no category from others of the same bucket.
    (pages,) = sections(question, page=[0, 1, 2, 3, 4, None])

    assert pages.words.title == "page: none frequent of 1,000"
    listed = [row for row in pages.rows if row.listed]
    assert len(listed) == 10
    assert min(row.estimate for row in listed) >= max(
        row.estimate for row in pages.rows if not row.listed
    )
    # Every category that a person holds has a row.
    held = {row.name for row in pages.rows if row.truth}
    assert held == {"0", "1", "2", "3", "4"}
    assert len({row.name for row in pages.rows}) == len(pages.rows)


def test_unlisted_strings_that_are_found_are_listed() -> None:
    (words,) = sections(QUESTIONS["strings"][0])

    assert words.words.title == "word: 2 found"
    # "coffee" is too long, which is no answer; the most frequent text comes first.
    assert list(truths(words).items()) == [("tea", 3 / 6), ("rum", 1 / 6)]


def test_strings_that_were_missed_have_no_estimate() -> None:
    question = QUESTIONS["strings"][0]
    answered = columns(question)
    texts = np.array(["tea"] * 300 + ["rum"] * 200 + ["gin"] * 10 + [None], object)
    # A collection in which no person holds a text: none is found.
    nothing = question.estimate(
        QuestionCounts(
            tuple(
                GroupCounts(np.zeros(g.buckets), 9.0, 0.0, 1) for g in question.groups
            ),
            texts.size,
            0.0,
            0.0,
        )
    )

    (words,) = answered.sections(nothing, answered.truth(texts), 0.95)
    (least,) = answered.sections(nothing, answered.truth(texts[500:]), 0.95)

    # Those of 100 people or more, for which the search was made.
    assert truths(words) == {"tea": 300 / 511, "rum": 200 / 511}
    assert all(math.isnan(row.estimate) for row in words.rows)
    assert truths(least) == {"gin": 10 / 11}
    assert answered.sections(nothing, answered.truth(texts[510:]), 0.95) == ()


def test_columns_of_lists_are_no_strings() -> None:
    with pytest.raises(InvalidInputError, match="Expected texts in column 'papers'"):
        columns(QUESTIONS["strings"][0], "papers").read(cells())
