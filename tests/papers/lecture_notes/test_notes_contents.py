"""What the notes and the segmented paper contain points at what there is."""

from importlib import import_module
from pathlib import Path

import click
import pytest

import shuffledp
from shuffledp.cli.main import app
from shuffledp.papers.contents.entry import Entry
from shuffledp.papers.court.cases import all_cases
from shuffledp.papers.figures.catalog import EXPERIMENTS
from shuffledp.papers.lecture_notes import contents as lecture_notes
from shuffledp.papers.segmented import contents as segmented

PAPERS = {"notes": lecture_notes.CONTENTS, "segmented": segmented.CONTENTS}
ENTRIES = [entry for contents in PAPERS.values() for entry in contents]


@pytest.mark.parametrize("prefix", PAPERS)
def test_every_experiment_is_an_item(prefix: str) -> None:
    named = {entry.result for entry in PAPERS[prefix] if entry.result}

    assert named == {name for name in EXPERIMENTS if name.startswith(f"{prefix}-")}
    places = [entry.place for entry in PAPERS[prefix]]
    assert len(set(places)) == len(places)


def test_cases_are_those_of_the_court() -> None:
    known = {case.name for case in all_cases()}

    assert {case for entry in ENTRIES for case in entry.cases} <= known


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.place)
def test_items_say_where_they_run(entry: Entry) -> None:
    if entry.where.startswith("shuffledp "):
        group: click.Command = app
        for word in entry.where.split()[1:]:
            if not isinstance(group, click.Group):
                break
            assert group.get_command(click.Context(group), word) is not None, word
            group = group.get_command(click.Context(group), word) or group
        assert not isinstance(group, click.Group)
        options = {name for each in group.params for name in each.opts} | {"--help"}
        asked = {word for word in entry.where.split() if word.startswith("--")}
        assert asked <= options
    elif entry.where.startswith("docs/"):
        assert (Path(shuffledp.__file__).parents[2] / entry.where).exists()
    elif entry.where:
        names = entry.where.split(".")
        known = [n for n in range(1, len(names) + 1) if _module(".".join(names[:n]))]
        found = import_module(".".join(names[: known[-1]]))
        for name in names[known[-1] :]:
            found = getattr(found, name)
    assert entry.where or entry.result or entry.cases


def _module(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True
