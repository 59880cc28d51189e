"""Surveys of sets of items: targets are collected first, then items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.items import ItemsEstimate
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.labels import StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomness import Rng
from shuffledp.reports import ShuffledReports
from shuffledp.statistics.items.choices import Choices
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.items_plan_rule import ItemsPlanRule
from shuffledp.statistics.items.protocol import UNBIASED_IF, WORDS, Items
from shuffledp.statistics.shared_parameters import ANSWERS
from shuffledp.statistics.stage_runs import BatchPeople
from shuffledp.statistics.survey import Form, Offer
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints, Mode

SET_SIZE = Parameter(
    "set_size", "whole number", "How many of them people may hold", least=1, most=256
)


@dataclass(frozen=True)
class ItemsSurvey:
    """A question for a few of several items: see `Survey`.

    Attributes:
        categories: Names of the items.
        set_size: How many of them people may hold.
        mode: "agnostic": targets travel apart from items.
    """

    words: ClassVar[StatisticLabels] = WORDS
    asks: ClassVar[str] = "which --set-size items of several"
    parameters: ClassVar[tuple[Parameter, ...]] = (ANSWERS, SET_SIZE)
    central: ClassVar[bool] = True

    categories: tuple[str, ...]
    set_size: int
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        for parameter in self.parameters:
            parameter.checked(getattr(self, parameter.name))
        if self.mode != "agnostic":
            raise InvalidInputError(
                "Expected items to be collected agnostic of targets."
            )
        # The framework checks sizes against numbers of items, whatever the offer.
        self._framework(Offer((1.0,), 1e-6, 0))

    @property
    def form(self) -> Form:
        """See `Survey`."""
        return Form("some of", self.categories, self.set_size)

    @property
    def labels(self) -> tuple[str, ...]:
        """The items."""
        return self.categories

    @property
    def unbiased_if(self) -> str:
        """See `Survey`."""
        return UNBIASED_IF

    def axis_ends(self, num_users: int) -> tuple[float, ...]:
        """Returns 0: bars begin there."""
        return (0.0,)

    def identity(self, offer: Offer) -> Identity:
        """Returns the identity without the parameters that a plan sets."""
        # A task is signed before its plan sets rates, m and the report size.
        parameters = {
            "items": len(self.categories),
            "set_size": self.set_size,
            "choices": self.choosing(offer).identity.record,
        }
        return Identity.of(WORDS.name, "poisson-items", parameters, "agnostic")

    def choosing(self, offer: Offer) -> "TargetsRun":
        """See `Survey`."""
        return TargetsRun(self._framework(offer))

    def answering(self, offer: Offer, plan: Identity | None = None) -> "ItemsRun":
        """See `Survey`."""
        refusal = InvalidInputError("Expected a plan for these items and targets.")
        if plan is None:
            raise refusal
        # A plan comes from the analyst: any of these errors makes it no plan.
        try:
            items = Items.from_record(plan.record)
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            raise refusal from error
        stated = (items.num_items, items.set_size, items.targets, items.noise)
        wanted = (len(self.categories), self.set_size, offer.choices, "poisson")
        # Equal identities: the published plan is all that runs.
        if stated != wanted or items.identity != plan:
            raise refusal
        return ItemsRun(items, self.choosing(offer).protocol)

    def _framework(self, offer: Offer) -> ItemsFramework:
        return ItemsFramework(
            len(self.categories),
            self.set_size,
            offer.choices,
            offer.delta,
            absent=offer.absent,
        )


@dataclass(frozen=True)
class TargetsRun:
    """The stage that collects targets, as they are, without names: see `ChoiceRun`.

    Attributes:
        framework: The framework that makes the plan.
    """

    framework: ItemsFramework

    @property
    def protocol(self) -> Choices:
        """The protocol that runs."""
        return self.framework.choices

    @property
    def identity(self) -> Identity:
        """The protocol's own."""
        return self.protocol.identity

    @property
    def code(self) -> NumberCode:
        """A message for every target."""
        return NumberCode(len(self.framework.targets))

    @property
    def messages_per_report(self) -> int:
        """One."""
        return 1

    def randomize(self, values: ArrayLike, choices: Floats, *, rng: Rng) -> Ints:
        """See `StageRun`."""
        return self.protocol.randomize(choices, rng=rng).messages.astype(np.int64)

    def tally(self, messages: Ints, choice: float | None) -> Tally:
        """See `StageRun`."""
        # A report of a choice is one message: rows of one column.
        rows = messages[:, None]
        return self.protocol.tally(ShuffledReports(self.identity, rows, None, "pool"))

    def exact(self, people: Sequence[int]) -> Tally:
        """See `ChoiceRun`."""
        # Targets are reported as they are, so that these numbers are exact.
        return self.tally(np.repeat(np.arange(self.code.count), people), None)

    def make_rule(self) -> ItemsPlanRule:
        """See `ChoiceRun`."""
        return ItemsPlanRule.of(self.framework)

    def read_rule(self, value: object) -> ItemsPlanRule:
        """See `ChoiceRun`."""
        return ItemsPlanRule.from_dict(self.framework, value)


