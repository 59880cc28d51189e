"""The stage that collects answers as a published plan says: see `AnswerRun`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.exposure import Certifiable
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.noise_floor import noise_p_value
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.stage_runs import BatchPeople, Estimate
from shuffledp.statistics.tallying import Seen
from shuffledp.tally import Tally
from shuffledp.types import Floats, Ints


class PlannedProtocol(Certifiable, Protocol):
    """A protocol of several messages, whose targets were counted before."""

    def randomize(self, answers: Ints, targets: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices: one report per person."""
        ...

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts messages: additive over parts."""
        ...

    def estimate(self, seen: Seen, people: ChoiceCounts) -> Any:
        """Estimates the numbers that a survey asks for."""
        ...

    def manipulation(self, people: ChoiceCounts, num_liars: int) -> Any:
        """Returns by how much dishonest people can move estimates."""
        ...


Planned = TypeVar("Planned", bound=PlannedProtocol, covariant=True)


class PlannedKind(Protocol[Planned]):
    """The class of a protocol."""

    def from_record(self, record: dict[str, Any]) -> Planned:
        """Returns the protocol with this identity's record."""
        ...


def planned_protocol(
    kind: PlannedKind[Planned], plan: Identity | None, refusal: InvalidInputError
) -> Planned:
    """Returns the protocol that a plan names, and nothing else than that.

    Args:
        kind: Its class.
        plan: Its identity, from the analyst; None if there is no plan.
        refusal: Raised if it is not a plan for such a protocol.
    """
    if plan is None:
        raise refusal
    # Any of these errors makes it no plan.
    try:
        protocol = kind.from_record(plan.record)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise refusal from error
    # Equal identities: the published plan is all that runs.
    if protocol.identity != plan:
        raise refusal
    return protocol


def counted_choices(choices: Choices, chosen: Tally | None) -> ChoiceCounts:
    """Returns how many people made each choice.

    Args:
        choices: The protocol that collected them.
        chosen: The tally of the choices.

    Raises:
        InvalidInputError: If there is no tally.
    """
    if chosen is None:
        raise InvalidInputError("Expected the targets that people chose before.")
    return choices.estimate(chosen)


def people_of_batch(counts: ChoiceCounts, people: Sequence[int]) -> BatchPeople:
    """Returns the people whom a batch after a choice of targets is about.

    Args:
        counts: How many people made each choice.
        people: The number of reports in all, as the only entry.
    """
    # Reports do not name choices: `people` has their total alone. People who chose
    # a target and sent no answers give no cover.
    planned = counts.people()
    return BatchPeople(planned, max(planned.num_users - people[0], 0))


@dataclass(frozen=True)
class PlannedRun(ABC):
    """The stage after a plan, whatever protocol it plans: see `AnswerRun`.

    Attributes:
        protocol: The protocol that runs.
        choices: The protocol of the stage before.
    """

    protocol: PlannedProtocol
    choices: Choices

    @property
    @abstractmethod
    def dummy(self) -> int:
        """The message that fills up a report; others are below it."""

    @property
    def identity(self) -> Identity:
        """The protocol's own."""
        return self.protocol.identity

    @property
    def code(self) -> NumberCode:
        """A message for every answer, and a dummy that fills up a report."""
        return NumberCode(self.dummy + 1)

    @property
    @abstractmethod
    def messages_per_report(self) -> int:
        """The report size of the plan."""

    def randomize(self, values: ArrayLike, choices: Floats, *, rng: Rng) -> Ints:
        """See `StageRun`."""
        answers = self.answers(values, rng=rng)
        reports = self.protocol.randomize(answers, choices, rng=rng)
        return reports.messages.astype(np.int64)

    def answers(self, values: ArrayLike, *, rng: Rng) -> Ints:
        """Returns people's values as the protocol takes them, perhaps after rounding."""
        del rng
        return np.asarray(values)

    def tally(self, messages: Ints, choice: float | None) -> Tally:
        """See `StageRun`."""
        # The pool is counted in whole reports; what fills them up is not counted.
        width = self.messages_per_report
        rows = np.full((-(-messages.size // width), width), self.dummy)
        rows.ravel()[: messages.size] = messages
        return self.protocol.tally(ShuffledReports(self.identity, rows, None, "pool"))

    def batch_people(self, people: Sequence[int], chosen: Tally | None) -> BatchPeople:
        """See `AnswerRun`."""
        return people_of_batch(self._counts(chosen), people)

    def estimate(self, tally: Tally, chosen: Tally | None) -> Estimate:
        """See `AnswerRun`."""
        # Those who sent no answers are taken to have all targets in proportion.
        people = self._counts(chosen).scaled_to(tally.num_users)
        estimate: Estimate = self.protocol.estimate(tally, people)
        return estimate

    def manipulation(
        self, tally: Tally, chosen: Tally | None, num_liars: int
    ) -> float | Floats:
        """See `AnswerRun`."""
        people = self._counts(chosen).scaled_to(tally.num_users)
        shift: Floats = self.protocol.manipulation(people, num_liars)
        return shift

    def noise_p_value(self, tally: Tally, num_honest: int) -> float | None:
        """See `AnswerRun`."""
        counts, means = self.noisy_counts(tally)
        return noise_p_value(counts, num_honest * means)

    @abstractmethod
    def noisy_counts(self, tally: Tally) -> tuple[NDArray[np.int64], Floats]:
        """Returns counts with noise, and the mean of it that one person adds to each."""

    def _counts(self, chosen: Tally | None) -> ChoiceCounts:
        return counted_choices(self.choices, chosen)
