"""A collection of sets, step by step, in which no target is seen with its user.

    step                                who        from -> to
    (a)  report_choices                 devices    targets -> Reports
         shuffle                        shuffler   -> ShuffledReports
         count_choices                  analyst    -> ChoiceCounts
    (b)  plan                           analyst    -> ItemsPlan, which is published
    (c)  plan.protocol.randomize        devices    sets, targets -> Reports
         shuffle                        shuffler   -> ShuffledReports
    (d)  estimate                       analyst    -> ItemsEstimate

No step keeps a state: each takes the immutable results of the steps before it.

A target is the central epsilon that a user asks for. Targets are reported as they are,
without a name; or by k-ary response over the K targets, at a local budget `epsilon_choice`,
which the shuffle amplifies.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", Algorithm 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from numpy.typing import ArrayLike

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.items_calibration import largest_send_probability
from shuffledp.accounting.items.optimized_items import optimize_items
from shuffledp.accounting.items.report_sizing import keeps_targets, sized
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.items import ItemsEstimate
from shuffledp.arguments import expect_callable
from shuffledp.arrays import as_number, level_array
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.items_counts import MAX_USERS
from shuffledp.randomness import Rng
from shuffledp.reports import Reports
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.tallying import Seen

Optimize: TypeAlias = Callable[["ItemsFramework", Population], Guarantee]


@dataclass(frozen=True, eq=False)
class ItemsPlan:
    """The plan that the analyst publishes before items are sent.

    Attributes:
        choices: Numbers of people who chose each target, known or estimated.
        protocol: The protocol of the devices.
        guarantee: Its certificate, for the planned numbers of people.
    """

    choices: ChoiceCounts
    protocol: Items
    guarantee: Guarantee


@dataclass(frozen=True)
class ItemsFramework:
    """The public terms of a collection, known before it begins.

    Attributes:
        num_items: d, at least 2.
        set_size: s, the number of items of each user.
        targets: Central epsilons that people may choose from, strictly increasing.
        delta: At which targets are to be kept, in (0, 1).
        epsilon_choice: Local budget of the reports of targets, above 0;
            None if targets are reported as they are.
        blanket: m, if communication is given; None for the best.
        absent: How many of the other people may be absent or collude.
    """

    num_items: int
    set_size: int
    targets: tuple[float, ...]
    delta: float
    epsilon_choice: float | None = None
    blanket: float | None = None
    absent: int = 0

    def __post_init__(self) -> None:
        values = tuple(level_array(self.targets, "targets").tolist())
        object.__setattr__(self, "targets", values)
        # Checks d, s, m, targets and their budget as protocols do.
        m = 0.0 if self.blanket is None else self.blanket
        # Rates of 1 stand for those of a plan, which are not known yet.
        Items(self.num_items, self.set_size, values, (1.0,) * len(values), m)
        _ = self.choices  # Checks targets and the budget of their reports.
        if values[0] <= 0.0:
            raise InvalidInputError("Expected targets above 0.")
        if not 0.0 < as_number(self.delta, "delta") < 1.0:
            raise InvalidInputError(f"Expected 0 < delta < 1, got {self.delta:g}.")
        whole_number(self.absent, "absent people", least=0, most=MAX_USERS)

    @property
    def choices(self) -> Choices:
        """The protocol of step (a)."""
        # The budget protects the choice of a target alone: guarantees of sets hold
        # against an observer who knows it.
        return Choices(self.targets, self.epsilon_choice)

    def report_choices(self, targets: ArrayLike, *, rng: Rng) -> Reports:
        """Step (a), on the devices: one report of a target per person.

        Args:
            targets: Each person's target, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.

        Raises:
            UnknownLevelError: If a target is none of those that can be chosen.
        """
        return self.choices.randomize(targets, rng=rng)

    def count_choices(self, seen: Seen) -> ChoiceCounts:
        """Step (a), at the analyst: how many people chose each target.

        Args:
            seen: Shuffled reports of step (a), or their tally.

        Raises:
            InvalidInputError: If it is something else.
        """
        return self.choices.estimate(seen)

    def plan(
        self, choices: ChoiceCounts, *, optimize: Optimize | None = None
    ) -> ItemsPlan:
        """Step (b), at the analyst: the parameters of least error that keep all targets.

        Args:
            choices: From `count_choices`.
            optimize: Finds parameters for a framework and whole numbers of people, at
                least one for every target, and returns their certificate; by default
                `certified_parameters`.

        Raises:
            CertificationError: If no parameters keep them.
        """
        self._check_choices(choices)
        # Estimated numbers may be negative or fractions: `people` makes them whole
        # numbers, at least one for each target.
        find = certified_parameters if optimize is None else optimize
        expect_callable(find, "optimize")
        return self.plan_from(choices, find(self, choices.people()))

    def plan_from(self, choices: ChoiceCounts, guarantee: Guarantee) -> ItemsPlan:
        """Step (b) with parameters that were certified elsewhere.

        Args:
            choices: From `count_choices`.
            guarantee: Of the parameters, for as many people.

        Raises:
            InvalidInputError: If it is the guarantee of another collection, or does not
                keep this one's targets.
        """
        self._check_choices(choices)
        if not isinstance(guarantee, Guarantee):
            raise InvalidInputError(
                f"Expected a Guarantee, got {type(guarantee).__name__}."
            )
        # Certified elsewhere, a guarantee may belong to other people, items or targets.
        protocol = _protocol_of(guarantee)
        # Only the total of people has to agree: a user's epsilon depends on how many
        # take part, not on the others' choices.
        stated = (guarantee.num_users, protocol.num_items, protocol.set_size)
        wanted_numbers = (choices.num_users, self.num_items, self.set_size)
        certified = tuple(entry.target for entry in guarantee.levels)
        if (
            stated != wanted_numbers
            or not certified == protocol.targets == self.targets
        ):
            raise InvalidInputError(
                "Expected a guarantee of this collection: of as many people, items and "
                "items per person, and for the targets on offer."
            )
        # A guarantee at a smaller delta, or with more people absent, promises more.
        if guarantee.delta is None or guarantee.delta > self.delta:
            raise InvalidInputError(f"Expected a guarantee at delta {self.delta:g}.")
        if guarantee.absent < self.absent:
            raise InvalidInputError(
                f"Expected a guarantee with {self.absent} people absent, got "
                f"{guarantee.absent}."
            )
        if not keeps_targets(guarantee):
            raise InvalidInputError("Expected a guarantee that keeps every target.")
        return ItemsPlan(choices, protocol, guarantee)

    def estimate(self, plan: ItemsPlan, seen: Seen) -> ItemsEstimate:
        """Step (d), at the analyst: shares of the people who hold each item.

        Args:
            plan: From `plan`.
            seen: Shuffled reports of step (c), or their tally.
        """
        if not isinstance(plan, ItemsPlan):
            raise InvalidInputError(
                f"Expected an ItemsPlan, got {type(plan).__name__}."
            )
        protocol = plan.protocol
        if (protocol.num_items, protocol.set_size, protocol.targets) != (
            self.num_items,
            self.set_size,
            self.targets,
        ):
            raise InvalidInputError(
                f"Expected a plan of this framework, got one of {protocol.identity}."
            )
        # The covariance of estimated numbers of people widens the standard errors.
        return protocol.estimate(seen, plan.choices)

    def _check_choices(self, choices: ChoiceCounts) -> None:
        if not isinstance(choices, ChoiceCounts):
            raise InvalidInputError(
                f"Expected ChoiceCounts, got {type(choices).__name__}."
            )
        if tuple(choices.choices.tolist()) != self.targets:
            raise InvalidInputError(
                "Expected numbers of people at the targets offered."
            )


def certified_parameters(framework: ItemsFramework, people: Population) -> Guarantee:
    """Returns parameters of least error that keep every target, or those for a given m."""
    d, s, delta = framework.num_items, framework.set_size, framework.delta
    if framework.blanket is None:
        return optimize_items(
            people, num_items=d, set_size=s, delta=delta, absent=framework.absent
        ).guarantee
    # With m given, the rates are free: the largest that keep each target.
    probabilities = [
        largest_send_probability(
            target,
            delta,
            num_items=d,
            set_size=s,
            # Absent people may send no blanket messages.
            num_honest=people.num_users - framework.absent,
            blanket=framework.blanket,
        )
        for target in people.epsilons.tolist()
    ]
    parameters = sized(
        people,
        probabilities,
        num_items=d,
        set_size=s,
        blanket=framework.blanket,
        delta=delta,
        absent=framework.absent,
    )
    # No quantiles: every target is listed, as `keeps_targets` checks each.
    return account(
        parameters, people, delta=delta, quantiles=False, absent=framework.absent
    )


def _protocol_of(guarantee: Guarantee) -> Items:
    """Returns the protocol of a guarantee; raises InvalidInputError unless of items."""
    record = guarantee.protocol.record
    if record["statistic"] != "items":
        raise InvalidInputError(
            f"Expected a guarantee of sets of items, got one of {guarantee.protocol}."
        )
    return Items.from_record(record)
