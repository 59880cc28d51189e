"""A statistic as a survey of real people.

The services, their commands and the wire format name no statistic: they use its survey,
which lies beside its protocol and is listed in `statistic_catalog`. A task offers people
choices: privacy levels; or, of a statistic with `central`, targets, which a plan keeps.
An epoch of a task has one stage or two:

    CHOICE   for targets alone: users report a choice, unseen by the shuffler; the
             analyst publishes a plan, which is the identity of the protocol that follows,
             and keeps the rule for plans that the task states
    ANSWER   users send a report; the analyst estimates

The protocols of the stages are in `stage_runs`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.labels import StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.statistics.stage_runs import AnswerRun, ChoiceRun
from shuffledp.types import Mode

# One of several texts, up to `Form.most` of them, a number, yes or no, or several forms.
AnswerKind: TypeAlias = Literal["one of", "some of", "number", "yes or no", "several"]


class EpochStage(IntEnum):
    """A stage of an epoch."""

    # The numbers are those of the wire format.
    ANSWER = 0
    CHOICE = 1


@dataclass(frozen=True)
class Offer:
    """The choices that a task offers people, and the terms of their guarantee.

    Attributes:
        choices: Privacy levels, or central targets; strictly increasing.
        delta: At which central epsilons are stated.
        absent: How many of those who take part may collude or send noise.
    """

    choices: tuple[float, ...]
    delta: float
    absent: int


@dataclass(frozen=True)
class Form:
    """The kind of answer that a form, or a column of a table, takes from a person.

    Attributes:
        kind: The kind of answer.
        options: The texts to pick from, if any are picked.
        most: How many of them may be picked.
        text: The question, where a form has several.
        ends: The smallest and the largest number of one of several questions; None where a
            question's terms say so, or there are none.
        parts: The forms of several questions.
        skippable: Whether a person may leave out a number of one of several questions.
    """

    kind: AnswerKind
    options: tuple[str, ...] = ()
    most: int = 1
    text: str = ""
    ends: tuple[float, float] | None = None
    parts: tuple["Form", ...] = ()
    skippable: bool = False


class Survey(Protocol):
    """A statistic, asked in certain terms: one frozen dataclass with them as attributes.

    Attributes:
        words: Its title and labels, as they are displayed.
        asks: The kind of answer, as an entry of a list.
        parameters: Those that a question states.
        central: Whether choices are central targets. No report then names its choice to
            the shuffler: choices are collected in a stage of their own.
    """

    words: ClassVar[StatisticLabels]
    asks: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    central: ClassVar[bool]

    @property
    def noise_by_shuffler(self) -> bool:
        """Whether the shuffler adds the noise, as dummies, and devices none."""
        ...

    @property
    def mode(self) -> Mode:
        """Whether choices travel apart from answers or with them."""
        ...

    @property
    def form(self) -> Form:
        """The answer that a person is asked for."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each estimated number."""
        ...

    @property
    def unbiased_if(self) -> str:
        """A sentence that says when estimates are unbiased."""
        ...

    def axis_ends(self, num_users: int) -> tuple[float, ...]:
        """Returns estimates about a number of people that an axis always shows."""
        ...

    def identity(self, offer: Offer) -> Identity:
        """Returns the identity of the protocol, as far as it is known beforehand."""
        ...

    def choosing(self, offer: Offer) -> ChoiceRun:
        """Returns the stage in which targets are collected.

        Raises:
            InvalidInputError: If choices are not targets.
        """
        ...

    def answering(self, offer: Offer, plan: Identity | None = None) -> AnswerRun:
        """Returns the stage in which people answer.

        Args:
            offer: Of the task.
            plan: Published after choices were counted; None where choices are levels.

        Raises:
            InvalidInputError: If it is not a plan for this survey and offer.
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
    known_parameters = {parameter.name: parameter for parameter in kind.parameters}
    needed_names = {
        name for name, parameter in known_parameters.items() if parameter.required
    }
    # Terms come with a task: optional ones may be missing, unknown ones are refused.
    if not needed_names <= set(terms) <= set(known_parameters):
        names = ", ".join(sorted(needed_names)) or "nothing"
        raise InvalidInputError(
            f"Expected a question for {kind.words.name} to say {names}."
        )
    # `Survey` declares no constructor: every statistic has terms of its own.
    make: Any = kind
    survey: Survey = make(
        **{
            name: known_parameters[name].checked(value) for name, value in terms.items()
        },
        mode=mode,
    )
    return survey


def terms_of(survey: Survey) -> dict[str, Any]:
    """Returns the values of all terms that are stated."""
    names = [parameter.name for parameter in survey.parameters]
    values = {name: getattr(survey, name) for name in names}
    # None stands for an optional term that the question does not state.
    return {name: value for name, value in values.items() if value is not None}
