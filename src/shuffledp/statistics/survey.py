"""What has to be known of a statistic to ask real people for it.

The services, their commands and the wire format know no statistic: they ask its survey,
which lies beside its protocol and is listed in `surveys`. A task offers people choices:
privacy levels; or, of a statistic that says so, central targets, which a plan keeps. An
epoch of a task has one stage or two:

    CHOICE   for targets alone: everybody reports her choice, unseen by the shuffler; the
             analyst publishes a plan, which is the identity of the protocol that follows
    ANSWER   everybody sends a report; the analyst estimates
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from numpy.typing import ArrayLike, NDArray

from shuffledp.accounting.exposure import Certifiable
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.randomness import Rng
from shuffledp.statistics.message_code import MessageCode
from shuffledp.statistics.survey_terms import Term
from shuffledp.tally import Tally
from shuffledp.types import Floats, Mode
from shuffledp.wording import Words

# One of several texts, up to so many of them, a number, or a yes.
AnswerKind: TypeAlias = Literal["one of", "some of", "number", "yes or no"]


class EpochStage(IntEnum):
    """Which stage of an epoch; the number is that of the wire."""

    ANSWER = 0
    CHOICE = 1


@dataclass(frozen=True)
class Offer:
    """What a task offers people.

    Attributes:
        choices: Privacy levels, or central targets; strictly increasing.
        delta: At which central epsilons are stated.
        absent: How many of those who take part may collude or send noise.
    """

    choices: tuple[float, ...]
    delta: float
    absent: int


@dataclass(frozen=True)
class Scale:
    """How numbers of a statistic are shown.

    Attributes:
        factor: A shown number is so many times the estimate.
        unit: What follows it.
        ends: What an axis always shows, as shown numbers.
        has_bars: Whether the distance from 0 means something.
    """

    factor: float = 1.0
    unit: str = ""
    ends: tuple[float, ...] = (0.0,)
    has_bars: bool = True


SHARES = Scale(100.0, "%")


@dataclass(frozen=True)
class Form:
    """What a form, or a column of a table, holds of a person.

    Attributes:
        kind: What she is asked for.
        options: The texts she picks from, if she picks any.
        most: How many of them.
    """

    kind: AnswerKind
    options: tuple[str, ...] = ()
    most: int = 1


class Estimate(Protocol):
    """One number, or an array of them."""

    @property
    def value(self) -> float | Floats:
        """Estimates."""
        ...

    @property
    def standard_error(self) -> float | Floats:
        """About the people who took part."""
        ...

    @property
    def population_error(self) -> float | Floats:
        """About those whom they were drawn from."""
        ...

    @property
    def num_users(self) -> int:
        """How many people it is made of."""
        ...

    def interval(self, confidence: float = 0.95) -> ArrayLike:
        """Returns lower and upper ends about the people who took part."""
        ...


class StageRun(Protocol):
    """What devices and the analyst run in a stage."""

    @property
    def identity(self) -> Identity:
        """Of what runs."""
        ...

    @property
    def code(self) -> MessageCode:
        """Which messages there are: all of one size, at every choice."""
        ...

    @property
    def messages_per_report(self) -> int:
        """How many of them everybody sends, always equally many."""
        ...

    def randomize(
        self, values: ArrayLike, choices: Floats, *, rng: Rng
    ) -> NDArray[Any]:
        """Draws what devices send, shape (n, messages_per_report).

        Args:
            values: What people hold; ignored where only choices are collected.
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

    def exact(self, people: Sequence[int]) -> Tally:
        """Returns the tally if so many people made each choice."""
        ...

    def plan(self, chosen: Tally) -> Identity:
        """Returns what answers follow, so that every target is kept.

        Raises:
            CertificationError: If nothing keeps them.
        """
        ...


@dataclass(frozen=True)
class BatchPeople:
    """Whom a certificate is about.

    Attributes:
        people: How many made each choice, as far as the analyst knows.
        missing: How many of them sent no answer: they hide nobody.
    """

    people: Population
    missing: int = 0


class AnswerRun(StageRun, Protocol):
    """The stage in which people answer."""

    @property
    def protocol(self) -> Certifiable:
        """What runs, as the accountant sees it."""
        ...

    def batch_people(self, people: Sequence[int], chosen: Tally | None) -> BatchPeople:
        """Returns whom a batch is about.

        Args:
            people: Reports with each choice; in all, if choices are not named.
            chosen: What was counted before, if choices were collected.
        """
        ...

    def estimate(self, tally: Tally, chosen: Tally | None) -> Estimate:
        """Estimates what was asked for.

        Args:
            tally: Of all messages that mean something, with the people who sent them.
            chosen: As in `batch_people`.

        Raises:
            InvalidInputError: If nothing can be estimated from these messages.
        """
        ...


class Survey(Protocol):
    """A statistic, asked in certain terms: one frozen dataclass with them as attributes.

    Attributes:
        words: What people are told it is.
        asks: What people are asked for, as a part of a list.
        terms: What a question has to say.
        central: Whether choices are central targets. No report then names its choice to
            the shuffler: choices are collected in a stage of their own.
    """

    words: ClassVar[Words]
    asks: ClassVar[str]
    terms: ClassVar[tuple[Term, ...]]
    central: ClassVar[bool]

    @property
    def mode(self) -> Mode:
        """Whether choices travel apart from answers or with them."""
        ...

    @property
    def form(self) -> Form:
        """What a person is asked for."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """What each estimated number is about."""
        ...

    @property
    def unbiased_if(self) -> str:
        """When estimates are unbiased, in a sentence."""
        ...

    def scale(self, num_users: int) -> Scale:
        """Returns how numbers about so many people are shown."""
        ...

    def identity(self, offer: Offer) -> Identity:
        """Returns what will run, as far as it is known before anybody takes part."""
        ...

    def choosing(self, offer: Offer) -> ChoiceRun:
        """Returns the stage in which targets are collected.

        Raises:
            InvalidInputError: If choices are no targets.
        """
        ...

    def answering(self, offer: Offer, plan: Identity | None = None) -> AnswerRun:
        """Returns the stage in which people answer.

        Args:
            offer: Of the task.
            plan: What was published after choices; None where choices are levels.

        Raises:
            InvalidInputError: If it is no plan for this survey and offer.
        """
        ...


def survey_in(kind: type[Survey], terms: Mapping[str, Any], mode: Mode) -> Survey:
    """Returns a statistic as it is asked in certain terms.

    Args:
        kind: From `catalog.survey_named`.
        terms: A value for each of its terms that is needed, and for others.
        mode: "agnostic" or "stratified".

    Raises:
        InvalidInputError: If a term is missing, unknown or out of range.
    """
    known = {term.name: term for term in kind.terms}
    needed = {name for name, term in known.items() if term.needed}
    if not needed <= set(terms) <= set(known):
        said = ", ".join(sorted(needed)) or "nothing"
        raise InvalidInputError(
            f"Expected a question for {kind.words.name} to say {said}."
        )
    make: Any = kind
    survey: Survey = make(
        **{name: known[name].checked(value) for name, value in terms.items()},
        mode=mode,
    )
    return survey


def terms_of(survey: Survey) -> dict[str, Any]:
    """Returns the values of all terms that the question says."""
    values = {term.name: getattr(survey, term.name) for term in survey.terms}
    return {name: value for name, value in values.items() if value is not None}
