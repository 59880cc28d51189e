"""Frequencies rehearsed on known values: options, truth and summary."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from shuffledp.datasets.column_values import categories_of
from shuffledp.datasets.msnbc import MSNBC_CATEGORIES, load_msnbc
from shuffledp.datasets.table_kinds import category_names
from shuffledp.errors import InvalidInputError
from shuffledp.near_duplicate_labels import spelling_warnings
from shuffledp.parameter import Parameter
from shuffledp.randomizers.bit_channel import BitChannel
from shuffledp.randomizers.catalog import build, mechanisms_for
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.mechanism_text import read_mechanism
from shuffledp.statistics.frequency.frequency_collection import (
    collect_frequency,
    summarize_frequency,
)
from shuffledp.statistics.frequency.frequency_truth import FrequencyTruth
from shuffledp.statistics.frequency.protocol import WORDS, Frequency
from shuffledp.statistics.partial_rehearsal import PartialRehearsal
from shuffledp.statistics.rehearsal_stage import Rehearsal, Stage
from shuffledp.statistics.request import Request
from shuffledp.statistics.shared_parameters import (
    CATEGORIES,
    CONSISTENT,
    mechanism_parameter,
)
from shuffledp.statistics.summary import Summary
from shuffledp.types import Floats, Ints

# A simulation keeps the messages of all people in memory at once.
MAX_UNARY_BITS = 10**8

_ORACLES = mechanisms_for("categories")


class FrequencyStatistic:
    """The frequencies of categories."""

    words = WORDS
    parameters = (
        mechanism_parameter(_ORACLES),
        CATEGORIES,
        CONSISTENT,
        Parameter(
            "dataset",
            "text",
            "Instead of FILE, the first page of 989,818 visits to a news site, read from "
            "the folder that SHUFFLEDP_DATA names, or downloaded once",
            choices=("msnbc",),
            in_python=False,
        ),
    )

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a rehearsal of a column of categories, or of real visits."""
        named = request.option("categories")
        names = None if named is None else category_names(named)
        # Data sets bring their values: only tables need columns.
        if request.people is not None:
            request.need_columns()

        def rehearse(stage: Stage) -> Summary:
            if request.people is None:
                # Loaded in the run, whose stage shows the progress of a download.
                visits = load_msnbc(progress=stage.on_bytes)
                levels = request.dealt(visits.size, rng=stage.rng)
                source = "MSNBC, first page of each visit"
                return self._rehearse(
                    stage, visits, MSNBC_CATEGORIES, levels, source, request
                )
            # A category that is named "NA" is a value, and not a missing one.
            table = request.table(names if isinstance(names, tuple) else ())
            values, occurring = categories_of(
                table[request.value or ""],
                names,
                table.orders.get(request.value or "", ()),
            )
            # Given names are meant as they are; those of a column may be typing errors.
            warnings = () if names is not None else _doubts(values, occurring)
            stage = stage.noting(table.notes, warnings)
            levels = request.levels(table, rng=stage.rng)
            return self._rehearse(
                stage, values, occurring, levels, request.source, request
            )

        return rehearse

    def _rehearse(
        self,
        stage: Stage,
        values: Ints,
        names: tuple[str, ...],
        levels: Floats,
        source: str,
        request: Request,
    ) -> Summary:
        protocol = _protocol(request, len(names))
        # Refused before the collection: memory grows with people times categories.
        _check_bits(protocol.randomizer, levels.size)
        return rehearse_frequency(
            stage,
            values,
            names,
            levels,
            source,
            protocol,
            consistent=request.option("consistent", False),
        )

    def partial_rehearsal(
        self, request: Request, texts: Callable[[], tuple[str, ...]]
    ) -> PartialRehearsal:
        """Returns how parts of a column of categories are rehearsed."""
        named = request.option("categories")
        request.need_columns()
        given_names = None if named is None else category_names(named)
        consistent = request.option("consistent", False)
        if given_names is None:
            # Of the whole column: a machine sees only its part.
            occurring = texts()
            parts = partial_frequency(
                _protocol(request, len(occurring)), occurring, consistent=consistent
            )
            return replace(parts, warnings=spelling_warnings(occurring, "Categories"))
        count = given_names if isinstance(given_names, int) else len(given_names)
        return partial_frequency(
            _protocol(request, count), given_names, consistent=consistent
        )

    def partial_rehearsal_of(
        self, protocol: Any, names: tuple[str, ...] | None
    ) -> PartialRehearsal:
        """Returns the same for a given protocol."""
        return partial_frequency(protocol, names)


