"""A report says what the collection found, and rounds nothing inward."""

import csv
import io
import re

import numpy as np
import pytest

from shuffledp.protocols.collection import FrequencyCollection, collect_frequency
from shuffledp.protocols.frequency import Frequency
from shuffledp.report.files import html_report
from shuffledp.report.picture import guarantee_picture
from shuffledp.report.summary import FrequencySummary

CATEGORIES = ("a", "b & c", "d")


@pytest.fixture(scope="module")
def summary() -> FrequencySummary:
    rng = np.random.default_rng(11)
    levels = rng.choice([0.5, 1.7], size=4000)
    values = rng.choice(3, size=4000, p=[0.7, 0.2, 0.1])
    collection: FrequencyCollection = collect_frequency(
        values,
        levels,
        categories=CATEGORIES,
        protocol=Frequency(3),
        delta=1e-7,
        rng=rng,
    )
    return FrequencySummary(collection, "a survey", 0.95, 11)


def test_page_shows_every_certified_epsilon_in_full(summary: FrequencySummary) -> None:
    page = html_report(summary)

    for level in summary.collection.guarantee.levels:
        # Six digits, rounded upward already: a shorter number could be too small.
        assert page.count(repr(level.epsilon_central)) >= 2


def test_page_states_assumptions_and_caveat(summary: FrequencySummary) -> None:
    page = html_report(summary)

    assert "honest" in page
    assert "independent" in page
    assert "b &amp; c" in page
    for assumption in summary.collection.guarantee.assumptions:
        assert assumption.replace("'", "&#39;") in page


def test_csv_has_one_row_per_category(summary: FrequencySummary) -> None:
    rows = list(csv.DictReader(io.StringIO(summary.to_csv())))

    estimate = summary.collection.estimate
    assert [row["category"] for row in rows] == list(CATEGORIES)
    assert [float(row["estimate"]) for row in rows] == estimate.value.tolist()
    assert [float(row["low"]) for row in rows] == summary.intervals[:, 0].tolist()


def test_covered_truths_are_counted(summary: FrequencySummary) -> None:
    rows = summary.rows()

    inside = [row["interval"][0] <= row["truth"] <= row["interval"][1] for row in rows]

    assert summary.num_covered == sum(inside)


def test_pictures_of_the_same_collection_are_the_same(
    summary: FrequencySummary,
) -> None:
    guarantee = summary.collection.guarantee

    first, again = guarantee_picture(guarantee), guarantee_picture(guarantee)

    assert first == again
    assert re.match(r'<svg role="img" aria-label="[^"]+" ', first)
