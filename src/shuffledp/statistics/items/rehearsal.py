"""Sets of items rehearsed on known ones: options, truth, and what is shown."""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.plan import optimize_items
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.dependence import Dependence
from shuffledp.datasets.item_sets import ItemSets, load_msnbc_sets
from shuffledp.datasets.item_tables import read_item_sets
from shuffledp.datasets.table_kinds import category_names
from shuffledp.errors import InvalidInputError
from shuffledp.numerals import plain
from shuffledp.population import Population
from shuffledp.report.summary import Summary
from shuffledp.report.summary_parts import (
    Circumstances,
    build_summary,
    estimate_rows,
    off_by_share,
)
from shuffledp.spellings import spelling_warnings
from shuffledp.statistics.dependence import dependence_of_sets
from shuffledp.statistics.items.collection import ItemsCollection, collect_items
from shuffledp.statistics.items.framework import ItemsFramework
from shuffledp.statistics.items.protocol import UNBIASED_IF, WORDS, Items
from shuffledp.statistics.request import Request
from shuffledp.statistics.stage import Rehearsal, Stage
from shuffledp.statistics.statistic import Option
from shuffledp.types import Floats

# A simulation keeps everybody's message in memory at once.
MAX_MESSAGES = 3 * 10**8

# More chances than these are no sentence; they stand in the certificate.
_MAX_CHANCES = 5
_USUAL_SET_SIZE = 4


