"""Liu et al. (2024), Figure 4: bounds against the number of users.

The paper's baselines have its names: BBGN is Balle et al. (2019) for any randomizer, FV
Feldman et al. (2023), CCC Chen, Cao, Ge, LZX APES (Liu, Zhao, Xiong). CCC refers to their
paper of 2024; the formula of their E-APES is drawn. Where the paper does not name one of
several formulas, the tighter one is drawn. It prints no formula of its Gaussian
noise: the classical sqrt(2 ln(1.25 / delta)) / epsilon is taken, in claims, attacks and
certificates alike.
"""

from dataclasses import replace

from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp_papers.apes.amplification import ApesNumerical
from shuffledp_papers.bounds.any_randomizer_bound import AnyRandomizer
from shuffledp_papers.bounds.balle2019 import Balle2019Bennett
from shuffledp_papers.bounds.bound import PublishedBound
from shuffledp_papers.bounds.feldman2023 import Feldman2023Numerical
from shuffledp_papers.bounds.feldman_approximate import FeldmanApproximate
from shuffledp_papers.eapes.eapes_theorem import EapesTheorem
from shuffledp_papers.figures.bound_figure import BoundFigure
from shuffledp_papers.figures.computed_figure import ComputedFigure
from shuffledp_papers.figures.notes import figure_notes
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.figures.table import Table, number
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)

_OWN = "Liu et al. 2024, Theorem 2"
_PURE: dict[str, PublishedBound] = {
    _OWN: HypothesisTesting(),
    "BBGN: Balle et al. 2019": AnyRandomizer(Balle2019Bennett()),
    "FV: Feldman et al. 2023": Feldman2023Numerical(),
    "CCC: E-APES": EapesTheorem(),
}
# A theorem about other noise: an attack on Laplace noise cannot refute it.
_CLIPPED = {"LZX: APES, Clip-Laplace": (ApesNumerical(), ClipLaplace())}
_APPROXIMATE: dict[str, PublishedBound] = {
    _OWN: HypothesisTesting(),
    "FV: Feldman et al. 2023": FeldmanApproximate(),
    "CCC: E-APES": EapesTheorem(),
}
_POPULATIONS = ("f-dp/uniform1", "f-dp/gauss1", "f-dp/uniform2", "f-dp/gauss2")
_SIZES = (1_000, 3_000, 10_000)

PURE = BoundFigure(
    populations=_POPULATIONS,
    sizes=_SIZES,
    bounds=_PURE,
    mechanism=Laplace(),
    elsewhere=_CLIPPED,
    delta=1e-5,
)
APPROXIMATE = BoundFigure(
    populations=_POPULATIONS,
    sizes=_SIZES,
    bounds=_APPROXIMATE,
    mechanism=Gaussian(delta_local=1e-10, calibration="classical"),
    delta=1e-5,
)


def run_pure(effort: Effort) -> ComputedFigure:
    """Returns Figure 4 (a) and (c); budgets are drawn once."""
    return _run("testing-fig4-pure", PURE, effort)


def run_approximate(effort: Effort) -> ComputedFigure:
    """Returns Figure 4 (b) and (d), with the paper's concluding gain."""
    computed = _run("testing-fig4-approximate", APPROXIMATE, effort)
    gain = best_gain(computed.table, tuple(APPROXIMATE.bounds))
    return replace(computed, numbers=(gain,))


def _run(name: str, figure: BoundFigure, effort: Effort) -> ComputedFigure:
    computed = figure.run(effort)
    gain = best_gain(computed.table, (*figure.bounds, *figure.elsewhere))
    notes = (
        note
        for each in ("figure-4", name)
        for note in figure_notes("hypothesis_testing", each, gain=gain)
    )
    return replace(computed, notes=(*computed.notes, *notes))


def best_gain(table: Table, labels: tuple[str, ...]) -> float:
    """Returns the largest ratio of the best baseline's epsilon to Theorem 2's."""
    own, *others = labels
    return max(
        min(number(row[label]) for label in others) / number(row[own])
        for row in table.records()
    )
