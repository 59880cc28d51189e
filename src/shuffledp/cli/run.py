"""What `estimate` and `quickstart` share: rehearse a collection, show it, write it."""

from pathlib import Path

import numpy as np

from shuffledp.cli.console import progress, show, show_json
from shuffledp.cli.options import Settings
from shuffledp.errors import InvalidInputError, MissingExtraError
from shuffledp.extras import require
from shuffledp.randomness import Rng, SystemRandom
from shuffledp.report.files import write_report
from shuffledp.report.terminal import estimate_table, guarantee_table
from shuffledp.statistics.stage import Rehearsal, Stage

# People who made up their data with the same seed must not meet the same random numbers.
_STREAM = 20_230_417


def run(rehearsal: Rehearsal, settings: Settings) -> None:
    """Runs a collection, prints it, and writes the report.

    Args:
        rehearsal: Loads people, runs the collection and sums it up.
        settings: What was asked for.
    """
    output, without = _output(settings)
    if settings.seed is not None and settings.seed < 0:
        raise InvalidInputError(f"Expected a seed >= 0, got {settings.seed}.")
    seed = settings.seed
    rng: Rng = (
        SystemRandom() if seed is None else np.random.default_rng([seed, _STREAM])
    )
    with progress("read") as (on_bytes, on_step):
        stage = Stage(
            rng,
            mode=settings.mode,
            delta=settings.delta,
            confidence=settings.confidence,
            seed=seed,
            on_bytes=on_bytes,
            on_step=on_step,
        )
        summary = rehearsal(stage)
    written = write_report(summary, output) if output is not None else []
    if settings.as_json:
        show_json(summary.to_dict())
        return
    show(estimate_table(summary), guarantee_table(summary.guarantee))
    names = ", ".join(path.name for path in written)
    show(f"\nWritten to {output}: {names}" if output is not None else f"\n{without}")


def _output(settings: Settings) -> tuple[Path | None, str]:
    """Returns where the report goes; or None, and why it goes nowhere.

    Raises:
        MissingExtraError: If somebody asked for a report that cannot be written.
    """
    if settings.output is None and settings.as_json:
        return None, ""
    try:
        for module in ("jinja2", "matplotlib"):
            require(module, extra="report", what="A report with pictures")
    except MissingExtraError as error:
        if settings.output is not None:
            raise
        return None, str(error)
    return settings.output or Path("shuffledp-report"), ""
