"""What `estimate` and `quickstart` share: rehearse a collection, show it, write it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from shuffledp.cli.console import progress, show, show_json
from shuffledp.cli.options import Settings
from shuffledp.datasets.fetch import Progress
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.randomness import Rng, SystemRandom
from shuffledp.report.files import write_report
from shuffledp.report.summary import Summary
from shuffledp.report.summary_parts import (
    Circumstances,
)
from shuffledp.report.terminal import estimate_table, guarantee_tables
from shuffledp.statistics.collection import OnStep

# People who made up their data with the same seed must not meet the same random numbers.
_STREAM = 20_230_417


@dataclass(frozen=True)
class Stage:
    """Where a rehearsal draws from, and whom it tells how far it is.

    Attributes:
        rng: The only source of randomness.
        on_bytes: Called with (bytes done, bytes in all).
        on_step: Called with the name of a step.
        settings: What was asked for.
        notes: What the summary says of how the table was read, in sentences.
        warnings: What it warns of.
    """

    rng: Rng
    on_bytes: Progress
    on_step: OnStep
    settings: Settings
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def noting(self, notes: tuple[str, ...], warnings: tuple[str, ...] = ()) -> "Stage":
        """Returns the stage on which a table was read."""
        return replace(self, notes=notes, warnings=warnings)

    def circumstances(self, source: str, *caveats: str) -> Circumstances:
        """Returns what the summary says of values from there."""
        settings = self.settings
        return Circumstances(
            source,
            settings.confidence,
            settings.seed,
            caveats + self.notes,
            self.warnings,
        )


Rehearsal: TypeAlias = Callable[[Stage], Summary]


def run(rehearsal: Rehearsal, settings: Settings) -> None:
    """Runs a collection, prints it, and writes the report.

    Args:
        rehearsal: Loads people, runs the collection and sums it up.
        settings: What was asked for.
    """
    output = settings.output
    if output is None and not settings.as_json:
        output = Path("shuffledp-report")
    if output is not None:
        for module in ("jinja2", "matplotlib"):
            require(module, extra="report", what="The HTML report (--json does not)")
    if settings.seed is not None and settings.seed < 0:
        raise InvalidInputError(f"Expected a seed >= 0, got {settings.seed}.")
    seed = settings.seed
    rng: Rng = (
        SystemRandom() if seed is None else np.random.default_rng([seed, _STREAM])
    )
    with progress("read") as (on_bytes, on_step):
        summary = rehearsal(Stage(rng, on_bytes, on_step, settings))
    written = write_report(summary, output) if output is not None else []
    if settings.as_json:
        show_json(summary.to_dict())
        return
    show(estimate_table(summary), guarantee_tables(summary))
    names = ", ".join(path.name for path in written)
    show(f"\nWritten to {written[0].parent}: {names}")
