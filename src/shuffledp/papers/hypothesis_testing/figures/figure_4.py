"""Liu et al. (2024), Figure 4: bounds against the number of people."""

from shuffledp.papers.bounds.balle2019 import Balle2019Blanket
from shuffledp.papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp.papers.figures.bound_figure import BoundFigure
from shuffledp.papers.hypothesis_testing.theorem import HypothesisTesting
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace

_OF_MAXIMUM = (
    "Baselines take everybody's budget for the largest, as in the paper; where budgets "
    "differ their theorems do not cover that.",
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


PURE = _testing("pure")
APPROXIMATE = _testing("approximate")
