"""`shuffledp leaderboard`: what it shows, writes and refuses."""

from pathlib import Path

import pytest
from command_line import Command

from shuffledp_papers.commands import leaderboard_command
from shuffledp_papers.leaderboard.grid import Family, Grid
from shuffledp_papers.leaderboard.leaderboard_page import FILES

SMALL = Grid(7, (Family(("one-bit",), ({"1": 100},), (1e-4,), (1,)),))


@pytest.fixture(autouse=True)
def _small_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard_command, "read_grid", lambda: SMALL)


@pytest.mark.slow
def test_files_and_page_are_written(command: Command, tmp_path: Path) -> None:
    outcome = command(
        *("leaderboard", "--date", "2026-01-02", "--output", "board"),
        *("--document", "board.md"),
    )

    assert outcome.code == 0, outcome.err
    assert "1 collections and 19 bounds" in " ".join(outcome.out.split())
    assert {path.name for path in (tmp_path / "board").iterdir()} == set(FILES)
    text = (tmp_path / "board.md").read_text(encoding="utf-8")
    assert "Grid 7" in text
    assert "(board/leaderboard.csv)" in text
    again = command("leaderboard", "--date", "2026-01-02", "--output", "board")
    assert again.is_refusal


def test_a_bound_from_outside_is_one_more_row(command: Command, tmp_path: Path) -> None:
    text = """
from types import SimpleNamespace
def account(device, people, *, epsilon):
    return SimpleNamespace(levels=[SimpleNamespace(delta_central=0.0)])
"""
    (tmp_path / "toobold.py").write_text(text, encoding="utf-8")

    record = command("leaderboard", "--bound", "toobold:account", "--json").json()

    *_, entry = record["points"][0]["entries"]
    assert entry["bound"] == "toobold:account"
    assert (entry["epsilon"], entry["comparison"]) == (0.0, "below the attack")
    assert entry["status"] == "heuristic"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--output", "board"), "--date and --output together"),
        (("--date", "2026-01-02"), "--date and --output together"),
        (("--document", "page.md"), "--document only together"),
        (("--date", "yesterday", "--output", "board"), "YYYY-MM-DD"),
        (("--bound", "no_such_module:account"), "module:name"),
    ],
)
def test_senseless_requests_are_refused_in_one_line(
    command: Command, more: tuple[str, ...], message: str
) -> None:
    outcome = command("leaderboard", *more)

    assert outcome.is_refusal
    assert message in outcome.err
