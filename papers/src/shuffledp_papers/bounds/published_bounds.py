"""All published bounds that need no more than a setting, by the year of their paper."""

from shuffledp.errors import InvalidInputError
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
from shuffledp_papers.bounds.erlingsson2019 import Erlingsson2019
from shuffledp_papers.bounds.feldman2021 import Feldman2021Closed, Feldman2021Numerical
from shuffledp_papers.bounds.feldman2023 import (
    Feldman2023Closed,
    Feldman2023Kary,
    Feldman2023Numerical,
)
from shuffledp_papers.bounds.feldman_approximate import FeldmanApproximate
from shuffledp_papers.bounds.girgis2021 import Girgis2021Closed, Girgis2021Sum
from shuffledp_papers.bounds.wang2024 import Wang2024
from shuffledp_papers.eapes.eapes_theorem import EapesCorollary, EapesTheorem
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)

# A new bound is a file of its own, a row of bounds.toml and a line of this tuple.
# `SparsifiedApes` and `SegmentedPrivacy` are left out: they need parameters that a setting
# does not have, b of d coordinates, or s of d items and blanket messages.
PUBLISHED: tuple[PublishedBound, ...] = (
    Erlingsson2019(),
    Balle2019Hoeffding(),
    Balle2019Bennett(),
    Balle2019Blanket(),
    Feldman2021Closed(),
    Feldman2021Numerical(),
    Girgis2021Sum(),
    Girgis2021Closed(),
    Feldman2023Closed(),
    Feldman2023Numerical(),
    Feldman2023Kary(),
    FeldmanApproximate(),
    UniformShuffle(),
    ApesClosed(),
    ApesNumerical(),
    EapesTheorem(),
    EapesCorollary(),
    Wang2024(),
    HypothesisTesting(),
)


def published_bound(name: str) -> PublishedBound:
    """Returns the bound of this name.

    >>> bound = published_bound("feldman2021-numerical")
    >>> str(bound.proven), bound.mixed
    ('proven', False)

    Raises:
        InvalidInputError: If there is none.
    """
    for bound in PUBLISHED:
        if bound.name == name:
            return bound
    known = ", ".join(bound.name for bound in PUBLISHED)
    raise InvalidInputError(f"Expected one of {known}, got {name!r}.")
