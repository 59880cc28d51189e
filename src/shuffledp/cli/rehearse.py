"""From people's values and levels to a summary: one rehearsal for each statistic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.accounting.items.plan import optimize_items
from shuffledp.cli.run import Stage
from shuffledp.datasets.item_sets import ItemSets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.catalog import build
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.report.summarize import (
    summarize_frequency,
    summarize_mean,
    summarize_sum,
)
from shuffledp.report.summarize_sets import (
    summarize_items,
    summarize_strings,
)
from shuffledp.report.summary import Summary
from shuffledp.statistics.collection import (
    collect_frequency,
    collect_mean,
    collect_strings,
    collect_sum,
)
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.items_collection import collect_items
from shuffledp.statistics.items_framework import ItemsFramework
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.rehearsal import dependence_of_sets
from shuffledp.statistics.strings.protocol import Strings
from shuffledp.statistics.sum.protocol import BinarySum
from shuffledp.types import Floats, Ints

# A simulation keeps everybody's message in memory at once.
MAX_UNARY_BITS = 10**8
MAX_MESSAGES = 3 * 10**8
# More candidates than this are better listed on purpose.
MAX_DEFAULT_CANDIDATES = 1_000


@dataclass(frozen=True, eq=False)
class Categories:
    """Everybody's category by number, and the names of all."""

    values: Ints
    names: tuple[str, ...]


def rehearse_frequency(
    stage: Stage,
    categories: Categories,
    levels: Floats,
    source: str,
    *,
    mechanism: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Summary:
    """Rehearses how often each category occurs."""
    settings, k = stage.settings, len(categories.names)
    oracle = None
    if mechanism is not None or parameters:
        given = {"categories": k, **(parameters or {})}
        built = build(mechanism or "kary-response", given)
        if not isinstance(built, FrequencyOracle):
            raise InvalidInputError(f"Expected no {mechanism} with categories.")
        oracle = built
    if isinstance(oracle, UnaryEncoding) and levels.size * k > MAX_UNARY_BITS:
        raise InvalidInputError(
            f"Expected at most {MAX_UNARY_BITS:,} bits of unary-encoding from all people "
            f"together, got {levels.size:,} people with {k:,} bits each: "
            "hadamard-response and local-hashing send a few."
        )
    collection = collect_frequency(
        categories.values,
        levels,
        protocol=Frequency(k, settings.mode, oracle),
        delta=settings.delta,
        rng=stage.rng,
        on_step=stage.on_step,
    )
    return summarize_frequency(
        collection, categories.names, stage.circumstances(source)
    )


def rehearse_mean(
    stage: Stage,
    values: Floats,
    levels: Floats,
    source: str,
    *,
    protocol: Mean,
    spread: float | None,
    clip: bool,
) -> Summary:
    """Rehearses what the mean of bounded numbers is."""
    outside = not np.all((values >= protocol.low) & (values <= protocol.high))
    if outside and not clip:
        raise InvalidInputError(
            f"Expected values from {protocol.low:g} to {protocol.high:g}, but some are "
            "outside: widen --low and --high, or move them to the ends with --clip."
        )
    collection = collect_mean(
        np.clip(values, protocol.low, protocol.high),
        levels,
        protocol=protocol,
        delta=stage.settings.delta,
        rng=stage.rng,
        spread=spread,
        on_step=stage.on_step,
    )
    caveats: tuple[str, ...] = ()
    if clip:
        caveats = (
            "Values outside the range were moved to its ends: estimated is the mean of "
            "the clipped values.",
        )
    return summarize_mean(collection, stage.circumstances(source, *caveats))


def rehearse_sum(
    stage: Stage,
    bits: Ints,
    levels: Floats | None,
    source: str,
    *,
    central: float | None,
) -> Summary:
    """Rehearses how many people say yes, at their levels or with a common noise share."""
    settings = stage.settings
    protocol = BinarySum(settings.mode)
    caveats: tuple[str, ...] = ()
    if central is not None:
        stage.on_step("certify")
        found = protocol.calibrate({central: bits.size}, delta=settings.delta)
        levels = np.full(bits.size, found.people.epsilons[0])
        (share,) = protocol.noise_share(levels[:1])
        caveats = (
            f"Each message is a fair coin with chance p = {share:.6g}: the least noise "
            f"found for a certified central epsilon of {central:g}.",
        )
    if levels is None:
        raise InvalidInputError("Expected levels, or a central epsilon.")
    collection = collect_sum(
        bits,
        levels,
        protocol=protocol,
        delta=settings.delta,
        rng=stage.rng,
        on_step=stage.on_step,
    )
    return summarize_sum(collection, stage.circumstances(source, *caveats))


def rehearse_strings(
    stage: Stage,
    strings: list[str],
    levels: Floats,
    source: str,
    *,
    protocol: Strings,
    candidates: tuple[str, ...] | None,
    false_discovery_rate: float,
) -> Summary:
    """Rehearses how many people hold each candidate; by default, all that occur."""
    caveats: tuple[str, ...] = ()
    if candidates is None:
        candidates = tuple(sorted(set(strings)))
        if len(candidates) > MAX_DEFAULT_CANDIDATES:
            raise InvalidInputError(
                "Expected --candidates FILE where a column has more than "
                f"{MAX_DEFAULT_CANDIDATES:,} different values."
            )
        caveats = (
            "Candidates are the values of the column: a real analyst must know hers "
            "beforehand.",
        )
    collection = collect_strings(
        strings,
        levels,
        protocol=protocol,
        candidates=candidates,
        false_discovery_rate=false_discovery_rate,
        delta=stage.settings.delta,
        rng=stage.rng,
        on_step=stage.on_step,
    )
    return summarize_strings(collection, stage.circumstances(source, *caveats))


def rehearse_items(
    stage: Stage, held: ItemSets, levels: Floats, source: str, *caveats: str
) -> Summary:
    """Rehearses how many people hold each item, at levels that are central epsilons."""
    people = Population.from_budgets(levels)
    real = held.num_real
    framework = ItemsFramework(
        real,
        held.sets.shape[1],
        tuple(people.epsilons.tolist()),
        stage.settings.delta,
    )
    # Nothing is spent on dummy items.
    sets = held.without_dummies()
    collection = collect_items(
        sets,
        levels,
        framework=framework,
        rng=stage.rng,
        optimize=_optimize,
        on_step=stage.on_step,
    )
    protocol = collection.plan.protocol
    return summarize_items(
        collection,
        held.names[:real],
        held.shares[:real],
        stage.circumstances(source, *caveats),
        dependence=dependence_of_sets(
            protocol.holders(sets, levels),
            people=people,
            slopes=np.array(protocol.rates),
        ),
        num_cut=held.num_cut,
    )


def _optimize(framework: ItemsFramework, people: Population) -> ItemsGuarantee:
    found = optimize_items(
        people,
        num_items=framework.num_items,
        set_size=framework.set_size,
        delta=framework.delta,
        absent=framework.absent,
    ).guarantee
    if found.num_users * found.report_size > MAX_MESSAGES:
        raise InvalidInputError(
            f"Expected at most {MAX_MESSAGES:,} messages from all people together, got "
            f"{found.num_users:,} people with {found.report_size:,} each."
        )
    return found
