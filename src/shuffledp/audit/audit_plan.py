"""Plan of an audit: values, levels, sample size and confidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.arrays import as_number, level_array
from shuffledp.audit.audit_messages import value_text
from shuffledp.audit.audit_power import AuditPower, most_visible, powers
from shuffledp.errors import InvalidInputError
from shuffledp.population import check_budgets

LEAST_SAMPLES = 200
_MOST_SAMPLES = 10**9
# Learned from at most, per value and level: more of them teach nothing new.
MOST_LEARNED = 200_000
# Share of the error probability for the bounds; checks of behavior have the remainder.
_SHARE_OF_BOUNDS = 0.9


@dataclass(frozen=True)
class AuditPlan:
    """Values, levels, sample size and confidence of an audit.

    Attributes:
        values: Users' possible values, at least two.
        levels: Local budgets, > 0, ascending.
        delta: The delta promised with each level.
        samples: Messages per value and level.
        confidence: The confidence of all statements together.
    """

    values: tuple[Any, ...]
    levels: tuple[float, ...]
    delta: float
    samples: int
    confidence: float

    @property
    def learned(self) -> int:
        """Messages per value and level that events are learned from."""
        return min(self.samples // 2, MOST_LEARNED)

    @property
    def counted(self) -> int:
        """Messages per value and level that are counted."""
        return self.samples - self.learned

    @property
    def intervals(self) -> int:
        """One-sided bounds in all: two statements of two probabilities per ordered pair."""
        pairs = len(self.values) * (len(self.values) - 1)
        # Union bound: the error probability is divided among all of them.
        return 4 * pairs * len(self.levels)

    @property
    def alpha(self) -> float:
        """The error probability of one bound."""
        return _SHARE_OF_BOUNDS * (1.0 - self.confidence) / self.intervals

    @property
    def alpha_of_behavior(self) -> float:
        """The error probability of all checks of behavior together."""
        return (1.0 - _SHARE_OF_BOUNDS) * (1.0 - self.confidence)

    @property
    def powers(self) -> tuple[AuditPower, ...]:
        """How many samples show budgets above each level."""
        return tuple(
            power
            for level in self.levels
            for power in powers(
                level, delta=self.delta, alpha=self.alpha, most_learned=MOST_LEARNED
            )
        )

    @property
    def most_visible(self) -> float:
        """The largest epsilon that this audit can prove."""
        return most_visible(self.counted, delta=self.delta, alpha=self.alpha)


def plan_audit(
    values: Sequence[Any],
    levels: Sequence[float],
    *,
    delta: float = 0.0,
    samples: int = 100_000,
    confidence: float = 0.99,
) -> AuditPlan:
    """Returns a validated plan.

    Args:
        values: Users' possible values, two or more different ones.
        levels: The promised local budgets, > 0.
        delta: The delta promised with each level, in [0, 1).
        samples: Messages per value and level, 200 to 10^9.
        confidence: In [0.5, 1).

    Raises:
        InvalidInputError: If an argument is out of range, or a value is repeated.
    """
    # Compared as texts, as lists cannot be elements of a set.
    texts = [value_text(value) for value in values]
    if len(texts) < 2 or len(set(texts)) != len(texts):
        raise InvalidInputError(
            f"Expected two or more different values, got {', '.join(texts) or 'none'}."
        )
    epsilons = level_array(levels)
    check_budgets(epsilons)
    if epsilons.size == 0 or not np.all(epsilons > 0.0):
        raise InvalidInputError("Expected one or more levels > 0.")
    if not 0.0 <= as_number(delta, "delta") < 1.0:
        raise InvalidInputError(f"Expected 0 <= delta < 1, got {delta:g}.")
    if not 0.5 <= as_number(confidence, "confidence") < 1.0:
        raise InvalidInputError(f"Expected 0.5 <= confidence < 1, got {confidence:g}.")
    is_whole = isinstance(samples, int | np.integer) and not isinstance(samples, bool)
    if not (is_whole and LEAST_SAMPLES <= samples <= _MOST_SAMPLES):
        raise InvalidInputError(
            f"Expected {LEAST_SAMPLES} to {_MOST_SAMPLES:g} samples, got {samples!r}."
        )
    distinct = tuple(sorted(set(epsilons.tolist())))
    return AuditPlan(
        tuple(values), distinct, float(delta), int(samples), float(confidence)
    )
