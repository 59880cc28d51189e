"""A questionnaire with noise that keeps all targets, and its certificate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.counts.rate_statement import check_delta
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.report_sizing import keeps_targets
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
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import (
    Question,
)

USUAL_MESSAGES = 16
# By how much the usual number of messages grows, where it is too small.
_MOST_USUAL = 8
# More, and its inverse, leave next to no privacy, or next to no data, for others.
_MOST_INTEREST = 1e3
# Larger targets are kept with noise for this one, which is next to none.
_ENOUGH = 20.0


def certified_questionnaire(
    questions: Sequence[Question],
    wish: Wish,
    *,
    interest: Mapping[str, float] | None = None,
    max_messages: int | None = None,
    on_step: Callable[[str], None] = lambda _step: None,
) -> tuple[str, Questionnaire, Guarantee]:
    """Returns the name of the noise, the questionnaire, and its certificate.

    Errors to expect are left to `plan_questionnaire`, whose arguments and exceptions these
    are: of a million categories they take longer than all the rest.
    """
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
        2 * answers + USUAL_MESSAGES if max_messages is None else max_messages
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
    search = NoiseSearch(adapted, people, wish.delta, num_honest, room=0.0)
    while True:
        room = float(allowed_messages - answers) * num_honest
        search = replace(search, room=room)
        best_division = _least_error(
            search, divisions, smallest_target, 1.0 / mu, on_step
        )
        if best_division is not None:
            break
        if allowed_messages >= last:
            count, wanted_target = (
                int(people.counts[0]),
                plain(float(people.epsilons[0])),
            )
            raise CertificationError(
                f"No noise of at most {allowed_messages} messages per person is enough "
                f"for the smallest target, {wanted_target} ({count:,} of "
                f"{people.num_users:,} people): expected a larger one, more messages, "
                f"more people, {_closer(interest)}fewer and coarser questions."
            )
        allowed_messages *= 2
    division, noise = best_division
    questionnaire = search.questionnaire(noise)
    guarantee = account(
        questionnaire, people, delta=wish.delta, quantiles=False, absent=wish.absent
    )
    # The search is not trusted: its result is certified as a whole.
    if not keeps_targets(guarantee):
        raise CertificationError(
            f"No noise found that keeps all targets at delta {wish.delta:g}."
        )
    return division.name, questionnaire, guarantee


def _least_error(
    search: NoiseSearch,
    divisions: Sequence[NoiseDivision],
    epsilon: float,
    deviation: float,
    on_step: Callable[[str], None],
) -> tuple[NoiseDivision, tuple[Noise, ...]] | None:
    """Returns the certified noise of the smallest error; None if there is none."""
    candidates: list[tuple[float, NoiseDivision, float]] = []
    for division in divisions:
        on_step(division.name)
        size = search.approximate(division, epsilon, deviation)
        noise = None if size is None else division.noise(size, search.room)
        if size is not None and noise is not None:
            candidates.append((division.error(noise), division, size))
    for _, division, size in sorted(candidates, key=lambda each: each[0]):
        on_step("certificate")
        noise = search.certified(division, size, epsilon)
        if noise is not None:
            return division, noise
    return None


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
