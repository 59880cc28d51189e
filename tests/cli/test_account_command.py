"""`shuffledp account`: keys, files of budgets, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command

import shuffledp as sdp

THREE_LEVELS = "0.5:2500,1.0:5000,2.0:2500"


def test_json_has_the_documented_keys(command: Command) -> None:
    arguments = ["--mechanism", "kary-response", "--categories", "17"]

    outcome = command(
        "account", *arguments, "--levels", THREE_LEVELS, "--delta", "1e-6", "--json"
    )

    answer = outcome.json()
    assert outcome.code == 0
    assert answer["protocol"]["mechanism"] == "kary-response"
    assert answer["certified"] is True
    assert answer["delta"] == 1e-6
    for level, epsilon in zip(answer["levels"], (0.5, 1.0, 2.0), strict=True):
        assert level["epsilon_local"] == epsilon
        assert 0 < level["epsilon_central_lower"] <= level["epsilon_central"] < epsilon
    assert [level["count"] for level in answer["levels"]] == [2500, 5000, 2500]


def test_epsilon_instead_of_delta_asks_for_delta(command: Command) -> None:
    outcome = command(
        "account",
        "--categories",
        "17",
        "--levels",
        THREE_LEVELS,
        "--epsilon",
        "0.02",
        "--json",
    )

    answer = outcome.json()
    assert answer["epsilon"] == 0.02
    for level in answer["levels"]:
        assert 0 < level["delta_central_lower"] <= level["delta_central"] < 1
        assert "epsilon_central" not in level


def test_table_names_bounds_and_assumptions(command: Command) -> None:
    outcome = command(
        "account", "--categories", "17", "--levels", THREE_LEVELS, "--delta", "1e-6"
    )

    for words in ("certified", "attack shows", "0.00678332", "honest", "hide among"):
        assert words in outcome.out


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("suffix", ["txt", "npy", "csv", "parquet"])
def test_budgets_file_reports_minimum_quartiles_and_maximum(
    command: Command, tmp_path: Path, suffix: str
) -> None:
    budgets = np.repeat([0.5, 1.0, 1.5, 2.0], [100, 300, 300, 101])
    path = tmp_path / f"budgets.{suffix}"
    frame = pl.DataFrame({"epsilon": budgets})
    {
        "txt": lambda: np.savetxt(path, budgets),
        "npy": lambda: np.save(path, budgets),
        "csv": lambda: frame.write_csv(path),
        "parquet": lambda: frame.write_parquet(path),
    }[suffix]()
    column = ["--column", "epsilon"] if suffix in ("csv", "parquet") else []

    outcome = command(
        "account", "--categories", "5", "--budgets", str(path), *column,
        "--delta", "1e-6", "--json",
    )  # fmt: skip

    levels = outcome.json()["levels"]
    assert [level["quantile"] for level in levels] == [
        "minimum", "lower quartile", "median", "upper quartile", "maximum",
    ]  # fmt: skip
    assert [level["epsilon_local"] for level in levels] == [0.5, 1.0, 1.5, 1.5, 2.0]
    assert [level["count"] for level in levels] == [100, 300, 300, 300, 101]


LEVELS_AND_DELTA = ["--levels", "1:100", "--delta", "1e-6"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--categories", "17", "--levels", "nan:10", "--delta", "1e-6"],
            "EPSILON:PEOPLE",
        ),
        (["--categories", "17", "--levels=-1:10", "--delta", "1e-6"], "from 0"),
        (
            ["--categories", "17", "--levels", "inf:10", "--delta", "1e-6"],
            "EPSILON:PEOPLE",
        ),
        (
            ["--categories", "17", "--levels", "1:0", "--delta", "1e-6"],
            "at least 1 person",
        ),
        (
            ["--categories", "17", "--levels", "1:1", "--delta", "1e-6"],
            "at least 2 people",
        ),
        (
            ["--categories", "17", "--levels", "1:2.5", "--delta", "1e-6"],
            "whole numbers",
        ),
        (
            ["--categories", "17", "--levels", "1:5,1:6", "--delta", "1e-6"],
            "each level once",
        ),
        (["--categories", "17", "--levels", "1", "--delta", "1e-6"], "EPSILON:PEOPLE"),
        (["--categories", "17", "--levels", "", "--delta", "1e-6"], "EPSILON:PEOPLE"),
        (["--categories", "17", "--levels", "1:100", "--delta", "0"], "delta"),
        (["--categories", "17", "--levels", "1:100", "--delta", "1"], "delta"),
        (["--categories", "17", "--levels", "1:100", "--delta", "nan"], "delta"),
        (["--categories", "17", "--levels", "1:100", "--epsilon", "-1"], "epsilon"),
        (["--categories", "17", "--levels", "1:100", "--epsilon", "nan"], "epsilon"),
        (
            ["--categories", "17", "--levels", "1:100"],
            "either --delta or --epsilon, got neither",
        ),
        (
            ["--categories", "17", *LEVELS_AND_DELTA, "--epsilon", "1"],
            "either --delta or --epsilon, got both",
        ),
        (["--categories", "1", *LEVELS_AND_DELTA], "categories"),
        (["--categories", "x", *LEVELS_AND_DELTA], "not a valid integer"),
        (LEVELS_AND_DELTA, "Expected --categories K"),
        (
            ["--mechanism", "subset-selection(subset_size=20)", *LEVELS_AND_DELTA],
            "Expected --categories K",
        ),
        (
            ["--mechanism", "subset-selection", "--categories=20", *LEVELS_AND_DELTA],
            "with categories, subset_size; got categories.",
        ),
        (
            [
                "--statistic",
                "mean(low=0, high=4)",
                "--statistic",
                "mean(low=0, high=1)",
                *LEVELS_AND_DELTA,
                "--picture",
                "profile.svg",
            ],
            "which profiles and searches for budgets need",
        ),
        (
            ["--categories", "17", "--delta", "1e-6"],
            "either --levels or --budgets, got neither.",
        ),
        (
            ["--categories", "17", "--budgets", "b.txt", *LEVELS_AND_DELTA],
            "either --levels or --budgets, got both.",
        ),
        (
            ["--categories", "17", "--levels", "1:100", "--delta", "1e-301"],
            "got 1e-301: smaller ones are beyond double precision.",
        ),
        (["--categories", "17", *LEVELS_AND_DELTA, "--absent", "%"], "before %"),
        (
            ["--categories", "17", *LEVELS_AND_DELTA, "--certificate", ""],
            "got the folder '.'.",
        ),
        (
            ["--categories", "17", "--budgets", "none.txt", "--delta", "1e-6"],
            "found none",
        ),
        (["--mechanism", "magic", "--categories", "3", *LEVELS_AND_DELTA], "magic"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    command: Command, tmp_path: Path, arguments: list[str], words: str
) -> None:
    outcome = command("account", *arguments)

    assert outcome.is_refusal
    assert words in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", "0.5\nabc\n", "0.5\nnan\n", "0.5\n-1\n", "0.5\ninf\n", "1.0\n"],
)
def test_bad_budget_files_are_refused_in_one_line(
    command: Command, tmp_path: Path, content: str
) -> None:
    (tmp_path / "budgets.txt").write_text(content)

    outcome = command(
        "account", "--categories", "5", "--budgets", "budgets.txt", "--delta", "1e-6"
    )

    assert outcome.is_refusal


def test_budgets_out_of_range_are_refused_with_their_rows(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("epsilon\n1\n-1\n2\n1e400\n")

    for arguments in (
        ("account", "--categories=3", "--budgets=people.csv", "--column=epsilon"),
        ("estimate", "people.csv", "--value=epsilon", "--level=epsilon"),
    ):
        outcome = command(*arguments, "--delta", "1e-6")
        assert outcome.is_refusal
        assert "'epsilon', rows 3 and 5 (the header is row 1)." in outcome.err


def test_help_shows_an_example(command: Command) -> None:
    for name in ("account", "estimate", "quickstart"):
        assert "Example" in command(name, "--help").out


def test_a_certificate_and_a_picture_are_not_one_file(
    command: Command, tmp_path: Path
) -> None:
    both = str(tmp_path / "same.svg")

    outcome = command(
        *("account", "--categories", "4", "--levels", "1:100", "--delta", "1e-6"),
        *("--picture", both, "--certificate", both),
    )

    assert outcome.code == 2
    assert "a file of its own" in outcome.err
    assert not list(tmp_path.iterdir())


def test_a_statistic_is_certified_as_in_python(command: Command) -> None:
    outcome = command(
        "account",
        "--statistic",
        "frequency(num_categories=3, mode=stratified)",
        "--levels",
        "1:300",
        "--delta",
        "1e-3",
        "--json",
    )

    population = sdp.Population.from_counts({1.0: 300})
    protocol = sdp.Frequency(3, "stratified")
    expected = sdp.account(protocol, population, delta=1e-3).to_dict()
    assert outcome.json() == json.loads(json.dumps(expected))


@pytest.mark.slow
def test_statistics_of_the_same_people_are_certified_together(
    command: Command, tmp_path: Path
) -> None:
    together, more = tmp_path / "together.json", tmp_path / "more.json"
    people = ["--levels", "1:300", "--delta", "1e-3"]
    two = ["--statistic", "sum", "--statistic", "frequency(num_categories=3)"]
    nested = ["--statistic", str(together), "--statistic", "sum"]

    assert command("account", *two, *people, "--certificate", str(together)).code == 0
    assert command("account", *nested, *people, "--certificate", str(more)).code == 0

    population = sdp.Population.from_counts({1.0: 300})
    expected = sdp.account([sdp.BinarySum(), sdp.Frequency(3)], population, delta=1e-3)
    assert json.loads(together.read_text()) == json.loads(
        json.dumps(expected.to_dict())
    )
    assert command("verify", str(together)).code == 0
    # A certificate of several protocols adds its parts.
    parts = json.loads(more.read_text())["protocol"]["parameters"]["parts"]
    assert [part["statistic"] for part in parts] == ["sum", "frequency", "sum"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--statistic", "sum", "--categories", "4"],
        ["--statistic", "sum", "--mechanism", "one-bit"],
        ["--statistic", "sum", "--method", "all"],
        ["--statistic", "sum("],
        ["--statistic", "absent.json"],
    ],
    ids=" ".join,
)
def test_statistics_that_contradict_other_options_are_refused(
    command: Command, arguments: list[str]
) -> None:
    outcome = command("account", *arguments, "--levels", "1:300", "--delta", "1e-3")

    assert outcome.code == 2
    assert len(outcome.err.strip().splitlines()) == 1
