"""Page on all items of the papers, written from results."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.strict_json import read_json_file
from shuffledp_papers.contents.paper_item import PaperItem, State
from shuffledp_papers.contents.papers import PAPERS, Paper
from shuffledp_papers.court.stated_claim import refutations
from shuffledp_papers.figures.result import Comparison

_HEAD = """\
Every algorithm, theorem, table and figure of the five documents behind this library,
and what became of it here. This page is written by

    shuffledp reproduce --output docs/papers/results \\
      --document docs/papers/reproduction.md --force

from docs/papers/results, each of which is written by `shuffledp reproduce NAME`.

* **reproduced**: the paper's numbers are found again.
* **differs**: other numbers are found; why, if known.
* **refuted**: a statement of [court.md](court.md) that is false under every reading that
  was found; the readings and the adversary are shown by `shuffledp claims --case NAME`.
* **holds**: a statement, and no number: right, with the errata named, and tested.
* **tried**: runs here; there is nothing of the paper to compare with.
* **impossible**: cannot be had, and why.

Where an item is not settled, the last column begins with what is missing in the paper:
printed digits, printed settings (rates, rounds, budgets, calibration), a constant, a
statement that could be checked, or a proof. *Missing: nothing* says that all is printed,
and that something else is found.

The documents were read from machine-made texts: where a single symbol is called an
erratum, the text may be at fault. Our number is the paper's if it rounds to what is
printed; where theirs is simulated or read off a picture it may be *near*, and by how
much it differs stands beside it.
"""


def document(folder: Path, *, page: Path) -> str:
    """Returns the page, in Markdown.

    Args:
        folder: With NAME.json and NAME.svg of every experiment, as `shuffledp reproduce`
            writes them.
        page: Path of the page, for links to the pictures.

    Raises:
        InvalidInputError: If a file is missing or is not a result.
    """
    if not folder.is_dir():
        raise InvalidInputError(f"Expected a folder of results, got {folder}.")
    results = {
        entry.result: _result(folder, entry.result)
        for paper in PAPERS
        for entry in paper.contents
        if entry.result
    }
    # Relative to the page, so that links hold wherever both folders stand.
    pictures = Path(os.path.relpath(folder, page.parent)).as_posix()
    parts = [_headline(results), _HEAD, _summary(results)]
    parts += [_section(paper, results, pictures) for paper in PAPERS]
    return "\n".join(parts)


def _result(folder: Path, name: str) -> Mapping[str, Any]:
    path = folder / f"{name}.json"
    if not path.exists():
        raise InvalidInputError(
            f"Expected {path}; `shuffledp reproduce {name} --output {folder}` writes it."
        )
    result = read_json_file(path)
    # A file that was renamed by hand would put its numbers under another item.
    if result.get("experiment") != name:
        raise InvalidInputError(f"Expected the result of {name} in {path}.")
    return result


def state_of(entry: PaperItem, results: Mapping[str, Mapping[str, Any]]) -> State:
    """Returns an item's state; where it is left open, its numbers decide."""
    if entry.state is not None:
        return entry.state
    compared = results[entry.result]["comparisons"]
    if not compared:
        return State.TRIED
    agrees = all(each["agrees"] for each in compared)
    return State.REPRODUCED if agrees else State.DIFFERS


def counts_of_states(results: Mapping[str, Mapping[str, Any]]) -> dict[State, int]:
    """Returns the number of items of all papers in each state."""
    states = [state_of(entry, results) for paper in PAPERS for entry in paper.contents]
    # A state without items stays, with 0: the headline names every state.
    return {state: states.count(state) for state in State}


def _headline(results: Mapping[str, Mapping[str, Any]]) -> str:
    counts = counts_of_states(results)
    words = ", ".join(f"{state} {count}" for state, count in counts.items())
    return (
        f"# The papers, item by item\n\nOf {sum(counts.values())} items: {words}. By "
        f"[court.md](court.md), {refutations()}\n"
    )


