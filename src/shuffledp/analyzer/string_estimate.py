"""Estimated shares of the strings of a list, with tests of who holds them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.interval import half_width
from shuffledp.identity import Identity
from shuffledp.types import Floats, Mode


@dataclass(frozen=True, eq=False)
class StringEstimate:
    """Estimated shares of the people who take part.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> values, errors = np.array([0.73, -0.06]), np.array([0.02, 0.03])
    >>> shares = {"value": values, "standard_error": errors}
    >>> tests = {"p_value": np.array([0.0, 0.98]), "found": np.array([True, False])}
    >>> rest = {"unexplained": 0.33, "unexplained_error": 0.04, "misfit": 1.0}
    >>> people = {"num_users": 20_000, "mode": "agnostic"}
    >>> estimate = sdp.StringEstimate(
    ...     ("fox", "owl"), **shares, **tests, **rest, **people, false_discovery_rate=0.05
    ... )
    >>> estimate.interval(0.95).round(2).tolist()
    [[0.69, 0.77], [-0.12, -0.0]]

    Attributes:
        candidates: The strings of the list.
        value: Estimated share of people who hold each, shape (candidates,). A rare
            string may come out below 0: cutting it off there would bias the others.
        standard_error: Shape (candidates,).
        p_value: Probability of as large an estimate if no person holds the string,
            shape (candidates,).
        found: Whether the string is selected, shape (candidates,).
        false_discovery_rate: Accepted share of selected strings that no person holds.
        unexplained: Estimated share of people who hold none of the candidates.
        unexplained_error: Its standard error.
        misfit: Factor by which standard errors were enlarged, at least 1.
        num_users: People in the collection.
        mode: "agnostic" or "stratified".
        identity: Of the protocol that estimated it.
        sensitivity: By how much every estimate, and last `unexplained`, changes if the
            share of each bit of a cohort changes by 1 in the worst direction, (cohorts,
            candidates + 1); None if it is not known.
        step: By how much one bit of a report moves every estimate, and last `unexplained`,
            at most, for intervals, shape (candidates + 1,); 0 if it is not known.
    """

    candidates: tuple[str, ...]
    value: Floats
    standard_error: Floats
    p_value: Floats
    found: NDArray[np.bool_]
    false_discovery_rate: float
    unexplained: float
    unexplained_error: float
    misfit: float
    num_users: int
    mode: Mode
    identity: Identity | None = None
    sensitivity: Floats | None = None
    step: Floats | float = 0.0

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of two-sided confidence intervals, shape (candidates, 2).

        Args:
            confidence: Probability that an interval contains the true share, in (0, 1).
        """
        ends = self._margins(confidence)[:-1]
        return np.stack([self.value - ends, self.value + ends], axis=1)

    def unexplained_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Returns the ends of the interval of `unexplained`: see `interval`."""
        end = float(self._margins(confidence)[-1])
        return self.unexplained - end, self.unexplained + end

    def _margins(self, confidence: float) -> Floats:
        errors = np.append(self.standard_error, self.unexplained_error)
        return half_width(confidence, errors, self.step)
