"""Checks that messages depend on nothing but their own value, level and fresh draws.

The law of single messages says nothing of batches: a device may send values as they are if
it is asked about one person, or draw once for two. So devices are asked in many ways
(`batch_queries`), and messages, as uniform numbers (`ranks`), are compared with independent
ones.
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
    subject: DistributionTable, *, rng: Rng
) -> Iterator[ConformanceFinding]:
    """Asks a device in many ways, and compares messages with independent ones.

    Args:
        subject: What is checked.
        rng: The only source of randomness.
    """
    if not can_draw(subject.randomizer):
        yield ConformanceFinding(ABOUT, "it draws nothing.", None)
        return
    seed = int(rng.integers(0, 2**62, size=1)[0])
    asking = BatchQueries(subject, rng, np.random.default_rng(seed))
    try:
        comparisons = list(asking.comparisons())
    except ForeignMessageError:
        yield ConformanceFinding(
            ABOUT, "in some batches it sends what its law lacks.", False
        )
        return
    worst = min(comparisons, key=lambda one: one.chance)
    if worst.chance * len(comparisons) < FALSE_ALARM:
        yield ConformanceFinding(
            ABOUT,
            f"{worst.about}; as large a deviation has chance {worst.chance:.1g}.",
            False,
        )
        return
    yield ConformanceFinding(
        ABOUT,
        f"{len(comparisons)} comparisons of {asking.calls} calls, smallest p-value "
        f"{worst.chance:.2g}; false alarms in {FALSE_ALARM:g} of all checks.",
        True,
    )
