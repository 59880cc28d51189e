"""APES (Liu et al. 2023), Theorems 1 and 3 and Table 3: local budgets of reports."""

from shuffledp_papers.apes.local import (
    clip_laplace_budget,
    clip_laplace_loss,
    report_budget,
)
from shuffledp_papers.apes.printed import COORDINATES
from shuffledp_papers.figures.line_plot import column_curves, draw_curves
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.table import Cell, Table

NUMBERS = (1, 2, 5, 10, 100, 1_000, COORDINATES)
# b of Table 3: a fifth of the coordinates.
SELECTED = 1570
_TITLE = "APES (Liu et al. 2023), Theorems 1 and 3: local budgets of d coordinates"


def run(effort: Effort) -> Result:
    """Computes stated budgets, and the privacy loss between one pair of values."""
    rows: list[dict[str, Cell]] = []
    for number in NUMBERS:
        stated = clip_laplace_budget(1.0)
        loss = clip_laplace_loss(1.0, coordinates=number)
        each = report_budget(1.0, coordinates=number)
        # Tolerates the rounding of a loss that is exactly 1, at d = 1.
        rows.append(
            {
                "d": number,
                "Theorem 1": stated,
                "Theorem 1: exceeded": loss > stated * (1.0 + 1e-9),
                "shown by a pair": loss,
                "Theorem 3": each,
            }
        )
    effort.on_share(1.0)
    setting: dict[str, Cell] = {"epsilon": 1.0, "randomizer": "Clip-Laplace"}
    table = Table.from_records(rows)
    return Result(
        title=_TITLE,
        setting=setting,
        table=table,
        notes=figure_notes("apes", "apes-local"),
        svg=draw_curves(
            _TITLE,
            setting,
            column_curves(
                NUMBERS,
                table,
                {
                    "Theorem 1": "Theorem 1",
                    "shown by a pair of values": "shown by a pair",
                    "Theorem 3": "Theorem 3",
                },
                ours=("shown by a pair of values",),
            ),
            horizontal="coordinates d",
            vertical="local epsilon",
            log="xy",
            description=_TITLE,
        ),
        comparisons=tuple(
            Comparison(f"local epsilon of a report, Table 3, {name}", printed, budget)
            for name, printed, budget in (
                # Budgets of Uniform2 are from 0.05 to 1.
                ("LDP-Min", "392.5", report_budget(0.05, coordinates=COORDINATES)),
                ("APES, most", "7850", report_budget(1.0, coordinates=COORDINATES)),
                ("S-APES, least", "78.5", report_budget(0.05, coordinates=SELECTED)),
                ("S-APES, most", "1570", report_budget(1.0, coordinates=SELECTED)),
            )
        ),
    )