class ItemsStatistic:
    """How many people hold each item, where people choose central epsilons."""

    words = WORDS
    options = (
        Option(
            "categories",
            "names",
            "How many items there are (0 to K-1), or their names; by default those that "
            "occur in the column.",
            "K|NAMES",
        ),
        Option(
            "dataset", "text", "The same visits, all kinds of pages.", None, ("msnbc",)
        ),
        Option(
            "person",
            "text",
            "The column that tells people apart; FILE has a row for every person and item.",
            "COLUMN",
        ),
        Option("item", "text", "The column of items.", "COLUMN"),
        Option(
            "set-size",
            "whole",
            "How many a person may hold; of more, S are drawn [as many as anybody holds; "
            f"with --dataset {_USUAL_SET_SIZE}].",
            "S",
        ),
        Option(
            "target-budget",
            "number",
            "Local budget of what people report about their target, by response over "
            "the targets on offer; the analyst then plans with estimated numbers of people "
            "[targets are reported as they are, without a name].",
            "EPSILON",
        ),
    )

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a rehearsal of sets, one row per person and item, or of real visits."""
        if request.mode != "agnostic":
            raise InvalidInputError(
                "Expected --mode agnostic with --statistic items: messages of sets never "
                "carry a level."
            )
        if request.people is None:
            return _of_visits(request)
        return _of_table(request)


STATISTIC = ItemsStatistic()


def _of_table(request: Request) -> Rehearsal:
    person, item = request.option("person"), request.option("item")
    named = request.option("categories")
    missing = not (person and item) or not (request.level or request.shares)
    if missing or request.value:
        raise InvalidInputError(
            "Expected --person COLUMN and --item COLUMN, and --level COLUMN or --levels "
            "EPSILON:SHARE,..., with --statistic items, and no --value."
        )
    names = None if named is None else category_names(named)
    caveats: tuple[str, ...] = ()
    if names is None:
        caveats = (
            "Items are those of the column: a real analyst must know hers beforehand.",
        )

    def rehearse(stage: Stage) -> Summary:
        held = read_item_sets(
            request.table_source,
            person=person,
            item=item,
            level=request.level,
            set_size=request.option("set_size"),
            items=names,
            missing=request.missing,
            rng=stage.rng,
        )
        num_users = held.sets.shape[0]
        targets = (
            request.dealt(num_users, rng=stage.rng)
            if held.levels is None
            else request.checked(held.levels)
        )
        found = held.names[: held.num_real] if names is None else ()
        stage = stage.noting(held.notes, spelling_warnings(found, "Items"))
        source = f"{request.table_source.name}, column {item}"
        budget = request.option("target_budget")
        return _rehearse(stage, held, targets, source, *caveats, budget=budget)

    return rehearse


def _of_visits(request: Request) -> Rehearsal:
    def rehearse(stage: Stage) -> Summary:
        held = load_msnbc_sets(
            set_size=request.option("set_size", _USUAL_SET_SIZE),
            rng=stage.rng,
            progress=stage.on_bytes,
        )
        targets = request.dealt(held.sets.shape[0], rng=stage.rng)
        source = "MSNBC, kinds of pages of each visit"
        budget = request.option("target_budget")
        return _rehearse(stage, held, targets, source, budget=budget)

    return rehearse


def _rehearse(
    stage: Stage,
    held: ItemSets,
    targets: Floats,
    source: str,
    *caveats: str,
    budget: float | None,
) -> Summary:
    people, real = Population.from_budgets(targets), held.num_real
    offered = tuple(people.epsilons.tolist())
    framework = ItemsFramework(
        real, held.sets.shape[1], offered, stage.delta, epsilon_choice=budget
    )
    # Nothing is spent on dummy items.
    sets = held.without_dummies()
    collection = collect_items(
        sets,
        targets,
        framework=framework,
        rng=stage.rng,
        optimize=_optimize,
        on_step=stage.on_step,
    )
    protocol = collection.plan.protocol
    if framework.choices.randomizer is not None:
        caveats += _noisy_targets(framework, collection.plan.choices, people)
    return summarize_items(
        collection,
        held.names[:real],
        held.shares[:real],
        stage.circumstances(source, *caveats),
        dependence=dependence_of_sets(
            protocol.holders(sets, targets),
            people=people,
            slopes=np.array(protocol.rates),
        ),
        num_cut=held.num_cut,
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
    """Returns the summary of a collection of sets.

    Args:
        collection: Of these items.
        names: Of the items, shape (d,).
        truth: The share of people whose set holds each item, shape (d,).
        circumstances: What else to say.
        dependence: Of the targets on the sets.
        num_cut: How many people had more items than fit into a set.
    """
    estimate, protocol = collection.estimate, collection.plan.protocol
    size = protocol.set_size
    caveats: tuple[str, ...] = (
        f"Nobody's set holds more than {size:,} item{'s' if size > 1 else ''}.",
    )
    if num_cut:
        caveats = (
            f"{num_cut:,} people had more than {size:,}, of which {size:,} were drawn: "
            "the truth, like the estimate, is that of the sets that were cut.",
        )
    caveats += (
        "A target is the central epsilon that a person asked for, after the shuffle; it is "
        "no budget on her device.",
        _messages(protocol),
    )
    rows = estimate_rows(
        names,
        estimate.value,
        estimate.standard_error,
        estimate.interval(circumstances.confidence),
        truth,
    )
    return build_summary(
        WORDS,
        circumstances,
        rows=rows,
        mode="agnostic",
        guarantee=collection.plan.guarantee,
        caveats=caveats,
        dependence=dependence,
        off_by=off_by_share(dependence, names),
        unbiased_if=UNBIASED_IF,
        remedy="no other mode corrects that",
    )


def _noisy_targets(
    framework: ItemsFramework, found: ChoiceCounts, people: Population
) -> tuple[str, ...]:
    """Returns what reports of targets are worth, and what they told, in sentences."""
    budget, n = framework.epsilon_choice or 0.0, people.num_users
    crowd = Population.from_counts({budget: n})
    (level,) = account(framework.choices, crowd, delta=framework.delta).levels
    numbers = ", ".join(
        f"{plain(target)}: {value:,.0f} (true {count:,})"
        for target, value, count in zip(
            found.choices.tolist(),
            found.value.tolist(),
            people.counts.tolist(),
            strict=True,
        )
    )
    return (
        f"What a person reported about her target is worth {plain(level.epsilon_central)} "
        f"after the shuffle, at delta {plain(framework.delta)}, certified; {plain(budget)} "
        "on her device. It protects her target; guarantees of items hold whoever knows it.",
        f"Estimated numbers of people by target: {numbers}.",
    )


def _messages(protocol: Items) -> str:
    """Returns what everybody sends, in a sentence."""
    chances = protocol.rates
    if set(chances) == {1.0}:
        sent = "everybody sends all items of her set, whatever her target"
    elif len(chances) > _MAX_CHANCES:
        sent = (
            f"an item of a set is sent with a chance from {plain(min(chances))} to "
            f"{plain(max(chances))}, by target"
        )
    else:
        by_target = [
            f"{plain(chance)} at target {plain(target)}"
            for chance, target in zip(chances, protocol.targets, strict=True)
        ]
        sent = f"an item of a set is sent with chance {', '.join(by_target)}"
    return (
        f"Every report has {protocol.randomizer.report_size:,} messages, m = "
        f"{plain(protocol.blanket)} of them blanket messages in the mean; {sent}."
    )


def _optimize(framework: ItemsFramework, people: Population) -> Guarantee:
    found = optimize_items(
        people,
        num_items=framework.num_items,
        set_size=framework.set_size,
        delta=framework.delta,
        absent=framework.absent,
    )
    size = found.parameters.report_size
    if people.num_users * size > MAX_MESSAGES:
        raise InvalidInputError(
            f"Expected at most {MAX_MESSAGES:,} messages from all people together, got "
            f"{people.num_users:,} people with {size:,} each."
        )
    return found.guarantee
