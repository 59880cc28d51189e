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
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.table import number
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
_NOTES = (
    "BBGN and FV take everybody's budget for the largest, as in the paper; where budgets "
    "differ their theorems do not cover that. CCC is their paper of 2024, in whose place "
    "the formula of E-APES is drawn, without its error term.",
    "Theorem 2 is evaluated where it claims least, the most liberal person being the "
    "victim, as printed. A careful person's messages lie where nobody else's do: the "
    "certified number is the worst-off person's, whoever that is.",
    "With sums from 0, and failures that reveal the victim, Theorem 2 states the same "
    "here, to three digits.",
)
_WHY = (
    "as in its Table 2, the paper's own numbers are those of less noise than keeps its "
    "local budgets: 4.65 / epsilon^2 in place of 6.82 / epsilon"
)
_POPULATIONS = ("f-dp/uniform1", "f-dp/gauss1", "f-dp/uniform2", "f-dp/gauss2")
_SIZES = (1_000, 3_000, 10_000)

PURE = BoundFigure(
    title="Liu et al. (2024), Figure 4 (a) and (c): pure budgets, Laplace noise",
    populations=_POPULATIONS,
    sizes=_SIZES,
    bounds=_PURE,
    mechanism=Laplace(),
    notes=(
        *_NOTES,
        "APES is a theorem about Clip-Laplace noise: it is drawn, as in the paper, and not "
        "compared with attacks on Laplace noise.",
    ),
    elsewhere=_CLIPPED,
    delta=1e-5,
)
APPROXIMATE = BoundFigure(
    title="Liu et al. (2024), Figure 4 (b) and (d): approximate budgets, Gaussian noise",
    populations=_POPULATIONS,
    sizes=_SIZES,
    bounds=_APPROXIMATE,
    mechanism=Gaussian(delta_local=1e-10, calibration="classical"),
    notes=(
        *_NOTES,
        "The paper prints no formula of its noise. Claims, attacks and certificates are "
        "all at the classical one, 6.82 / epsilon. At noise that is calibrated exactly, "
        "5.87 / epsilon, attacks reach farther, claims are larger, too, and none is "
        "refuted either.",
    ),
    delta=1e-5,
)


def run_pure(effort: Effort) -> Result:
    """Returns Figure 4 (a) and (c); budgets are drawn once."""
    result = PURE.run(effort)
    gain = best_gain(result, (*PURE.bounds, *PURE.elsewhere))
    note = (
        f"The paper's bound is up to {gain:.2f} times below the best of its baselines."
    )
    return replace(result, notes=(*result.notes, note))


def run_approximate(effort: Effort) -> Result:
    """Returns Figure 4 (b) and (d), and compares the paper's concluding gain."""
    result = APPROXIMATE.run(effort)
    gain = best_gain(result, tuple(APPROXIMATE.bounds))
    compared = Comparison(
        "best baseline against Theorem 2, largest ratio of epsilons",
        "5",
        gain,
        why=_WHY,
    )
    return replace(result, comparisons=(compared,))


def best_gain(result: Result, labels: tuple[str, ...]) -> float:
    """Returns the largest ratio of the best baseline's epsilon to Theorem 2's."""
    own, *others = labels
    return max(
        min(number(row[label]) for label in others) / number(row[own])
        for row in result.table.records()
    )
