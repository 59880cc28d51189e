"""From a collection of strings or of sets of items to the summary of it."""

from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.errors import InvalidInputError
from shuffledp.report.summary import Summary
from shuffledp.report.summary_parts import (
    Circumstances,
    build_summary,
    estimate_rows,
    off_by_share,
)
from shuffledp.report.words import plain
from shuffledp.statistics.items_collection import ItemsCollection
from shuffledp.types import Floats

UNBIASED_IF_ITEMS = (
    "Unbiased if sets and levels are independent: levels were shuffled apart from the "
    "messages."
)
OTHER_STRINGS = "none of these"
# More chances than these are no sentence; they stand in the table.
_MAX_CHANCES = 5


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
