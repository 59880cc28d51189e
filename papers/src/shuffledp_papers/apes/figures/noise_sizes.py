"""APES (Liu et al. 2023), Lemmas 9 and 10: the stated and the exact size of noise."""

from collections.abc import Callable

from shuffledp_papers.apes.noise_size import corrected_noise, ideal_noise, squared_noise
from shuffledp_papers.apes.wide_clip_laplace import moments
from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort, Result
from shuffledp_papers.figures.table import Cell, Table

CLIP = 0.1
BUDGETS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_TITLE = "APES (Liu et al. 2023), Lemmas 9 and 10: the size of noise"
_FORMULAS: dict[str, Callable[..., float]] = {
    "(26)": squared_noise,
    "(28)": corrected_noise,
    "exact bias": ideal_noise,
}


def run(effort: Effort) -> Result:
    """Computes bounds on a coordinate's noise as printed and corrected, and the noise."""
    rows: list[dict[str, Cell]] = []
    for budget in effort.each(BUDGETS):
        cells: dict[str, Cell] = {"epsilon": budget}
        pairs = zip(_FORMULAS.items(), _exact(budget), strict=True)
        for (name, formula), exact in pairs:
            # Stated as upper bounds: below the exact size they are refuted.
            stated = formula(CLIP, budget, as_printed=True)
            cells |= {
                f"{name} printed": stated,
                f"{name} printed: exceeded": stated < exact,
                f"{name} corrected": formula(CLIP, budget),
                f"{name} exact": exact,
            }
        rows.append(cells)
    setting: dict[str, Cell] = {"C": CLIP, "noise": "mean square, of one coordinate"}
    table = Table.from_records(rows)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        notes=figure_notes("apes", "apes-noise"),
        svg=_picture(setting, table),
    )


def _exact(budget: float) -> tuple[float, float, float]:
    """Returns the exact values of the formulas, at the ends of the range."""
    mean, variance = moments(1.0, epsilon=budget, reach=1.0)
    bias = mean - 1.0
    # (26): the mean squared distance from the value.
    square = variance + bias**2
    # (28): the bias at the other end has the opposite sign.
    return (
        CLIP**2 * square,
        CLIP**2 * (2.0 * square + 2.0 * bias**2),
        CLIP**2 * variance,
    )


def _picture(setting: dict[str, Cell], table: Table) -> str:
    panels = []
    for name in _FORMULAS:
        printed = [_positive(cell) for cell in table.column(f"{name} printed")]
        curves = [
            Curve("exact", BUDGETS, table.column(f"{name} exact"), ours=True),
            Curve("corrected", BUDGETS, table.column(f"{name} corrected")),
            Curve("printed", BUDGETS, printed),
        ]
        panels.append(
            Panel(
                name,
                [c for c in curves if any(value is not None for value in c.values)],
                horizontal="budget",
                vertical="mean square",
                log="xy",
            )
        )
    return draw(
        f"{_TITLE} (printed: where it is above 0)",
        setting,
        panels,
        description=_TITLE,
    )


def _positive(cell: Cell) -> Cell:
    """Returns a cell for a logarithmic axis: None for numbers that are not positive."""
    return cell if isinstance(cell, float) and cell > 0.0 else None
