"""Tallies of shuffled reports, and checks of a tally before it is estimated from.

Every protocol counts its messages in its own way. The people who sent them are counted
here, and checked against the population of an estimate.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.arguments import expect_instance
from shuffledp.arrays import unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity, check_same
from shuffledp.population import Population
from shuffledp.reports import Arrangement, Reports, ShuffledReports
from shuffledp.tally import Tally
from shuffledp.types import Ints

# Counts the messages of each group, shape (groups, numbers): called with the messages,
# each message's group (None if there is one), and how many groups there are.
Count: TypeAlias = Callable[[NDArray[Any], Ints | None, int], NDArray[Any]]

# An estimator takes either.
Seen: TypeAlias = ShuffledReports | Tally


def tally_of(
    shuffled: ShuffledReports,
    identity: Identity,
    *,
    count: Count,
    arrangement: Arrangement = "rows",
    num_cohorts: int = 1,
) -> Tally:
    """Returns the tally of shuffled reports.

    Args:
        shuffled: Reports, or a part of them.
        identity: Of the protocol that counts.
        count: How it counts its messages.
        arrangement: Parts of a report that stay together, as the certificate assumes.
        num_cohorts: In how many cohorts people are mixed.

    Raises:
        InvalidInputError: If these were not shuffled, or in another way, are reports of
            another protocol, or messages are none of this protocol's.
    """
    if isinstance(shuffled, Reports | ShuffledReports):
        # First: reports of another protocol are called that, shuffled or not.
        check_same(shuffled.identity, identity, what="reports")
    if not isinstance(shuffled, ShuffledReports):
        raise InvalidInputError(
            f"Expected ShuffledReports, got {type(shuffled).__name__}: an analyst sees "
            "nothing that was not shuffled."
        )
    if shuffled.arrangement != arrangement:
        raise InvalidInputError(
            f"Expected reports to be shuffled as {arrangement!r}, got "
            f"{shuffled.arrangement!r}."
        )
    levels, level_indices = np.zeros(0), None
    if shuffled.levels is not None:
        levels, level_indices = np.unique(shuffled.levels, return_inverse=True)
    columns = max(levels.size, 1)
    cohorts = shuffled.cohorts
    if cohorts is not None and cohorts.size:
        inside = cohorts.min() >= 0 and cohorts.max() < num_cohorts
        if not inside:
            raise InvalidInputError(f"Expected cohorts in [0, {num_cohorts}).")
    if cohorts is None and num_cohorts > 1:
        raise InvalidInputError("Expected reports with their cohorts.")
    rows = _group_indices(cohorts, level_indices, columns)
    if rows is None:
        people = np.array([[shuffled.num_users]], dtype=np.int64)
    else:
        people = np.bincount(rows, minlength=num_cohorts * columns)
    # Unlinked messages carry no level: each cohort's are counted as one pile.
    piles = columns if shuffled.linked else 1
    groups = rows if shuffled.linked else _group_indices(cohorts, None, 1)
    if num_cohorts * piles == 1:
        groups = None
    counts = count(shuffled.messages, groups, num_cohorts * piles)
    return Tally(
        identity,
        levels,
        people.reshape(num_cohorts, columns).astype(np.int64),
        counts.reshape(num_cohorts, piles, -1),
    )


def _group_indices(
    cohorts: Ints | None, level_indices: Ints | None, columns: int
) -> Ints | None:
    """Returns each report's index in a table of cohorts and columns, shape (n,)."""
    if cohorts is None:
        return level_indices
    rows: Ints = cohorts.astype(np.int64) * columns
    return rows if level_indices is None else rows + level_indices


def checked(
    seen: Seen,
    identity: Identity,
    tally: Callable[[ShuffledReports], Tally],
) -> Tally:
    """Returns the tally that an estimator works on.

    Args:
        seen: Shuffled reports, or a tally of them.
        identity: Of the protocol that estimates.
        tally: Its own.

    Raises:
        InvalidInputError: If it is neither, or another protocol's.
    """
    if not isinstance(seen, Tally):
        return tally(seen)
    check_same(seen.identity, identity, what="a tally")
    return seen


