"""Results of an audit of a randomizer: bounds, side checks and the verdict."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from shuffledp.audit.audit_power import AuditPower
from shuffledp.version import __version__


class AuditVerdict(StrEnum):
    """Verdict of an audit. No verdict says that a promise is kept."""

    BROKEN = "the promise is broken"
    NOTHING_FOUND = "nothing found"
    BLIND = "cannot see anything"


class SideCheckOutcome(StrEnum):
    """Outcome of a check of a black box's behavior."""

    FINE = "nothing found"
    BROKEN = "broken"
    DEPENDENT = "dependent messages"
    WARNING = "warning"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class SideCheck:
    """Result of one check besides the bounds.

    Attributes:
        about: The property that was checked.
        outcome: The outcome; neither a warning nor dependence is a verdict.
        text: The observation, with numbers.
    """

    about: str
    outcome: SideCheckOutcome
    text: str


@dataclass(frozen=True)
class EventBound:
    """Lower bound that one event proves about a pair of values.

    Attributes:
        bound: The smallest epsilon, or delta, that allows the counts.
        event: Description of the event.
        hits: Messages about x, and about x', that belong to it.
        counted: The number of messages per value that were counted.
    """

    bound: float
    event: str
    hits: tuple[int, int]
    counted: int


@dataclass(frozen=True)
class PairBounds:
    """Bounds for the value x against x' at one level.

    Attributes:
        level: The promised epsilon.
        value: x, as written.
        other: x', as written.
        epsilon: The smallest epsilon that can be promised, at the promised delta.
        delta: The smallest delta that can be promised, at the promised epsilon.
    """

    level: float
    value: str
    other: str
    epsilon: EventBound
    delta: EventBound


@dataclass(frozen=True)
class RandomizerAudit:
    """Result of an audit of a black box.

    Attributes:
        target: The name of the black box.
        delta: The delta promised with every level.
        samples: Messages per value and level.
        counted: How many of them were counted; events were learned from the others.
        confidence: The probability, at least, that every promise reported as broken is
            broken.
        intervals: The number of one-sided bounds that hold together.
        alpha: The error probability of each of them.
        powers: The samples needed for excesses of each level, known beforehand.
        most_visible: The largest epsilon that this number of samples can prove.
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
        broken_pairs = [pair for pair in self.pairs if breaks(pair, self.delta)]
        return tuple(
            sorted(broken_pairs, key=lambda pair: pair.level - pair.epsilon.bound)
        )

    @property
    def blind_levels(self) -> tuple[float, ...]:
        """Levels that no number of hits could have shown to be broken."""
        levels = dict.fromkeys(pair.level for pair in self.pairs)
        return tuple(level for level in levels if level >= self.most_visible)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The behaviors that could not be checked in this box."""
        return tuple(
            behavior.about
            for behavior in self.behaviors
            if behavior.outcome is SideCheckOutcome.NOT_APPLICABLE
        )

    @property
    def verdict(self) -> AuditVerdict:
        """The conclusion of all bounds and side checks."""
        if self.broken or any(
            b.outcome is SideCheckOutcome.BROKEN for b in self.behaviors
        ):
            return AuditVerdict.BROKEN
        # At one level that it could see, the audit might have found something.
        if len(self.blind_levels) == len({pair.level for pair in self.pairs}):
            return AuditVerdict.BLIND
        return AuditVerdict.NOTHING_FOUND

    def best(self, level: float) -> PairBounds:
        """Returns the pair that shows the largest epsilon at a level."""
        pairs = [pair for pair in self.pairs if pair.level == level]
        return max(pairs, key=lambda pair: pair.epsilon.bound)

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as values that JSON can represent."""
        return {
            "version": __version__,
            "verdict": str(self.verdict),
            "blind_levels": list(self.blind_levels),
            "unchecked": list(self.unchecked),
            **asdict(self),
        }


def breaks(pair: PairBounds, delta: float) -> bool:
    """Returns whether a pair's bounds exceed the promise."""
    # Rounding decides nothing; bounds are rounded downward already.
    return pair.epsilon.bound > pair.level * (1.0 + 1e-12) or pair.delta.bound > delta
