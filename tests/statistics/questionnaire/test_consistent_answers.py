"""Possible numbers beside unbiased estimates of questions: sums, margins, intervals."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp.report.estimates_csv import estimates_csv
from shuffledp.report.files import html_report
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts

ATTRIBUTES = {"a": ("x", "y"), "b": ("x", "y", "z"), "c": ("p", "q", "r", "s")}
N = 100.0


def estimate(question: Any, *, seed: int = 1) -> Any:
    """Returns the estimate from counts of noise alone, of a hundred people."""
    rng = np.random.default_rng(seed)
    counts = tuple(
        GroupCounts(rng.normal(5.0, 60.0, group.buckets), 3_600.0, 0.0, group.most)
        for group in question.groups
    )
    return question.estimate(QuestionCounts(counts, int(N), 0.0, 0.0))


def test_choices_are_possible_together() -> None:
    raw = estimate(sdp.ChoiceQuestion("q", tuple("abcdef")))

    consistent, complete = raw.consistent(), raw.consistent(complete=True)

    assert raw.value.min() < 0.0
    assert consistent.value.min() == complete.value.min() == 0.0
    assert consistent.value.sum() <= N + 1e-9
    assert complete.value.sum() == pytest.approx(N)
    assert consistent.labels == raw.labels
    assert consistent.interval().min() >= 0.0
    assert consistent.interval().max() <= N


def test_of_several_options_each_is_possible_alone() -> None:
    raw = estimate(sdp.ChoiceQuestion("q", tuple("abcdef"), most=3))
    np.testing.assert_array_equal(raw.consistent().value, raw.value.clip(0.0, N))
    with pytest.raises(InvalidInputError, match="one option"):
        raw.consistent(complete=True)


def test_means_stay_in_their_range() -> None:
    raw = estimate(sdp.NumberQuestion("q", 2.0, 3.0, 2), seed=3)
    assert not 2.0 <= raw.value[0] <= 3.0
    assert 2.0 <= raw.consistent().value[0] <= 3.0
    assert raw.consistent().interval().max() <= 3.0


def test_margins_of_a_table_agree() -> None:
    raw = estimate(sdp.TableQuestion("q", ATTRIBUTES))

    table = raw.consistent(complete=True)

    assert table.value.min() == 0.0
    pairs = table.margin("b", "a").value.reshape(3, 2)
    np.testing.assert_allclose(pairs.sum(axis=0), table.margin("a").value)
    np.testing.assert_allclose(pairs.sum(axis=1), table.margin("b").value)
    assert table.margin("c").value.sum() == pytest.approx(N)
    np.testing.assert_array_equal(table.margin("c").raw.value, raw.margin("c").value)


def test_pairs_agree_if_everybody_answered() -> None:
    raw = estimate(sdp.PairsQuestion("q", ATTRIBUTES))

    value = raw.consistent(complete=True).value

    ab, ac, bc = (
        part.reshape(shape)
        for part, shape in zip(
            np.split(value, [6, 14]), [(2, 3), (2, 4), (3, 4)], strict=True
        )
    )
    assert value.min() == 0.0
    for one, other in (
        (ab.sum(axis=1), ac.sum(axis=1)),
        (ab.sum(axis=0), bc.sum(axis=1)),
        (ac.sum(axis=0), bc.sum(axis=0)),
    ):
        np.testing.assert_allclose(one, other, atol=1e-6)
    # Otherwise tables are about different people, and each is projected by itself.
    loose = np.split(raw.consistent().value, [6, 14])
    assert all(part.sum() <= N + 1e-9 for part in loose)


def test_distributions_rise_from_0_to_1() -> None:
    raw = estimate(sdp.DistributionQuestion("q", tuple(range(9)), 2))

    consistent = raw.consistent()

    below = consistent.distribution().value
    assert np.diff(raw.distribution().value).min() < 0.0
    assert np.diff(below).min() >= 0.0
    assert 0.0 <= below.min() <= below.max() <= 1.0
    assert consistent.value.sum() == pytest.approx(N)
    assert consistent.between(2, 5).value[0] == pytest.approx(N * (below[4] - below[1]))
    shares = np.linspace(0.05, 0.95, 19)
    assert np.diff(consistent.quantiles(shares)).min() >= 0.0
    np.testing.assert_array_equal(
        consistent.quantile_intervals(shares), raw.quantile_intervals(shares)
    )


def test_group_means_stay_in_their_range() -> None:
    raw = estimate(sdp.GroupMeanQuestion("q", tuple("abcd"), 0.0, 1.0, 2), seed=3)

    consistent = raw.consistent()

    known = np.isfinite(consistent.value)
    assert consistent.value[known].min() >= 0.0
    assert consistent.value[known].max() <= 1.0
    assert consistent.people.value.min() >= 0.0
    assert consistent.people.value.sum() <= N + 1e-9


@pytest.mark.slow
def test_a_rehearsal_shows_possible_numbers_beside_estimates() -> None:
    people = pl.DataFrame({"way": ["bus"] * 1_990 + ["car"] * 10})
    questions = {"way": {"options": ["bus", "car", "tram"]}}

    result = sdp.rehearse(
        people, questions=questions, targets=0.5, consistent=True, seed=4
    )

    frame = result.to_frame()
    assert frame.columns[1:3] == ["estimate", "consistent"]
    assert frame["estimate"].sum() != pytest.approx(1.0)
    assert min(frame["consistent"]) >= 0.0
    assert frame["consistent"].sum() == pytest.approx(1.0)
    plain = sdp.rehearse(people, questions=questions, targets=0.5, seed=4).to_frame()
    assert frame.drop("consistent").equals(plain)


@pytest.mark.slow
def test_frequencies_are_rehearsed_with_possible_numbers() -> None:
    people = {"way": ["bus"] * 1_000 + ["car"] * 5 + ["tram"] * 2}
    asked: dict[str, Any] = {"value": "way", "levels": {1.0: 1.0}, "seed": 5}

    result = sdp.rehearse(people, consistent=True, **asked)

    rows = result.summary.rows
    assert min(row.estimate for row in rows) < 0.0
    assert min(row.consistent or 0.0 for row in rows) >= 0.0
    assert sum(row.consistent or 0.0 for row in rows) == pytest.approx(1.0)
    assert any("biased" in sentence for sentence in result.summary.sentences)
    (first, *_) = result.summary.to_dict()["estimates"]
    assert list(first)[1:3] == ["estimate", "consistent"]
    assert estimates_csv(result.summary).startswith("category,estimate,consistent,")
    assert '<th scope="col">consistent</th>' in html_report(result.summary)
    assert str(result).splitlines()[1].split()[:3] == [
        "category",
        "estimate",
        "consistent",
    ]
