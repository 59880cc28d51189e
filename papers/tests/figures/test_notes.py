"""Notes in TOML: complete, and with numbers put in."""

import pytest

from shuffledp_papers.figures.notes import figure_notes


def test_values_stand_for_the_names_in_braces() -> None:
    first, _, _ = figure_notes(
        "apes", "apes-candidates", agreeing=3, compared=18, least=1.25, most=2.0,
        least_gain=0.0, most_gain=0.1,
    )  # fmt: skip

    assert first.startswith("Found, for 3 of 18 numbers:")
    assert "{" not in first


def test_a_missing_value_raises() -> None:
    with pytest.raises(KeyError, match="above"):
        figure_notes("segmented", "flat")
