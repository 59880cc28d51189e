"""`shuffledp court` about cases that are withdrawn."""

from pathlib import Path

from command_line import Command


def test_a_withdrawn_case_is_explained_and_not_tried(
    command: Command, tmp_path: Path
) -> None:
    shown = command("court", "--case", "v5")
    document = command("court", "--case", "V5", "--json").json()

    assert shown.code == 0
    assert "V5 is withdrawn (misprint)" in shown.out
    assert document["court"] == []
    assert [row["case"] for row in document["withdrawn"]] == ["V5"]
    for option in (("--python",), ("--shrink",), ("--output", "out")):
        refused = command("court", "--case", "V5", *option)
        assert refused.is_refusal
        assert "V5 is withdrawn" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_case_that_was_tried_lists_no_other_as_withdrawn(command: Command) -> None:
    assert command("court", "--case", "V6", "--json").json()["withdrawn"] == []