def check_people(tally: Tally, people: Population, dealt: Ints | None = None) -> None:
    """Raises an error unless the tally is of all these people.

    Args:
        tally: With levels.
        people: The population that took part.
        dealt: People of each cohort and level, shape (cohorts, levels); by default there
            is one cohort.

    Raises:
        UnknownLevelError: If a level is none of the population's.
        InvalidInputError: If levels have more or fewer reports than people.
    """
    expect_instance(people, Population)
    people.level_indices(tally.levels)  # Raises on a level that the population lacks.
    expected = people.counts[None, :] if dealt is None else dealt
    if not (
        np.array_equal(tally.levels, people.epsilons)
        and np.array_equal(tally.people, expected)
    ):
        raise InvalidInputError(_other_people(tally, people, expected))


def _other_people(tally: Tally, people: Population, expected: Ints) -> str:
    """Returns an error text with the first level that has other reports than people."""
    several = len(expected) > 1
    text = (
        f"Expected as many reports per level{' and cohort' if several else ''} as the "
        "population has people"
    )
    if not tally.levels.size:
        return f"{text}, got reports without their levels."
    if len(tally.people) != len(expected):
        return f"{text}, got {len(tally.people)} cohorts and not {len(expected)}."
    counted_people = np.zeros_like(expected)
    counted_people[:, people.level_indices(tally.levels)] = tally.people
    cohort, level = np.argwhere(counted_people != expected)[0].tolist()
    within = f" in cohort {cohort}" if several else ""
    return (
        f"{text}, got {counted_people[cohort, level]:,} reports of "
        f"{expected[cohort, level]:,} people at level {people.epsilons[level]:g}{within}."
    )


def check_counts(tally: Tally, *, width: int, each: int | None = None) -> None:
    """Raises an error unless these people can have sent the counted messages.

    Args:
        tally: Of messages that count for each of several things once, or not at all.
        width: For how many things.
        each: For how many things every message counts; None if that differs.

    Raises:
        InvalidInputError: If something was counted more often than there are people, or
            all things together not as often as people's messages count.
    """
    # A tally may come from another process: its counts are not trusted.
    counts, max_counts = tally.counts, senders(tally)[:, :, None]
    if counts.shape[2] != width or np.any(counts < 0) or np.any(counts > max_counts):
        raise InvalidInputError(
            f"Expected {width} counts, of which none exceeds the number of people."
        )
    if each is not None and np.any(counts.sum(axis=2) != each * max_counts[:, :, 0]):
        raise InvalidInputError(
            f"Expected counts that add up to {each} for each person of a pile."
        )


def senders(tally: Tally) -> NDArray[np.int64]:
    """Returns how many people's messages are in each pile, shape (cohorts, piles)."""
    # Unlinked messages of all levels are in one pile of each cohort.
    people = tally.people.astype(np.int64, copy=False)
    return people if tally.linked else people.sum(axis=1, keepdims=True)


def drawn_tally(identity: Identity, people: Population, counts: NDArray[Any]) -> Tally:
    """Returns the tally of a simulated collection without cohorts.

    Args:
        identity: Of the protocol.
        people: The population that took part.
        counts: Counts of each level, shape (levels, numbers).
    """
    # Messages without levels show only the sum over all levels.
    if identity.record["mode"] == "agnostic":
        counts = counts.sum(axis=0, keepdims=True)
    return Tally(identity, people.epsilons, people.counts[None, :], counts[None, :, :])


def check_holders(holders: Ints, people: Population, width: int) -> NDArray[np.int64]:
    """Returns how many people of each level hold each value, shape (levels, width).

    Raises:
        InvalidInputError: If these are not counts that add up to the population's.
    """
    expect_instance(people, Population)
    holder_array = unmasked(holders, "numbers")
    if holder_array.dtype.kind not in "iu" or holder_array.shape != (
        people.num_levels,
        width,
    ):
        raise InvalidInputError(
            f"Expected whole numbers of people by level and value, of shape "
            f"({people.num_levels}, {width})."
        )
    counts: NDArray[np.int64] = holder_array.astype(np.int64)
    if np.any(counts < 0) or not np.array_equal(counts.sum(axis=1), people.counts):
        raise InvalidInputError(
            "Expected holders that add up to the people of each level."
        )
    return counts


def check_generator(rng: object) -> None:
    """Raises InvalidInputError unless this is a simulation's generator."""
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError(
            "Expected rng to be numpy.random.default_rng(seed) in a simulation, got "
            f"{type(rng).__name__}."
        )
