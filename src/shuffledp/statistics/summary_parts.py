"""Builders of summaries, rows and sentences, for all statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.analyzer.interval import half_width
from shuffledp.display_text import printable
from shuffledp.labels import UNBIASED_IF, StatisticLabels
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.manipulation import Manipulation
from shuffledp.statistics.summary import Summary
from shuffledp.types import Floats, Mode

TWO_ERRORS = (
    "Two errors are told apart: about the participants, only the devices' noise is one; "
    "about the population that they were drawn from at random, who took part is one, too."
)
CONSISTENT_NOTE = (
    "Consistent numbers are the possible ones that are nearest to the estimates: nearer to "
    "the truth in the mean, and biased; rare answers come out too frequent. Intervals are "
    "about the unbiased estimates."
)


@dataclass(frozen=True)
class Circumstances:
    """Parts of a summary that the collection itself does not determine.

    Attributes:
        source: Origin of the values, as a phrase.
        confidence: Of the intervals, in (0, 1).
        seed: Of the simulation, or None if it drew from the operating system.
        caveats: Further notes, in sentences.
        warnings: Serious problems, in sentences.
    """

    source: str
    confidence: float
    seed: int | None
    caveats: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class OneNumber(Protocol):
    """Interface of an estimate of a single number, such as a mean or a sum."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def standard_error(self) -> float:
        """The standard error about the participants."""

    @property
    def population_error(self) -> float:
        """The standard error about the population that they come from."""

    @property
    def step(self) -> float:
        """By how much one message moves the estimate, at most."""


def build_summary(
    words: StatisticLabels,
    circumstances: Circumstances,
    *,
    rows: list[EstimateRow],
    mode: Mode,
    guarantee: Guarantee,
    manipulation: Manipulation,
    caveats: tuple[str, ...] = (),
    dependence: Dependence | None,
    off_by: str,
    unbiased: bool = True,
    unbiased_if: str | None = None,
    remedy: str = "use the stratified mode",
) -> Summary:
    """Builds the summary, with a warning if levels seem to depend on values."""
    warnings = circumstances.warnings
    if dependence is not None and dependence.suspected:
        # A p-value may underflow to 0: it is reported as below 1e-99.
        p_value = max(dependence.p_value, 1e-99)
        sign = "=" if p_value == dependence.p_value else "<"
        warnings += (
            f"Levels seem to depend on values (p {sign} {p_value:.1g}): the agnostic "
            f"estimate is off by about {off_by}; {remedy}.",
        )
    return Summary(
        words=words,
        source=circumstances.source,
        rows=tuple(rows),
        mode=mode,
        num_users=guarantee.num_users,
        seed=circumstances.seed,
        confidence=circumstances.confidence,
        # The mode's own condition, unless the statistic has another.
        unbiased_if=(unbiased_if or UNBIASED_IF[mode]) if unbiased else None,
        guarantee=guarantee,
        manipulation=manipulation,
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
) -> list[EstimateRow]:
    """Returns one row per name."""
    # Only strings have "found"; rows of other statistics are always listed.
    row_details: list[Mapping[str, Any]] = [*details] if details else [{}] * len(names)
    return [
        EstimateRow(
            name,
            estimate,
            error,
            low,
            high,
            truth,
            details_of_row.get("found", True),
            details_of_row,
        )
        for name, estimate, error, (low, high), truth, details_of_row in zip(
            names,
            estimates.tolist(),
            errors.tolist(),
            intervals.tolist(),
            truths.tolist(),
            row_details,
            strict=True,
        )
    ]


def with_consistent(rows: Sequence[EstimateRow], values: Floats) -> list[EstimateRow]:
    """Returns rows with possible numbers beside the estimates.

    Args:
        rows: Of estimates.
        values: A possible number for each, shape (rows,).
    """
    return [
        replace(row, consistent=value)
        for row, value in zip(rows, values.tolist(), strict=True)
    ]


def about_rows(
    estimate: OneNumber,
    bias_limit: float,
    truth: Floats,
    circumstances: Circumstances,
) -> list[EstimateRow]:
    """Returns a row about the participants and one about their population."""
    value = estimate.value
    # Margins, by error: equal errors have equal ones. The bias is on top.
    margins = {
        error: float(half_width(circumstances.confidence, error, estimate.step))
        + bias_limit
        for error in (estimate.standard_error, estimate.population_error)
    }
    return [
        EstimateRow(
            name,
            value,
            error,
            value - margins[error],
            value + margins[error],
            known_truth,
        )
        for name, error, known_truth in (
            ("participants", estimate.standard_error, float(truth[0])),
            # The values of people who did not take part are unknown.
            ("population", estimate.population_error, None),
        )
    ]


def off_by_share(bias: Dependence, names: tuple[str, ...]) -> str:
    """Returns the largest bias of a share, as a phrase."""
    name = names[int(np.argmax(np.abs(bias.bias)))]
    return (
        f"{signed(100 * bias.largest_bias)} percentage points for {printable(name)!r}"
    )


def signed(number: float) -> str:
    """Formats a number with its sign and two digits."""
    # Two digits: the bias is an average, not the error of this estimate.
    return f"{float(f'{number:.2g}'):+,.12g}"
