"""Every published bound, by the year of its paper."""

from shuffledp.accounting.published.apes import (
    ApesClosed,
    ApesNumerical,
    UniformShuffle,
)
from shuffledp.accounting.published.apes_user import SparsifiedApes
from shuffledp.accounting.published.balle2019 import (
    Balle2019Bennett,
    Balle2019Blanket,
    Balle2019Hoeffding,
)
from shuffledp.accounting.published.bound import PublishedBound
from shuffledp.accounting.published.eapes import EapesCorollary, EapesTheorem
from shuffledp.accounting.published.erlingsson2019 import Erlingsson2019
from shuffledp.accounting.published.feldman2021 import (
    Feldman2021Closed,
    Feldman2021Numerical,
)
from shuffledp.accounting.published.feldman2023 import (
    Feldman2023Closed,
    Feldman2023Kary,
    Feldman2023Numerical,
)
from shuffledp.accounting.published.girgis2021 import Girgis2021Closed, Girgis2021Sum
from shuffledp.accounting.published.hypothesis_testing import HypothesisTesting
from shuffledp.accounting.published.segmented import SegmentedPrivacy
from shuffledp.accounting.published.wang2024 import Wang2024
from shuffledp.errors import InvalidInputError

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
    UniformShuffle(),
    ApesClosed(),
    ApesNumerical(),
    EapesTheorem(),
    EapesCorollary(),
    Wang2024(),
    HypothesisTesting(),
)
# About protocols with parameters that a setting does not have: b of d coordinates, or s of
# d items and blanket messages. They need these to be built.
WITH_PARAMETERS: tuple[type[PublishedBound], ...] = (SparsifiedApes, SegmentedPrivacy)


def published_bound(name: str) -> PublishedBound:
    """Returns the bound of this name.

    Raises:
        InvalidInputError: If there is none.
    """
    for bound in PUBLISHED:
        if bound.name == name:
            return bound
    known = ", ".join(bound.name for bound in PUBLISHED)
    raise InvalidInputError(f"Expected one of {known}, got {name!r}.")
