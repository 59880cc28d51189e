"""The page on the papers is what the results say, and nothing else."""

import json
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest

import shuffledp
from shuffledp.cli.main import app
from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp_papers.contents.paper_item import (
    SETTLED,
    Missing,
    PaperItem,
    State,
)
from shuffledp_papers.contents.papers import PAPERS, Paper
from shuffledp_papers.contents.reproduction_page import document, state_of
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.result import Effort

DOCS = Path(shuffledp.__file__).parents[2] / "docs"
RESULTS = DOCS / "papers" / "results"
ENTRIES = [entry for paper in PAPERS for entry in paper.contents]


def stored(*agree: bool) -> dict[str, dict[str, Any]]:
    return {"name": {"comparisons": [{"agrees": each} for each in agree]}}


@pytest.mark.parametrize(
    ("agree", "state"),
    [
        ((), State.TRIED),
        ((True, True), State.REPRODUCED),
        ((True, False), State.DIFFERS),
    ],
)
def test_numbers_decide_where_the_state_is_open(
    agree: tuple[bool, ...], state: State
) -> None:
    assert state_of(PaperItem("Table 1", "x", result="name"), stored(*agree)) is state


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"state": State.DIFFERS},
        {"state": State.TRIED},
        {"state": State.IMPOSSIBLE},
        {"state": State.REFUTED},
        {"state": State.TRIED, "why": "no"},
        {"state": State.TRIED, "missing": Missing.DIGITS},
        {"state": State.HOLDS, "missing": Missing.DIGITS},
    ],
)
def test_a_state_without_its_reason_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        PaperItem("Table 1", "x", **given)


def test_every_paper_has_contents_and_every_experiment_stands_in_them() -> None:
    assert all(paper.contents for paper in PAPERS)
    named = {entry.result for entry in ENTRIES if entry.result}
    assert named == set(EXPERIMENTS)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_experiments_are_those_of_the_paper_and_places_are_named_once(
    paper: Paper,
) -> None:
    named = {entry.result for entry in paper.contents if entry.result}

    assert named == {
        name for name in EXPERIMENTS if name.startswith(f"{paper.prefix}-")
    }
    places = [entry.place for entry in paper.contents]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.place)
def test_items_say_where_they_run(entry: PaperItem) -> None:
    where = entry.where
    if where.startswith("shuffledp "):
        check_command(where)
    elif where.startswith("docs/"):
        assert not DOCS.is_dir() or (DOCS.parent / where).exists()
    elif where:
        check_name(where.split("(")[0])
    assert entry.where or entry.result or entry.cases


def check_command(text: str) -> None:
    """The command is there, and so are the options that are named."""
    group: click.Command = app
    for word in text.split()[1:]:
        if not isinstance(group, click.Group):
            break
        found = group.get_command(click.Context(group), word)
        assert found is not None, word
        group = found
    assert not isinstance(group, click.Group)
    options = {name for each in group.params for name in each.opts} | {"--help"}
    assert {word for word in text.split() if word.startswith("--")} <= options


def check_name(text: str) -> None:
    """The module can be imported and has what is named."""
    names = text.split(".")
    places = [n for n in range(1, len(names) + 1) if find_spec_of(".".join(names[:n]))]
    found = import_module(".".join(names[: places[-1]]))
    for name in names[places[-1] :]:
        found = getattr(found, name)


def find_spec_of(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.skipif(not DOCS.is_dir(), reason="docs/ is not here")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.place)
def test_an_item_that_is_not_settled_says_what_is_missing(entry: PaperItem) -> None:
    results = {}
    if entry.result:
        path = RESULTS / f"{entry.result}.json"
        results = {entry.result: json.loads(path.read_text("utf-8"))}

    settled = state_of(entry, results) in SETTLED

    assert settled is (entry.missing is None)
    assert settled or entry.why


@pytest.mark.skipif(not DOCS.is_dir(), reason="docs/ is not here")
def test_the_headline_counts_every_item_once() -> None:
    page = (DOCS / "papers" / "reproduction.md").read_text(encoding="utf-8")
    headline = page.splitlines()[2]

    counted = dict(re.findall(r"(\w+) (\d+)", headline.split(":")[1]))

    assert list(counted) == [str(state) for state in State]
    assert headline.startswith(f"Of {len(ENTRIES)} items:")
    for state, count in counted.items():
        assert page.count(f" | **{state}** | ") == int(count)
    assert sum(map(int, counted.values())) == len(ENTRIES)


@pytest.mark.skipif(not DOCS.is_dir(), reason="docs/ is not here")
def test_the_page_is_what_the_results_say() -> None:
    page = DOCS / "papers" / "reproduction.md"

    assert page.read_text(encoding="utf-8") == document(RESULTS, page=page)


@pytest.mark.few_cases(1)
@pytest.mark.skipif(not DOCS.is_dir(), reason="docs/ is not here")
@pytest.mark.parametrize("name", ["apes-local", "eapes-fig3", "testing-fig3"])
def test_stored_numbers_are_those_that_are_computed(name: str) -> None:
    stored = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    effort = Effort(stored["repetitions"], stored["seed"], False, lambda _share: None)

    found = EXPERIMENTS[name].run(effort).to_document(name, effort, 0.0)

    assert found["columns"] == stored["columns"]
    for row, expected in zip(found["rows"], stored["rows"], strict=True):
        # Another machine rounds otherwise in the last digits.
        assert row == [
            pytest.approx(cell, rel=1e-6) if isinstance(cell, float) else cell
            for cell in expected
        ]


@pytest.mark.skipif(not DOCS.is_dir(), reason="docs/ is not here")
def test_results_are_of_this_version_and_have_their_picture() -> None:
    for name in EXPERIMENTS:
        found = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
        assert found["version"] == shuffledp.__version__
        assert found["setting"], name
        assert (RESULTS / f"{name}.svg").is_file()


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    with pytest.raises(ShuffledpError, match="reproduce"):
        document(tmp_path, page=page)
    with pytest.raises(ShuffledpError, match="folder"):
        document(tmp_path / "nowhere", page=page)
    name = next(entry.result for entry in ENTRIES if entry.result)
    (tmp_path / f"{name}.json").write_text('{"experiment": "other"}')
    with pytest.raises(ShuffledpError, match="Expected the result of"):
        document(tmp_path, page=page)
