"""APES (Liu et al. 2023), Lemmas 9 and 10: the stated and the exact size of noise."""

from collections.abc import Callable

from shuffledp_papers.apes.noise_size import corrected_noise, ideal_noise, squared_noise
from shuffledp_papers.apes.wide_clip_laplace import moments
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Cell, Table

CLIP = 0.1
BUDGETS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_FORMULAS: dict[str, Callable[..., float]] = {
    "(26)": squared_noise,
    "(28)": corrected_noise,
    "exact bias": ideal_noise,
}


def run(effort: Effort) -> ComputedFigure:
    """Computes bounds on a coordinate's noise as printed and corrected, and the noise."""
    rows: list[dict[str, Cell]] = []
    pictured: list[dict[str, Cell]] = []
    for budget in effort.each(BUDGETS):
        cells: dict[str, Cell] = {"epsilon": budget}
        pairs = zip(_FORMULAS.items(), _exact(budget), strict=True)
        for (name, formula), exact in pairs:
            # Stated as upper bounds: below the exact size they are refuted.
            stated = formula(CLIP, budget, as_printed=True)
            corrected = formula(CLIP, budget)
            cells |= {
                f"{name} printed": stated,
                f"{name} printed: exceeded": stated < exact,
                f"{name} corrected": corrected,
                f"{name} exact": exact,
            }
            pictured.append(
                {
                    "noise": name,
                    "budget": budget,
                    "exact": exact,
                    "corrected": corrected,
                    # A logarithmic axis has no other numbers.
                    "printed": stated if stated > 0.0 else None,
                }
            )
        rows.append(cells)
    return ComputedFigure(
        setting={"C": CLIP, "noise": "mean square, of one coordinate"},
        table=Table.from_records(rows),
        pictured=Table.from_records(pictured),
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
