"""APES (Liu et al. 2023), Figures 2, 7 and 8: bounds against the number of people."""

from shuffledp.papers.apes.amplification import (
    ApesClosed,
    ApesNumerical,
    UniformShuffle,
)
from shuffledp.papers.bounds.balle2019 import Balle2019Blanket
from shuffledp.papers.bounds.erlingsson2019 import Erlingsson2019
from shuffledp.papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp.papers.bounds.girgis2021 import Girgis2021Sum
from shuffledp.papers.figures.bound_figure import BoundFigure
from shuffledp.randomizers.clip_laplace import ClipLaplace

_SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
_BASELINES = {
    "Erling.19": Erlingsson2019(),
    "Balle 19": Balle2019Blanket(),
    "Feldm.21": Feldman2021Numerical(),
    "Girgis 21": Girgis2021Sum(),
}
_APES = _BASELINES | {
    "UniS": UniformShuffle(),
    "APES": ApesNumerical(),
    "with p_i1": ApesNumerical(as_printed=False),
    "closed": ApesClosed(),
}
_OF_MAXIMUM = (
    "Baselines take everybody's budget for the largest, as in the paper; where budgets "
    "differ their theorems do not cover that.",
)


def _apes(number: int, rank: int, shown: str) -> BoundFigure:
    return BoundFigure(
        title=f"APES Figure {number}: budgets {shown}",
        populations=tuple(
            f"apes/{kind}{rank}" for kind in ("uniform", "gauss", "mixgauss")
        ),
        sizes=_SIZES,
        bounds=_APES,
        mechanism=ClipLaplace(),
        notes=_OF_MAXIMUM,
        delta=1e-8,
    )


FIGURE_2 = _apes(2, 2, "from 0.05 to 1")
FIGURE_7 = _apes(7, 1, "from 0.05 to 0.5")
FIGURE_8 = _apes(8, 3, "from 0.05 to 3")
