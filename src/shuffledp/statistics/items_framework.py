"""A collection of sets, step by step, in which nobody's level is seen by anybody.

    step                                who        from -> to
    (a)  report_levels                  devices    levels -> MessageReports
         shuffle_messages               shuffler   -> ShuffledMessages
         count_levels                   analyst    -> LevelCounts
    (b)  plan                           analyst    -> ItemsPlan, which is published
    (c)  plan.protocol.randomize        devices    sets, levels -> MessageReports
         shuffle_messages               shuffler   -> ShuffledMessages
    (d)  estimate                       analyst    -> ItemsEstimate

Nothing here keeps a state: every step takes what the steps before it gave, and gives
something that nobody changes.

Levels are reported as they are, without a name; or by k-ary response over the K levels, at
a budget `epsilon_levels` of their own, which the shuffle amplifies. That budget protects
which level somebody chose; guarantees of sets hold for whoever knows it. Estimated numbers
of people show in the standard errors of shares.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Algorithm 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accounting.items.account import account_items
from shuffledp.accounting.items.calibration import largest_send_chance
from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.accounting.items.plan import optimize_items
from shuffledp.analyzer.items import ItemsEstimate
from shuffledp.analyzer.level_counts import LevelCounts, count_levels
from shuffledp.arrays import as_number, level_array
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.items_counts import MAX_USERS
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomness import Rng, check_rng
from shuffledp.shuffler.shuffle_messages import (
    MessageReports,
    ShuffledMessages,
)
from shuffledp.statistics.items import Items
from shuffledp.statistics.items_published import published_items
from shuffledp.types import Ints

Accounting: TypeAlias = Literal["certified", "published"]
Optimize: TypeAlias = Callable[["ItemsFramework", Population], ItemsGuarantee]


@dataclass(frozen=True, eq=False)
class ItemsPlan:
    """What the analyst publishes before anybody sends an item.

    Attributes:
        levels: How many people are at each level, as far as she knows.
        protocol: The parameters that devices use.
        guarantee: The certificate of these parameters, for the numbers of people that
            were planned with: what a level gets depends on how many take part, not on
            who chose what. None if accounting is "published".
    """

    levels: LevelCounts
    protocol: Items
    guarantee: ItemsGuarantee | None


@dataclass(frozen=True)
class ItemsFramework:
    """What is known to everybody before a collection begins.

    Attributes:
        num_items: d, at least 2.
        set_size: s, how many items everybody holds.
        levels: Central epsilons that people may choose from, strictly increasing.
        delta: At which every level's epsilon is promised, in (0, 1).
        epsilon_levels: Local budget of what people report about their level, above 0;
            None if levels are reported as they are.
        blanket: m, if communication is given; None for the best.
        absent: How many of the other people may be absent or collude.
        accounting: "certified" with Poisson noise, or "published", which is not certified,
            with as many blanket messages as Theorem 3 states to be enough.
    """

    num_items: int
    set_size: int
    levels: tuple[float, ...]
    delta: float
    epsilon_levels: float | None = None
    blanket: float | None = None
    absent: int = 0
    accounting: Accounting = "certified"

    def __post_init__(self) -> None:
        values = tuple(level_array(self.levels, "levels").tolist())
        object.__setattr__(self, "levels", values)
        # Checks d, s, m and levels as a protocol does.
        m = 0.0 if self.blanket is None else self.blanket
        Items(self.num_items, self.set_size, values, (1.0,) * len(values), m)
        if values[0] <= 0.0:
            raise InvalidInputError("Expected levels above 0.")
        if not 0.0 < as_number(self.delta, "delta") < 1.0:
            raise InvalidInputError(f"Expected 0 < delta < 1, got {self.delta:g}.")
        if self.epsilon_levels is not None:
            budget = as_number(self.epsilon_levels, "epsilon_levels")
            if not 0.0 < budget <= MAX_BUDGET:
                raise InvalidInputError(
                    f"Expected a budget for levels from 0 to {MAX_BUDGET:g}, got "
                    f"{budget:g}."
                )
        if self.accounting not in ("certified", "published"):
            raise InvalidInputError(
                f"Expected accounting 'certified' or 'published', got "
                f"{self.accounting!r}."
            )
        whole_number(self.absent, "absent people", least=0, most=MAX_USERS)
        if self.accounting == "published" and self.absent:
            raise InvalidInputError(
                "Expected nobody absent: Theorem 3 counts everybody."
            )

    @property
    def level_randomizer(self) -> KRandomizedResponse | None:
        """What devices run on their level; None if it is reported as it is."""
        if self.epsilon_levels is None or len(self.levels) == 1:
            return None
        return KRandomizedResponse(len(self.levels))

    def report_levels(self, levels: ArrayLike, *, rng: Rng) -> MessageReports:
        """Step (a), on the devices: one report of a level per person.

        Args:
            levels: Each person's level, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            UnknownLevelError: If a level is none of those that can be chosen.
        """
        check_rng(rng)
        indices = self._indices(levels)
        if not indices.size:
            raise InvalidInputError("Expected at least one person's level.")
        if self.level_randomizer is not None:
            budgets = np.full(indices.size, self.epsilon_levels)
            indices = self.level_randomizer.randomize(indices, budgets, rng=rng)
        return MessageReports(indices.astype(np.int32)[:, None])

    def count_levels(self, shuffled: ShuffledMessages) -> LevelCounts:
        """Step (a), at the analyst: how many people chose each level.

        Raises:
            InvalidInputError: If these are no shuffled reports of levels.
        """
        if not isinstance(shuffled, ShuffledMessages) or shuffled.report_size != 1:
            raise InvalidInputError("Expected shuffled reports of one level each.")
        return count_levels(
            shuffled.messages, np.array(self.levels), epsilon=self.epsilon_levels
        )

    def plan(
        self, levels: LevelCounts, *, optimize: Optimize | None = None
    ) -> ItemsPlan:
        """Step (b), at the analyst: the parameters of least error that keep all promises.

        Args:
            levels: From `count_levels`.
            optimize: Finds certified parameters for a framework and whole numbers of
                people, at least one at every level; by default `certified_parameters`.

        Raises:
            CertificationError: If no parameters keep them.
        """
        self._check_levels(levels)
        people = levels.people()
        if self.accounting == "published":
            protocol = published_items(
                people,
                num_items=self.num_items,
                set_size=self.set_size,
                delta=self.delta,
                blanket=self.blanket,
            )
            return ItemsPlan(levels, protocol, None)
        find = optimize or certified_parameters
        return self.plan_from(levels, find(self, people))

    def plan_from(self, levels: LevelCounts, guarantee: ItemsGuarantee) -> ItemsPlan:
        """Step (b) with parameters that were certified elsewhere.

        Args:
            levels: From `count_levels`.
            guarantee: Of the parameters, for as many people.

        Raises:
            InvalidInputError: If it is the guarantee of another collection, or does not
                keep what this one promises.
        """
        self._check_levels(levels)
        if not isinstance(guarantee, ItemsGuarantee):
            raise InvalidInputError(
                f"Expected an ItemsGuarantee, got {type(guarantee).__name__}."
            )
        stated = (guarantee.num_users, guarantee.num_items, guarantee.set_size)
        wanted = (levels.num_users, self.num_items, self.set_size)
        offered = tuple(entry.level for entry in guarantee.levels)
        if stated != wanted or offered != self.levels:
            raise InvalidInputError(
                "Expected a guarantee of this collection: of as many people, items and "
                "items per person, and at the levels offered."
            )
        if guarantee.delta > self.delta or guarantee.absent < self.absent:
            raise InvalidInputError(
                f"Expected a guarantee at delta {self.delta:g} with {self.absent} people "
                f"absent, got {guarantee.delta:g} with {guarantee.absent}."
            )
        if not guarantee.kept:
            raise InvalidInputError("Expected a guarantee that keeps every level.")
        protocol = Items(
            self.num_items,
            self.set_size,
            self.levels,
            guarantee.send_chances,
            guarantee.blanket,
            guarantee.report_size,
        )
        return ItemsPlan(levels, protocol, guarantee)

    def estimate(self, plan: ItemsPlan, shuffled: ShuffledMessages) -> ItemsEstimate:
        """Step (d), at the analyst: shares of the people who hold each item.

        Args:
            plan: From `plan`.
            shuffled: What the shuffler let through of the reports of step (c).
        """
        if not isinstance(plan, ItemsPlan):
            raise InvalidInputError(
                f"Expected an ItemsPlan, got {type(plan).__name__}."
            )
        return plan.protocol.estimate(shuffled, plan.levels)

    def _indices(self, levels: ArrayLike) -> Ints:
        asked, known = level_array(levels), np.array(self.levels)
        indices = np.minimum(np.searchsorted(known, asked), known.size - 1)
        if not np.array_equal(known[indices], asked):
            raise UnknownLevelError("Expected every level to be one that is offered.")
        return indices

    def _check_levels(self, levels: LevelCounts) -> None:
        if not isinstance(levels, LevelCounts):
            raise InvalidInputError(
                f"Expected LevelCounts, got {type(levels).__name__}."
            )
        if tuple(levels.levels.tolist()) != self.levels:
            raise InvalidInputError("Expected numbers of people at the levels offered.")


def certified_parameters(
    framework: ItemsFramework, people: Population
) -> ItemsGuarantee:
    """Returns parameters of least error that keep every level, or those for a given m."""
    d, s, delta = framework.num_items, framework.set_size, framework.delta
    if framework.blanket is None:
        return optimize_items(
            people, num_items=d, set_size=s, delta=delta, absent=framework.absent
        ).guarantee
    chances = [
        largest_send_chance(
            level,
            delta,
            num_items=d,
            set_size=s,
            honest=people.num_users - framework.absent,
            blanket=framework.blanket,
        )
        for level in people.epsilons.tolist()
    ]
    return account_items(
        people,
        chances,
        num_items=d,
        set_size=s,
        blanket=framework.blanket,
        delta=delta,
        absent=framework.absent,
    )
