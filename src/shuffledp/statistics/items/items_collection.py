"""A collection of sets from start to end, in one process: all steps of the framework."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from numpy.typing import ArrayLike

from shuffledp.analyzer.items import ItemsEstimate
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.items_framework import (
    ItemsFramework,
    ItemsPlan,
    Optimize,
)
from shuffledp.types import Ints

OnStep: TypeAlias = Callable[[str], None]

STEPS = ("report choices", "plan", "report items", "estimate")


@dataclass(frozen=True, eq=False)
class ItemsCollection:
    """The results of one run.

    Attributes:
        plan: The plan of step (b).
        estimate: The estimate of step (d).
    """

    plan: ItemsPlan
    estimate: ItemsEstimate


def collect_items(
    sets: Ints,
    targets: ArrayLike,
    *,
    framework: ItemsFramework,
    rng: Rng,
    optimize: Optimize | None = None,
    on_step: OnStep = lambda _step: None,
) -> ItemsCollection:
    """Runs a collection of sets, start to end.

    Args:
        sets: Each person's items, shape (n, s).
        targets: Each person's target, shape (n,).
        framework: The framework that is run.
        rng: The only source of randomness.
        optimize: As for `ItemsFramework.plan`.
        on_step: Called with the name of each of STEPS before it begins.

    Raises:
        InvalidInputError: If anything is out of range.
    """
    on_step(STEPS[0])
    reported = framework.report_choices(targets, rng=rng)
    # A shuffle of their own: no target is seen with its user's items.
    choice_counts = framework.count_choices(shuffle(reported, rng=rng))
    on_step(STEPS[1])
    # The plan follows from the numbers of people per target alone, and can be public.
    plan = framework.plan(choice_counts, optimize=optimize)
    on_step(STEPS[2])
    reports = plan.protocol.randomize(sets, targets, rng=rng)
    on_step(STEPS[3])
    seen = shuffle(reports, rng=rng)
    del reports  # Unshuffled messages are stored no longer than needed.
    return ItemsCollection(plan, framework.estimate(plan, seen))
