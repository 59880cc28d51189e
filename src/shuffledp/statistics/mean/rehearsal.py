"""A mean rehearsed on known values: options, truth and summary."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shuffledp.analyzer.dependence import Dependence
from shuffledp.analyzer.mean import MeanEstimate
from shuffledp.datasets.column_values import holds_truths, numbers_of
from shuffledp.errors import InvalidInputError
from shuffledp.parameter import Parameter
from shuffledp.population import Population
from shuffledp.randomizers.catalog import NUMBER_MECHANISMS
from shuffledp.randomness import Rng
from shuffledp.statistics.level_dependence import (
    dependence_of_numbers,
    overflow_free_mean,
)
from shuffledp.statistics.mean.mean_labels import HIGH, LOW, WORDS
from shuffledp.statistics.mean.mean_options import levels_in, mean_options
from shuffledp.statistics.mean.mean_truth import MeanTruth, bounded
from shuffledp.statistics.mean.prediction import check_spread
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.partial_rehearsal import PartialRehearsal
from shuffledp.statistics.rehearsal_stage import OnStep, Rehearsal, Stage
from shuffledp.statistics.rehearsed_collection import (
    Collection,
    collect,
)
from shuffledp.statistics.request import Request
from shuffledp.statistics.shared_parameters import mechanism_parameter
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import (
    TWO_ERRORS,
    Circumstances,
    about_rows,
    build_summary,
    signed,
)
from shuffledp.types import Floats

_CLIPPED = (
    "Values outside the range were moved to its ends: estimated is the mean of the clipped "
    "values."
)


class MeanStatistic:
    """The mean of bounded numbers."""

    words = WORDS
    parameters = (
        mechanism_parameter(NUMBER_MECHANISMS),
        LOW,
        HIGH,
        Parameter(
            "clip",
            "flag",
            "Move values outside of the bounds to them, instead of refusing them",
        ),
        Parameter(
            "spread",
            "number",
            "Standard deviation of the values, where it is known beforehand",
            "S",
        ),
    )

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a rehearsal of the mean of a column."""
        asked = mean_options(request)

        def rehearse(stage: Stage) -> Summary:
            table = request.table()
            column = table[request.value or ""]
            values = numbers_of(column)
            levels = request.levels(table, rng=stage.rng)
            stage = stage.noting(table.notes)
            spread = known_spread(column, asked.low, asked.high, asked.spread)
            protocol, clip = asked.protocol(levels, spread), asked.clip
            collection = collect_mean(
                # Clipped first: the truth, too, is that of the clipped values.
                bounded(values, protocol.low, protocol.high, clip=clip),
                levels,
                protocol=protocol,
                delta=stage.delta,
                rng=stage.rng,
                spread=spread,
                on_step=stage.on_step,
            )
            caveats = ((_CLIPPED,) if clip else ()) + asked.choice_of(protocol)
            circumstances = stage.circumstances(request.source, *caveats)
            return summarize_mean(collection, circumstances)

        return rehearse

    def partial_rehearsal(
        self, request: Request, _texts: Callable[[], tuple[str, ...]]
    ) -> PartialRehearsal:
        """Returns how parts of a column of numbers are rehearsed."""
        asked = mean_options(request)
        # Levels in a column are counted later, when the protocol is known.
        levels = None if request.shares is None else levels_in(request.shares)
        protocol = asked.protocol(levels, asked.spread)
        parts = partial_mean(protocol, clip=asked.clip)
        caveats = parts.caveats + asked.choice_of(protocol)
        # Only a spread that was given: `known_spread` needs the whole column.
        return replace(parts, asked={"spread": asked.spread}, caveats=caveats)

    def partial_rehearsal_of(
        self, protocol: Any, names: tuple[str, ...] | None
    ) -> PartialRehearsal:
        """Returns the same for a given protocol."""
        if names is not None:
            raise InvalidInputError(
                "Expected names of categories with frequencies only."
            )
        return partial_mean(protocol)


STATISTIC = MeanStatistic()


def partial_mean(protocol: Mean, *, clip: bool = False) -> PartialRehearsal:
    """Returns how numbers are rehearsed on parts of the people.

    Args:
        protocol: The protocol that is run.
        clip: Whether values outside of the range are moved to its ends.
    """
    caveats = (_CLIPPED,) if clip else ()
    return PartialRehearsal(
        protocol, MeanTruth(protocol, clip), summarize_mean, caveats=caveats
    )


def known_spread(
    column: pl.Series, low: float, high: float, spread: float | None
) -> float | None:
    """Returns the spread that was given, or that of true and false, or None."""
    # Values at the ends of the range have the largest standard deviation that their mean
    # allows; `Mean.estimate` lowers half the range to it.
    if spread is None and (low, high) == (0.0, 1.0):
        return 0.5 if holds_truths(column) else None
    return spread


def summarize_mean(
    collection: Collection[MeanEstimate], circumstances: Circumstances
) -> Summary:
    """Returns the summary of a collection of numbers."""
    estimate, bias = collection.estimate, collection.dependence
    caveats: tuple[str, ...] = (TWO_ERRORS,)
    if estimate.bias_limit:
        caveats += (
            "The estimate is biased where values differ, by at most "
            f"{estimate.bias_limit:.3g}; intervals are wider by as much.",
        )
        if estimate.mode == "agnostic":
            caveats += ("It is biased further if levels depend on values.",)
    return build_summary(
        WORDS,
        circumstances,
        rows=about_rows(estimate, estimate.bias_limit, collection.truth, circumstances),
        mode=estimate.mode,
        guarantee=collection.guarantee,
        manipulation=collection.manipulation,
        caveats=caveats,
        dependence=bias,
        off_by="" if bias is None else signed(bias.largest_bias),
        # No condition makes a biased estimate unbiased: its summary states none.
        unbiased=not estimate.bias_limit,
    )


def collect_mean(
    values: Floats,
    levels: Floats,
    *,
    protocol: Mean,
    delta: float,
    rng: Rng,
    spread: float | None = None,
    on_step: OnStep = lambda _step: None,
) -> Collection[MeanEstimate]:
    """Runs a collection of one number per person, start to end.

    Args:
        values: Numbers in the protocol's range, shape (n,).
        levels: Each person's local budget in nats, shape (n,).
        protocol: The protocol that is run.
        delta: At which the guarantee is stated, in (0, 1).
        rng: The only source of randomness.
        spread: Standard deviation of the values, where it is known beforehand.
        on_step: Called with the name of each step before it begins.

    Raises:
        InvalidInputError: If anything is out of range.
    """
    # `estimate` would refuse it only after certificate, devices and shuffle.
    check_spread(spread, protocol.low, protocol.high)
    people, guarantee, estimate = collect(
        protocol, values, levels, delta=delta, rng=rng, on_step=on_step, spread=spread
    )
    mean = overflow_free_mean(values)
    dependence = dependence_of_mean(values, levels, mean, protocol, people)
    truth = np.array([mean])
    return Collection(protocol, truth, people, estimate, guarantee, dependence)


def dependence_of_mean(
    values: Floats, levels: Floats, mean: float, protocol: Mean, people: Population
) -> Dependence | None:
    """Returns the bias if levels depend on values; None in the stratified mode."""
    # A stratified estimate stays unbiased if levels depend on values.
    if protocol.mode == "stratified":
        return None
    # At the true mean: the slope of a curved channel differs from value to value.
    slopes = protocol.channel(people).slopes(mean)
    return dependence_of_numbers(values, levels, people=people, slopes=slopes)
