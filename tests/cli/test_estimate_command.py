"""`shuffledp estimate` and `quickstart`: results, files, and what they refuse."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command

from shuffledp import extras
from shuffledp.errors import MissingExtraError

FILES = {
    "report.html",
    "estimates.svg",
    "guarantee.svg",
    "estimate.json",
    "certificate.json",
    "estimates.csv",
    "estimates.parquet",
    "estimates.arrow",
}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """3,000 people with an answer and a level that has nothing to do with it."""
    rng = np.random.default_rng(5)
    path = tmp_path / "survey.csv"
    pl.DataFrame(
        {
            "answer": rng.choice(
                ["yes", "no", "<b>maybe</b>"], size=3000, p=[0.6, 0.3, 0.1]
            ),
            "number": rng.integers(3, size=3000),
            "epsilon": rng.choice([0.5, 2.0], size=3000),
        }
    ).write_csv(path)
    return path


@pytest.mark.slow
def test_quickstart_writes_the_report_and_nothing_else(
    command: Command, tmp_path: Path
) -> None:
    outcome = command("quickstart", "--people", "5000")

    folder = tmp_path / "shuffledp-report"
    assert outcome.code == 0
    assert {path.name for path in folder.iterdir()} == FILES
    assert json.loads((folder / "estimate.json").read_text())["num_users"] == 5000
    assert "frontpage" in outcome.out
    assert "0.5" in outcome.out
    assert command("verify", str(folder / "certificate.json")).code == 0
    refused = command("verify", str(folder / "estimate.json"))
    assert refused.is_refusal
    assert "certificate.json" in refused.err


def test_quickstart_makes_up_ten_billion_people(command: Command) -> None:
    result = command("quickstart", "--people", "1e10", "--json").json()

    assert result["num_users"] == 10**10
    counts = [level["count"] for level in result["guarantee"]["levels"]]
    assert counts == [25 * 10**8, 50 * 10**8, 25 * 10**8]
    # 17 numbers at 5 standard errors: a false alarm in 1e-5 of all seeds, which is fixed.
    for row in result["estimates"]:
        assert abs(row["estimate"] - row["truth"]) < 5 * row["standard_error"] < 1e-3
    for wrong in ("2e10", "1.5", "1", "many", "nan"):
        assert command("quickstart", "--people", wrong).is_refusal


def test_quickstart_is_the_same_for_the_same_seed(command: Command) -> None:
    arguments = ["quickstart", "--people", "3000", "--json", "--seed"]

    first, again = command(*arguments, "7"), command(*arguments, "7")
    other = command(*arguments, "8")

    assert first.out == again.out
    assert first.json()["estimates"] != other.json()["estimates"]


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_estimate_reads_values_and_levels(
    command: Command, survey: Path, mode: str
) -> None:
    outcome = command(
        "estimate", str(survey), "--value", "answer", "--level", "epsilon",
        "--mode", mode, "--seed", "3", "--json",
    )  # fmt: skip

    answer = outcome.json()
    assert answer["mode"] == mode
    assert [row["category"] for row in answer["estimates"]] == [
        "<b>maybe</b>",
        "no",
        "yes",
    ]
    for row in answer["estimates"]:
        # Five standard errors: a false alarm in 600,000 runs of three categories.
        assert abs(row["estimate"] - row["truth"]) < 5 * row["standard_error"]
    among = {level["hides_among"] for level in answer["guarantee"]["levels"]}
    assert (among == {3000}) == (mode == "agnostic")


@pytest.mark.slow
def test_report_escapes_what_people_wrote(
    command: Command, survey: Path, tmp_path: Path
) -> None:
    command(
        "estimate",
        str(survey),
        "--value",
        "answer",
        "--level",
        "epsilon",
        "--seed",
        "1",
    )

    page = (tmp_path / "shuffledp-report" / "report.html").read_text()
    assert "<b>maybe</b>" not in page
    assert "&lt;b&gt;maybe&lt;/b&gt;" in page
    for loading in ("src=", 'href="http', "<script", "<link", "@import", "url(http"):
        assert loading not in page


def test_json_alone_writes_no_files(
    command: Command, survey: Path, tmp_path: Path
) -> None:
    before = set(tmp_path.iterdir())

    command(
        "estimate", str(survey), "--value", "number", "--level", "epsilon", "--json"
    )

    assert set(tmp_path.iterdir()) == before


ANSWERS = ["--value", "answer", "--level", "epsilon"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--value"),
        (["--value", "answer"], "--level"),
        (["--value", "reply", "--level", "epsilon"], "reply"),
        (["--value", "answer", "--level", "budget"], "budget"),
        ([*ANSWERS, "--categories", "yes,no"], "categories"),
        ([*ANSWERS, "--categories", "3"], "whole numbers"),
        ([*ANSWERS, "--categories", "1"], "Expected 2 to"),
        (
            ["--value", "number", "--level", "epsilon", "--categories", "2"],
            "from 0 to 1",
        ),
        ([*ANSWERS, "--levels", "0.5,1.0"], "one of 0.5, 1"),
        ([*ANSWERS, "--delta", "0"], "delta"),
        ([*ANSWERS, "--confidence", "1"], "confidence"),
        ([*ANSWERS, "--seed", "-1"], "seed"),
        (["--value", "answer", "--level", "answer"], "a number for every person"),
        (["--value", "answer", "--levels", "0.5:0.5"], "add up to 1"),
        (["--value", "answer", "--levels", "1:1e308,2:1e308"], "got a sum of inf"),
        (["--value", "answer", "--levels", "0.5:nan"], "EPSILON:SHARE"),
        (["--value", "answer", "--levels", "0.5:0.99999,1:0.00001"], "enough people"),
        ([*ANSWERS, "--dataset", "msnbc"], "not both"),
    ],
)
def test_bad_requests_are_refused_in_one_line(
    command: Command, survey: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    outcome = command("estimate", str(survey), *arguments)

    assert outcome.is_refusal
    assert words in outcome.err
    assert set(tmp_path.iterdir()) == {survey}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "answer,epsilon\n",
        "answer,epsilon\nyes,0.5\n",
        "answer,epsilon\nyes,0.5\nno,nan\n",
        "answer,epsilon\nyes,0.5\nno,\n",
        "answer,epsilon\nyes,0.5\n,1\n",
        "answer,epsilon\nyes,0.5\nno,-1\n",
        "answer,epsilon\nyes,0.5\nno,1,2,3\n",
        "answer,epsilon\nyes,1\nyes,1\n",
    ],
)
def test_bad_tables_are_refused_in_one_line(
    command: Command, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)

    outcome = command("estimate", str(path), *ANSWERS)

    assert outcome.is_refusal
    assert set(tmp_path.iterdir()) == {path}


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_without_the_extra_tables_are_printed_and_nothing_is_written(
    command: Command,
    survey: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    needed = f"A report with pictures needs {module}: install shuffledp[report]."

    quick = command("quickstart", "--people", "2000")
    outcome = command("estimate", str(survey), *ANSWERS)
    machine = command("estimate", str(survey), *ANSWERS, "--json")
    asked = command("estimate", str(survey), *ANSWERS, "--output", "folder")

    for printed in (quick, outcome):
        assert printed.code == 0
        assert "central epsilon" in printed.out
        assert printed.out.rstrip().splitlines()[-1] == needed
    assert "frontpage" in quick.out
    assert machine.json()["num_users"] == 3000
    assert asked.is_refusal
    assert asked.err == f"shuffledp: {needed}\n"
    assert set(tmp_path.iterdir()) == {survey}


def test_an_extra_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(MissingExtraError, match=r"install shuffledp\[report\]"):
        extras.require("matplotlib", extra="report", what="A picture")


def test_unwritable_folder_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")

    outcome = command("quickstart", "--people", "1000", "--output", "taken")

    assert outcome.is_refusal
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.slow
@pytest.mark.skipif(
    "SHUFFLEDP_DATA" not in os.environ,
    reason="SHUFFLEDP_DATA does not name a folder with msnbc990928.seq.gz",
)
def test_every_true_frequency_of_the_real_data_lies_in_its_interval(
    command: Command,
) -> None:
    outcome = command(
        "estimate", "--dataset", "msnbc", "--levels", "0.5:0.25,1.0:0.5,2.0:0.25",
        "--delta", "1e-8", "--seed", "1", "--confidence", "0.999", "--json",
    )  # fmt: skip

    answer = outcome.json()
    assert answer["num_users"] == 989_818
    assert answer["num_truths_in_interval"] == 17
    for level in answer["guarantee"]["levels"]:
        assert level["epsilon_central_lower"] <= level["epsilon_central"]
        assert level["epsilon_central_lower"] >= 0.999 * level["epsilon_central"]
