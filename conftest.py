"""Runs the command in this process, as the installed script would."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import Command, Outcome
from fewer_cases import mark_further_cases
from hypothesis import HealthCheck, settings

from shuffledp.cli.main import main

# An example takes longer where other programs run: the time it takes is no failure.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks cases before any are chosen by their marks."""
    mark_further_cases(items)


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Returns a function that runs `shuffledp ...` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    # What is said of long stages would depend on how busy this machine is.
    for seconds in ("LEAST_SECONDS", "SECONDS_UNTIL_SAID"):
        monkeypatch.setattr(f"shuffledp.cli.waiting.{seconds}", 3600.0)

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["shuffledp", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """2,000 people; the level called strict depends on their age."""
    n, rng = 2000, np.random.default_rng(77)
    age = np.clip(rng.normal(40.0, 15.0, n), 0.0, 100.0)
    smokes = rng.random(n) < 0.3
    path = tmp_path / "survey.csv"
    pl.DataFrame(
        {
            "age": age,
            "smokes": smokes.astype(int),
            "married": rng.random(n) < 0.5,
            "page": rng.choice(
                ["a.example", "b.example", "<i>c</i>"], size=n, p=[0.6, 0.3, 0.1]
            ),
            "epsilon": rng.choice([0.5, 2.0], size=n),
            "high": np.full(n, 6.0),
            "strict": np.where(age > 40.0, 0.5, 2.0),
            "hushed": np.where(smokes, 0.5, 2.0),
            "gaps": [None, *range(n - 1)],
            "nan": [float("nan"), *range(n - 1)],
            "infinite": [float("inf"), *range(n - 1)],
            "three": rng.integers(3, size=n),
        }
    ).write_csv(path)  # fmt: skip
    return path
