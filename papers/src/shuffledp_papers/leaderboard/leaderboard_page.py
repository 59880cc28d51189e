"""The leaderboard as pages: HTML without any other file, and Markdown."""

import os
from collections.abc import Sequence
from pathlib import Path

from shuffledp.extras import require
from shuffledp_papers.leaderboard.entry import Leaderboard, Standing
from shuffledp_papers.leaderboard.leaderboard_pictures import (
    growth_picture,
    ratio_picture,
)
from shuffledp_papers.leaderboard.leaderboard_tables import (
    as_csv,
    as_markdown,
    sentences,
    table_of_bounds,
    table_of_entries,
    table_of_points,
    tighter_rows,
)

_TITLE = "Bounds on shuffle privacy: the leaderboard"
_TIGHTER = "Published bounds that are tighter than our certificate"
READING = (
    "Every row is about one collection: a randomizer, the number of people at each level, "
    "delta, and the number of rounds. The attack proves that the true epsilon of the least "
    "protected people is at least its number, the certificate that it is at most its own. "
    "A number below the attack is too small here. The bound is refuted only if its "
    "statement is false under every reading, as court.md has it, and speaks of this "
    "collection.",
    "Status, in the words of court.md: proven; withdrawn by its authors, who corrected the "
    "paper: unproven since then; false under every reading, though its number may be right "
    "here; false as printed, a slip: not contradicted as meant; false as evaluated by us: "
    "what is evaluated is a reading of ours, such as a constant that is not named and "
    "taken as 0; heuristic: unproven, or used where its theorem does not speak, as all "
    "bounds for one common level are for several (at the largest).",
    "Several rounds: Renyi divergences add up as their paper has it; of other bounds, the "
    "profile of one round is composed exactly, as for the certificate.",
    "Epsilons are rounded up to six digits, attacks down. Seconds are processor time "
    "of one evaluation; MB is resident memory at its peak above that at its beginning. "
    "What an earlier bound of the same collection has cached costs nothing.",
)


def html_page(board: Leaderboard, pictures: Sequence[str]) -> str:
    """Returns the page as HTML, which needs no other file and no network.

    Args:
        board: The leaderboard.
        pictures: As SVG.
    """
    jinja2 = require("jinja2", extra="report", what="The leaderboard")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shuffledp_papers.leaderboard"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    stated = [row for row in board.rows if row[1].comparison is not Standing.NONE]
    page: str = environment.get_template("leaderboard.html.j2").render(
        title=_TITLE,
        board=board,
        sentences=sentences(board),
        reading=READING,
        pictures=pictures,
        tables=[
            table_of_bounds(board),
            table_of_points(board),
            table_of_entries(tighter_rows(board), _TIGHTER),
            table_of_entries(stated, "All numbers"),
        ],
    )
    return page


def document(board: Leaderboard, *, folder: str) -> str:
    """Returns the page in Markdown.

    Args:
        board: The leaderboard.
        folder: The folder of the stored results, relative to the page.
    """
    tighter = table_of_entries(tighter_rows(board), _TIGHTER)
    return "\n".join(
        [
            "# Leaderboard",
            "",
            "Attack and certificate beside every published bound, on a fixed grid. Written "
            "by",
            "",
            f"    shuffledp leaderboard --date {board.date} \\",
            "      --output docs/papers/leaderboard --document docs/papers/leaderboard.md "
            "--force",
            "",
            f"Grid {board.grid_version}, shuffledp {board.version}, {board.date}; "
            f"{board.machine}.",
            "",
            *_paragraphs(sentences(board)),
            f"All entries: [{FILES[0]}]({folder}/{FILES[0]}) (sortable tables and "
            f"pictures in one file), [{FILES[1]}]({folder}/{FILES[1]}), "
            f"[{FILES[2]}]({folder}/{FILES[2]}).",
            "",
            "## How to read it",
            "",
            *_paragraphs(READING),
            "## Bounds",
            "",
            *as_markdown(table_of_bounds(board)),
            "",
            f"![Stated epsilons over the attack]({folder}/{FILES[3]})",
            "",
            "## Collections",
            "",
            *as_markdown(table_of_points(board)),
            "",
            f"![Epsilon by number of people]({folder}/{FILES[4]})",
            "",
            "## Where a published bound is tighter",
            "",
            *as_markdown(tighter),
            "",
            *_ENTERING,
        ]
    )


FILES = (
    "leaderboard.html",
    "leaderboard.csv",
    "leaderboard.json",
    "leaderboard-ratios.svg",
    "leaderboard-growth.svg",
)
_ENTERING = (
    "## Entering a bound",
    "",
    "A bound that a paper states is a file in `shuffledp_papers/bounds/`, a row of "
    "`bounds.toml` and a line of `published_bounds.py` (see CONTRIBUTING.md). Any other "
    "program enters as an accountant: a function of a randomizer, people and epsilon that "
    "answers with the delta of each level. `examples/outside_bound.py` is a template.",
    "",
    "```sh",
    "cd examples",
    "shuffledp audit accountant outside_bound:account --seconds 5    # against enumerated "
    "truth",
    "shuffledp leaderboard --bound outside_bound:account             # as one more row of "
    "the grid",
    "```",
    "",
    "The audit comes first: it tries small collections whose exact divergence is "
    "enumerated, and shrinks what it refutes "
    "([audit.md](../how-to/audit.md#an-accountant)).",
    "",
)


def stored_files(board: Leaderboard, json_text: str) -> dict[str, str]:
    """Returns the contents of all files of a folder of results, by name.

    Args:
        board: The leaderboard.
        json_text: The same as JSON.
    """
    pictures = ratio_picture(board), growth_picture(board)
    contents = html_page(board, pictures), as_csv(board), json_text, *pictures
    return dict(zip(FILES, contents, strict=True))


def relative_folder(folder: Path, page: Path) -> str:
    """Returns the path of a folder as the page links to it."""
    return Path(os.path.relpath(folder, page.parent)).as_posix()


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in (text, "")]
