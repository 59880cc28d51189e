"""What each privacy level is worth after the shuffle: the entry point of the accountant."""

import hashlib
import math
from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.answers import Answer, Question
from shuffledp.accounting.guarantee import Guarantee, LevelGuarantee
from shuffledp.accounting.rounds.composed_profile import total_budget
from shuffledp.accounting.words import assumed, kept_safe
from shuffledp.arrays import as_number
from shuffledp.cover import Accountable
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import MAX_USERS, Population
from shuffledp.version import __version__

THEOREM = "privacy blanket of Balle et al. (2019), with one randomizer per person"
MIN_DELTA = 1e-300
MAX_TIMES = 10**8

# Budgets up to here need no bound but themselves.
_SILENT = 1e-250

# With more distinct levels than this, quantiles are reported.
_MAX_REPORTED_LEVELS = 32
# Certificates list up to so many levels.
_MAX_LISTED_LEVELS = 10_000
_QUANTILES = {
    "minimum": 0.0,
    "lower quartile": 0.25,
    "median": 0.5,
    "upper quartile": 0.75,
    "maximum": 1.0,
}


def account(
    protocol: Accountable,
    people: Population,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    levels: Sequence[float] | None = None,
    quantiles: bool | None = None,
    absent: int = 0,
    rounds: int = 1,
    coordinates: int = 1,
) -> Guarantee:
    """Certifies what the shuffled collection is worth for the people of every level.

    Args:
        protocol: What the devices run and the shuffler does, such as `Frequency`, or
            `SingleMessage` around any randomizer.
        people: Levels and counts of those who take part.
        delta: In [1e-300, 1): report the smallest certified epsilon of each level.
        epsilon: Finite and >= 0, instead of `delta`: report the smallest certified delta.
        levels: Report these budgets only; each must be somebody's.
        quantiles: Report minimum, quartiles and maximum of the budgets instead of every
            level. By default so if there are more than 32 levels.
        absent: How many of the other people may be absent or collude. Who they are is
            not known: those are left out who would have given most cover.
        rounds: How often the same people take part, with independent randomness.
        coordinates: How many messages each of them sends per round, each shuffled apart.

    Returns:
        A `Guarantee` with, per level, the certified upper bound and the lower bound that
        a concrete attack proves.

    Raises:
        InvalidInputError: Unless exactly one of delta and epsilon is given, in range.
        UnknownLevelError: If one of `levels` is nobody's budget.
        PopulationError: If there is only one person, who has nobody to hide among.
        CertificationError: If no bound can be proven in double precision.
    """
    delta = None if delta is None else as_number(delta, "delta")
    epsilon = None if epsilon is None else as_number(epsilon, "epsilon")
    _check_question(delta, epsilon)
    if not isinstance(people, Population):
        raise InvalidInputError(f"Expected a Population, got {type(people).__name__}.")
    if people.num_users < 2:
        raise PopulationError(
            "Expected at least 2 people, got 1: nobody can hide in a crowd of one."
        )
    check_accountable(protocol)
    for number, what, least in (
        (absent, "absent people", 0),
        (rounds, "rounds", 1),
        (coordinates, "coordinates", 1),
    ):
        check_whole(number, what, least=least)
    if absent > people.num_users - 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {absent}."
        )
    shuffles = rounds * coordinates * protocol.randomizer.changes
    if shuffles > MAX_TIMES:
        raise InvalidInputError(
            f"Expected at most {MAX_TIMES} rounds times coordinates, got {shuffles}."
        )
    named = _reported(people, levels, quantiles)
    found: dict[int, Answer] = {}
    crowds: dict[int, Population] = {}
    for crowd, positions in _crowds(protocol, people, sorted(set(named.values()))):
        among = list(positions.values())
        answers = _answers(
            Question(
                protocol.randomizer,
                crowd,
                among,
                min(absent, crowd.num_users - 1),
                rounds * coordinates,
            ),
            delta,
            epsilon,
        )
        found |= dict(zip(positions, answers, strict=True))
        crowds |= dict.fromkeys(positions, crowd)
    entries = [
        LevelGuarantee(
            epsilon_local=float(people.epsilons[index]),
            count=int(people.counts[index]),
            hides_among=max(crowds[index].num_users - absent, 1),
            epsilon_central=found[index].upper[0],
            epsilon_central_lower=found[index].lower[0],
            delta_central=found[index].upper[1],
            delta_central_lower=found[index].lower[1],
            slack=found[index].slack,
            quantile=name if isinstance(name, str) else None,
        )
        for name, index in named.items()
    ]
    listed = None
    if people.num_levels <= _MAX_LISTED_LEVELS:
        pairs = zip(people.epsilons.tolist(), people.counts.tolist(), strict=True)
        listed = tuple(pairs)
    return Guarantee(
        mechanism=protocol.randomizer.mechanism,
        parameters=protocol.randomizer.parameters,
        mode=protocol.mode,
        num_users=people.num_users,
        absent=int(absent),
        rounds=int(rounds),
        coordinates=int(coordinates),
        delta=delta,
        epsilon=epsilon,
        levels=tuple(entries),
        theorem=THEOREM,
        assumptions=assumed(protocol, absent, rounds, coordinates),
        numerics=kept_safe(shuffles),
        people=listed,
        people_digest=digest(people),
        version=__version__,
    )