STATISTIC = FrequencyStatistic()


def partial_frequency(
    protocol: Frequency,
    categories: int | tuple[str, ...] | None = None,
    *,
    consistent: bool = False,
) -> PartialRehearsal:
    """Returns how categories are rehearsed on parts of the people.

    Args:
        protocol: The protocol that is run.
        categories: Their names; by default values are whole numbers from 0.
        consistent: Whether possible shares stand beside the estimates.

    Raises:
        InvalidInputError: If these are not as many as the protocol's.
    """
    given_categories = protocol.num_categories if categories is None else categories
    names = (
        tuple(map(str, range(given_categories)))
        if isinstance(given_categories, int)
        else given_categories
    )
    if len(names) != protocol.num_categories:
        raise InvalidInputError(
            f"Expected {protocol.num_categories} names of categories, got {len(names)}."
        )
    return PartialRehearsal(
        protocol,
        # A number of categories is passed on as such: values are then read as numbers.
        FrequencyTruth(protocol, given_categories),
        partial(summarize_frequency, names=names, consistent=consistent),
        known=() if isinstance(given_categories, int) else given_categories,
    )


def rehearse_frequency(
    stage: Stage,
    values: Ints,
    names: tuple[str, ...],
    levels: Floats,
    source: str,
    protocol: Frequency,
    *,
    consistent: bool = False,
) -> Summary:
    """Rehearses frequencies of categories, and returns their summary.

    Args:
        stage: Settings.
        values: Integers in [0, k), shape (n,).
        names: Of the k categories.
        levels: Each person's local budget in nats, shape (n,).
        source: Where values come from, as text.
        protocol: The protocol that is run.
        consistent: Whether possible shares stand beside the estimates.
    """
    collection = collect_frequency(
        values,
        levels,
        protocol=protocol,
        delta=stage.delta,
        rng=stage.rng,
        on_step=stage.on_step,
    )
    return summarize_frequency(
        collection, stage.circumstances(source), names=names, consistent=consistent
    )


def _doubts(values: Ints, occurring: tuple[str, ...]) -> tuple[str, ...]:
    """Returns warnings about categories that were read off the answers."""
    num_unique, k = int(np.sum(np.bincount(values) == 1)), len(occurring)
    doubts = spelling_warnings(occurring, "Categories")
    if 2 * num_unique <= k:
        return doubts
    return (
        f"Caution: {num_unique:,} of the {k:,} categories were answered by one person "
        "each. Names of categories are public, and no guarantee covers them: a real "
        "collection has to list them without a look at the answers.",
        *doubts,
    )


def _protocol(request: Request, num_categories: int) -> Frequency:
    mechanism = read_mechanism(request.option("mechanism", _ORACLES[0]))
    if "categories" in mechanism.parameters:
        raise InvalidInputError(
            f"Expected {mechanism.name} without categories: they are those of the values."
        )
    # k follows from the values; all other parameters are those of the text.
    oracle = build(
        mechanism.name, {"categories": num_categories, **mechanism.parameters}
    )
    if not isinstance(oracle, FrequencyOracle):
        raise InvalidInputError(f"Expected no {mechanism.name} with categories.")
    return Frequency(num_categories, request.mode, oracle)


def _check_bits(oracle: FrequencyOracle, num_users: int) -> None:
    bits = num_users * oracle.num_categories
    if isinstance(oracle, BitChannel) and bits > MAX_UNARY_BITS:
        raise InvalidInputError(
            f"Expected at most {MAX_UNARY_BITS:,} bits of {oracle.mechanism} from all "
            f"people together, got {num_users:,} people with {oracle.num_categories:,} "
            "bits each: a mechanism that sends a number takes a few."
        )
