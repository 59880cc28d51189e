"""Settings of a rehearsal: randomness, confidence and callbacks for progress."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from shuffledp.analyzer.interval import checked_confidence
from shuffledp.datasets.fetch import Progress
from shuffledp.randomness import Rng
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import Circumstances
from shuffledp.types import Mode

OnStep: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """The settings with which a collection is rehearsed.

    Attributes:
        rng: The only source of randomness.
        mode: "agnostic": levels travel apart from messages; "stratified": with them.
        delta: At which the guarantee is stated, in (0, 1).
        confidence: Of the intervals, in (0, 1).
        seed: Of the simulation, or None if it draws from the operating system.
        on_bytes: Called with (bytes done, bytes in all) of a download.
        on_step: Called with the name of a step before it begins.
        notes: Sentences for the summary on how a table was read.
        warnings: Sentences for the summary that warn.
    """

    rng: Rng
    mode: Mode = "agnostic"
    delta: float = 1e-6
    confidence: float = 0.95
    seed: int | None = None
    on_bytes: Progress = lambda _done, _all: None
    on_step: OnStep = lambda _step: None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Before all work: intervals are computed last.
        object.__setattr__(self, "confidence", checked_confidence(self.confidence))

    def noting(self, notes: tuple[str, ...], warnings: tuple[str, ...] = ()) -> "Stage":
        """Returns the stage with the notes and warnings of a table added."""
        return replace(
            self, notes=self.notes + notes, warnings=self.warnings + warnings
        )

    def circumstances(self, source: str, *caveats: str) -> Circumstances:
        """Returns the circumstances of a summary of values from this source."""
        return Circumstances(
            source, self.confidence, self.seed, caveats + self.notes, self.warnings
        )


Rehearsal: TypeAlias = Callable[[Stage], Summary]
