"""What `estimate` and `quickstart` share: run a collection, then show and write it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shuffledp.cli.console import progress, show, show_json
from shuffledp.cli.options import Settings
from shuffledp.datasets.fetch import Progress
from shuffledp.errors import InvalidInputError
from shuffledp.protocols.collection import collect_frequency
from shuffledp.protocols.frequency import Frequency
from shuffledp.randomness import Rng, SystemRandom
from shuffledp.report.extra import require
from shuffledp.report.files import write_report
from shuffledp.report.summary import FrequencySummary
from shuffledp.report.terminal import frequency_table, guarantee_table
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class People:
    """Everybody's value and level, and the names of the categories."""

    values: Ints
    levels: Floats
    categories: tuple[str, ...]


def run(
    source: str, load: Callable[[Rng, Progress], People], settings: Settings
) -> None:
    """Loads people, runs the collection, prints it, and writes the report.

    Args:
        source: Where the values come from, in words.
        load: Returns the people; draws what must be drawn from the rng it is given.
        settings: What was asked for.
    """
    output = settings.output
    if output is None and not settings.as_json:
        output = Path("shuffledp-report")
    if output is not None:
        require("jinja2")
        require("matplotlib")
    if settings.seed is not None and settings.seed < 0:
        raise InvalidInputError(f"Expected a seed >= 0, got {settings.seed}.")
    seed = settings.seed
    rng: Rng = SystemRandom() if seed is None else np.random.default_rng(seed)
    with progress("read") as (on_bytes, on_step):
        people = load(rng, on_bytes)
        collection = collect_frequency(
            people.values,
            people.levels,
            categories=people.categories,
            protocol=Frequency(len(people.categories), settings.mode),
            delta=settings.delta,
            rng=rng,
            on_step=on_step,
        )
    summary = FrequencySummary(collection, source, settings.confidence, seed)
    written = write_report(summary, output) if output is not None else []
    if settings.as_json:
        show_json(summary.to_dict())
        return
    show(frequency_table(summary), guarantee_table(collection.guarantee))
    names = ", ".join(path.name for path in written)
    show(f"\nWritten to {written[0].parent}: {names}")
