"""Checks that messages depend only on their own value, their level and fresh randomness.

The distribution of single messages does not determine batches: a device may send values in
clear if a batch has one user, or use one draw for two users. So devices are queried in many
ways (`batch_queries`), and messages, transformed to uniform numbers (`uniform_ranks`), are
compared with independent ones.
"""

from collections.abc import Iterator

import numpy as np

from shuffledp.randomness import Rng
from shuffledp.testing.batch_queries import BatchQueries, ForeignMessageError
from shuffledp.testing.conformance import ConformanceFinding
from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.testing.message_sender import can_draw

ABOUT = "independence"
# All comparisons together raise a false alarm this rarely.
FALSE_ALARM = 4e-7


def check_independence(
    distributions: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Queries a device in many ways, and compares messages with independent ones.

    Args:
        distributions: Exact distributions of the device under test.
        rng: The only source of randomness.
    """
    if not can_draw(distributions.randomizer):
        yield ConformanceFinding(ABOUT, "it draws nothing.", None)
        return
    seed = int(rng.integers(0, 2**62, size=1)[0])
    queries = BatchQueries(distributions, rng, np.random.default_rng(seed))
    try:
        comparisons = list(queries.comparisons())
    except ForeignMessageError:
        yield ConformanceFinding(
            ABOUT, "in some batches it sends what its distribution lacks.", False
        )
        return
    outlier = min(comparisons, key=lambda comparison: comparison.p_value)
    # The union bound over comparisons.
    if outlier.p_value * len(comparisons) < FALSE_ALARM:
        yield ConformanceFinding(
            ABOUT,
            f"{outlier.about}; as large a deviation has probability {outlier.p_value:.1g}.",
            False,
        )
        return
    yield ConformanceFinding(
        ABOUT,
        f"{len(comparisons)} comparisons of {queries.calls} calls, smallest p-value "
        f"{outlier.p_value:.2g}; false alarms in {FALSE_ALARM:g} of all checks.",
        True,
    )
