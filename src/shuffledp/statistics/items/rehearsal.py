"""Sets of items rehearsed on known ones: options and truth."""

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.optimized_items import optimize_items
from shuffledp.datasets.item_sets import ItemSets, load_msnbc_sets
from shuffledp.datasets.item_tables import read_item_sets
from shuffledp.datasets.table_kinds import category_names
from shuffledp.errors import InvalidInputError
from shuffledp.near_duplicate_labels import spelling_warnings
from shuffledp.option_text import LEVEL_SHARES, Argument, option_text, statistic
from shuffledp.parameter import Parameter
from shuffledp.population import Population
from shuffledp.statistics.items.items_collection import collect_items
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.items_labels import WORDS
from shuffledp.statistics.items.items_summary import noisy_targets, summarize_items
from shuffledp.statistics.level_dependence import dependence_of_sets
from shuffledp.statistics.rehearsal_stage import Rehearsal, Stage
from shuffledp.statistics.request import Request
from shuffledp.statistics.shared_parameters import CATEGORIES
from shuffledp.statistics.summary import Summary
from shuffledp.types import Floats

# A simulation keeps the messages of all people in memory at once.
MAX_MESSAGES = 3 * 10**8

_USUAL_SET_SIZE = 4


class ItemsStatistic:
    """Shares of people who hold each item, where people choose central epsilons."""

    words = WORDS
    parameters = (
        CATEGORIES,
        Parameter(
            "dataset",
            "text",
            "The same visits, all kinds of pages",
            choices=("msnbc",),
            in_python=False,
        ),
        Parameter(
            "person",
            "text",
            "The column that tells people apart; FILE has a row for every person and item, "
            "which is its value",
            "COLUMN",
        ),
        Parameter(
            "set_size",
            "whole number",
            "How many a person may hold; of more, S are drawn [as many as anybody holds; "
            f"with --dataset {_USUAL_SET_SIZE}]",
            "S",
        ),
        Parameter(
            "target_budget",
            "number",
            "Local budget of what people report about their target, by response over "
            "the targets on offer; the analyst then plans with estimated numbers of people "
            "[targets are reported as they are, without a name]",
            "EPSILON",
        ),
    )

    def rehearsal(self, request: Request) -> Rehearsal:
        """Returns a rehearsal of sets, one row per person and item, or of real visits."""
        if request.mode != "agnostic":
            raise InvalidInputError(
                option_text(
                    "Expected {} with {}: messages of sets never carry a level.",
                    Argument("mode", "agnostic", '"agnostic"'),
                    statistic("items"),
                )
            )
        if request.people is None:
            return _of_visits(request)
        return _of_table(request)


STATISTIC = ItemsStatistic()


def _of_table(request: Request) -> Rehearsal:
    person, item = request.option("person"), request.value
    named = request.option("categories")
    if person is None or item is None or not (request.level or request.shares):
        raise InvalidInputError(
            option_text(
                "Expected {} and {}, and {} or {}, with {}.",
                *(Argument(name, "COLUMN") for name in ("person", "value", "level")),
                LEVEL_SHARES,
                statistic("items"),
            )
        )
    # Names that the column lacks are estimated, too, if they are given.
    names = None if named is None else category_names(named)
    caveats: tuple[str, ...] = ()
    if names is None:
        caveats = (
            "Items are those of the column: a real analyst must know theirs beforehand.",
        )

    def rehearse(stage: Stage) -> Summary:
        item_sets = read_item_sets(
            request.table_source,
            person=person,
            item=item,
            level=request.level,
            set_size=request.option("set_size"),
            items=names,
            missing=request.missing,
            rng=stage.rng,
        )
        num_users = item_sets.sets.shape[0]
        targets = (
            request.dealt(num_users, rng=stage.rng)
            if item_sets.levels is None
            else request.checked(item_sets.levels)
        )
        # Given names are meant as they are; dummy items have none in the column.
        occurring = item_sets.names[: item_sets.num_real] if names is None else ()
        stage = stage.noting(item_sets.notes, spelling_warnings(occurring, "Items"))
        source = f"{request.table_source.name}, column {item}"
        budget = request.option("target_budget")
        return _rehearse(stage, item_sets, targets, source, *caveats, budget=budget)

    return rehearse


def _of_visits(request: Request) -> Rehearsal:
    def rehearse(stage: Stage) -> Summary:
        item_sets = load_msnbc_sets(
            set_size=request.option("set_size", _USUAL_SET_SIZE),
            rng=stage.rng,
            progress=stage.on_bytes,
        )
        # A data set has no column of targets: they are dealt out in shares.
        targets = request.dealt(item_sets.sets.shape[0], rng=stage.rng)
        source = "MSNBC, kinds of pages of each visit"
        budget = request.option("target_budget")
        return _rehearse(stage, item_sets, targets, source, budget=budget)

    return rehearse


def _rehearse(
    stage: Stage,
    item_sets: ItemSets,
    targets: Floats,
    source: str,
    *caveats: str,
    budget: float | None,
) -> Summary:
    people, real = Population.from_budgets(targets), item_sets.num_real
    # In a rehearsal, the targets on offer are those that occur.
    offered = tuple(people.epsilons.tolist())
    framework = ItemsFramework(
        real, item_sets.sets.shape[1], offered, stage.delta, epsilon_choice=budget
    )
    # Nothing is spent on dummy items.
    sets = item_sets.without_dummies()
    collection = collect_items(
        sets,
        targets,
        framework=framework,
        rng=stage.rng,
        optimize=_optimize,
        on_step=stage.on_step,
    )
    protocol = collection.plan.protocol
    # With one target nothing is randomized, even if a budget is given.
    if framework.choices.randomizer is not None:
        caveats += noisy_targets(framework, collection.plan.choices, people)
    return summarize_items(
        collection,
        item_sets.names[:real],
        # Of the sets that people send, of which large ones were cut.
        item_sets.shares[:real],
        stage.circumstances(source, *caveats),
        dependence=dependence_of_sets(
            protocol.holders(sets, targets),
            people=people,
            # The slope of an item's count is the rate at which it is sent.
            slopes=np.array(protocol.rates),
        ),
        num_cut=item_sets.num_cut,
    )


def _optimize(framework: ItemsFramework, people: Population) -> Guarantee:
    optimum = optimize_items(
        people,
        num_items=framework.num_items,
        set_size=framework.set_size,
        delta=framework.delta,
        absent=framework.absent,
    )
    # Every report has as many messages, dummies included, all in memory at once.
    size = optimum.parameters.report_size
    if people.num_users * size > MAX_MESSAGES:
        raise InvalidInputError(
            f"Expected at most {MAX_MESSAGES:,} messages from all people together, got "
            f"{people.num_users:,} people with {size:,} each."
        )
    return optimum.guarantee
