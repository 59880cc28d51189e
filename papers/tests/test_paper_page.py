"""Numbers on docs/paper.md are what the commands beside them print."""

import json
import re
import shlex
from pathlib import Path

import pytest
from command_line import Command

import shuffledp
from shuffledp_papers.leaderboard.entry import EntryStatus, Leaderboard, Standing

DOCS = Path(shuffledp.__file__).parents[2] / "docs"
PAGE = DOCS / "paper.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
PRINTS = re.findall(r"^(shuffledp .*)\n# prints: (.*)$", TEXT, re.MULTILINE)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("line", "texts"),
    [
        # A search for the best noise takes seconds.
        pytest.param(*each, marks=[pytest.mark.slow] if " plan " in each[0] else [])
        for each in PRINTS
    ],
    ids=[f"experiment {number}" for number in range(1, len(PRINTS) + 1)],
)
def test_a_command_prints_the_numbers_beside_it(
    line: str, texts: str, command: Command
) -> None:
    outcome = command(*shlex.split(line)[1:])

    assert outcome.code == 0, outcome.err
    for text in texts.split(", "):
        # The whole number, not a part of a longer one.
        whole = rf"(?<![\w.]){re.escape(text)}(?!\w|\.\d)"
        assert re.search(whole, outcome.out), text


def test_the_page_has_an_experiment_for_every_claim() -> None:
    if not TEXT:
        pytest.skip("the source distribution has no documentation")
    claims = re.split(r"^## (?=\d)", TEXT, flags=re.MULTILINE)[1:]
    *claims, last = claims
    claims.append(last.split("\n## ")[0])

    assert len(claims) == 6
    for claim in claims:
        for part in ("**Statement.**", "**Proof.**", "**Known.**", "```sh"):
            assert part in claim
    assert len(PRINTS) >= 8


def test_what_is_said_of_the_leaderboard_is_what_is_stored() -> None:
    if not TEXT:
        pytest.skip("the source distribution has no documentation")
    stored = DOCS / "papers" / "leaderboard" / "leaderboard.json"
    board = Leaderboard.from_dict(json.loads(stored.read_text(encoding="utf-8")))
    stated = [entry for _, entry in board.rows if entry.epsilon is not None]
    below = [entry for entry in stated if entry.comparison is Standing.BELOW]
    refuted = [entry for entry in below if entry.is_refuted]
    tighter = [entry for entry in stated if entry.comparison is Standing.TIGHTER]

    words = " ".join(TEXT.split())
    assert (
        f"On {len(board.points)} collections, {len(below)} of {len(stated):,} numbers "
        f"from {len(board.sources)} published bounds"
    ) in words
    assert f"{len(refuted)} of these refute a statement" in words
    assert f"{len(tighter)} numbers are between attack and certificate" in words
    assert all(entry.status is not EntryStatus.PROVEN for entry in below + tighter)
    largest = max(each.certified / each.attack for each in board.points)
    assert f"{largest:.3f} times it at most" in words
