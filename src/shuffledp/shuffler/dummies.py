"""Messages that the shuffler adds to those of the people, as noise."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.reports import ShuffledReports
from shuffledp.types import Ints


class Dummies:
    """The dummies of one collection, which one shuffle adds.

    Anyone who knows them can subtract them: they are secret, and are not printed.

    >>> import numpy as np, shuffledp as sdp
    >>> group = sdp.CountGroup(3, 1, sdp.ShufflerNoise(0.6, dummies=40))
    >>> counts = sdp.Counts((group,), (1.0,), (1.0,), honest=1)
    >>> rng = np.random.default_rng(1)  # a simulation; shufflers pass SystemRandom()
    >>> reports = counts.randomize(np.array([[0], [2]]), np.ones(2), rng=rng)
    >>> dummies = counts.draw_dummies(rng=rng)
    >>> shuffled = sdp.shuffle(reports, rng=rng, dummies=dummies)
    >>> dummies.missing_from(shuffled)
    0

    Attributes:
        identity: Of the protocol whose noise they are.
        messages: In no order that matters, shape (dummies,).
        report_size: The most messages of a person's report; shuffles refuse larger ones.
    """

    __slots__ = ("_is_added", "identity", "messages", "report_size")

    def __init__(self, identity: Identity, messages: Ints, report_size: int) -> None:
        """Stores dummies, which no shuffle has added yet."""
        self.identity = identity
        self.messages = messages
        self.report_size = report_size
        self._is_added = False

    def __repr__(self) -> str:
        return "Dummies()"

    def take(self) -> Ints:
        """Returns the messages to the one shuffle that adds them.

        Raises:
            InvalidInputError: If a shuffle has added them before.
        """
        # The difference of two collections with the same noise would show the answers.
        if self._is_added:
            raise InvalidInputError(
                "Expected dummies that were drawn for this shuffle: others have been added "
                "before."
            )
        self._is_added = True
        return self.messages

    def missing_from(self, shuffled: ShuffledReports) -> int:
        """Returns how many of the dummies are not among shuffled messages.

        An auditor who draws them again from a seed sees so whether they were added.
        """
        messages: NDArray[Any] = np.sort(shuffled.messages.ravel())
        kinds, numbers = np.unique(self.messages, return_counts=True)
        first = np.searchsorted(messages, kinds, side="left")
        present = np.searchsorted(messages, kinds, side="right") - first
        return int(np.maximum(numbers - present, 0).sum())
