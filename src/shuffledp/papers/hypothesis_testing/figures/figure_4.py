"""Liu et al. (2024), Figure 4: bounds against the number of people.

The paper's baselines under its names: BBGN is Balle et al. (2019) for any randomizer, FV
Feldman et al. (2023), CCC E-APES (Chen, Cao, Ge), LZX APES (Liu, Zhao, Xiong). Where the
paper leaves open which of several formulas it draws, the tighter one is drawn. Gaussian
noise has the deviation of the paper, sqrt(2 ln(1.25 / delta)) / epsilon, in claims, attacks
and certificates alike.
"""

from shuffledp.papers.apes.amplification import ApesNumerical
from shuffledp.papers.bounds.any_randomizer import AnyRandomizer
from shuffledp.papers.bounds.balle2019 import Balle2019Bennett
from shuffledp.papers.bounds.bound import PublishedBound
from shuffledp.papers.bounds.feldman2023 import Feldman2023Numerical
from shuffledp.papers.bounds.feldman_approximate import FeldmanApproximate
from shuffledp.papers.eapes.theorem import EapesTheorem
from shuffledp.papers.figures.bound_figure import BoundFigure
from shuffledp.papers.hypothesis_testing.theorem import HypothesisTesting
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace

_OWN = "Liu et al. 2024, Theorem 2"
_PURE: dict[str, PublishedBound] = {
    _OWN: HypothesisTesting(),
    "BBGN: Balle et al. 2019": AnyRandomizer(Balle2019Bennett()),
    "FV: Feldman et al. 2023": Feldman2023Numerical(),
    "CCC: E-APES": EapesTheorem(),
}
# A theorem about other noise, which no attack on Laplace noise says anything about.
_CLIPPED = {"LZX: APES, Clip-Laplace": (ApesNumerical(), ClipLaplace())}
_APPROXIMATE: dict[str, PublishedBound] = {
    _OWN: HypothesisTesting(),
    "FV: Feldman et al. 2023": FeldmanApproximate(),
    "CCC: E-APES": EapesTheorem(),
}
# The lines of the paper's own bound with sums from 0, and with failures that reveal.
_MENDED = {"ours: Theorem 2 mended": HypothesisTesting(as_printed=False)}
_NOTES = (
    "BBGN and FV take everybody's budget for the largest, as in the paper; where budgets "
    "differ their theorems do not cover that. E-APES is drawn without its error term.",
    "Theorem 2 is evaluated where it claims least, the most liberal person being the "
    "victim, as printed. A careful person's messages lie where nobody else's do: the "
    "certified number is the worst-off person's, whoever that is.",
)
_POPULATIONS = ("f-dp/uniform1", "f-dp/gauss1", "f-dp/uniform2", "f-dp/gauss2")
_SIZES = (1_000, 3_000, 10_000)

PURE = BoundFigure(
    title="Liu et al. (2024), Figure 4 (a) and (c): pure budgets, Laplace noise",
    populations=_POPULATIONS,
    sizes=_SIZES,
    bounds=_PURE | _MENDED,
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
    bounds=_APPROXIMATE | _MENDED,
    mechanism=Gaussian(delta_local=1e-10, calibration="classical"),
    notes=(
        *_NOTES,
        "Claims, attacks and certificates are all at classical noise, 6.82 / epsilon; "
        "noise that is calibrated exactly, 5.87 / epsilon, would be attacked farther than "
        "these claims reach, and refutes none of them.",
    ),
    delta=1e-5,
)
