"""The stages of an epoch, as devices and the analyst run them: see `survey`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.exposure import Certifiable
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.randomizers.message_code import MessageCode
from shuffledp.randomness import Rng
from shuffledp.statistics.plan_rule import PlanRule
from shuffledp.tally import Tally
from shuffledp.types import Floats


class Estimate(Protocol):
    """An estimate of one number, or of an array of them."""

    @property
    def value(self) -> float | Floats:
        """Estimates."""
        ...

    @property
    def standard_error(self) -> float | Floats:
        """Standard errors about the people who took part."""
        ...

    @property
    def population_error(self) -> float | Floats:
        """Standard errors about those whom they were drawn from."""
        ...

    @property
    def num_users(self) -> int:
        """The number of people it is made of."""
        ...

    def interval(self, confidence: float = 0.95) -> ArrayLike:
        """Returns lower and upper ends about the people who took part."""
        ...


@dataclass(frozen=True)
class NumberRow:
    """An estimated number in a unit of its own, beside shares of people.

    Attributes:
        name: Of the number, such as "mean".
        unit: Its unit; may be empty.
        value: The estimate; None if nothing is known.
        standard_error: Of the estimate; None if there is only an interval.
        interval: Ends of the confidence interval about the people who took part; None
            where there is no bound.
    """

    name: str
    unit: str
    value: float | None
    standard_error: float | None
    interval: tuple[float | None, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return asdict(self) | {"interval": list(self.interval)}


@runtime_checkable
class NumbersEstimate(Protocol):
    """An estimate that has numbers in units of their own, too."""

    def numbers(self, confidence: float = 0.95) -> tuple[NumberRow, ...]:
        """Returns means and quantiles, with intervals of this confidence."""
        ...


class StageRun(Protocol):
    """A stage, as devices and the analyst run it."""

    @property
    def identity(self) -> Identity:
        """The identity of the protocol that runs."""
        ...

    # A size, or a number of messages, that depends on value or choice would reveal it.
    @property
    def code(self) -> MessageCode:
        """The code of its messages: all of one size, at every choice."""
        ...

    @property
    def messages_per_report(self) -> int:
        """The number of messages of every user, always the same."""
        ...

    def randomize(
        self, values: ArrayLike, choices: Floats, *, rng: Rng
    ) -> NDArray[Any]:
        """Draws the messages of devices, shape (n, messages_per_report).

        Args:
            values: People's values; ignored where only choices are collected.
            choices: Their choices, shape (n,).
            rng: `SystemRandom()` on real devices, a seeded generator in simulations.
        """
        ...

    def tally(self, messages: NDArray[Any], choice: float | None) -> Tally:
        """Counts messages, at least one, in whatever order: additive over parts.

        Args:
            messages: That `code` knows, shape (m,).
            choice: That all of them were sent with, if that is known.
        """
        ...


class ChoiceRun(StageRun, Protocol):
    """The stage in which choices are collected."""

    # Plans are also made for assumed numbers, before any choice is reported.
    def exact(self, people: Sequence[int]) -> Tally:
        """Returns the tally of these numbers of people who made each choice."""
        ...

    def make_rule(self) -> PlanRule:
        """Computes the rule that plans must keep, so that every target is kept.

        Raises:
            CertificationError: If nothing can be proven.
        """
        ...

    # docs/theory/plans.md says who proves a rule, and who takes it from the task.
    def read_rule(self, value: object) -> PlanRule:
        """Reads the output of `PlanRule.to_dict`, without proving it.

        Raises:
            InvalidInputError: If a member is missing, unknown or out of range.
        """
        ...


@dataclass(frozen=True)
class BatchPeople:
    """The population that a certificate covers.

    Attributes:
        people: How many made each choice, as far as the analyst knows.
        missing: How many of them sent no answer, and so give no cover.
    """

    people: Population
    missing: int = 0


class AnswerRun(StageRun, Protocol):
    """The stage in which people answer."""

    @property
    def protocol(self) -> Certifiable:
        """The protocol that runs, as the accountant sees it."""
        ...

    def batch_people(self, people: Sequence[int], chosen: Tally | None) -> BatchPeople:
        """Returns the people whom a batch is about.

        Args:
            people: Reports with each choice; in all, if choices are not named.
            chosen: The tally of choices, if they were collected.
        """
        ...

    def estimate(self, tally: Tally, chosen: Tally | None) -> Estimate:
        """Returns estimates of the statistic.

        Args:
            tally: Of all messages that mean something, with the people who sent them.
            chosen: As in `batch_people`.

        Raises:
            InvalidInputError: If nothing can be estimated from these messages.
        """
        ...

    def manipulation(
        self, tally: Tally, chosen: Tally | None, num_liars: int
    ) -> float | Floats:
        """Returns the largest shift of each estimate by this many dishonest people.

        Args:
            tally: As for `estimate`.
            chosen: As for `estimate`.
            num_liars: How many send any reports they like.
        """
        ...

    def noise_p_value(self, tally: Tally, num_honest: int) -> float | None:
        """Returns how probable counts as small as these are, with the devices' noise.

        Args:
            tally: As for `estimate`.
            num_honest: How many people surely sent their devices' draws.

        Returns:
            A p-value, whatever people answered; None where counts say nothing about it.
        """
        ...


@runtime_checkable
class RunWithDummies(Protocol):
    """The stage of answers to which the shuffler adds messages of its own, as noise."""

    @property
    def mean_dummies(self) -> int:
        """The mean number of messages that the shuffler adds."""
        ...

    @property
    def most_dummies(self) -> int:
        """The largest number of them."""
        ...

    def draw_dummies(self, *, rng: Rng) -> NDArray[Any]:
        """Draws the messages that the shuffler adds to a batch, shape (dummies,).

        Args:
            rng: Secret from the analyst.
        """
        ...

    def of_batch(self, tally: Tally) -> Tally:
        """Returns the tally of a whole batch, which holds the dummies of one shuffle.

        Args:
            tally: The sum of the tallies of all its parts.
        """
        ...