def check_accountable(protocol: Accountable) -> None:
    """Raises InvalidInputError unless everybody in this protocol hides among everybody."""
    if not (hasattr(protocol, "randomizer") and hasattr(protocol, "mode")):
        raise InvalidInputError(
            f"Expected a protocol, got {type(protocol).__name__}: wrap a randomizer in "
            "SingleMessage."
        )
    if getattr(protocol, "num_cohorts", 1) > 1:
        raise InvalidInputError(
            f"Expected a protocol without cohorts, got {type(protocol).__name__}: people "
            "hide within their cohort only; certify_strings knows."
        )


def digest(people: Population) -> str:
    """Returns SHA-256 of all budgets and counts, as little-endian 64-bit numbers."""
    content = hashlib.sha256(people.epsilons.astype("<f8").tobytes())
    content.update(people.counts.astype("<i8").tobytes())
    return content.hexdigest()


def _check_question(delta: float | None, epsilon: float | None) -> None:
    if (delta is None) == (epsilon is None):
        raise InvalidInputError("Expected either delta or epsilon, and not both.")
    if delta is not None and not MIN_DELTA <= delta < 1.0:
        raise InvalidInputError(
            f"Expected {MIN_DELTA:g} <= delta < 1, got {delta:g}: at 0 nothing but the "
            "local budget holds, at 1 nothing is promised."
        )
    if epsilon is not None and not (math.isfinite(epsilon) and epsilon >= 0.0):
        raise InvalidInputError(f"Expected a finite epsilon >= 0, got {epsilon:g}.")


def check_whole(number: int, what: str, *, least: int) -> None:
    """Raises InvalidInputError unless this is a whole number in a sensible range."""
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if whole and number > MAX_USERS:
        raise InvalidInputError(f"Expected at most {MAX_USERS:g} {what}.")
    if not whole or number < least:
        raise InvalidInputError(
            f"Expected a whole number of {what}, at least {least}, got {number!r}."
        )


def _crowds(
    protocol: Accountable, people: Population, reported: list[int]
) -> list[tuple[Population, dict[int, int]]]:
    """Returns each crowd with the reported levels in it and their positions there."""
    if protocol.mode == "agnostic":
        return [(people, {index: index for index in reported})]
    found = [(index, *crowd_of(protocol, people, index)) for index in reported]
    return [(crowd, {index: position}) for index, crowd, position in found]


def crowd_of(
    protocol: Accountable, people: Population, index: int
) -> tuple[Population, int]:
    """Returns among whom the people of one level hide, and that level's position there."""
    if protocol.mode == "agnostic":
        return people, index
    one = slice(index, index + 1)
    return Population(people.epsilons[one], people.counts[one]), 0


def _reported(
    people: Population, levels: Sequence[float] | None, quantiles: bool | None
) -> dict[str | int, int]:
    """Returns the levels to report, by quantile name or by position."""
    if levels is not None:
        if quantiles:
            raise InvalidInputError("Expected either levels or quantiles, not both.")
        indices = people.level_indices(list(levels)).tolist()
        if not indices:
            raise InvalidInputError("Expected at least one level to report.")
        return {index: index for index in sorted(set(indices))}
    if quantiles is None:
        quantiles = people.num_levels > _MAX_REPORTED_LEVELS
    if not quantiles:
        return {index: index for index in range(people.num_levels)}
    ranks = np.cumsum(people.counts)
    last = people.num_users - 1
    # The person of rank floor(q (n - 1)), counted from 0: always somebody's own budget.
    return {
        name: int(np.searchsorted(ranks, int(share * last), side="right"))
        for name, share in _QUANTILES.items()
    }


def _answers(
    question: Question, delta: float | None, epsilon: float | None
) -> list[Answer]:
    """Returns the answer for each victim; those who send only noise need no bound."""
    crowd, victims = question.crowd, question.victims
    pure = question.randomizer.delta_local == 0.0
    budgets = [
        total_budget(question.times, float(crowd.epsilons[victim]))
        for victim in victims
    ]
    found: dict[int, Answer] = {}
    for victim, budget in zip(victims, budgets, strict=True):
        if not pure:
            continue
        # Nobody's total variation exceeds half her budget, so that such a small one is
        # certified at epsilon = 0.
        if budget <= _SILENT and delta is not None and budget <= delta:
            found[victim] = Answer((0.0, delta), (0.0, delta))
        elif epsilon is not None and budget <= epsilon:
            # At her own budget and above a person's delta is 0 even without others.
            found[victim] = Answer((epsilon, 0.0), (epsilon, 0.0))
        elif epsilon is not None and budget <= _SILENT:
            found[victim] = Answer((epsilon, 0.0), (epsilon, budget))
    rest = [victim for victim in victims if victim not in found]
    if rest:
        asked = Question(
            question.randomizer, crowd, rest, question.absent, question.times
        )
        answers = (
            asked.epsilons_at(delta)
            if delta is not None
            else asked.deltas_at(epsilon or 0.0)
        )
        found |= dict(zip(rest, answers, strict=True))
    return [found[victim] for victim in victims]
