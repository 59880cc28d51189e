"""APES (Liu et al. 2023), Figures 2, 7 and 8: bounds against the number of users.

The paper's own bound is EoN. Curves that the paper does not have are called ours.
"""

from collections.abc import Iterable
from dataclasses import replace

from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp_papers.apes.amplification import (
    ApesClosed,
    ApesNumerical,
    UniformShuffle,
)
from shuffledp_papers.bounds.balle2019 import (
    Balle2019Bennett,
    Balle2019Blanket,
    Balle2019Hoeffding,
)
from shuffledp_papers.bounds.bound import PublishedBound
from shuffledp_papers.bounds.erlingsson2019 import Erlingsson2019Formula
from shuffledp_papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp_papers.bounds.girgis2021 import Girgis2021Sum
from shuffledp_papers.figures.bound_figure import BoundFigure
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.table import number

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
DELTA = 1e-8
EON = "EoN numerical"
# Under their names in the paper; all replace every budget with the largest.
BASELINES = ("Erlingson19", "BBGN19 Hoeffding", "BBGN19 Bennett", "FMT22", "GDDTK21")
_BOUNDS: dict[str, PublishedBound] = {
    # At any budget, though its theorem ends at 1/2.
    "Erlingson19": Erlingsson2019Formula(),
    # The paper names "numerical" and "generic": both inequalities of the authors' program,
    # for any randomizer.
    "BBGN19 Hoeffding": Balle2019Hoeffding(),
    "BBGN19 Bennett": Balle2019Bennett(),
    # Called UniS in the paper's tables.
    "FMT22": Feldman2021Numerical(),
    # The upper bound, from Renyi divergences.
    "GDDTK21": Girgis2021Sum(),
    "UniS eq. (2)": UniformShuffle(),
    # In closed form, as Theorem 4 prints it; then evaluated numerically, as in the tables.
    "EoN Theorem 4": ApesClosed(),
    EON: ApesNumerical(),
    "EoN, p_i1 (ours)": ApesNumerical(as_printed=False),
    "Clip-Laplace blanket (ours)": Balle2019Blanket(),
}
# Epsilons per coordinate in Table 3, for 10,000 users of Uniform2.
_TABLE_3 = {EON: "0.057", "FMT22": "0.069"}
_PEOPLE = 10_000


def run_figure_2(effort: Effort) -> Result:
    """Computes Figure 2, and compares one of its points with Table 3."""
    result = _run(FIGURE_2, effort)
    uniform = result.table.where("distribution", "uniform2")
    (cells,) = uniform.where("people", _PEOPLE).records()
    comparisons = [
        Comparison(f"{name}, Uniform2, 10,000 people", printed, number(cells[name]))
        for name, printed in _TABLE_3.items()
    ]
    return replace(result, comparisons=tuple(comparisons))


def run_figure_7(effort: Effort) -> Result:
    """Computes Figure 7."""
    return _run(FIGURE_7, effort)


def run_figure_8(effort: Effort) -> Result:
    """Computes Figure 8, with the reductions that the conclusion mentions."""
    result = _run(FIGURE_8, effort)
    return replace(result, notes=(*result.notes, reduction_note(result)))


def _run(figure: BoundFigure, effort: Effort) -> Result:
    result = figure.run(effort)
    return replace(result, notes=(*result.notes, *order_notes(result)))


def order_notes(result: Result) -> tuple[str, ...]:
    """Returns notes on the order of a figure's curves, counted in its rows."""
    rows = result.table.records()

    def times(name: str, other: str) -> str:
        both = [row for row in rows if row[name] is not None and row[other] is not None]
        if not both:
            return "stated nowhere"
        ratios = [number(row[name]) / number(row[other]) for row in both]
        minimum, maximum = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
        ends = minimum if minimum == maximum else f"{minimum} to {maximum}"
        return f"{ends} times as large, where it is stated ({len(both)} of {len(rows)})"

    def below(name: str, others: Iterable[str]) -> str:
        lower = sum(
            # A bound that states nothing is infinite here, and never below another.
            number(row[name]) < min(number(row[other]) for other in others)
            for row in rows
        )
        return f"at {lower} of {len(rows)} points"

    return figure_notes(
        "apes",
        "order",
        uniform=times("UniS eq. (2)", "FMT22"),
        theorem=times("EoN Theorem 4", "EoN numerical"),
        numerical_below=below(EON, BASELINES),
        theorem_below=below("EoN Theorem 4", BASELINES),
        blanket_below=below("Clip-Laplace blanket (ours)", [EON]),
        certified_below=below("certified", _BOUNDS),
    )


def reduction_note(result: Result) -> str:
    """Returns the note on the reduction of EoN against the best baseline, in percent."""
    rows = result.table.records()
    gains: dict[int, float] = {}
    for row in rows:
        # The largest reduction among the distributions of this size.
        size = int(number(row["people"]))
        best = min(number(row[name]) for name in BASELINES)
        gains[size] = max(gains.get(size, 0.0), 100.0 * (1.0 - number(row[EON]) / best))
    texts = [f"{gain:.1f} at {size:,}" for size, gain in gains.items()]
    (note,) = figure_notes("apes", "reductions", reductions=", ".join(texts))
    return note


def _figure(number: int, rank: int, budgets: str) -> BoundFigure:
    return BoundFigure(
        title=f"APES (Liu et al. 2023), Figure {number}: budgets {budgets}",
        populations=tuple(
            f"apes/{kind}{rank}" for kind in ("uniform", "gauss", "mixgauss")
        ),
        sizes=SIZES,
        bounds=_BOUNDS,
        mechanism=ClipLaplace(),
        notes=figure_notes("apes", "baselines"),
        delta=DELTA,
    )


FIGURE_2 = _figure(2, 2, "from 0.05 to 1")
FIGURE_7 = _figure(7, 1, "from 0.05 to 0.5")
FIGURE_8 = _figure(8, 3, "from 0.05 to 3")