@dataclass(frozen=True)
class ItemsRun:
    """The stage that collects items as the plan says: see `AnswerRun`.

    Attributes:
        protocol: The protocol that runs.
        choices: The protocol of the stage before.
    """

    protocol: Items
    choices: Choices

    @property
    def identity(self) -> Identity:
        """The protocol's own."""
        return self.protocol.identity

    @property
    def code(self) -> NumberCode:
        """A message for every item, and a dummy that fills up a report."""
        return NumberCode(self.protocol.num_items + 1)

    @property
    def messages_per_report(self) -> int:
        """The report size of the plan."""
        return self.protocol.randomizer.report_size

    def randomize(self, values: ArrayLike, choices: Floats, *, rng: Rng) -> Ints:
        """See `StageRun`."""
        reports = self.protocol.randomize(np.asarray(values), choices, rng=rng)
        return reports.messages.astype(np.int64)

    def tally(self, messages: Ints, choice: float | None) -> Tally:
        """See `StageRun`."""
        width = self.messages_per_report
        # The pool is counted in whole reports; what fills them up is not counted.
        rows = np.full((-(-messages.size // width), width), self.protocol.num_items)
        rows.ravel()[: messages.size] = messages
        return self.protocol.tally(ShuffledReports(self.identity, rows, None, "pool"))

    def batch_people(self, people: Sequence[int], chosen: Tally | None) -> BatchPeople:
        """See `AnswerRun`."""
        # Reports do not name choices: `people` has their total alone. People who chose
        # a target and sent no items give no cover.
        planned = self._counts(chosen).people()
        return BatchPeople(planned, max(planned.num_users - people[0], 0))

    def estimate(self, tally: Tally, chosen: Tally | None) -> ItemsEstimate:
        """See `AnswerRun`."""
        counts = self._counts(chosen)
        # Those who sent no items are taken to have all targets in proportion.
        return self.protocol.estimate(tally, scaled(counts, tally.num_users))

    def manipulation(
        self, tally: Tally, chosen: Tally | None, num_liars: int
    ) -> Floats:
        """See `AnswerRun`."""
        counts = scaled(self._counts(chosen), tally.num_users)
        return self.protocol.manipulation(counts, num_liars)

    def _counts(self, chosen: Tally | None) -> ChoiceCounts:
        if chosen is None:
            raise InvalidInputError("Expected the targets that people chose before.")
        return self.choices.estimate(chosen)


def scaled(counts: ChoiceCounts, num_users: int) -> ChoiceCounts:
    """Returns choices in the same proportion, of those who sent items."""
    if counts.num_users == num_users:
        return counts
    # Numbers scale with the ratio, their covariance with its square.
    ratio = num_users / counts.num_users
    covariance = None if counts.covariance is None else counts.covariance * ratio**2
    return ChoiceCounts(counts.choices, counts.value * ratio, covariance, num_users)


SURVEY = ItemsSurvey
