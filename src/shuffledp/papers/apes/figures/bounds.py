"""APES (Liu et al. 2023), Figures 2, 7 and 8: bounds against the number of people.

The baselines are the paper's, under its names: the formula of Erlingson19 at any budget,
though its theorem ends at 1/2; BBGN19 for any randomizer, by both inequalities of its
authors' program, where the paper says numerical and generic; FMT22 evaluated numerically,
which is what the paper's tables call UniS; GDDTK21's upper bound, from Renyi divergences.
All take everybody's budget for the largest. The paper's own bound, EoN, is drawn in closed
form, as Theorem 4 prints it, and evaluated numerically, as in the tables. What the paper
does not have is called ours.
"""

from dataclasses import replace

from shuffledp.papers.apes.amplification import (
    ApesClosed,
    ApesNumerical,
    UniformShuffle,
)
from shuffledp.papers.bounds.balle2019 import (
    Balle2019Bennett,
    Balle2019Blanket,
    Balle2019Hoeffding,
)
from shuffledp.papers.bounds.bound import PublishedBound
from shuffledp.papers.bounds.erlingsson2019 import Erlingsson2019Formula
from shuffledp.papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp.papers.bounds.girgis2021 import Girgis2021Sum
from shuffledp.papers.figures.bound_figure import BoundFigure
from shuffledp.papers.figures.result import Comparison, Effort, Result, number
from shuffledp.randomizers.clip_laplace import ClipLaplace

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
DELTA = 1e-8
BASELINES = ("Erlingson19", "BBGN19 Hoeffding", "BBGN19 Bennett", "FMT22", "GDDTK21")
_BOUNDS: dict[str, PublishedBound] = {
    "Erlingson19": Erlingsson2019Formula(),
    "BBGN19 Hoeffding": Balle2019Hoeffding(),
    "BBGN19 Bennett": Balle2019Bennett(),
    "FMT22": Feldman2021Numerical(),
    "GDDTK21": Girgis2021Sum(),
    "UniS eq. (2)": UniformShuffle(),
    "EoN Theorem 4": ApesClosed(),
    "EoN numerical": ApesNumerical(),
    "EoN, p_i1 (ours)": ApesNumerical(as_printed=False),
    "Clip-Laplace blanket (ours)": Balle2019Blanket(),
}
_NOTES = (
    "Baselines take everybody's budget for the largest, as in the paper; where budgets "
    "differ their theorems do not cover that. Erlingson19 is plotted beyond its budgets "
    "below 1/2, too.",
    "FMT22 is evaluated numerically: what Tables 3 and 4 call UniS. Eq. (2), which the "
    "paper gives for UniS, is its closed form, 3.5 times as large. So is Theorem 4 "
    "compared with the numerical EoN of the tables.",
    "EoN numerical is below all of the paper's baselines, as it says. Its Theorem 4 in "
    "closed form is not. The blanket of Clip-Laplace itself, with everybody at the largest "
    "budget, is about as low as EoN or lower; what is certified here, with everybody's "
    "own, is below all.",
)
# What Table 3 prints at 10,000 people of Uniform2, per coordinate.
_TABLE_3 = {"EoN numerical": "0.057", "FMT22": "0.069"}
_PEOPLE = 10_000


def run_figure_2(effort: Effort) -> Result:
    """Returns Figure 2, beside the numbers that Table 3 has at one of its points."""
    result = FIGURE_2.run(effort)
    (row,) = (r for r in result.rows if r[:2] == ("uniform2", _PEOPLE))
    found = dict(zip(result.columns, row, strict=True))
    compared = [
        Comparison(f"{name}, Uniform2, 10,000 people", printed, number(found[name]))
        for name, printed in _TABLE_3.items()
    ]
    return replace(result, comparisons=tuple(compared))


def run_figure_8(effort: Effort) -> Result:
    """Returns Figure 8, with the largest reduction that the conclusion speaks of."""
    result = FIGURE_8.run(effort)
    return replace(result, comparisons=(_reduction(result),))


def _reduction(result: Result) -> Comparison:
    """Compares EoN with the best baseline, at the paper's number of people."""
    places = {
        name: result.columns.index(name) for name in (*BASELINES, "EoN numerical")
    }
    gains = [
        1.0
        - number(row[places["EoN numerical"]])
        / min(number(row[places[name]]) for name in BASELINES)
        for row in result.rows
        if row[1] == _PEOPLE
    ]
    # The paper says neither at which people nor against which baseline.
    return Comparison(
        "largest reduction of epsilon against the best baseline, percent, 10,000 people",
        "66",
        100.0 * max(gains),
        within=0.05,
    )


def _figure(number: int, rank: int, shown: str) -> BoundFigure:
    return BoundFigure(
        title=f"APES (Liu et al. 2023), Figure {number}: budgets {shown}",
        populations=tuple(
            f"apes/{kind}{rank}" for kind in ("uniform", "gauss", "mixgauss")
        ),
        sizes=SIZES,
        bounds=_BOUNDS,
        mechanism=ClipLaplace(),
        notes=_NOTES,
        delta=DELTA,
    )


FIGURE_2 = _figure(2, 2, "from 0.05 to 1")
FIGURE_7 = _figure(7, 1, "from 0.05 to 0.5")
FIGURE_8 = _figure(8, 3, "from 0.05 to 3")
