"""Estimated shares of the people who hold items, from counts of messages: see `counts`.

These are errors about the n participants. If they were drawn at random from a larger
population, the share f_j of an item is off by a variance of p_j (1 - p_j) / n.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shuffledp.analyzer.interval import half_width
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.types import Floats


@dataclass(frozen=True, eq=False)
class ItemsEstimate:
    """Estimated shares of the people who hold each item.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> estimate = sdp.ItemsEstimate(np.array([0.30, 0.10]), np.array([0.02, 0.02]), 1_000)
    >>> low, high = estimate.interval(0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.261, 0.339], [0.061, 0.139])

    Attributes:
        value: Unbiased estimates, shape (d,); a rare item may come out below 0.
        standard_error: About the shares of the people who took part, shape (d,).
        num_users: People in the collection.
        identity: Of the protocol that estimated it.
        step: By how much one message moves a share, for intervals.
    """

    value: Floats
    standard_error: Floats
    num_users: int
    identity: Identity | None = None
    step: float = 0.0

    @property
    def population_error(self) -> Floats:
        """The standard error about the population that the participants come from."""
        f = np.clip(self.value, 0.0, 1.0)
        error: Floats = np.sqrt(self.standard_error**2 + f * (1.0 - f) / self.num_users)
        return error

    def interval(
        self,
        confidence: float = 0.95,
        *,
        about: Literal["participants", "population"] = "participants",
    ) -> Floats:
        """Returns the ends of two-sided confidence intervals, shape (d, 2).

        Args:
            confidence: Probability that an interval contains the true share, in (0, 1).
            about: Whose share: that of the "participants", or of the "population" of
                which they are a random sample.
        """
        if about not in ("participants", "population"):
            raise InvalidInputError(
                f"Expected 'participants' or 'population', got {about!r}."
            )
        of_people = about == "participants"
        error = self.standard_error if of_people else self.population_error
        margin = half_width(confidence, error, self.step)
        return np.stack([self.value - margin, self.value + margin], axis=1)
