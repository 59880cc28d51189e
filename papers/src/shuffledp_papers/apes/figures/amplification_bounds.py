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
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Table, number

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
_PEOPLE = 10_000
# Budgets up to 1, 0.5 and 3.
FIGURE_2, FIGURE_7, FIGURE_8 = (
    BoundFigure(
        populations=tuple(
            f"apes/{kind}{rank}" for kind in ("uniform", "gauss", "mixgauss")
        ),
        sizes=SIZES,
        bounds=_BOUNDS,
        mechanism=ClipLaplace(),
        delta=DELTA,
    )
    for rank in (2, 1, 3)
)


def run_figure_2(effort: Effort) -> ComputedFigure:
    """Computes Figure 2, with one of its points that is in Table 3."""
    computed = _run(FIGURE_2, effort)
    uniform = computed.table.where("distribution", "uniform2")
    (cells,) = uniform.where("people", _PEOPLE).records()
    return replace(computed, numbers=[number(cells[name]) for name in (EON, "FMT22")])


def run_figure_7(effort: Effort) -> ComputedFigure:
    """Computes Figure 7."""
    return _run(FIGURE_7, effort)


def run_figure_8(effort: Effort) -> ComputedFigure:
    """Computes Figure 8, with the reductions that the conclusion mentions."""
    computed = _run(FIGURE_8, effort)
    return replace(computed, notes=(*computed.notes, reduction_note(computed.table)))


def _run(figure: BoundFigure, effort: Effort) -> ComputedFigure:
    computed = figure.run(effort)
    notes = (*figure_notes("apes", "baselines"), *order_notes(computed.table))
    return replace(computed, notes=(*computed.notes, *notes))


def order_notes(table: Table) -> tuple[str, ...]:
    """Returns notes on the order of a figure's curves, counted in its rows."""
    rows = table.records()

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


def reduction_note(table: Table) -> str:
    """Returns the note on the reduction of EoN against the best baseline, in percent."""
    gains: dict[int, float] = {}
    for row in table.records():
        # The largest reduction among the distributions of this size.
        size = int(number(row["people"]))
        best = min(number(row[name]) for name in BASELINES)
        gains[size] = max(gains.get(size, 0.0), 100.0 * (1.0 - number(row[EON]) / best))
    texts = [f"{gain:.1f} at {size:,}" for size, gain in gains.items()]
    (note,) = figure_notes("apes", "reductions", reductions=", ".join(texts))
    return note
