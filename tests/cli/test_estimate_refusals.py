"""Refusals of `shuffledp estimate --statistic ...`: in one line, and writing nothing."""

from pathlib import Path

import pytest
from command_line import Command

AGES = ("--statistic", "mean", "--value", "age", "--level", "epsilon")
BOUNDS = (*AGES, "--low", "0", "--high", "100")
SMOKES = ("--statistic", "sum", "--value", "smokes", "--level", "epsilon")
PAGES = ("--statistic", "strings", "--value", "page", "--level", "high")
ANSWERS = ("--value", "page", "--level", "epsilon")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (AGES, "--low A and --high B"),
        ((*AGES, "--low", "50", "--high", "50"), "low < high"),
        ((*AGES, "--low", "0", "--high", "nan"), "low < high"),
        ((*AGES, "--low", "0", "--high", "30"), "are outside"),
        ((*BOUNDS, "--spread", "51"), "spread"),
        ((*BOUNDS, "--value", "page"), "finite number"),
        ((*BOUNDS, "--value", "gaps"), "found none in row 2 (the"),
        ((*BOUNDS, "--value", "nan"), "found none in row 2 (the"),
        ((*BOUNDS, "--value", "infinite"), "finite number"),
        ((*BOUNDS, "--level", "age", "--levels", "1"), "to be one of 1"),
        ((*BOUNDS, "--mechanism", "kary-response"), "one-bit"),
        ((*BOUNDS, "--central", "0.5"), "only with --statistic sum"),
        ((*BOUNDS, "--categories", "2"), "--categories only with --statistic frequency"),
        ((*SMOKES, "--value", "three"), "0 or 1"),
        ((*SMOKES, "--value", "gaps"), "found none in row 2 (the"),
        ((*SMOKES, "--value", "age"), "0 or 1"),
        ((*SMOKES, "--value", "page"), "0 or 1"),
        ((*SMOKES, "--central", "0.5"), "neither --level nor --levels"),
        ((*SMOKES, "--mechanism", "one-bit"), "only with --statistic frequency or mean"),
        ((*SMOKES, "--low", "0"), "--low only with --statistic mean"),
        (("--statistic", "sum", "--value", "smokes", "--central", "0"), "above 0"),
        (("--statistic", "sum", "--central", "1"), "--value COLUMN"),
        ((*PAGES, "--value", "gaps"), "found none in row 2 (the"),
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
        (
            (*ANSWERS, "--mechanism", "kary-response(subset_size=1)"),
            "kary-response(categories=...)",
        ),
        ((*ANSWERS, "--subset-size", "1"), "subset-selection(categories=..., subset"),
        (
            (*ANSWERS, "--mechanism", "local-hashing(categories=9,buckets=3)"),
            "without categories",
        ),
        (
            (*BOUNDS, "--mechanism", "laplace(low=1)", "--level", "epsilon"),
            "with no parameter but cells",
        ),
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
    table: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    outcome = command("estimate", str(table), *arguments)

    assert outcome.is_refusal
    assert words in outcome.err
    assert set(tmp_path.iterdir()) == {table}


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
    command: Command, table: Path, tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)

    outcome = command("estimate", str(table), *PAGES, "--candidates", str(path))

    assert outcome.is_refusal
    assert words in outcome.err
    assert set(tmp_path.iterdir()) == {table, path}


@pytest.mark.filterwarnings("error")
def test_means_that_no_picture_holds_are_refused_before_their_table(
    command: Command, tmp_path: Path
) -> None:
    lines = ["value,epsilon", *["1e308,1", "-1e308,1"] * 50]
    (tmp_path / "wide.csv").write_text("\n".join(lines))
    wish = ("estimate", "wide.csv", "--statistic", "mean", "--value", "value",
            "--level", "epsilon", "--low", "-1e308", "--high", "1e308")  # fmt: skip

    outcome, without_pictures = command(*wish), command(*wish, "--json")

    assert outcome.is_refusal
    assert "divide values and range by a constant" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["wide.csv"]
    assert without_pictures.code == 0
    assert without_pictures.err == ""
