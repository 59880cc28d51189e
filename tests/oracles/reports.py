"""Reports of a fictitious protocol, for tests of shufflers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.identity import Identity
from shuffledp.reports import Arrangement, Reports
from shuffledp.types import Floats, Ints, Mode


def identity(mode: Mode) -> Identity:
    return Identity.of("nothing", "anything", {}, mode)


def reports(
    messages: NDArray[Any],
    levels: Floats | None,
    mode: Mode = "agnostic",
    arrangement: Arrangement = "rows",
    cohorts: Ints | None = None,
) -> Reports:
    """Returns valid reports of any arrangement."""
    if levels is not None:
        levels = levels.astype(np.float64)
    return Reports(identity(mode), messages, levels, arrangement, cohorts)
