"""A report says what the collection found, and rounds nothing inward."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from oracles.means import mean_by

from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.display_text import decimals, rounded
from shuffledp.report.estimate_picture import estimate_picture
from shuffledp.report.estimates_csv import estimates_csv
from shuffledp.report.files import html_report
from shuffledp.report.guarantee_picture import guarantee_picture
from shuffledp.report.listed_rows import MAX_ROWS, listed_rows
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.frequency.frequency_collection import (
    collect_frequency,
    summarize_frequency,
)
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean.rehearsal import collect_mean, summarize_mean
from shuffledp.statistics.rehearsed_collection import Collection
from shuffledp.statistics.strings.protocol import Strings
from shuffledp.statistics.strings.rehearsal import (
    OTHER_STRINGS,
    collect_strings,
    summarize_strings,
)
from shuffledp.statistics.sum.protocol import BinarySum
from shuffledp.statistics.sum.rehearsal import collect_sum, summarize_sum
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import Circumstances
from shuffledp.types import Mode

CATEGORIES = ("a", "b & c", "d")
CIRCUMSTANCES = Circumstances("a survey", 0.95, 11)
NUM_USERS = 4000


@pytest.fixture(scope="module")
def collection() -> Collection[FrequencyEstimate]:
    rng = np.random.default_rng(11)
    levels = rng.choice([0.5, 1.7], size=NUM_USERS)
    values = rng.choice(3, size=NUM_USERS, p=[0.7, 0.2, 0.1])
    return collect_frequency(values, levels, protocol=Frequency(3), delta=1e-7, rng=rng)


@pytest.fixture(scope="module")
def summary(collection: Collection[FrequencyEstimate]) -> Summary:
    return summarize_frequency(collection, CIRCUMSTANCES, names=CATEGORIES)


@pytest.fixture(scope="module")
def mean() -> Summary:
    rng = np.random.default_rng(2)
    levels = rng.choice([0.5, 1.7], size=NUM_USERS)
    found = collect_mean(
        rng.uniform(0.0, 50.0, NUM_USERS),
        levels,
        protocol=mean_by("clip-laplace", 0.0, 100.0),
        delta=1e-7,
        rng=rng,
    )
    return summarize_mean(found, CIRCUMSTANCES)


@pytest.fixture(scope="module")
def strings() -> Summary:
    rng = np.random.default_rng(3)
    held = rng.choice(["x", "y", "z"], size=NUM_USERS, p=[0.3, 0.6, 0.1]).tolist()
    found = collect_strings(
        held,
        np.full(NUM_USERS, 6.0),
        protocol=Strings(num_bits=32, num_cohorts=2),
        candidates=("x", "y", "nobody"),
        delta=1e-7,
        rng=rng,
    )
    return summarize_strings(found, CIRCUMSTANCES)


def test_page_shows_every_certified_epsilon_in_full(
    summary: Summary, collection: Collection[FrequencyEstimate]
) -> None:
    page = html_report(summary)

    for level in collection.guarantee.levels:
        # Six digits, rounded upward already: a shorter number could be too small.
        assert page.count(repr(level.epsilon_central)) >= 2


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_biased_means_say_whose_levels_add_to_the_bias(mode: Mode) -> None:
    values, levels = np.array([1.0, 9.0] * 4), np.array([0.5, 1.5] * 4)
    protocol = mean_by("clip-laplace", 0.0, 10.0, mode)

    found = collect_mean(
        values, levels, protocol=protocol, delta=1e-2, rng=np.random.default_rng(4)
    )

    caveats = " ".join(summarize_mean(found, CIRCUMSTANCES).caveats)
    assert "biased where values differ" in caveats
    # Levels that are estimated apart do not bias a stratified mean.
    assert ("further if levels depend" in caveats) == (mode == "agnostic")


@pytest.mark.slow
def test_page_states_assumptions_and_caveat(
    summary: Summary, collection: Collection[FrequencyEstimate]
) -> None:
    page = html_report(summary)

    assert "honest" in page
    assert "independent" in page
    assert "b &amp; c" in page
    coalition = collection.guarantee.coalition
    for sentence in (*collection.guarantee.assumptions, *coalition):
        assert sentence.replace("'", "&#39;") in page
    assert "One person who lies moves a share by up to" in page


def test_csv_has_one_row_per_category(
    summary: Summary, collection: Collection[FrequencyEstimate]
) -> None:
    rows = list(csv.DictReader(io.StringIO(estimates_csv(summary))))

    estimate = collection.estimate
    assert [row["category"] for row in rows] == list(CATEGORIES)
    assert [float(row["estimate"]) for row in rows] == estimate.value.tolist()
    low = estimate.interval(0.95)[:, 0]
    assert [float(row["low"]) for row in rows] == low.tolist()


def test_keys_are_the_same_for_every_statistic(summary: Summary) -> None:
    record = summary.to_dict()

    assert list(record) == [
        "statistic", "source", "num_users", "mode", "unbiased_if", "seed",
        "confidence", "estimates", "num_truths_in_interval", "caveats", "warnings",
        "dependence", "manipulation", "guarantee",
    ]  # fmt: skip
    assert list(record["estimates"][0]) == [
        "category", "estimate", "standard_error", "interval", "truth",
    ]  # fmt: skip


def test_covered_truths_are_counted(summary: Summary) -> None:
    rows = summary.to_dict()["estimates"]

    inside = [row["interval"][0] <= row["truth"] <= row["interval"][1] for row in rows]

    assert summary.num_covered == sum(inside)


@pytest.mark.slow
def test_pictures_of_the_same_collection_are_the_same(
    collection: Collection[FrequencyEstimate],
) -> None:
    first, again = (
        guarantee_picture(collection.guarantee.statements[0]).svg for _ in range(2)
    )

    assert first == again
    assert re.match(r'<svg role="img" aria-label="[^"]+" ', first)


def test_the_two_errors_of_a_mean_have_names_of_their_own(mean: Summary) -> None:
    people, population = mean.to_dict()["estimates"]
    picture = estimate_picture(mean).svg

    assert (people["about"], population["about"]) == ("participants", "population")
    assert people["standard_error"] <= population["standard_error"]
    assert population["truth"] is None
    assert people["truth"] == pytest.approx(25.0, abs=2.0)
    for name in ("about the participants", "about the population", "truth"):
        assert name in picture


def test_a_biased_mean_is_not_called_unbiased(mean: Summary) -> None:
    record = mean.to_dict()

    assert record["unbiased_if"] is None
    assert "biased where values differ, by at most" in " ".join(record["caveats"])
    assert "Unbiased" not in html_report(mean)
    (row, _) = mean.rows
    # Wider than 1.96 standard errors.
    assert row.high - row.estimate > 2.0 * row.standard_error


def test_sums_count_people(summary: Summary) -> None:
    rng = np.random.default_rng(4)
    bits = (rng.random(NUM_USERS) < 0.3).astype(np.int64)
    levels = np.where(bits == 1, 0.5, 2.0)
    found = collect_sum(bits, levels, protocol=BinarySum(), delta=1e-7, rng=rng)

    record = summarize_sum(found, CIRCUMSTANCES).to_dict()

    people, _ = record["estimates"]
    assert people["truth"] == bits.sum()
    assert record["dependence"]["suspected"]
    off = record["dependence"]["largest_bias"]
    # Five standard errors: one false alarm in two million.
    assert abs(people["estimate"] - off - bits.sum()) < 5 * people["standard_error"]
    (warning,) = record["warnings"]
    assert "use the stratified mode" in warning
    assert f"{float(f'{off:.2g}'):,.0f} people" in warning


@pytest.mark.slow
def test_strings_are_listed_if_they_were_found(strings: Summary) -> None:
    record, page = strings.to_dict(), html_report(strings)

    assert [row.name for row in listed_rows(strings)] == ["y", "x", OTHER_STRINGS]
    assert [row["found"] for row in record["estimates"]] == [True, True, False, None]
    assert record["estimates"][-1]["truth"] == pytest.approx(0.1, abs=0.03)
    once = record["guarantee"]
    (always,) = once["also"]
    assert "<td>nobody</td>" not in page
    for statement in (once, always):
        assert statement["about"] in page
        assert repr(statement["levels"][0]["epsilon_central"]) in page
    rows = list(csv.DictReader(io.StringIO(estimates_csv(strings))))
    assert [row["string"] for row in rows] == ["y", "x", "nobody", OTHER_STRINGS]
    assert [row["found"] for row in rows] == ["True", "True", "False", ""]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["summary", "mean", "strings"])
def test_records_are_json_without_nan(
    name: str, request: pytest.FixtureRequest
) -> None:
    record = request.getfixturevalue(name).to_dict()

    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_no_more_rows_are_listed_than_anybody_reads(summary: Summary) -> None:
    rows = tuple(EstimateRow(str(i), i / 100, 0.1, 0.0, 1.0, 0.5) for i in range(50))

    listed = listed_rows(replace(summary, rows=rows))

    assert [row.name for row in listed] == [str(i) for i in range(50 - MAX_ROWS, 50)]


@pytest.mark.slow
def test_the_share_of_other_strings_is_always_listed(strings: Summary) -> None:
    many = tuple(
        EstimateRow(str(i), 0.01, 0.1, 0.0, 1.0, 0.5, details={"found": True})
        for i in range(50)
    )

    listed = listed_rows(replace(strings, rows=(*many, strings.rows[-1])))

    assert len(listed) == MAX_ROWS
    assert listed[-1].name == OTHER_STRINGS


@pytest.mark.slow
def test_warnings_stand_out_on_the_page(summary: Summary) -> None:
    page = html_report(replace(summary, warnings=("Levels <depend>.",)))

    assert '<p class="lead warning">Levels &lt;depend&gt;.</p>' in page


@pytest.mark.parametrize(
    ("number", "error", "shown"),
    [
        (12.345678, 0.012345, "12.3457"),
        (1234567.0, 1234.5, "1,234,570"),
        (0.00012345, 1e-6, "0.00012345"),
        (-0.0004, 1.0, "0.00"),
        (0.5, 0.0, "0.500000"),
    ],
)
def test_digits_are_those_that_the_error_justifies(
    number: float, error: float, shown: str
) -> None:
    assert rounded(number, decimals([error])) == shown
