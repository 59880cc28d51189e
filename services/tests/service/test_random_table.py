"""Tables of killed services add up, and say what a number of failures means."""

from pathlib import Path

from live_services import Party
from random_collections import Account
from random_table import Outcome, Trial, read_outcomes, tables, write_outcome


def outcome(seed: int, *, kills: int, lost: int = 0) -> Outcome:
    killed: dict[Party, dict[str, int]] = {
        "shuffler": {"": kills - 1, "in close": 1},
        "analyst": {"opened": 2},
    }
    account = Account(120, 60, lost, 0, 0, "")
    return Outcome(Trial("items", "sqlite", "lost", seed), killed, account, 1.5)


def test_collections_are_added_up_over_turns(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    first, second = outcome(0, kills=500), outcome(1, kills=496)

    file.write_text(f"{write_outcome(first)}\n")
    with file.open("a") as lines:
        lines.write(f"{write_outcome(second)}\n")
    said = tables(list(read_outcomes(file).values()))

    assert read_outcomes(file) == {0: first, 1: second}
    row = "| 2 | 1,000 | 996 | 4 | 240 | 120 | 0 | 0 | 0 | 0 |"
    assert [line.endswith(row) for line in said.splitlines()].count(True) == 3
    assert "at any moment: 994; at a boundary: in close 2, opened 4" in said
    # 0.95 = 1 - (1 - p) ** 1000.
    assert "0 collections failed. At 95% confidence, at most 0.3% of kills" in said


def test_a_failure_is_counted_and_widens_what_is_said() -> None:
    said = tables([outcome(0, kills=998, lost=7)])

    assert "| 1 | 1,000 | 998 | 2 | 120 | 60 | 7 | 0 | 0 | 1 |" in said
    # The root of (1 - p) ** 1000 + 1000 p (1 - p) ** 999 = 0.05.
    assert "at most 0.47% of kills" in said


def test_freezes_are_counted_and_the_longest_is_said(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    trial = Trial("items", "postgres", "lost", 3, 2, freezes=True)
    account = Account(120, 60, 0, 0, 0, "")
    killed: dict[Party, dict[str, int]] = {"shuffler": {"frozen": 1}, "analyst": {}}
    one = Outcome(trial, killed, account, 1.5, 4, (11.0, 12.5, 29.0), (8.0,))

    file.write_text(f"{write_outcome(one)}\n")
    said = tables(list(read_outcomes(file).values()))

    assert read_outcomes(file) == {3: one}
    assert (
        "4 freezes of the shuffler; 3 times until a closed batch was handed over or "
        "dropped: median 12.5 s, at most 29.0 s; 1 times until an open step was over: "
        "median 8.0 s, at most 8.0 s." in said
    )


def test_no_file_is_no_outcome(tmp_path: Path) -> None:
    assert read_outcomes(None) == read_outcomes(tmp_path / "none") == {}
