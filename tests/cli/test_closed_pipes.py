"""A closed pipe is no answer: the command finishes, and says by its code what happened."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shuffledp as sdp

ACCOUNT = ("account", "--categories", "5", "--levels", "1:50", "--delta", "1e-6")


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs the command into a pipe whose reader has gone before it starts."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, "-m", "shuffledp", *arguments],
            cwd=folder,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)


def shell(folder: Path, script: str) -> "subprocess.CompletedProcess[str]":
    script = script.replace("shuffledp", f"'{sys.executable}' -m shuffledp")
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people = sdp.Population.from_counts({1.0: 50})
    record: dict[str, Any] = sdp.account(sdp.Frequency(5), people, delta=1e-6).to_dict()
    (tmp_path / "true.json").write_text(json.dumps(record))
    record["levels"][0]["epsilon_central"] *= 0.5
    (tmp_path / "false.json").write_text(json.dumps(record))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "code"), [("true.json", 141), ("false.json", 1), ("none.json", 2)]
)
def test_only_a_certificate_that_does_not_hold_exits_with_1(
    folder: Path, file: str, code: int
) -> None:
    outcome = run(folder, "verify", file)

    assert outcome.returncode == code
    assert "Traceback" not in outcome.stderr


@pytest.mark.slow
def test_files_are_written_although_nobody_reads_the_output(tmp_path: Path) -> None:
    outcome = run(tmp_path, *ACCOUNT, "--certificate", "c.json")

    assert outcome.returncode == 141
    assert sdp.verify(tmp_path / "c.json").holds


@pytest.mark.slow
def test_a_report_is_written_although_nobody_reads_the_output(tmp_path: Path) -> None:
    outcome = run(tmp_path, "quickstart", "--people", "1000", "--output", "q")

    assert outcome.returncode == 141
    assert (tmp_path / "q" / "estimate.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["| true", "2>&1 | true", "| head -1"])
def test_in_a_pipeline_a_reader_that_leaves_is_no_refusal(
    folder: Path, ending: str
) -> None:
    outcome = shell(folder, f"shuffledp verify true.json {ending}")

    # A reader may leave before or after all was written.
    assert outcome.returncode in (0, 141)
    assert outcome.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("verify true.json >&-", 141),
        ("verify true.json >&- 2>&-", 141),
        ("verify false.json >&-", 1),
        ("verify none.json >&-", 2),
        ("verify true.json >/dev/null", 0),
        ("verify true.json 2>&-", 0),
    ],
)
def test_a_closed_output_is_read_by_nobody(
    folder: Path, command: str, code: int
) -> None:
    outcome = shell(folder, f"shuffledp {command}")

    assert outcome.returncode == code
    assert outcome.stderr.count("\n") == (code == 2)


@pytest.mark.slow
def test_files_are_written_although_the_output_is_closed(tmp_path: Path) -> None:
    arguments = " ".join([*ACCOUNT, "--certificate", "c.json"])

    outcome = shell(tmp_path, f"shuffledp {arguments} >&-")

    assert (outcome.returncode, outcome.stderr) == (141, "")
    assert sdp.verify(tmp_path / "c.json").holds


def test_output_that_finds_no_room_is_refused(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "shuffledp --version >/dev/full")

    assert outcome.returncode == 2
    assert outcome.stderr == ("shuffledp: Could not write: No space left on device.\n")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_terminals_that_lack_characters_get_others(
    tmp_path: Path, encoding: str
) -> None:
    shown = shell(
        tmp_path,
        f"PYTHONIOENCODING={encoding} shuffledp quickstart --people 1000 --seed 1",
    )

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.isascii()
    assert "##" in shown.stdout
    assert (tmp_path / "shuffledp-report" / "certificate.json").is_file()
