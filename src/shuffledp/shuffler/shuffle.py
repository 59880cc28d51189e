"""The shuffler: it removes who sent what, and in which order.

What stays together on the way is a property of the reports. Privacy levels either travel
apart from the messages, in a second, independent order, so that nobody can tell which
message came from which level; or, if the protocol asks for it, each level stays with its
message.
"""

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, check_order_rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.shuffler.columns import shuffled_columns
from shuffledp.shuffler.pool import shuffled_pool
from shuffledp.types import Ints


def shuffle(reports: Reports, *, rng: Rng) -> ShuffledReports:
    """Puts reports into a uniformly random order, whatever their messages are.

    >>> import numpy as np, shuffledp as sdp
    >>> rng = np.random.default_rng(5)
    >>> reports = sdp.Frequency(3).randomize([0, 1, 2, 2], [1.0] * 4, rng=rng)
    >>> sdp.shuffle(reports, rng=rng).num_users
    4

    Args:
        reports: From a protocol's `randomize`.
        rng: `SystemRandom()` where real people's order is hidden; a seeded NumPy
            generator where a simulation should be repeatable.

    Raises:
        InvalidInputError: If these are no reports, or `rng` is no source of randomness.
    """
    check_order_rng(rng)
    if not isinstance(reports, Reports):
        raise InvalidInputError(f"Expected Reports, got {type(reports).__name__}.")
    if reports.arrangement == "columns":
        return shuffled_columns(reports, rng=rng)
    if reports.arrangement == "pool":
        return shuffled_pool(reports, rng=rng)
    return _shuffled_rows(reports, rng=rng)


def _shuffled_rows(reports: Reports, *, rng: Rng) -> ShuffledReports:
    """Puts whole reports into one order, and levels with them or into another one."""
    if reports.cohorts is not None:
        raise InvalidInputError(
            "Expected cohorts only where columns are shuffled apart."
        )
    order: Ints = rng.permutation(reports.num_users)
    messages, levels = reports.messages[order], reports.levels
    if levels is not None:
        if not reports.linked:
            order = rng.permutation(reports.num_users)
        levels = levels[order]
    return ShuffledReports(reports.identity, messages, levels)
