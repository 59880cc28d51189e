"""Stored results: a part is recomputed, and the pages are those of the record."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp_papers.bounds.published_bounds import PUBLISHED
from shuffledp_papers.court.stated_claim import ClaimVerdict, claim_named
from shuffledp_papers.leaderboard.computation import compared_point
from shuffledp_papers.leaderboard.entry import (
    ComparedPoint,
    EntryStatus,
    Leaderboard,
    Standing,
)
from shuffledp_papers.leaderboard.grid import read_grid
from shuffledp_papers.leaderboard.leaderboard_page import (
    FILES,
    document,
    html_page,
)
from shuffledp_papers.leaderboard.leaderboard_tables import (
    as_csv,
    sentences,
    tighter_rows,
)
from shuffledp_papers.leaderboard.measured_work import Cost

PAPERS = Path(sdp.__file__).parents[2] / "docs" / "papers"
STORED = PAPERS / "leaderboard"
FREE = Cost(0.0, None)


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    if not STORED.is_dir():
        pytest.skip("the source distribution has no documentation")
    text = (STORED / "leaderboard.json").read_text(encoding="utf-8")
    return Leaderboard.from_dict(json.loads(text))


def without_cost(each: ComparedPoint) -> Any:
    entries = tuple(replace(entry, cost=FREE) for entry in each.entries)
    return replace(each, cost=FREE, entries=entries)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "text",
    [
        "kary-response(categories=10), 1:1000, delta 1e-06",
        "kary-response(categories=100), 4:30, delta 1e-05",
        "clip-laplace, 0.5:1,2:9999, delta 1e-06",
        "gaussian(delta_local=1e-12), 1:10000, delta 1e-06",
        pytest.param(
            "kary-response(categories=10), 1:10000, delta 1e-06, 10 rounds",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_part_of_the_stored_results_is_recomputed_identically(
    text: str, board: Leaderboard
) -> None:
    (stored,) = (each for each in board.points if str(each.point) == text)

    assert without_cost(compared_point(stored.point)) == without_cost(stored)


def test_the_stored_results_are_of_this_grid_and_all_bounds(board: Leaderboard) -> None:
    grid = read_grid()

    assert board.grid_version == grid.version
    assert [each.point for each in board.points] == grid.points
    names = [bound.name for bound in PUBLISHED]
    assert all(
        [entry.bound for entry in each.entries] == names for each in board.points
    )


def test_no_proven_bound_is_below_an_attack_and_every_certificate_is_above(
    board: Leaderboard,
) -> None:
    assert all(each.attack <= each.certified for each in board.points)
    below = {
        entry.status for _, entry in board.rows if entry.comparison == Standing.BELOW
    }
    assert below
    assert EntryStatus.PROVEN not in below


def test_refuted_is_only_what_the_register_calls_false_under_every_reading(
    board: Leaderboard,
) -> None:
    claims = {bound.name: bound.claim for bound in PUBLISHED}
    refuted = [entry for _, entry in board.rows if entry.is_refuted]
    below = [entry for _, entry in board.rows if entry.comparison is Standing.BELOW]

    assert 0 < len(refuted) < len(below)
    for entry in refuted:
        assert claim_named(claims[entry.bound]).verdict is ClaimVerdict.FALSE
    others = {entry.status for entry in below if not entry.is_refuted}
    assert {EntryStatus.EVALUATED, EntryStatus.HEURISTIC} <= others
    # Every word for a fault is one of the register's.
    assert others <= {EntryStatus.HEURISTIC} | {str(each) for each in ClaimVerdict}
    words = " ".join(sentences(board))
    assert f"{len(refuted)} are refuted" in words
    assert f"{len(below) - len(refuted)} more are below the attack" in words


def test_the_pages_are_those_of_the_record(board: Leaderboard) -> None:
    page = PAPERS / "leaderboard.md"

    assert page.read_text(encoding="utf-8") == document(board, folder="leaderboard")
    assert (STORED / "leaderboard.csv").read_text(encoding="utf-8") == as_csv(board)
    assert {path.name for path in STORED.iterdir()} == set(FILES)


def test_the_page_needs_no_network_and_says_what_is_tighter(board: Leaderboard) -> None:
    some = replace(
        board, points=board.points[:3], sources=dict.fromkeys(board.sources, "<b>")
    )

    page = html_page(some, ["<svg></svg>"])

    assert page.count("<tr") > 60
    assert "src=" not in page
    assert 'href="http' not in page
    assert tighter_rows(some)
    assert "none of them is proven" in page
    assert '<tr class="tighter">' in page
    assert "<svg></svg>" in page
    # Names from outside are no markup.
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
