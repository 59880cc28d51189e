"""What an audit of a randomizer found, and how sure it is."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from shuffledp.audit.audit_power import AuditPower
from shuffledp.version import __version__


class AuditVerdict(StrEnum):
    """What an audit may say. It never says that a promise is kept."""

    BROKEN = "the promise is broken"
    NOTHING_FOUND = "nothing found"
    BLIND = "cannot see anything"


class SideCheckOutcome(StrEnum):
    """How a check of a black box's behavior ended."""

    FINE = "nothing found"
    BROKEN = "broken"
    DEPENDENT = "dependent messages"
    WARNING = "warning"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class SideCheck:
    """One check besides the bounds.

    Attributes:
        about: What was looked at.
        outcome: How it ended; neither a warning nor dependence is a verdict.
        text: What was seen, with numbers.
    """

    about: str
    outcome: SideCheckOutcome
    text: str


@dataclass(frozen=True)
class EventBound:
    """What one event proves about a pair of values.

    Attributes:
        bound: The least epsilon, or delta, that allows what was counted.
        event: The event in words.
        hits: Messages about x, and about x', that belong to it.
        counted: How many were looked at for each.
    """

    bound: float
    event: str
    hits: tuple[int, int]
    counted: int


@dataclass(frozen=True)
class PairBounds:
    """What was found about x against x' at one level.

    Attributes:
        level: The promised epsilon.
        value: x, as written.
        other: x', as written.
        epsilon: The least epsilon that can be promised, at the promised delta.
        delta: The least delta that can be promised, at the promised epsilon.
    """

    level: float
    value: str
    other: str
    epsilon: EventBound
    delta: EventBound


@dataclass(frozen=True)
class RandomizerAudit:
    """Everything that an audit of a black box found.

    Attributes:
        target: What was audited.
        delta: What is promised with every level.
        samples: Messages per value and level.
        counted: How many of them were counted; events were learned from the others.
        confidence: With this probability at least, everything here is true that is said to
            be broken; if all promises are kept, nothing is.
        intervals: One-sided bounds that hold together.
        alpha: The probability that each of them may be wrong with.
        powers: What was to be seen, known beforehand.
        most_visible: The largest epsilon that so many samples can prove of anything.
        pairs: All ordered pairs of values, at every level.
        behaviors: The other checks.
    """

    target: str
    delta: float
    samples: int
    counted: int
    confidence: float
    intervals: int
    alpha: float
    powers: tuple[AuditPower, ...]
    most_visible: float
    pairs: tuple[PairBounds, ...]
    behaviors: tuple[SideCheck, ...]

    @property
    def broken(self) -> tuple[PairBounds, ...]:
        """The pairs that break the promise, the largest excess first."""
        found = [pair for pair in self.pairs if breaks(pair, self.delta)]
        return tuple(sorted(found, key=lambda pair: pair.level - pair.epsilon.bound))

    @property
    def blind_levels(self) -> tuple[float, ...]:
        """Levels of which no number of hits would have said anything."""
        levels = dict.fromkeys(pair.level for pair in self.pairs)
        return tuple(level for level in levels if level >= self.most_visible)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What could not be looked at in this box, of its behavior."""
        return tuple(
            behavior.about
            for behavior in self.behaviors
            if behavior.outcome is SideCheckOutcome.NOT_APPLICABLE
        )

    @property
    def verdict(self) -> AuditVerdict:
        """What can be said in the end."""
        if self.broken or any(
            b.outcome is SideCheckOutcome.BROKEN for b in self.behaviors
        ):
            return AuditVerdict.BROKEN
        if len(self.blind_levels) == len({pair.level for pair in self.pairs}):
            return AuditVerdict.BLIND
        return AuditVerdict.NOTHING_FOUND

    def best(self, level: float) -> PairBounds:
        """Returns the pair that shows the largest epsilon at a level."""
        found = [pair for pair in self.pairs if pair.level == level]
        return max(found, key=lambda pair: pair.epsilon.bound)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything, for machines."""
        return {
            "version": __version__,
            "verdict": str(self.verdict),
            "blind_levels": list(self.blind_levels),
            "unchecked": list(self.unchecked),
            **asdict(self),
        }


def breaks(pair: PairBounds, delta: float) -> bool:
    """Does this pair show more than was promised?"""
    # Rounding decides nothing; bounds are rounded downward already.
    return pair.epsilon.bound > pair.level * (1.0 + 1e-12) or pair.delta.bound > delta
