"""The list of what is in the paper: complete, and everything it names exists."""

import importlib
import re

import pytest
from click.testing import CliRunner

from shuffledp.cli.main import app
from shuffledp.papers.apes.contents import CONTENTS
from shuffledp.papers.apes.experiments import EXPERIMENTS
from shuffledp.papers.contents.entry import Entry
from shuffledp.papers.court.cases import all_cases

PLACES = " | ".join(entry.place for entry in CONTENTS)


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


@pytest.mark.parametrize("entry", CONTENTS, ids=lambda entry: entry.place)
def test_what_an_entry_names_exists(entry: Entry) -> None:
    assert not entry.result or entry.result in EXPERIMENTS
    names = {case.name for case in all_cases()}
    assert set(entry.cases) <= names
    if entry.where.startswith("shuffledp."):
        module, _, name = entry.where.rpartition(".")
        assert hasattr(importlib.import_module(module), name)
    elif entry.where:
        words = entry.where.split()[1:]
        options = [word for word in words if word.startswith("--")]
        names_of = words[: words.index(options[0])] if options else words
        shown = CliRunner().invoke(app, [*names_of, "--help"])
        assert shown.exit_code == 0
        assert all(option in shown.output for option in options)
