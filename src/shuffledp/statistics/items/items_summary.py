"""The summary of a collection of sets of items, in rows and sentences."""

from functools import partial

from shuffledp.accounting.account import account
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.dependence import Dependence
from shuffledp.format_number import plain
from shuffledp.population import Population
from shuffledp.statistics.items.items_collection import ItemsCollection
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.items_labels import UNBIASED_IF, WORDS
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.manipulation import manipulation_of
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import (
    Circumstances,
    build_summary,
    estimate_rows,
    off_by_share,
)
from shuffledp.types import Floats

# A sentence lists at most this many rates; the certificate has all of them.
_MAX_PROBABILITIES = 5


def summarize_items(
    collection: ItemsCollection,
    names: tuple[str, ...],
    truth: Floats,
    circumstances: Circumstances,
    *,
    dependence: Dependence,
    num_cut: int = 0,
) -> Summary:
    """Returns the summary of a collection of sets.

    Args:
        collection: Of these items.
        names: Of the items, shape (d,).
        truth: The share of people whose set holds each item, shape (d,).
        circumstances: Source, confidence, seed and caveats.
        dependence: Of the targets on the sets.
        num_cut: How many people had more items than fit into a set.
    """
    estimate, protocol = collection.estimate, collection.plan.protocol
    size = protocol.set_size
    caveats: tuple[str, ...] = (
        f"No set holds more than {size:,} item{'s' if size > 1 else ''}.",
    )
    if num_cut:
        caveats = (
            f"{num_cut:,} people had more than {size:,}, of which {size:,} were drawn: "
            "the truth, like the estimate, is that of the sets that were cut.",
        )
    caveats += (
        "A target is the central epsilon that a person asked for, after the shuffle; it is "
        "no budget on a device.",
        _messages_sent(protocol),
    )
    rows = estimate_rows(
        names,
        estimate.value,
        estimate.standard_error,
        # About the participants, whose truth is known.
        estimate.interval(circumstances.confidence),
        truth,
    )
    return build_summary(
        WORDS,
        circumstances,
        rows=rows,
        # Messages of sets never carry a target: there is no stratified mode to turn to.
        mode="agnostic",
        guarantee=collection.plan.guarantee,
        # Of as many people per target as the plan counted.
        manipulation=manipulation_of(
            partial(protocol.manipulation, collection.plan.choices),
            num_users=estimate.num_users,
            errors=estimate.standard_error,
        ),
        caveats=caveats,
        dependence=dependence,
        off_by=off_by_share(dependence, names),
        unbiased_if=UNBIASED_IF,
        remedy="no other mode corrects that",
    )


def noisy_targets(
    framework: ItemsFramework, counts: ChoiceCounts, people: Population
) -> tuple[str, ...]:
    """Returns sentences on the privacy of reported targets, and on their estimated numbers.

    Args:
        framework: In which targets are reported by randomized response.
        counts: Estimated numbers of people by target.
        people: Those who reported, by their real targets.
    """
    budget, n = framework.epsilon_choice or 0.0, people.num_users
    # All people report at one budget: the certificate of choices has a single level.
    population = Population.from_counts({budget: n})
    (level,) = account(framework.choices, population, delta=framework.delta).levels
    numbers = ", ".join(
        f"{plain(target)}: {value:,.0f} (true {count:,})"
        for target, value, count in zip(
            counts.choices.tolist(),
            counts.value.tolist(),
            people.counts.tolist(),
            strict=True,
        )
    )
    return (
        f"What a person reported about a target is worth {plain(level.epsilon_central)} "
        f"after the shuffle, at delta {plain(framework.delta)}, certified; {plain(budget)} "
        "on the device. It protects the target; guarantees of items hold whoever knows it.",
        f"Estimated numbers of people by target: {numbers}.",
    )


def _messages_sent(protocol: Items) -> str:
    """Returns a sentence on the messages of a report."""
    probabilities = protocol.rates
    # Then targets make no difference, and need no list.
    if set(probabilities) == {1.0}:
        sent_phrase = "all people send all items of a set, whatever the target"
    elif len(probabilities) > _MAX_PROBABILITIES:
        sent_phrase = (
            "an item of a set is sent with a probability from "
            f"{plain(min(probabilities))} to "
            f"{plain(max(probabilities))}, by target"
        )
    else:
        by_target = [
            f"{plain(probability)} at target {plain(target)}"
            for probability, target in zip(probabilities, protocol.targets, strict=True)
        ]
        sent_phrase = (
            f"an item of a set is sent with probability {', '.join(by_target)}"
        )
    return (
        f"Every report has {protocol.randomizer.report_size:,} messages, m = "
        f"{plain(protocol.blanket)} of them blanket messages in the mean; {sent_phrase}."
    )
