"""The list of the paper's contents is complete."""

import re

import pytest

from shuffledp_papers.contents.papers import PAPERS

(APES,) = (paper for paper in PAPERS if paper.prefix == "apes")
PLACES = " | ".join(entry.place for entry in APES.contents)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("Algorithm", range(1, 3)),
        ("Theorem", range(1, 5)),
        ("Lemma", range(1, 11)),
        ("Table", range(1, 5)),
        ("Figure", range(1, 11)),
    ],
)
def test_every_item_of_the_paper_is_listed(kind: str, numbers: range) -> None:
    for number in numbers:
        assert re.search(rf"\b{kind} {number}\b", PLACES)
