"""What a rehearsal draws from, and whom it tells how far it is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from shuffledp.datasets.fetch import Progress
from shuffledp.randomness import Rng
from shuffledp.report.summary import Summary
from shuffledp.report.summary_parts import Circumstances
from shuffledp.types import Mode

OnStep: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """How a collection is rehearsed.

    Attributes:
        rng: The only source of randomness.
        mode: Do levels travel apart from messages, or with them?
        delta: At which the guarantee is stated, in (0, 1).
        confidence: Of the intervals, in (0, 1).
        seed: Of the simulation, or None if it draws from the operating system.
        on_bytes: Called with (bytes done, bytes in all) of a download.
        on_step: Called with the name of a step before it begins.
        notes: What the summary says of how a table was read, in sentences.
        warnings: What it warns of.
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

    def noting(self, notes: tuple[str, ...], warnings: tuple[str, ...] = ()) -> "Stage":
        """Returns the stage on which a table was read."""
        return replace(
            self, notes=self.notes + notes, warnings=self.warnings + warnings
        )

    def circumstances(self, source: str, *caveats: str) -> Circumstances:
        """Returns what the summary says of values from there."""
        return Circumstances(
            source, self.confidence, self.seed, caveats + self.notes, self.warnings
        )


Rehearsal: TypeAlias = Callable[[Stage], Summary]
