"""Which figures compare bounds: E-APES 4, APES 2, 7 and 8, and 4 of Liu et al. (2024)."""

from shuffledp.papers.bounds.apes import (
    ApesClosed,
    ApesNumerical,
    UniformShuffle,
)
from shuffledp.papers.bounds.balle2019 import Balle2019Blanket
from shuffledp.papers.bounds.eapes import EapesCorollary
from shuffledp.papers.bounds.erlingsson2019 import Erlingsson2019
from shuffledp.papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp.papers.bounds.girgis2021 import Girgis2021Sum
from shuffledp.papers.bounds.hypothesis_testing import HypothesisTesting
from shuffledp.papers.figures.bound_figure import BoundFigure
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace

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


APES_FIGURE_2 = _apes(2, 2, "from 0.05 to 1")
APES_FIGURE_7 = _apes(7, 1, "from 0.05 to 0.5")
APES_FIGURE_8 = _apes(8, 3, "from 0.05 to 3")

EAPES_FIGURE_4 = BoundFigure(
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


def _testing(kind: str) -> BoundFigure:
    pure = kind == "pure"
    return BoundFigure(
        title=f"Liu et al. (2024), Figure 4, {kind} budgets",
        populations=("f-dp/uniform1", "f-dp/gauss1", "f-dp/uniform2", "f-dp/gauss2"),
        sizes=(1_000, 3_000, 10_000),
        bounds={
            "Liu 24": HypothesisTesting(as_printed=False),
            **({"Balle 19": Balle2019Blanket()} if pure else {}),
            **({"Feldm.21": Feldman2021Numerical()} if pure else {}),
        },
        mechanism=Laplace() if pure else Gaussian(delta_local=1e-10),
        notes=(
            *_OF_MAXIMUM,
            "A careful person's messages lie where nobody else's do: the certified number "
            "is the worst-off person's, whoever that is.",
        ),
        delta=1e-5,
    )


TESTING_FIGURE_4_PURE = _testing("pure")
TESTING_FIGURE_4_APPROXIMATE = _testing("approximate")
