"""Output of `train`: a progress bar, accuracies, a picture, a record."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table

from shuffledp.cli.console import show, show_json
from shuffledp.cli.waiting import lines_of_shares
from shuffledp.display_text import percent
from shuffledp.extras import require
from shuffledp.file_writing import check_folder, write_files
from shuffledp.matplotlib_picture import new_figure, svg

_COLORS = ("#1f5fa8", "#d9730d")


@contextmanager
def training_bar(
    step: str, total: int
) -> Iterator[Callable[[float, Callable[[], str] | None], None]]:
    """Shows a bar, or lines in a log; yields a function (steps done, description).

    The description is a function; None leaves the last one unchanged.

    Args:
        step: The name of one step, such as "round".
        total: The number of steps.
    """
    console = Console(stderr=True)
    bar = Progress(
        TextColumn(step),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        Elapsed(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    on_share = lines_of_shares(f"{step}s")
    with bar:
        task = bar.add_task("", total=total)

        def tell(done: float, words: Callable[[], str] | None) -> None:
            if not console.is_terminal:
                on_share(done / total)
                return
            # Only now, for a bar: the words of a training cost a certificate.
            text = None if words is None else words()
            bar.update(task, completed=done, description=text)

        yield tell


def prepare(output: Path | None, *, force: bool) -> None:
    """Raises before the training if pictures cannot be drawn or files written."""
    if output is not None:
        require("matplotlib", extra="report", what="A picture")
        # A training takes long: it must not end with files that cannot be written.
        check_folder(output, force=force)


def deliver(
    record: dict[str, Any],
    parts: Sequence[RenderableType],
    *,
    curves: dict[str, tuple[float, ...]],
    step: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """Prints JSON or tables, and writes the files.

    Args:
        record: The full result, for JSON.
        parts: Tables for people.
        curves: {name: accuracy after each step}.
        step: The name of one step, such as "round".
        output: A folder, or None.
        as_json: Whether to print the record instead of the tables.
    """
    record = {name: _with_finite_numbers(value) for name, value in record.items()}
    # Shown before it is written: a full disk does not take a training away.
    if as_json:
        show_json(record)
    else:
        show(*parts)
    if output is None:
        return
    # Infinity and NaN are texts by now: see `_with_finite_numbers`.
    text = json.dumps(record, indent=2, allow_nan=False)
    picture = accuracy_picture(curves, step)
    write_files(output, {"training.json": text + "\n", "accuracy.svg": picture})
    if not as_json:
        show(f"\nWritten to {output}: training.json, accuracy.svg")


def accuracy_table(curves: dict[str, tuple[float, ...]], step: str) -> RenderableType:
    """Returns accuracies after each step, at most ten of them."""
    table = Table(title="Accuracy", title_justify="left")
    for heading in (step, *curves):
        table.add_column(heading, justify="right")
    rows = list(zip(*curves.values(), strict=True))
    # At most ten rows; the last step is always one of them.
    row_interval = math.ceil(len(rows) / 10)
    for done, row in enumerate(rows, start=1):
        if done % row_interval == 0 or done == len(rows):
            table.add_row(str(done), *(f"{percent(share, 2)} %" for share in row))
    return table


def accuracy_picture(curves: dict[str, tuple[float, ...]], step: str) -> str:
    """Returns accuracies after each step, as SVG."""
    figure = new_figure(7.0, 3.6)
    axes = figure.subplots()
    # There may be fewer curves than colors.
    for color, (name, curve) in zip(_COLORS, curves.items(), strict=False):
        axes.plot(
            range(1, len(curve) + 1),
            [100.0 * share for share in curve],
            # More markers than these hide the curve.
            marker="o" if len(curve) <= 30 else None,
            markersize=4,
            color=color,
            label=name,
        )
    axes.set_xlabel(step)
    axes.set_ylabel("accuracy (%)")
    ticker = require("matplotlib.ticker", extra="report", what="A picture")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axes.legend(frameon=False)
    return svg(figure, f"Accuracy after each {step}")


def _with_finite_numbers(value: Any) -> Any:
    """Returns a record with texts in place of infinity and NaN."""
    # JSON has neither.
    if isinstance(value, dict):
        return {name: _with_finite_numbers(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with_finite_numbers(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "infinity" if value > 0.0 else str(value)
    return value
