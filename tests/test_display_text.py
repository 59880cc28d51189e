"""Names for display: short, visible, and different where they differ."""

import pytest

from shuffledp.display_text import printable, printable_names


@pytest.mark.parametrize("longest", [8, 24, 40])
def test_names_that_begin_alike_look_different(longest: int) -> None:
    names = [f"{'a' * 60}{end}" for end in ("x", "y", "xy", "")] + ["b" * 60, "c"]

    short = printable_names(names, longest)

    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= longest
    assert short[-1] == "c"


def test_names_that_differ_in_their_middle_stay_short() -> None:
    names = ["x" * 60 + "a" + "x" * 60, "x" * 60 + "b" + "x" * 60]
    assert max(map(len, printable_names(names, 10))) <= 10


def test_one_name_is_cut_at_its_end() -> None:
    assert printable("x" * 60) == "x" * 39 + "…"
    assert printable_names(["same" * 20] * 2) == [printable("same" * 20)] * 2
    assert printable("a\x1b[31mb") == "a\ufffd[31mb"
