"""A whole collection in one process: devices, shuffler, analyst and accountant.

The values are known here, so this is a rehearsal: it shows what the analyst would have
seen and how far off she would have been.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.analyzer.mean import MeanEstimate
from shuffledp.analyzer.strings import StringEstimate, check_candidates, check_rate
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean.protocol import Mean, check_spread
from shuffledp.statistics.rehearsal import (
    dependence_of_categories,
    dependence_of_numbers,
)
from shuffledp.statistics.strings.protocol import Strings
from shuffledp.statistics.sum.protocol import BinarySum, SumEstimate
from shuffledp.types import Floats, Ints

STEPS = ("certify", "randomize", "shuffle", "estimate")
OnStep: TypeAlias = Callable[[str], None]

_Estimate = TypeVar("_Estimate")
_Guarantee = TypeVar("_Guarantee")
_Sent = TypeVar("_Sent")
_Seen = TypeVar("_Seen")


@dataclass(frozen=True, eq=False)
class Collection(Generic[_Estimate, _Guarantee]):
    """What came out of one collection, and what it was worth.

    Attributes:
        truth: The true number for every estimated one, shape (numbers,): the share of
            each category, or of each candidate and of other strings; the mean; the sum.
        people: Who took part.
        estimate: What the analyst learns.
        guarantee: What that is worth for the people of every level.
        dependence: Whether levels depend on values, and how far off that puts the
            estimate; None in the stratified mode, which does not mind.
    """

    truth: Floats
    people: Population
    estimate: _Estimate
    guarantee: _Guarantee
    dependence: Dependence | None


FrequencyCollection: TypeAlias = Collection[FrequencyEstimate, Guarantee]
MeanCollection: TypeAlias = Collection[MeanEstimate, Guarantee]
SumCollection: TypeAlias = Collection[SumEstimate, Guarantee]
StringCollection: TypeAlias = Collection[StringEstimate, Guarantee]


def assign_levels(shares: dict[float, float], num_users: int, *, rng: Rng) -> Floats:
    """Gives people levels in the stated shares, in random order, shape (num_users,).

    Counts are rounded so that they add up; nobody's value plays a part.

    Raises:
        InvalidInputError: If shares are not positive, do not add up to 1, or leave a
            level without anybody.
    """
    epsilons, parts = np.array(list(shares)), np.array(list(shares.values()))
    if not (np.all(parts > 0) and abs(parts.sum() - 1.0) < 1e-9):
        raise InvalidInputError(
            "Expected positive shares of people that add up to 1, "
            f"got a sum of {parts.sum():g}."
        )
    ends = np.rint(np.cumsum(parts) * num_users).astype(np.int64)
    counts = np.diff(ends, prepend=0)
    if counts.min() < 1:
        raise InvalidInputError(
            f"Expected enough people for every level, got {num_users} for the shares "
            f"{', '.join(f'{part:g}' for part in parts)}."
        )
    levels: Floats = np.repeat(epsilons, counts)[rng.permutation(num_users)]
    return levels


def collect_frequency(
    values: Ints,
    levels: Floats,
    *,
    protocol: Frequency,
    delta: float,
    rng: Rng,
    on_step: OnStep = lambda _step: None,
) -> FrequencyCollection:
    """Runs a collection of one category per person, start to end.

    Args:
        values: Integers in [0, k), shape (n,).
        levels: Each person's local budget in nats, shape (n,).
        protocol: For k categories.
        delta: At which the guarantee is stated, in (0, 1).
        rng: The only source of randomness.
        on_step: Called with the name of each of STEPS before it begins.

    Raises:
        InvalidInputError: If anything is out of range; the accountant runs first, so
            that nothing is collected without a guarantee.
    """
    people = Population.from_budgets(levels)
    guarantee, estimate = _collect(
        certify=lambda: account(protocol, people, delta=delta),
        randomize=lambda: protocol.randomize(values, levels, rng=rng),
        shuffle=lambda reports: shuffle(reports, rng=rng),
        estimate=lambda shuffled: protocol.estimate(shuffled, people),
        on_step=on_step,
    )
    k = protocol.num_categories
    found = None
    if protocol.mode == "agnostic":
        keep, flip = protocol.randomizer.densities(people.epsilons)
        found = dependence_of_categories(
            values, levels, num_categories=k, people=people, slopes=keep - flip
        )
    truth = np.bincount(values, minlength=k) / people.num_users
    return Collection(truth, people, estimate, guarantee, found)


def collect_mean(
    values: Floats,
    levels: Floats,
    *,
    protocol: Mean,
    delta: float,
    rng: Rng,
    spread: float | None = None,
    on_step: OnStep = lambda _step: None,
) -> MeanCollection:
    """Runs a collection of one number per person, start to end.

    Args:
        values: Numbers in the protocol's range, shape (n,).
        levels: As for `collect_frequency`.
        protocol: What is run.
        delta: As there.
        rng: As there.
        spread: Standard deviation of the values, where it is known beforehand.
        on_step: As there.

    Raises:
        InvalidInputError: As there.
    """
    check_spread(spread, protocol.low, protocol.high)
    people = Population.from_budgets(levels)
    guarantee, estimate = _collect(
        certify=lambda: account(protocol, people, delta=delta),
        randomize=lambda: protocol.randomize(values, levels, rng=rng),
        shuffle=lambda reports: shuffle(reports, rng=rng),
        estimate=lambda shuffled: protocol.estimate(shuffled, people, spread=spread),
        on_step=on_step,
    )
    mean = float(values.mean())
    found = _of_mean(values, levels, mean, protocol, people)
    return Collection(np.array([mean]), people, estimate, guarantee, found)


def collect_sum(
    bits: Ints,
    levels: Floats,
    *,
    protocol: BinarySum,
    delta: float,
    rng: Rng,
    on_step: OnStep = lambda _step: None,
) -> SumCollection:
    """Runs a collection of one bit per person, start to end.

    Args:
        bits: 0 or 1, shape (n,).
        levels: As for `collect_frequency`.
        protocol: What is run.
        delta: As there.
        rng: As there.
        on_step: As there.

    Raises:
        InvalidInputError: As there.
    """
    people = Population.from_budgets(levels)
    guarantee, estimate = _collect(
        certify=lambda: account(protocol, people, delta=delta),
        randomize=lambda: protocol.randomize(bits, levels, rng=rng),
        shuffle=lambda reports: shuffle(reports, rng=rng),
        estimate=lambda shuffled: protocol.estimate(shuffled, people),
        on_step=on_step,
    )
    numbers = bits.astype(np.float64)
    mean = Mean(0.0, 1.0, protocol.mode)
    found = _of_mean(numbers, levels, float(numbers.mean()), mean, people)
    return Collection(np.array([numbers.sum()]), people, estimate, guarantee, found)


def collect_strings(
    strings: list[str],
    levels: Floats,
    *,
    protocol: Strings,
    candidates: tuple[str, ...],
    false_discovery_rate: float = 0.05,
    delta: float,
    rng: Rng,
    on_step: OnStep = lambda _step: None,
) -> StringCollection:
    """Runs a collection of one string per person, start to end.

    Args:
        strings: One per person, in the order of arrival, shape (n,).
        levels: As for `collect_frequency`.
        protocol: What is run.
        candidates: Which strings the analyst asks for.
        false_discovery_rate: Which share of those found may be held by nobody.
        delta: As there.
        rng: As there.
        on_step: As there.

    Raises:
        InvalidInputError: As there; or if candidates are too many, or not different.
    """
    check_rate(false_discovery_rate)
    check_candidates(
        candidates, num_cohorts=protocol.num_cohorts, num_bits=protocol.num_bits
    )
    people = Population.from_budgets(levels)
    guarantee, estimate = _collect(
        certify=lambda: account(protocol, people, delta=delta),
        randomize=lambda: protocol.randomize(strings, levels, rng=rng),
        shuffle=lambda reports: shuffle(reports, rng=rng),
        estimate=lambda shuffled: protocol.estimate(
            shuffled,
            people,
            candidates=candidates,
            false_discovery_rate=false_discovery_rate,
        ),
        on_step=on_step,
    )
    # Whoever holds another string has the number after the last candidate.
    numbers = {string: number for number, string in enumerate(candidates)}
    other = len(candidates)
    held = np.array([numbers.get(string, other) for string in strings], dtype=np.int64)
    found = None
    if protocol.mode == "agnostic":
        one, zero = protocol.randomizer.effective_chances(people.epsilons)
        found = dependence_of_categories(
            held, levels, num_categories=other + 1, people=people, slopes=one - zero
        )
    truth = np.bincount(held, minlength=other + 1) / people.num_users
    return Collection(truth, people, estimate, guarantee, found)


def _collect(
    *,
    certify: Callable[[], _Guarantee],
    randomize: Callable[[], _Sent],
    shuffle: Callable[[_Sent], _Seen],
    estimate: Callable[[_Seen], _Estimate],
    on_step: OnStep,
) -> tuple[_Guarantee, _Estimate]:
    """Runs the four steps; what devices sent is not kept any longer than it is needed."""
    on_step("certify")
    guarantee = certify()
    on_step("randomize")
    sent = randomize()
    on_step("shuffle")
    seen = shuffle(sent)
    del sent
    on_step("estimate")
    return guarantee, estimate(seen)


def _of_mean(
    values: Floats, levels: Floats, mean: float, protocol: Mean, people: Population
) -> Dependence | None:
    if protocol.mode == "stratified":
        return None
    slopes = protocol.channel(people).slopes(mean)
    return dependence_of_numbers(values, levels, people=people, slopes=slopes)
