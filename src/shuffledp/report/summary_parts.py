"""What all summaries are made of: rows, sentences, and the whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.analyzer.dependence import Dependence
from shuffledp.analyzer.interval import reach
from shuffledp.analyzer.mean import MeanEstimate
from shuffledp.report.levels import AnyGuarantee
from shuffledp.report.summary import Row, Statistic, Summary, Unit
from shuffledp.report.words import shown
from shuffledp.statistics.sum.protocol import SumEstimate
from shuffledp.statistics.survey import UNBIASED_IF
from shuffledp.types import Floats, Mode

TWO_ERRORS = (
    "Two errors are told apart: about the participants, only the devices' noise is one; "
    "about the population that they were drawn from at random, who took part is one, too."
)


_TITLES: dict[Statistic, tuple[str, Unit]] = {
    "frequency": ("Frequencies", "share"),
    "mean": ("Mean", "number"),
    "sum": ("Sum", "number"),
    "strings": ("Strings", "share"),
    "items": ("Items", "share"),
}


@dataclass(frozen=True)
class Circumstances:
    """What a summary says that is not in the collection.

    Attributes:
        source: Where the values come from, in words.
        confidence: Of the intervals, in (0, 1).
        seed: Of the simulation, or None if it drew from the operating system.
        caveats: What else to know, in sentences.
    """

    source: str
    confidence: float
    seed: int | None
    caveats: tuple[str, ...] = ()


def build_summary(
    statistic: Statistic,
    circumstances: Circumstances,
    *,
    rows: list[Row],
    mode: Mode,
    guarantees: tuple[tuple[str, AnyGuarantee], ...],
    caveats: tuple[str, ...] = (),
    dependence: Dependence | None,
    off_by: str,
    unbiased: bool = True,
    unbiased_if: str | None = None,
    remedy: str = "use --mode stratified",
) -> Summary:
    """Returns the summary, with a warning if levels seem to depend on values."""
    title, unit = _TITLES[statistic]
    warnings: tuple[str, ...] = ()
    if dependence is not None and dependence.suspected:
        chance = max(dependence.p_value, 1e-99)
        sign = "=" if chance == dependence.p_value else "<"
        warnings = (
            f"Levels seem to depend on values (p {sign} {chance:.1g}): the agnostic "
            f"estimate is off by about {off_by}; {remedy}.",
        )
    return Summary(
        statistic=statistic,
        title=title,
        source=circumstances.source,
        rows=tuple(rows),
        unit=unit,
        mode=mode,
        num_users=guarantees[0][1].num_users,
        seed=circumstances.seed,
        confidence=circumstances.confidence,
        unbiased_if=(unbiased_if or UNBIASED_IF[mode]) if unbiased else None,
        guarantees=guarantees,
        caveats=caveats + circumstances.caveats,
        warnings=warnings,
        dependence=dependence,
    )


def estimate_rows(
    names: tuple[str, ...],
    estimates: Floats,
    errors: Floats,
    intervals: Floats,
    truths: Floats,
    details: list[dict[str, Any]] | None = None,
) -> list[Row]:
    """Returns one row per name."""
    known: list[Mapping[str, Any]] = [*details] if details else [{}] * len(names)
    return [
        Row(name, estimate, error, low, high, truth, more.get("found", True), more)
        for name, estimate, error, (low, high), truth, more in zip(
            names,
            estimates.tolist(),
            errors.tolist(),
            intervals.tolist(),
            truths.tolist(),
            known,
            strict=True,
        )
    ]


def about_rows(
    estimate: MeanEstimate | SumEstimate,
    bias_limit: float,
    truth: Floats,
    circumstances: Circumstances,
) -> list[Row]:
    """Returns two rows: one about the participants, one about where they come from."""
    value = estimate.value
    wide = {
        error: reach(circumstances.confidence) * error + bias_limit
        for error in (estimate.standard_error, estimate.population_error)
    }
    return [
        Row(name, value, error, value - wide[error], value + wide[error], known)
        for name, error, known in (
            ("participants", estimate.standard_error, float(truth[0])),
            # Nobody knows those who did not take part.
            ("population", estimate.population_error, None),
        )
    ]


def off_by_share(bias: Dependence, names: tuple[str, ...]) -> str:
    """Returns in words by how much the most biased share is off."""
    name = names[int(np.argmax(np.abs(bias.bias)))]
    return f"{signed(100 * bias.largest_bias)} percentage points for {shown(name)!r}"


def signed(number: float) -> str:
    """Returns a number with its sign and two digits."""
    # Two digits: what an estimate is off by is an average.
    return f"{float(f'{number:.2g}'):+,.12g}"
