"""The shuffler: it removes the senders and the order of messages.

The reports' arrangement determines the parts that stay together. Privacy levels travel
apart from the messages, in a second, independent order that unlinks messages and levels;
or, if the protocol links them, each level stays with its message.
"""

from shuffledp.errors import InvalidInputError
from shuffledp.identity import check_same
from shuffledp.randomness import Rng, check_order_rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.shuffler.columns import shuffled_columns
from shuffledp.shuffler.dummies import Dummies
from shuffledp.shuffler.pool import shuffled_loose, shuffled_pool
from shuffledp.types import Ints


def shuffle(
    reports: Reports, *, rng: Rng, dummies: Dummies | None = None
) -> ShuffledReports:
    """Puts reports into a uniformly random order, by their arrangement.

    >>> import numpy as np, shuffledp as sdp
    >>> rng = np.random.default_rng(5)
    >>> reports = sdp.Frequency(3).randomize([0, 1, 2, 2], [1.0] * 4, rng=rng)
    >>> sdp.shuffle(reports, rng=rng).num_users
    4

    Args:
        reports: From a protocol's `randomize`.
        rng: `SystemRandom()` to hide the order of real people; a seeded NumPy generator
            for repeatable simulations.
        dummies: Messages that the shuffler adds, where the protocol wants them: see
            `Counts.draw_dummies`.

    Raises:
        InvalidInputError: If these are not reports, `rng` is not a source of randomness,
            or dummies are missing, another protocol's, or were added before.
    """
    check_order_rng(rng)
    if not isinstance(reports, Reports):
        raise InvalidInputError(f"Expected Reports, got {type(reports).__name__}.")
    if reports.arrangement == "loose with dummies":
        return _with_dummies(reports, dummies, rng=rng)
    if dummies is not None:
        raise InvalidInputError("Expected no dummies: devices draw the noise.")
    if reports.arrangement == "columns":
        return shuffled_columns(reports, rng=rng)
    if reports.arrangement == "pool":
        return shuffled_pool(reports, rng=rng)
    if reports.arrangement == "loose":
        return shuffled_loose(reports, rng=rng)
    return _shuffled_rows(reports, rng=rng)


def _with_dummies(
    reports: Reports, dummies: Dummies | None, *, rng: Rng
) -> ShuffledReports:
    """Puts messages of people, and the shuffler's own, into one order."""
    if not isinstance(dummies, Dummies):
        raise InvalidInputError(
            "Expected dummies, which the shuffler adds as noise, from the protocol's "
            "`draw_dummies`: without them these messages are not private."
        )
    check_same(dummies.identity, reports.identity, what="dummies")
    messages = reports.messages
    if messages.ndim != 2 or messages.shape[1] > dummies.report_size:
        raise InvalidInputError(
            f"Expected reports of at most {dummies.report_size} messages."
        )
    return shuffled_loose(reports, rng=rng, dummies=dummies.take())


def _shuffled_rows(reports: Reports, *, rng: Rng) -> ShuffledReports:
    """Puts whole reports into one order, and levels with them or into another one."""
    if reports.cohorts is not None:
        raise InvalidInputError(
            "Expected cohorts only where columns are shuffled apart."
        )
    order: Ints = rng.permutation(reports.num_users)
    messages, levels = reports.messages[order], reports.levels
    if levels is not None:
        # Unlinked levels get an independent order.
        if not reports.linked:
            order = rng.permutation(reports.num_users)
        levels = levels[order]
    return ShuffledReports(reports.identity, messages, levels)
