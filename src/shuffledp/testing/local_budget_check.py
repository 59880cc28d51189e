"""Does a message keep the level's local budget, and what `local_delta` says?"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.types import Floats

ABOUT = "local budget"
# Of sums of doubles.
ROUNDING = 1e-11


def check_local_budget(subject: DistributionTable) -> Iterator[ConformanceFinding]:
    """Compares exact ratios with levels, and exact divergences with `local_delta`."""
    pure = subject.randomizer.delta_local == 0.0
    worst = 0.0
    for level, rows in zip(subject.levels, subject.table, strict=True):
        measured = _measured(subject, rows) if pure else 0.0
        if measured > level + ROUNDING:
            yield ConformanceFinding(
                ABOUT,
                f"at level {level:g} the logarithm of a ratio of chances reaches "
                f"{measured:.9g}.",
                False,
            )
        for epsilon in np.linspace(0.0, 1.25 * level, 6).tolist():
            exact = _divergence(rows, epsilon)
            stated = subject.randomizer.local_delta(level, epsilon)
            worst = max(worst, exact / max(stated, 1e-300) if exact > 1e-9 else 0.0)
            if not exact <= stated + ROUNDING:
                yield ConformanceFinding(
                    ABOUT,
                    f"at level {level:g} the divergence of one message at epsilon "
                    f"{epsilon:g} is {exact:.9g}, and local_delta {stated:.9g}.",
                    False,
                )
        if not pure and not _divergence(rows, level) <= (
            subject.randomizer.delta_local * (1.0 + 1e-6) + ROUNDING
        ):
            yield ConformanceFinding(
                ABOUT,
                f"at level {level:g} the divergence at that epsilon is "
                f"{_divergence(rows, level):.9g}, above delta_local.",
                False,
            )
    yield ConformanceFinding(
        ABOUT,
        f"one message shows at most {worst:.9g} of local_delta"
        + (", and no ratio exceeds its level." if pure else "."),
        worst <= 1.0 + 1e-6,
    )


def _measured(subject: DistributionTable, rows: Floats) -> float:
    """Returns the largest logarithm of a ratio, of the whole report."""
    least, most = rows.min(axis=0), rows.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(most > 0.0, np.log(most / least), 0.0)
    if not subject.one_coordinate:
        return float(ratios.max())
    # Half of the coordinates lose a 1, the other half win one.
    return float(ratios.sum()) * int(subject.randomizer.changes) / 2.0


def _divergence(rows: Floats, epsilon: float) -> float:
    shown = [
        float(np.maximum(here - math.exp(epsilon) * there, 0.0).sum())
        for here, there in itertools.permutations(rows, 2)
    ]
    return max(shown)