def _summary(results: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| | " + " | ".join(State) + " |", "|---|" + "---|" * len(State)]
    for paper in PAPERS:
        states = [state_of(entry, results) for entry in paper.contents]
        counts = " | ".join(str(states.count(state) or "") for state in State)
        lines.append(f"| {paper.name} | {counts} |")
    return "\n".join([*lines, ""])


def _section(
    paper: Paper, results: Mapping[str, Mapping[str, Any]], pictures: str
) -> str:
    lines = [f"## {paper.name}", "", f"{paper.reference}.", ""]
    lines += ["| item | what | state | how to run it | errata, differences |"]
    lines += ["|---|---|---|---|---|"]
    lines += [_row(entry, results) for entry in paper.contents]
    lines.append("")
    # Several items may share a result; its numbers are printed once.
    named = dict.fromkeys(entry.result for entry in paper.contents if entry.result)
    for name in named:
        lines += _numbers(name, results[name])
        title = _escaped(results[name]["title"])
        lines += [f"[All numbers]({pictures}/{name}.csv).", ""]
        lines += [f"![{title}]({pictures}/{name}.svg)", ""]
    return "\n".join(lines)


def _row(entry: PaperItem, results: Mapping[str, Mapping[str, Any]]) -> str:
    state = state_of(entry, results)
    # The first case in a command that runs as it stands; the others by name.
    cases = ", ".join(f"`{case}`" for case in entry.cases)
    cases = cases.replace("`", "`shuffledp claims --case ", 1)
    command = f"`shuffledp reproduce {entry.result}`" if entry.result else ""
    where = "; ".join(text for text in (command, _code(entry.where), cases) if text)
    missing = f"*Missing: {entry.missing}.* " if entry.missing else ""
    cells = (entry.place, entry.what, f"**{state}**", where, missing + entry.why)
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _code(text: str) -> str:
    # Texts with backquotes mark their code themselves.
    return f"`{text}`" if text and "`" not in text else text


def _escaped(text: str) -> str:
    # Bars and line ends would end a cell of a Markdown table.
    return text.replace("|", r"\|").replace("\n", " ")


def _difference(compared: Mapping[str, Any]) -> str:
    # A printed 0 has no relative difference.
    printed = float(compared["printed"])
    return f"{compared['here'] / printed - 1.0:+.1%}" if printed else ""


def _mark(compared: Mapping[str, Any]) -> str:
    """Returns "" for the printed number itself, "near" if that suffices, or "differs"."""
    if not compared["agrees"]:
        return "differs"
    # The same comparison without a tolerance: do the printed digits agree?
    same = Comparison(compared["what"], compared["printed"], compared["here"]).agrees
    return "" if same else "near"


def _numbers(name: str, result: Mapping[str, Any]) -> list[str]:
    """Returns the paper's numbers beside ours, and the notes of a result."""
    setting = ", ".join(f"{key} {cell}" for key, cell in result["setting"].items())
    how = f"seed {result['seed']}, {result['seconds']:g} s"
    if result["repetitions"] > 1:
        how = f"{result['repetitions']} repetitions, {how}"
    if result["quick"]:
        how += ", --quick"
    lines = [f"### {name}", "", f"{result['title']}. {setting}. ({how}.)", ""]
    compared: Sequence[Mapping[str, Any]] = result["comparisons"]
    if compared:
        lines += ["| number | paper | here | difference | | why |"]
        lines += ["|---|---|---|---|---|---|"]
        for each in compared:
            cells = (
                each["what"],
                each["printed"],
                f"{each['here']:.4g}",
                _difference(each),
                _mark(each),
                each["why"],
            )
            lines.append("| " + " | ".join(_escaped(cell) for cell in cells) + " |")
        lines.append("")
    lines += [f"* {_escaped(note)}" for note in result["notes"]]
    return [*lines, ""]
