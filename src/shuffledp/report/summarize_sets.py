"""From a collection of strings or of sets of items to the summary of it."""

import numpy as np

from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.analyzer.interval import reach
from shuffledp.analyzer.strings import StringEstimate
from shuffledp.errors import InvalidInputError
from shuffledp.report.summary import Row, Summary
from shuffledp.report.summary_parts import (
    Circumstances,
    build_summary,
    estimate_rows,
    off_by_share,
)
from shuffledp.report.words import percent, plain
from shuffledp.statistics.collection import (
    StringCollection,
)
from shuffledp.statistics.items_collection import ItemsCollection
from shuffledp.types import Floats

UNBIASED_IF_ITEMS = (
    "Unbiased if sets and levels are independent: levels were shuffled apart from the "
    "messages."
)
OTHER_STRINGS = "none of these"
# More chances than these are no sentence; they stand in the table.
_MAX_CHANCES = 5


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
    rows = estimate_rows(
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
    return build_summary(
        "strings",
        circumstances,
        rows=rows,
        mode=estimate.mode,
        guarantees=(("", collection.guarantee),),
        caveats=caveats,
        dependence=bias,
        off_by="" if bias is None else off_by_share(bias, names),
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
    rows = estimate_rows(
        names,
        estimate.value,
        estimate.standard_error,
        estimate.interval(circumstances.confidence),
        truth,
    )
    return build_summary(
        "items",
        circumstances,
        rows=rows,
        mode="agnostic",
        guarantees=(("", guarantee),),
        caveats=caveats,
        dependence=dependence,
        off_by=off_by_share(dependence, names),
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
