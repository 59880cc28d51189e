"""`shuffledp estimate --statistic ...`: means, sums, strings, and other mechanisms."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command, Outcome

AGES = ("--statistic", "mean", "--value", "age", "--level", "epsilon")
BOUNDS = (*AGES, "--low", "0", "--high", "100")
PAGES = ("--statistic", "strings", "--value", "page", "--level", "high")
SHORT = (*PAGES, "--bits", "32", "--cohorts", "4")
ANSWERS = ("--value", "page", "--level", "epsilon")
STRICT_OLD = ("--value", "age", "--level", "strict", "--low", "0", "--high", "100")


def estimate(command: Command, table: Path, *arguments: str) -> Outcome:
    return command("estimate", str(table), "--seed", "3", *arguments)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize(
    "mechanism", ["one-bit", "laplace", "clip-laplace", "gaussian"]
)
def test_mean_of_a_column(
    command: Command, table: Path, mechanism: str, mode: str
) -> None:
    outcome = estimate(
        command, table, *BOUNDS, "--mechanism", mechanism, "--mode", mode, "--json"
    )

    answer = outcome.json()
    assert (answer["statistic"], answer["mode"]) == ("mean", mode)
    assert answer["guarantee"]["protocol"]["mechanism"] == mechanism
    people, population = answer["estimates"]
    assert (people["about"], population["about"]) == ("participants", "population")
    low, high = people["interval"]
    # Two and a half times a 95% interval, 4.9 standard errors: false in one of a million.
    assert abs(people["estimate"] - people["truth"]) < 2.5 * (high - low) / 2.0
    assert (answer["unbiased_if"] is None) == (mechanism == "clip-laplace")
    assert (answer["dependence"] is None) == (mode == "stratified")


def test_clipped_values_are_said_to_be_clipped(command: Command, table: Path) -> None:
    asked = (*AGES, "--low", "20", "--high", "50")

    refused = estimate(command, table, *asked, "--json")
    answer = estimate(command, table, *asked, "--clip", "--json").json()

    assert refused.is_refusal
    assert "--clip" in refused.err
    ages = pl.read_csv(table)["age"].to_numpy()
    assert answer["estimates"][0]["truth"] == np.clip(ages, 20.0, 50.0).mean()
    assert "mean of the clipped values" in " ".join(answer["caveats"])


@pytest.mark.slow
def test_known_spread_makes_the_error_smaller(command: Command, table: Path) -> None:
    plain, known = (
        estimate(command, table, *BOUNDS, *more, "--json").json()["estimates"][0]
        for more in ((), ("--spread", "40"))
    )

    assert plain["estimate"] == known["estimate"]
    assert known["standard_error"] < plain["standard_error"]


@pytest.mark.slow
def test_report_of_a_mean_holds_its_numbers(
    command: Command, table: Path, tmp_path: Path
) -> None:
    outcome = estimate(command, table, *BOUNDS)

    folder = tmp_path / "shuffledp-report"
    assert {path.name for path in folder.iterdir()} == {
        "report.html",
        "estimates.svg",
        "guarantee.svg",
        "estimate.json",
        "certificate.json",
        "estimates.csv",
        "estimates.parquet",
        "estimates.arrow",
    }
    people, _ = json.loads((folder / "estimate.json").read_text())["estimates"]
    page = (folder / "report.html").read_text()
    # The error is between 1 and 10: two decimals are its three digits.
    assert 1.0 < people["standard_error"] < 10.0
    for key in ("estimate", "standard_error", "truth"):
        assert f"<td>{people[key]:.2f}</td>" in page
        assert f"{people[key]:.2f} " in outcome.out
    assert f"{people['estimate']:.3f}" not in page
    assert (folder / "estimates.csv").read_text().startswith("about,estimate,")


@pytest.mark.parametrize("column", ["smokes", "married"])
def test_sum_of_bits(command: Command, table: Path, column: str) -> None:
    outcome = estimate(
        command, table, "--statistic", "sum", "--value", column, "--level", "epsilon",
        "--json",
    )  # fmt: skip

    answer = outcome.json()
    people, population = answer["estimates"]
    assert people["truth"] == pl.read_csv(table)[column].sum()
    # Five standard errors: one false alarm in two million.
    assert abs(people["estimate"] - people["truth"]) < 5 * people["standard_error"]
    assert population["standard_error"] > people["standard_error"]


def test_sum_with_the_noise_that_the_crowd_needs(command: Command, table: Path) -> None:
    asked = ("--statistic", "sum", "--value", "smokes", "--central", "0.5")

    answer = estimate(command, table, *asked, "--delta", "1e-5", "--json").json()

    (level,) = answer["guarantee"]["levels"]
    # Rounded upward in the sixth digit.
    assert 0.49 < level["epsilon_central"] <= 0.5 * (1 + 2e-5)
    assert answer["guarantee"]["delta"] == 1e-5
    # Binary randomized response of budget log(2 / p - 1).
    share = 2.0 / (np.exp(level["epsilon_local"]) + 1.0)
    found = re.search(
        r"With probability ([0-9.]+) a device", " ".join(answer["caveats"])
    )
    assert found is not None
    # Six digits are written.
    assert float(found[1]) == pytest.approx(share, rel=1e-5)


@pytest.mark.slow
def test_strings_among_the_values_of_the_column(
    command: Command, table: Path, tmp_path: Path
) -> None:
    outcome = estimate(command, table, *SHORT)

    folder = tmp_path / "shuffledp-report"
    answer = json.loads((folder / "estimate.json").read_text())
    assert "<i>c</i>" not in (folder / "report.html").read_text()
    assert (folder / "guarantee-2.svg").is_file()
    (always,) = answer["guarantee"]["also"]
    assert answer["guarantee"]["about"] == "one report"
    assert always["about"].startswith("any number of reports")
    assert [row["string"] for row in answer["estimates"][:2]] == [
        "a.example",
        "b.example",
    ]
    assert all(row["found"] for row in answer["estimates"][:2])
    assert answer["estimates"][-1]["string"] == "none of these"
    assert any("beforehand" in caveat for caveat in answer["caveats"])
    assert "One report:" in outcome.out
    assert "Any number of reports from" in outcome.out


@pytest.mark.slow
def test_strings_of_a_list(command: Command, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("a.example\nnobody.example\n")

    outcome = estimate(
        command, table, *SHORT, "--candidates", str(path), "--hashes", "1",
        "--false-discovery-rate", "0.01", "--mode", "stratified", "--json",
    )  # fmt: skip

    answer = outcome.json()
    first, second, other = answer["estimates"]
    assert (first["string"], first["found"]) == ("a.example", True)
    assert (second["string"], second["truth"]) == ("nobody.example", 0.0)
    assert other["truth"] == pytest.approx(1.0 - first["truth"], rel=1e-12)
    assert "at most 1% have no holder" in " ".join(answer["caveats"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        "kary-response",
        "subset-selection(subset_size=1)",
        "hadamard-response",
        "local-hashing(buckets=3)",
        "unary-encoding(variant=optimized)",
    ],
)
def test_frequencies_with_every_mechanism(
    command: Command, table: Path, mechanism: str
) -> None:
    outcome = estimate(command, table, *ANSWERS, "--mechanism", mechanism, "--json")

    answer = outcome.json()
    assert answer["guarantee"]["protocol"]["mechanism"] == mechanism.partition("(")[0]
    for row in answer["estimates"]:
        # Five standard errors: a false alarm in 600,000 runs of three categories.
        assert abs(row["estimate"] - row["truth"]) < 5 * row["standard_error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        ("--statistic", "mean", *STRICT_OLD),
        ("--statistic", "sum", "--value", "smokes", "--level", "hushed"),
        ("--value", "smokes", "--level", "hushed"),
    ],
)
def test_levels_that_depend_on_values_are_pointed_out(
    command: Command, table: Path, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    outcome = estimate(command, table, *asked)
    page = (tmp_path / "shuffledp-report" / "report.html").read_text()
    better = estimate(command, table, *asked, "--mode", "stratified")

    assert "Levels seem to depend on values (p < 1e-99)" in " ".join(
        outcome.out.split()
    )
    assert "Levels seem to depend on values (p &lt; 1e-99)" in page
    assert "Levels seem to depend" not in better.out
    answer = estimate(command, table, *asked, "--json").json()
    assert answer["dependence"]["suspected"]
    assert answer["dependence"]["largest_bias"] != 0.0


def test_help_has_an_example_for_every_statistic(command: Command) -> None:
    outcome = command("estimate", "--help")

    for words in ("--statistic mean", "--statistic sum", "--statistic strings"):
        assert words in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 96
