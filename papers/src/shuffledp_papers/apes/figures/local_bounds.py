"""APES (Liu et al. 2023), Theorems 1 and 3 and Table 3: local budgets of reports."""

from shuffledp_papers.apes.local import clip_laplace_loss, report_budget
from shuffledp_papers.apes.printed import COORDINATES
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

NUMBERS = (1, 2, 5, 10, 100, 1_000, COORDINATES)
# b of Table 3: a fifth of the coordinates.
SELECTED = 1570


def run(effort: Effort) -> ComputedFigure:
    """Computes stated budgets, and the privacy loss between one pair of values."""
    rows: list[dict[str, Cell]] = []
    for number in NUMBERS:
        loss = clip_laplace_loss(1.0, coordinates=number)
        each = report_budget(1.0, coordinates=number)
        # Tolerates the rounding of a loss that is exactly 1, at d = 1.
        rows.append(
            {
                "d": number,
                # Epsilon, in any number of coordinates.
                "Theorem 1": 1.0,
                "Theorem 1: exceeded": loss > 1.0 + 1e-9,
                "shown by a pair": loss,
                "Theorem 3": each,
            }
        )
    effort.on_share(1.0)
    # Budgets of Uniform2 are from 0.05 to 1.
    pairs = ((0.05, COORDINATES), (1.0, COORDINATES), (0.05, SELECTED), (1.0, SELECTED))
    return ComputedFigure(
        setting={"epsilon": 1.0, "randomizer": "Clip-Laplace"},
        table=Table.from_records(rows),
        numbers=[report_budget(budget, coordinates=d) for budget, d in pairs],
    )
