"""One message per person, sent at a privacy level that the shuffler sees."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.exposure import Certifiable
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.randomizers.message_code import MessageCode
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.statistics.stage_runs import BatchPeople, ChoiceRun, Estimate
from shuffledp.statistics.survey import Offer
from shuffledp.statistics.tallying import Seen
from shuffledp.tally import Tally
from shuffledp.types import Floats


class OneMessageProtocol(Certifiable, Protocol):
    """A protocol with one message per person."""

    def randomize(self, values: ArrayLike, levels: ArrayLike, *, rng: Rng) -> Reports:
        """Runs on the devices."""
        ...

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts."""
        ...

    def estimate(self, seen: Seen, people: Population) -> Estimate:
        """Estimates."""
        ...

    def manipulation(self, people: Population, num_liars: int = 1) -> float | Floats:
        """Returns the largest shift of each estimate by this many dishonest people."""
        ...


@dataclass(frozen=True)
class OneMessageRun:
    """The only stage of such a protocol: see `AnswerRun`.

    Attributes:
        protocol: The protocol that runs.
        offer: Of the task.
        code: Which messages there are.
    """

    protocol: OneMessageProtocol
    offer: Offer
    code: MessageCode

    @property
    def identity(self) -> Identity:
        """The protocol's own."""
        return self.protocol.identity

    @property
    def messages_per_report(self) -> int:
        """One."""
        return 1

    def randomize(
        self, values: ArrayLike, choices: Floats, *, rng: Rng
    ) -> NDArray[Any]:
        """See `StageRun`."""
        messages = self.protocol.randomize(values, choices, rng=rng).messages
        # A row for each person, of the only message of a report.
        return self.code.pack(messages)[:, None]

    def tally(self, messages: NDArray[Any], choice: float | None) -> Tally:
        """See `StageRun`."""
        # Agnostic messages come without their choice: the caller adds people by level.
        levels = None if choice is None else np.full(messages.size, choice)
        drawn = self.code.unpack(messages)
        return self.protocol.tally(ShuffledReports(self.identity, drawn, levels))

    def batch_people(self, people: Sequence[int], chosen: Tally | None) -> BatchPeople:
        """See `AnswerRun`."""
        # A population has no levels without people.
        counted_choices = zip(self.offer.choices, people, strict=True)
        return BatchPeople(
            Population.from_counts({e: n for e, n in counted_choices if n > 0})
        )

    def estimate(self, tally: Tally, chosen: Tally | None) -> Estimate:
        """See `AnswerRun`."""
        # The people whose messages count: spoiled ones are not in the tally.
        return self.protocol.estimate(tally, Population(tally.levels, tally.people[0]))

    def noise_p_value(self, tally: Tally, num_honest: int) -> float | None:
        """See `AnswerRun`: audits with canaries look at the noise of single messages."""
        return None

    def manipulation(
        self, tally: Tally, chosen: Tally | None, num_liars: int
    ) -> float | Floats:
        """See `AnswerRun`."""
        people = Population(tally.levels, tally.people[0])
        return self.protocol.manipulation(people, num_liars)


def only_stage(
    protocol: OneMessageProtocol, offer: Offer, plan: Identity | None, code: MessageCode
) -> OneMessageRun:
    """Returns the stage in which people answer.

    Raises:
        InvalidInputError: If a plan is given.
    """
    if plan is not None:
        raise InvalidInputError("Expected no plan: people answer at once.")
    return OneMessageRun(protocol, offer, code)


def no_targets() -> ChoiceRun:
    """Raises InvalidInputError: choices are levels, and no stage collects targets."""
    raise InvalidInputError("Expected targets: levels are sent with the answers.")
