"""`shuffledp estimate --statistic questionnaire`: files in, JSON and reports out."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command

import shuffledp as sdp

ASKED = ("--statistic", "questionnaire", "--seed", "3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with people, and questions for them."""
    folder, rng = tmp_path_factory.mktemp("city"), np.random.default_rng(5)
    roads = ["bus", "car", None]
    drawn = rng.choice(len(roads), 1_000, p=[0.5, 0.4, 0.1])
    pl.DataFrame(
        {
            "road": [roads[index] for index in drawn],
            "target": rng.choice([4.0, 6.0], 1_000),
        }
    ).write_csv(folder / "people.csv")
    (folder / "city.toml").write_text(
        '[questions.way]\noptions = ["bus", "car", "NA"]\ncolumns = ["road"]\n'
    )
    return folder


def test_the_same_people_and_seed_give_the_numbers_of_python(
    folder: Path, command: Command
) -> None:
    people, questions = folder / "people.csv", folder / "city.toml"

    printed = command(
        "estimate", str(people), *ASKED, "--questions", str(questions),
        "--level", "target", "--json",
    ).json()  # fmt: skip
    result = sdp.rehearse(people, questions=questions, targets="target", seed=3)

    assert printed["statistic"] == "questionnaire"
    rows = [row["estimate"] for row in printed["estimates"]]
    assert rows == result.to_frame()["estimate"].to_list()
    assert printed["plan"]["messages"] == result.plan.messages
    truth = pl.read_csv(people)["road"].value_counts()
    bus = truth.filter(pl.col("road") == "bus")["count"].item()
    assert printed["estimates"][0]["truth"] == bus / 1_000


@pytest.mark.slow
def test_a_report_is_written_and_printed(
    folder: Path, command: Command, tmp_path: Path
) -> None:
    outcome = command(
        "estimate", str(folder / "people.csv"), *ASKED, "--levels", "6:1",
        "--questions", str(folder / "city.toml"), "--output", str(tmp_path / "report"),
    )  # fmt: skip

    assert outcome.code == 0
    assert "3 of 3 true shares lie" in outcome.out
    assert "all people send all answers" in " ".join(outcome.out.split())
    csv = pl.read_csv(tmp_path / "report" / "estimates.csv")
    assert csv["question"].to_list() == ["way"] * 3
    parquet = pl.read_parquet(tmp_path / "report" / "estimates.parquet")
    assert parquet.columns == csv.columns
    assert parquet["estimate"].to_list() == csv["estimate"].to_list()
    assert pl.read_ipc(tmp_path / "report" / "estimates.arrow").equals(parquet)
    assert "<svg" in (tmp_path / "report" / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--level", "target"), "Expected --questions FILE"),
        (("--questions", "city.toml"), "--level COLUMN or --levels"),
        (("--questions", "none.toml", "--level", "target"), "none.toml"),
        (
            ("--questions", "city.toml", "--level", "target", "--mode", "stratified"),
            "--mode agnostic",
        ),
    ],
)
def test_missing_options_are_named(
    folder: Path,
    command: Command,
    options: tuple[str, ...],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)

    outcome = command("estimate", "people.csv", *ASKED, *options)

    assert outcome.is_refusal
    assert why in outcome.err


def test_questions_belong_to_their_own_statistic(
    folder: Path, command: Command
) -> None:
    outcome = command(
        "estimate", str(folder / "people.csv"), "--value", "road", "--level", "target",
        "--questions", str(folder / "city.toml"),
    )  # fmt: skip

    assert outcome.is_refusal
    assert "only with --statistic questionnaire" in outcome.err


@pytest.mark.slow
def test_a_choice_among_very_many_is_estimated_and_its_certificate_verified(
    command: Command, tmp_path: Path
) -> None:
    pages = [7] * 1_500 + [19_999] * 700 + [None] * 300 + list(range(500))
    pl.DataFrame({"visit": pages}).write_csv(tmp_path / "people.csv")
    (tmp_path / "pages.toml").write_text(
        '[questions.page]\nkind = "hashed-choice"\nnum_categories = 20000\n'
        'columns = ["visit"]\n'
    )
    report = tmp_path / "report"

    outcome = command(
        "estimate", str(tmp_path / "people.csv"), *ASKED, "--levels", "2:1",
        "--questions", str(tmp_path / "pages.toml"), "--output", str(report),
        "--consistent",
    )  # fmt: skip
    verified = command("verify", str(report / "certificate.json"))

    assert outcome.code == verified.code == 0
    assert "page: 2 frequent of 20,000" in outcome.out
    rows = pl.read_csv(report / "estimates.csv")
    assert rows["answer"].to_list()[:2] == [7, 19_999]
    # All that a person holds: 500 pages, among them 7, and the last.
    assert rows.height == 501
    assert rows["truth"][0] == 1_501 / 3_000
    assert "estimates.svg" in {each.name for each in report.iterdir()}


def test_a_page_beyond_the_list_is_refused_with_its_row(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("page\n3\n1000\n")
    (tmp_path / "pages.toml").write_text(
        '[questions.page]\nkind = "hashed-choice"\nnum_categories = 1000\n'
    )

    outcome = command(
        "estimate", str(tmp_path / "people.csv"), *ASKED, "--levels", "2:1",
        "--questions", str(tmp_path / "pages.toml"),
    )  # fmt: skip

    assert outcome.is_refusal
    assert "whole numbers from 0 to 999, in column 'page'" in outcome.err
    assert "row 3 (the header is row 1)" in " ".join(outcome.err.split())
