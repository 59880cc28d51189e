"""E-APES (Chen, Cao, Ge 2023), Figure 4: bounds against the number of people."""

from shuffledp.papers.apes.amplification import ApesClosed, ApesNumerical
from shuffledp.papers.eapes.theorem import EapesCorollary
from shuffledp.papers.figures.bound_figure import BoundFigure
from shuffledp.randomizers.clip_laplace import ClipLaplace

FIGURE_4 = BoundFigure(
    title="E-APES Figure 4: mu-GDP as published, delta = 1 / n",
    populations=tuple(
        f"e-apes/{name}"
        for name in ("uniform1", "uniform2", "gauss1", "gauss2", "gauss3")
    ),
    sizes=(1_000, 10_000, 100_000, 1_000_000),
    bounds={
        "E-APES": EapesCorollary(),
        "APES": ApesNumerical(),
        "closed": ApesClosed(),
    },
    mechanism=ClipLaplace(),
    notes=(
        "E-APES claims the same for every randomizer and leaves out its C / sqrt(n) term: "
        "asymptotic. Budgets are drawn afresh for every person; the paper repeats 1,000.",
    ),
    delta_times_n=1.0,
)
