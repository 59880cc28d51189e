"""From a collection of each kind to the summary that reports are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.accounting.items_guarantee import ItemsGuarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.analyzer.interval import reach
from shuffledp.analyzer.mean import MeanEstimate
from shuffledp.analyzer.strings import StringEstimate
from shuffledp.errors import InvalidInputError
from shuffledp.protocols.binary_sum import SumEstimate
from shuffledp.protocols.collection import (
    FrequencyCollection,
    MeanCollection,
    StringCollection,
    SumCollection,
)
from shuffledp.protocols.items_collection import ItemsCollection
from shuffledp.report.levels import AnyGuarantee
from shuffledp.report.summary import Row, Statistic, Summary, Unit
from shuffledp.report.words import percent, plain, shown
from shuffledp.types import Floats, Mode

UNBIASED_IF = {
    "agnostic": (
        "Unbiased if values and levels are independent: levels were shuffled apart from "
        "the messages. If certain people choose certain levels, use the stratified mode."
    ),
    "stratified": (
        "Unbiased whatever the levels depend on: every message carries its level, and "
        "people hide among their own level only."
    ),
}
UNBIASED_IF_ITEMS = (
    "Unbiased if sets and levels are independent: levels were shuffled apart from the "
    "messages."
)
OTHER_STRINGS = "none of these"

# More chances than these are no sentence; they stand in the table.
_MAX_CHANCES = 5

_TWO_ERRORS = (
    "Two errors are told apart: about the participants, only the devices' noise is one; "
    "about the population that they were drawn from at random, who took part is one, too."
)


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


def summarize_frequency(
    collection: FrequencyCollection,
    categories: tuple[str, ...],
    circumstances: Circumstances,
) -> Summary:
    """Returns the summary of a collection of categories with these names."""
    estimate = collection.estimate
    rows = _rows(
        categories,
        estimate.value,
        estimate.standard_error,
        estimate.interval(circumstances.confidence),
        collection.truth,
    )
    bias = collection.dependence
    return _summary(
        "frequency",
        circumstances,
        rows=rows,
        mode=estimate.mode,
        guarantees=(("", collection.guarantee),),
        dependence=bias,
        off_by="" if bias is None else _off_by_share(bias, categories),
    )


def summarize_mean(collection: MeanCollection, circumstances: Circumstances) -> Summary:
    """Returns the summary of a collection of numbers."""
    estimate, bias = collection.estimate, collection.dependence
    caveats: tuple[str, ...] = (_TWO_ERRORS,)
    if estimate.bias_limit:
        caveats += (
            "The estimate is biased where values differ, by at most "
            f"{estimate.bias_limit:.3g}; intervals are wider by as much.",
        )
        if estimate.mode == "agnostic":
            caveats += ("It is biased further if levels depend on values.",)
    return _summary(
        "mean",
        circumstances,
        rows=_about(estimate, estimate.bias_limit, collection.truth, circumstances),
        mode=estimate.mode,
        guarantees=(("", collection.guarantee),),
        caveats=caveats,
        dependence=bias,
        off_by="" if bias is None else _signed(bias.largest_bias),
        unbiased=not estimate.bias_limit,
    )


def summarize_sum(collection: SumCollection, circumstances: Circumstances) -> Summary:
    """Returns the summary of a collection of bits."""
    estimate, bias = collection.estimate, collection.dependence
    if bias is not None:
        # What was measured is the bias of the mean.
        bias = Dependence(bias.bias * estimate.num_users, bias.p_value)
    return _summary(
        "sum",
        circumstances,
        rows=_about(estimate, 0.0, collection.truth, circumstances),
        mode=estimate.mode,
        guarantees=(("", collection.guarantee),),
        caveats=(_TWO_ERRORS,),
        dependence=bias,
        off_by="" if bias is None else f"{_signed(bias.largest_bias)} people",
    )


def _selected_intervals(estimate: StringEstimate, confidence: float) -> Floats:
    """Returns intervals, shape (S, 2); false coverage among those found is controlled."""
    usual = estimate.interval(confidence)
    num_found = int(estimate.found.sum())
    if num_found == 0:
        return usual
    miss = (1.0 - confidence) * num_found / estimate.found.size
    return np.where(estimate.found[:, None], estimate.interval(1.0 - miss), usual)


def summarize_strings(
    collection: StringCollection, circumstances: Circumstances
) -> Summary:
    """Returns the summary of a collection of strings, those found first."""
    estimate, bias = collection.estimate, collection.dependence
    rate = percent(estimate.false_discovery_rate, 3).rstrip("0").rstrip(".")
    details = [
        {"p_value": p_value, "found": found}
        for p_value, found in zip(
            estimate.p_value.tolist(), estimate.found.tolist(), strict=True
        )
    ]
    rows = _rows(
        estimate.candidates,
        estimate.value,
        estimate.standard_error,
        _selected_intervals(estimate, circumstances.confidence),
        collection.truth[:-1],
        details,
    )
    rows.sort(key=lambda row: (not row.listed, -row.estimate))
    wide = reach(circumstances.confidence) * estimate.unexplained_error
    rows.append(
        Row(
            OTHER_STRINGS,
            estimate.unexplained,
            estimate.unexplained_error,
            estimate.unexplained - wide,
            estimate.unexplained + wide,
            float(collection.truth[-1]),
            details={"p_value": None, "found": None},
        )
    )
    caveats: tuple[str, ...] = (
        f"{int(estimate.found.sum()):,} of {len(estimate.candidates):,} candidates were "
        f"found: of those found, in the mean, at most {rate}% are held by nobody.",
        "Intervals of those found are widened: only large estimates are found, and their "
        "usual intervals would hold less often (Benjamini and Yekutieli 2005).",
        "People hide within their cohort, and arrive in an order that has nothing to do "
        "with their strings.",
    )
    if estimate.misfit > 1.0:
        caveats += (
            f"Standard errors were multiplied by {estimate.misfit:.3g}: reports fit the "
            "candidates worse than chance allows, as if many people shared a few other "
            "strings.",
        )
    names = (*estimate.candidates, OTHER_STRINGS)
    guarantee = collection.guarantee
    return _summary(
        "strings",
        circumstances,
        rows=rows,
        mode=estimate.mode,
        guarantees=(
            ("one report", guarantee.one_report),
            ("any number of reports", guarantee.any_number),
        ),
        caveats=caveats,
        dependence=bias,
        off_by="" if bias is None else _off_by_share(bias, names),
    )


def summarize_items(
    collection: ItemsCollection,
    names: tuple[str, ...],
    truth: Floats,
    circumstances: Circumstances,
    *,
    dependence: Dependence,
    num_cut: int = 0,
) -> Summary:
    """Returns the summary of a certified collection of sets.

    Args:
        collection: Of these items.
        names: Of the items, shape (d,).
        truth: The share of people whose set holds each item, shape (d,).
        circumstances: What else to say.
        dependence: Of the levels on the sets.
        num_cut: How many people had more items than fit into a set.
    """
    guarantee, estimate = collection.plan.guarantee, collection.estimate
    if guarantee is None:
        raise InvalidInputError("Expected a certified collection of sets.")
    size = guarantee.set_size
    caveats: tuple[str, ...] = (
        f"Nobody's set holds more than {size:,} item{'s' if size > 1 else ''}.",
    )
    if num_cut:
        caveats = (
            f"{num_cut:,} people had more than {size:,}, of which {size:,} were drawn: "
            "the truth, like the estimate, is that of the sets that were cut.",
        )
    caveats += (
        "A level is the central epsilon that a person asked for, after the shuffle; it is "
        "no budget on her device.",
        _messages(guarantee),
    )
    rows = _rows(
        names,
        estimate.value,
        estimate.standard_error,
        estimate.interval(circumstances.confidence),
        truth,
    )
    return _summary(
        "items",
        circumstances,
        rows=rows,
        mode="agnostic",
        guarantees=(("", guarantee),),
        caveats=caveats,
        dependence=dependence,
        off_by=_off_by_share(dependence, names),
        unbiased_if=UNBIASED_IF_ITEMS,
        remedy="no other mode corrects that",
    )


def _messages(guarantee: ItemsGuarantee) -> str:
    """Returns what everybody sends, in a sentence."""
    chances = guarantee.send_chances
    if set(chances) == {1.0}:
        sent = "everybody sends all items of her set, whatever her level"
    elif len(chances) > _MAX_CHANCES:
        sent = (
            f"an item of a set is sent with a chance from {plain(min(chances))} to "
            f"{plain(max(chances))}, by level"
        )
    else:
        by_level = [
            f"{plain(entry.send_chance)} at level {plain(entry.level)}"
            for entry in guarantee.levels
        ]
        sent = f"an item of a set is sent with chance {', '.join(by_level)}"
    return (
        f"Every report has {guarantee.report_size:,} messages, m = "
        f"{plain(guarantee.blanket)} of them blanket messages in the mean; {sent}."
    )


_TITLES: dict[Statistic, tuple[str, Unit]] = {
    "frequency": ("Frequencies", "share"),
    "mean": ("Mean", "number"),
    "sum": ("Sum", "number"),
    "strings": ("Strings", "share"),
    "items": ("Items", "share"),
}


def _summary(
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


def _rows(
    names: tuple[str, ...],
    estimates: Floats,
    errors: Floats,
    intervals: Floats,
    truths: Floats,
    details: list[dict[str, Any]] | None = None,
) -> list[Row]:
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


def _about(
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


def _off_by_share(bias: Dependence, names: tuple[str, ...]) -> str:
    name = names[int(np.argmax(np.abs(bias.bias)))]
    return f"{_signed(100 * bias.largest_bias)} percentage points for {shown(name)!r}"


def _signed(number: float) -> str:
    # Two digits: what an estimate is off by is an average.
    return f"{float(f'{number:.2g}'):+,.12g}"
