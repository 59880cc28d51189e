"""The command that plans a questionnaire."""

from pathlib import Path

import pytest
from command_line import Command

_QUESTIONS = """
[questions.transport]
kind = "choice"
options = ["bus", "bicycle", "car"]

[questions.age]
kind = "number"
low = 0
high = 120
digits = 4
"""


@pytest.mark.slow
def test_questions_of_a_file_are_planned_together(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "city.toml"
    path.write_text(_QUESTIONS, encoding="utf-8")
    asked = ("plan", "questionnaire", "--questions", str(path), "--targets")
    told = command(*asked, "1:3000", "--json")
    assert told.code == 0
    plan = told.json()
    assert list(plan["questions"]) == ["transport", "age"]
    assert list(plan["questions"]["transport"]) == ["bus", "bicycle", "car"]
    assert plan["guarantee"]["levels"][0]["epsilon_central"] <= 1.0
    shown = command(*asked, "1:3000")
    for name in ("transport", "bicycle", "age", "mean"):
        assert name in shown.out
    assert command(*asked, "0:3000").is_refusal
    assert command(*asked, "0.001:30").is_refusal
    path.write_text("[questions.a]", encoding="utf-8")
    assert command(*asked, "1:3000").is_refusal
