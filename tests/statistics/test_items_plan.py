"""The plan of a collection of sets, as a table for people and a record for machines."""

import io

import pytest
from rich.console import Console

from shuffledp.planning.wish import Wish
from shuffledp.statistics.items.plan_command import PLAN


@pytest.mark.slow
def test_a_row_has_what_is_certified_before_what_an_attack_shows() -> None:
    console = Console(file=io.StringIO(), width=100)
    steps: list[str] = []

    plan = PLAN.compute(
        Wish(None, {2.0: 60}, 1e-3),
        on_step=steps.append,
        num_items=4,
        set_size=1,
        max_messages=None,
        published=False,
        blanket=None,
    )
    console.print(plan.tables())

    record = plan.record()
    ((level,), (rate,)) = record["guarantee"]["levels"], record["send_chances"]
    assert level["epsilon_central_lower"] < level["epsilon_central"] <= 2.00003
    row = [2.0, 60, rate, level["epsilon_central"], level["epsilon_central_lower"]]
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    cells = [line.replace("│", " ").split() for line in text.splitlines()]
    assert [f"{number:g}" for number in row] in cells
    # So large a target needs no choice among the items.
    assert rate == 1.0
    assert "targets make no difference" in text
    assert "published" not in record
    assert steps == []
