"""The stage that collects targets, as they are, without names: see `ChoiceRun`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.identity import Identity
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomness import Rng
from shuffledp.reports import ShuffledReports
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.plan_rule import PlanRule
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints

Terms = TypeVar("Terms")
GivenTerms = TypeVar("GivenTerms", contravariant=True)


class RuleKind(Protocol[GivenTerms]):
    """The class of a rule for plans."""

    def of(self, terms: GivenTerms) -> PlanRule:
        """Computes the rule for a collection's terms."""
        ...

    def from_dict(self, terms: GivenTerms, value: object) -> PlanRule:
        """Reads the output of `PlanRule.to_dict`."""
        ...


@dataclass(frozen=True)
class TargetsRun(Generic[Terms]):
    """See `ChoiceRun`.

    Attributes:
        protocol: The protocol that runs.
        terms: Of the collection that follows.
        rule: The class of the rule for its plan.
    """

    protocol: Choices
    terms: Terms
    rule: RuleKind[Terms]

    @property
    def identity(self) -> Identity:
        """The protocol's own."""
        return self.protocol.identity

    @property
    def code(self) -> NumberCode:
        """A message for every target."""
        return NumberCode(len(self.protocol.targets))

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

    def make_rule(self) -> PlanRule:
        """See `ChoiceRun`."""
        return self.rule.of(self.terms)

    def read_rule(self, value: object) -> PlanRule:
        """See `ChoiceRun`."""
        return self.rule.from_dict(self.terms, value)
