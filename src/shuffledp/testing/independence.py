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
from shuffledp.testing.findings import Finding
from shuffledp.testing.sending import can_draw
from shuffledp.testing.subject import Subject

ABOUT = "independence"
# All comparisons together raise a false alarm this rarely.
FALSE_ALARM = 4e-7


def independence(subject: Subject, *, rng: Rng) -> Iterator[Finding]:
    """Asks a device in many ways, and compares messages with independent ones.

    Args:
        subject: What is checked.
        rng: The only source of randomness.
    """
    if not can_draw(subject.randomizer):
        yield Finding(ABOUT, "it draws nothing.", None)
        return
    seed = int(rng.integers(0, 2**62, size=1)[0])
    asking = BatchQueries(subject, rng, np.random.default_rng(seed))
    try:
        comparisons = list(asking.comparisons())
    except ForeignMessageError:
        yield Finding(ABOUT, "in some batches it sends what its law lacks.", False)
        return
    worst = min(comparisons, key=lambda one: one.chance)
    if worst.chance * len(comparisons) < FALSE_ALARM:
        yield Finding(
            ABOUT,
            f"{worst.about}; as large a deviation has chance {worst.chance:.1g}.",
            False,
        )
        return
    yield Finding(
        ABOUT,
        f"{len(comparisons)} comparisons of {asking.calls} calls, smallest p-value "
        f"{worst.chance:.2g}; false alarms in {FALSE_ALARM:g} of all checks.",
        True,
    )
