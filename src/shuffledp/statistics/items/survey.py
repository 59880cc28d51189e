"""Surveys of sets of items: targets are collected first, then items."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.label_checks import check_labels
from shuffledp.labels import StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.randomness import Rng
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.items_labels import UNBIASED_IF, WORDS
from shuffledp.statistics.items.items_plan_rule import ItemsPlanRule
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.planned_run import PlannedRun, planned_protocol
from shuffledp.statistics.shared_parameters import ANSWERS
from shuffledp.statistics.survey import Form, Offer
from shuffledp.statistics.targets_run import TargetsRun
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
    noise_by_shuffler: ClassVar[bool] = False

    categories: tuple[str, ...]
    set_size: int
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        for parameter in self.parameters:
            parameter.checked(getattr(self, parameter.name))
        check_labels(self.categories, "answers")
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

    def choosing(self, offer: Offer) -> TargetsRun[ItemsFramework]:
        """See `Survey`."""
        framework = self._framework(offer)
        return TargetsRun(framework.choices, framework, ItemsPlanRule)

    def answering(self, offer: Offer, plan: Identity | None = None) -> "ItemsRun":
        """See `Survey`."""
        refusal = InvalidInputError("Expected a plan for these items and targets.")
        items = planned_protocol(Items, plan, refusal)
        stated = (items.num_items, items.set_size, items.targets, items.noise)
        if stated != (len(self.categories), self.set_size, offer.choices, "poisson"):
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
class ItemsRun(PlannedRun):
    """The stage that collects items as the plan says: see `AnswerRun`."""

    protocol: Items

    @property
    def dummy(self) -> int:
        """The number of items."""
        return self.protocol.num_items

    @property
    def messages_per_report(self) -> int:
        """The report size of the plan."""
        return self.protocol.randomizer.report_size

    def answers(self, values: ArrayLike, *, rng: Rng) -> Ints:
        """Returns sets with -1, "no item", in place of the dummy items of `ItemSets`."""
        del rng
        sets, d = np.asarray(values), self.protocol.num_items
        # Devices remember sets with dummy items: their permanent randomness hangs on them.
        is_dummy = (sets >= d) & (sets < d + self.protocol.set_size)
        return np.where(is_dummy, np.int64(-1), sets)

    def noisy_counts(self, tally: Tally) -> tuple[NDArray[np.int64], Floats]:
        """Returns counts of items, and the blanket messages of a person for each."""
        d = self.protocol.num_items
        return tally.counts[0, 0], np.full(d, self.protocol.blanket / d)


SURVEY = ItemsSurvey
