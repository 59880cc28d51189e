"""What a search for a questionnaire's noise begins with, and how far it goes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.counts.rate_statement import check_delta
from shuffledp.arguments import expect_mapping
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.format_number import plain
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
from shuffledp.statistics.questionnaire.noise_division import (
    NoiseDivision,
    noise_divisions,
)
from shuffledp.statistics.questionnaire.noise_search import NoiseSearch
from shuffledp.statistics.questionnaire.question import Question

# Messages of a person in the mean, beside twice the answers.
_USUAL_MESSAGES = 16
# By how much the usual number of messages grows, where it is too small.
_MOST_USUAL = 8
# More, and its inverse, leave next to no privacy, or next to no data, for others.
_MOST_INTEREST = 1e3
# Larger targets are kept with noise for this one, which is next to none.
_ENOUGH = 20.0


@dataclass(frozen=True)
class SizedNoise:
    """Noise that about keeps a target.

    Attributes:
        error: Weighted squared error of all answers.
        division: How it is divided.
        size: Of the division.
        noise: Of every group.
    """

    error: float
    division: NoiseDivision
    size: float
    noise: tuple[Noise, ...]


@dataclass(frozen=True)
class NoiseTask:
    """Searches for noise among more and more messages per person.

    Attributes:
        search: Of these questions and people, with no room for noise yet.
        divisions: How noise may be divided.
        target: The smallest one.
        deviation: Of Gaussian noise that keeps it at a sensitivity of 1.
        answers: Of each person.
        first: Messages of a person that are tried first.
        last: The most that are tried.
        advice: What else would help where these are too few, with a comma.
    """

    search: NoiseSearch
    divisions: tuple[NoiseDivision, ...]
    target: float
    deviation: float
    answers: int
    first: int
    last: int
    advice: str

    def searches(self) -> Iterator[NoiseSearch]:
        """Yields searches with more and more room."""
        for messages in self._messages:
            room = float(messages - self.answers) * self.search.honest
            yield replace(self.search, room=room)

    @property
    def _messages(self) -> list[int]:
        tried = [self.first]
        while tried[-1] < self.last:
            tried.append(2 * tried[-1])
        return tried

    def sizes(
        self, search: NoiseSearch, on_step: Callable[[str], None]
    ) -> list[SizedNoise]:
        """Returns noise that about keeps the target, that of the least error first."""
        sizes = []
        for division in self.divisions:
            on_step(division.name)
            size = search.approximate(division, self.target, self.deviation)
            noise = None if size is None else division.noise(size, search.room)
            if size is not None and noise is not None:
                sizes.append(SizedNoise(division.error(noise), division, size, noise))
        return sorted(sizes, key=lambda each: each.error)

    @property
    def refusal(self) -> CertificationError:
        """What to raise where no search finds noise."""
        people = self.search.people
        count, wanted_target = int(people.counts[0]), plain(float(people.epsilons[0]))
        return CertificationError(
            f"No noise of at most {self._messages[-1]} messages per person is enough for "
            f"the smallest target, {wanted_target} ({count:,} of {people.num_users:,} "
            f"people): expected a larger one, more messages, more people, {self.advice}"
            "fewer and coarser questions."
        )


def noise_task(
    questions: Sequence[Question],
    wish: Wish,
    *,
    interest: Mapping[str, float] | None = None,
    max_messages: int | None = None,
) -> NoiseTask:
    """Returns what to search, for arguments of `plan_questionnaire`, with its errors."""
    if wish.targets is None:
        raise InvalidInputError("Expected central targets, got privacy levels.")
    people = Population.from_counts(dict(wish.targets))
    smallest_target = float(people.epsilons[0])
    if smallest_target <= 0.0:
        raise InvalidInputError("Expected targets above 0.")
    smallest_target = min(smallest_target, _ENOUGH)
    num_honest = people.num_users - wish.absent
    if num_honest < 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {wish.absent}."
        )
    check_delta(wish.delta)
    mu = float(sensitivity_per_deviation(np.array([smallest_target]), wish.delta)[0])
    adapted = tuple(
        question.adapted(people.num_users, noise=1.0 / mu) for question in questions
    )
    groups = tuple(group for question in adapted for group in question.groups)
    answers = sum(group.most for group in groups)
    allowed_messages = (
        2 * answers + _USUAL_MESSAGES if max_messages is None else max_messages
    )
    check_whole(allowed_messages, "messages per person", least=1)
    if allowed_messages <= answers:
        raise InvalidInputError(
            f"Expected more than {answers} messages per person, as many as answers, got "
            f"{allowed_messages}."
        )
    weights = _weights(adapted, interest)
    divisions = tuple(
        noise_divisions(groups, weights, epsilon=smallest_target, deviation=1.0 / mu)
    )
    # Where nothing is proven with the usual number, several times as many may do.
    last = (
        allowed_messages if max_messages is not None else _MOST_USUAL * allowed_messages
    )
    return NoiseTask(
        NoiseSearch(adapted, people, wish.delta, num_honest, room=0.0),
        divisions,
        smallest_target,
        1.0 / mu,
        answers,
        allowed_messages,
        last,
        _closer(interest),
    )


def _weights(
    questions: Sequence[Question], interest: Mapping[str, float] | None
) -> tuple[float, ...]:
    interests = expect_mapping(interest or {}, "interest by question")
    unknown = set(interests) - {question.name for question in questions}
    if unknown:
        raise InvalidInputError(
            "Expected interest in questions that are asked, got "
            f"{', '.join(sorted(map(str, unknown)))}."
        )
    weights = []
    for question in questions:
        weight = as_number(interests.get(question.name, 1.0), "interest")
        if not 1.0 / _MOST_INTEREST <= weight <= _MOST_INTEREST:
            raise InvalidInputError(
                f"Expected an interest from {1.0 / _MOST_INTEREST:g} to "
                f"{_MOST_INTEREST:g} in {question.name!r}, got {weight:g}."
            )
        weights += [weight * group.error_weight for group in question.groups]
    return tuple(weights)


def _closer(interest: Mapping[str, float] | None) -> str:
    """Returns part of an error text where the given interests may be to blame."""
    given_weights = {float(weight) for weight in (interest or {}).values()} - {1.0}
    return "interests nearer to each other, or " if given_weights else "or "
