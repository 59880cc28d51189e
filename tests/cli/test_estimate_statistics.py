"""`shuffledp estimate --statistic ...`: means, sums, strings, and other mechanisms."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import Command, Outcome

NUM_USERS = 2000
AGES = ("--statistic", "mean", "--value", "age", "--level", "epsilon")
BOUNDS = (*AGES, "--low", "0", "--high", "100")
SMOKES = ("--statistic", "sum", "--value", "smokes", "--level", "epsilon")
PAGES = ("--statistic", "strings", "--value", "page", "--level", "high")
SHORT = (*PAGES, "--bits", "32", "--cohorts", "4")
ANSWERS = ("--value", "page", "--level", "epsilon")
STRICT_OLD = ("--value", "age", "--level", "strict", "--low", "0", "--high", "100")


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """2,000 people; the level called strict depends on their age."""
    rng = np.random.default_rng(77)
    age = np.clip(rng.normal(40.0, 15.0, NUM_USERS), 0.0, 100.0)
    smokes = rng.random(NUM_USERS) < 0.3
    path = tmp_path / "survey.csv"
    pl.DataFrame(
        {
            "age": age,
            "smokes": smokes.astype(int),
            "married": rng.random(NUM_USERS) < 0.5,
            "page": rng.choice(
                ["a.example", "b.example", "<i>c</i>"], size=NUM_USERS, p=[0.6, 0.3, 0.1]
            ),
            "epsilon": rng.choice([0.5, 2.0], size=NUM_USERS),
            "high": np.full(NUM_USERS, 6.0),
            "strict": np.where(age > 40.0, 0.5, 2.0),
            "hushed": np.where(smokes, 0.5, 2.0),
            "gaps": [None, *range(NUM_USERS - 1)],
            "nan": [float("nan"), *range(NUM_USERS - 1)],
            "infinite": [float("inf"), *range(NUM_USERS - 1)],
            "three": rng.integers(3, size=NUM_USERS),
        }
    ).write_csv(path)  # fmt: skip
    return path


def estimate(command: Command, survey: Path, *arguments: str) -> Outcome:
    return command("estimate", str(survey), "--seed", "3", *arguments)


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize(
    "mechanism", ["one-bit", "laplace", "clip-laplace", "gaussian"]
)
def test_mean_of_a_column(
    command: Command, survey: Path, mechanism: str, mode: str
) -> None:
    outcome = estimate(
        command, survey, *BOUNDS, "--mechanism", mechanism, "--mode", mode, "--json"
    )

    answer = outcome.json()
    assert (answer["statistic"], answer["mode"]) == ("mean", mode)
    assert answer["guarantee"]["mechanism"] == mechanism
    people, population = answer["estimates"]
    assert (people["about"], population["about"]) == ("participants", "population")
    low, high = people["interval"]
    # Two and a half times a 95% interval, 4.9 standard errors: false in one of a million.
    assert abs(people["estimate"] - people["truth"]) < 2.5 * (high - low) / 2.0
    assert (answer["unbiased_if"] is None) == (mechanism == "clip-laplace")
    assert (answer["dependence"] is None) == (mode == "stratified")


def test_clipped_values_are_said_to_be_clipped(command: Command, survey: Path) -> None:
    asked = (*AGES, "--low", "20", "--high", "50")

    refused = estimate(command, survey, *asked, "--json")
    answer = estimate(command, survey, *asked, "--clip", "--json").json()

    assert refused.is_refusal
    assert "--clip" in refused.err
    ages = pl.read_csv(survey)["age"].to_numpy()
    assert answer["estimates"][0]["truth"] == np.clip(ages, 20.0, 50.0).mean()
    assert "mean of the clipped values" in " ".join(answer["caveats"])


def test_known_spread_makes_the_error_smaller(command: Command, survey: Path) -> None:
    plain, known = (
        estimate(command, survey, *BOUNDS, *more, "--json").json()["estimates"][0]
        for more in ((), ("--spread", "40"))
    )

    assert plain["estimate"] == known["estimate"]
    assert known["standard_error"] < plain["standard_error"]


def test_report_of_a_mean_holds_its_numbers(
    command: Command, survey: Path, tmp_path: Path
) -> None:
    outcome = estimate(command, survey, *BOUNDS)

    folder = tmp_path / "shuffledp-report"
    assert {path.name for path in folder.iterdir()} == {
        "report.html",
        "estimates.svg",
        "guarantee.svg",
        "estimate.json",
        "estimates.csv",
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
def test_sum_of_bits(command: Command, survey: Path, column: str) -> None:
    outcome = estimate(
        command, survey, "--statistic", "sum", "--value", column, "--level", "epsilon",
        "--json",
    )  # fmt: skip

    answer = outcome.json()
    people, population = answer["estimates"]
    assert people["truth"] == pl.read_csv(survey)[column].sum()
    # Five standard errors: one false alarm in two million.
    assert abs(people["estimate"] - people["truth"]) < 5 * people["standard_error"]
    assert population["standard_error"] > people["standard_error"]


def test_sum_with_the_noise_that_the_crowd_needs(
    command: Command, survey: Path
) -> None:
    asked = ("--statistic", "sum", "--value", "smokes", "--central", "0.5")

    answer = estimate(command, survey, *asked, "--delta", "1e-5", "--json").json()

    (level,) = answer["guarantee"]["levels"]
    # Rounded upward in the sixth digit.
    assert 0.49 < level["epsilon_central"] <= 0.5 * (1 + 2e-5)
    assert answer["guarantee"]["delta"] == 1e-5
    # Binary randomized response of budget log(2 / p - 1).
    share = 2.0 / (np.exp(level["epsilon_local"]) + 1.0)
    found = re.search(r"p = ([0-9.]+):", " ".join(answer["caveats"]))
    assert found is not None
    # Six digits are written.
    assert float(found[1]) == pytest.approx(share, rel=1e-5)


def test_strings_among_the_values_of_the_column(
    command: Command, survey: Path, tmp_path: Path
) -> None:
    outcome = estimate(command, survey, *SHORT)

    folder = tmp_path / "shuffledp-report"
    answer = json.loads((folder / "estimate.json").read_text())
    assert "<i>c</i>" not in (folder / "report.html").read_text()
    assert (folder / "guarantee-any-number-of-reports.svg").is_file()
    assert set(answer["guarantees"]) == {"one_report", "any_number_of_reports"}
    assert [row["string"] for row in answer["estimates"][:2]] == [
        "a.example",
        "b.example",
    ]
    assert all(row["found"] for row in answer["estimates"][:2])
    assert answer["estimates"][-1]["string"] == "none of these"
    assert any("beforehand" in caveat for caveat in answer["caveats"])
    assert "One report:" in outcome.out
    assert "Any number of reports:" in outcome.out


def test_strings_of_a_list(command: Command, survey: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("a.example\nnobody.example\n")

    outcome = estimate(
        command, survey, *SHORT, "--candidates", str(path), "--hashes", "1",
        "--false-discovery-rate", "0.01", "--mode", "stratified", "--json",
    )  # fmt: skip

    answer = outcome.json()
    first, second, other = answer["estimates"]
    assert (first["string"], first["found"]) == ("a.example", True)
    assert (second["string"], second["truth"]) == ("nobody.example", 0.0)
    assert other["truth"] == pytest.approx(1.0 - first["truth"], rel=1e-12)
    assert "at most 1% are held" in " ".join(answer["caveats"])


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        ("kary-response", ()),
        ("subset-selection", ("--subset-size", "1")),
        ("hadamard-response", ()),
        ("local-hashing", ("--buckets", "3")),
        ("unary-encoding", ("--variant", "optimized")),
    ],
)
def test_frequencies_with_every_mechanism(
    command: Command, survey: Path, mechanism: str, more: tuple[str, ...]
) -> None:
    outcome = estimate(
        command, survey, *ANSWERS, "--mechanism", mechanism, *more, "--json"
    )

    answer = outcome.json()
    assert answer["guarantee"]["mechanism"] == mechanism
    for row in answer["categories"]:
        # Five standard errors: a false alarm in 600,000 runs of three categories.
        assert abs(row["estimate"] - row["truth"]) < 5 * row["standard_error"]


@pytest.mark.parametrize(
    "asked",
    [
        ("--statistic", "mean", *STRICT_OLD),
        ("--statistic", "sum", "--value", "smokes", "--level", "hushed"),
        ("--value", "smokes", "--level", "hushed"),
    ],
)
def test_levels_that_depend_on_values_are_pointed_out(
    command: Command, survey: Path, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    outcome = estimate(command, survey, *asked)
    page = (tmp_path / "shuffledp-report" / "report.html").read_text()
    better = estimate(command, survey, *asked, "--mode", "stratified")

    assert "Levels seem to depend on values (p < 1e-99)" in " ".join(
        outcome.out.split()
    )
    assert "Levels seem to depend on values (p &lt; 1e-99)" in page
    assert "Levels seem to depend" not in better.out
    answer = estimate(command, survey, *asked, "--json").json()
    assert answer["dependence"]["suspected"]
    assert answer["dependence"]["largest_bias"] != 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (AGES, "--low A and --high B"),
        ((*AGES, "--low", "50", "--high", "50"), "low < high"),
        ((*AGES, "--low", "0", "--high", "nan"), "low < high"),
        ((*AGES, "--low", "0", "--high", "30"), "some are outside"),
        ((*BOUNDS, "--spread", "51"), "spread"),
        ((*BOUNDS, "--value", "page"), "finite number"),
        ((*BOUNDS, "--value", "gaps"), "finite number"),
        ((*BOUNDS, "--value", "nan"), "finite number"),
        ((*BOUNDS, "--value", "infinite"), "finite number"),
        ((*BOUNDS, "--value", "married"), "finite number"),
        ((*BOUNDS, "--level", "age", "--levels", "1"), "to be one of 1"),
        ((*BOUNDS, "--mechanism", "kary-response"), "one-bit"),
        ((*BOUNDS, "--central", "0.5"), "only with --statistic sum"),
        ((*BOUNDS, "--categories", "2"), "--categories only with --statistic frequency"),
        ((*SMOKES, "--value", "three"), "0 or 1"),
        ((*SMOKES, "--value", "gaps"), "0 or 1"),
        ((*SMOKES, "--value", "age"), "0 or 1"),
        ((*SMOKES, "--value", "page"), "0 or 1"),
        ((*SMOKES, "--central", "0.5"), "neither --level nor --levels"),
        ((*SMOKES, "--mechanism", "one-bit"), "only with --statistic frequency or mean"),
        ((*SMOKES, "--low", "0"), "--low only with --statistic mean"),
        (("--statistic", "sum", "--value", "smokes", "--central", "0"), "above 0"),
        (("--statistic", "sum", "--central", "1"), "--value COLUMN"),
        ((*PAGES, "--value", "gaps"), "a text for every person"),
        ((*PAGES, "--value", "age"), "--candidates FILE"),
        ((*PAGES, "--hashes", "0"), "hashes"),
        ((*PAGES, "--cohorts", "3000"), "at least 3000 people"),
        ((*PAGES, "--bits", "4", "--cohorts", "1", "--hashes", "1"), "at most 2"),
        ((*PAGES, "--false-discovery-rate", "1"), "false_discovery_rate"),
        ((*PAGES, "--candidates", "absent.txt"), "absent.txt"),
        ((*PAGES, "--clip"), "--clip only with --statistic mean"),
        ((*PAGES, "--dataset", "msnbc"), "--dataset only with --statistic frequency"),
        ((*ANSWERS, "--hashes", "0"), "--hashes only with --statistic strings"),
        ((*ANSWERS, "--mechanism", "gaussian"), "kary-response"),
        ((*ANSWERS, "--mechanism", "local-hashing"), "buckets"),
        ((*ANSWERS, "--subset-size", "1"), "got categories, subset_size"),
        ((*ANSWERS, "--statistic", "median"), "median"),
        (
            (*ANSWERS, "--mechanism", "unary-encoding", "--categories", "50001"),
            "whole numbers",
        ),
        (
            ("--value", "three", "--level", "epsilon", "--mechanism", "unary-encoding",
             "--categories", "50001"),
            "at most 100,000,000 bits",
        ),
    ],
)  # fmt: skip
def test_bad_requests_are_refused_in_one_line(
    command: Command,
    survey: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    outcome = estimate(command, survey, *arguments)

    assert outcome.is_refusal
    assert words in outcome.err
    assert set(tmp_path.iterdir()) == {survey}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "in line 1"),
        (b"a.example\n\nb.example\n", "in line 2"),
        (b"a.example\na.example\n", "all different"),
        (b"\xff\xff\n", "UTF-8"),
    ],
)
def test_bad_lists_of_candidates_are_refused_in_one_line(
    command: Command, survey: Path, tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)

    outcome = estimate(command, survey, *PAGES, "--candidates", str(path))

    assert outcome.is_refusal
    assert words in outcome.err
    assert set(tmp_path.iterdir()) == {survey, path}


def test_help_has_an_example_for_every_statistic(command: Command) -> None:
    outcome = command("estimate", "--help")

    for words in ("--statistic mean", "--statistic sum", "--statistic strings"):
        assert words in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 96
