"""Warnings about guarantees that are certified but weak, one sentence each.

A certificate is correct even at epsilon 44, and may still be mistaken for privacy. The
thresholds are conventions, not theorems: guarantees beyond them are weak by any standard.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from shuffledp.accounting.statement import LevelGuarantee, Statement
from shuffledp.format_number import plain

# One value may then be 22,000 times as likely as another after everything is seen.
LARGEST_SEEN = 10.0
# With as many as ten people on earth for each: a device that sends what it was given.
LARGEST_LOCAL = 20.0
# Messages e^100 times as likely mean the same as any larger level.
_LARGEST_NAMED = 100.0
# Conventions, not theorems: certificates of fewer people hold as well.
FEW_PEOPLE = 100
FEW_AT_A_LEVEL = 10
# More levels than this are not named one by one.
_MOST_LEVELS = 20


def cautions(
    statements: Sequence[Statement],
    *,
    num_users: int,
    people: Sequence[tuple[float, int]] | None,
    num_rare: int | None = None,
) -> tuple[str, ...]:
    """Returns the warnings about these statements, as sentences.

    Args:
        statements: Levels and the quantity that each describes.
        num_users: Number of users.
        people: (level, people) of every level; None if there are too many to list.
        num_rare: How many levels fewer than ten people chose, where they are not listed;
            None if unknown, in which case the stated levels stand for all.
    """
    main = statements[0]
    return tuple(
        filter(
            None,
            (
                delta_caution(main.delta, num_users),
                epsilon_caution(max(map(_central, statements))),
                local_caution(
                    level.epsilon_local
                    for level in main.levels
                    if level.epsilon_local is not None
                ),
                coalition_caution(main),
                shuffler_caution(main),
                people_caution(num_users),
                _rare_levels(main.levels, people, num_rare),
            ),
        )
    )


def delta_caution(delta: float | None, num_users: int) -> str | None:
    """Returns a sentence about a delta that is too large to mean anything."""
    if delta is None or delta * num_users < 1.0:
        return None
    return (
        f"Caution: delta is not below 1 / {num_users:,}. Publishing the value of "
        "one person picked at random would satisfy that, too; ask for a smaller delta."
    )


def epsilon_caution(
    epsilon: float, kind: Literal["central", "local"] = "central"
) -> str | None:
    """Returns a sentence about an epsilon that protects almost nothing.

    >>> epsilon_caution(1.0) is None
    True

    Args:
        epsilon: The epsilon of all messages of one user in a collection.
        kind: Central for the analyst's view; local for the messages of a device.
    """
    if not epsilon > LARGEST_SEEN:
        return None
    return (
        f"Caution: a {kind} epsilon of {_short_number(epsilon)} promises next to nothing: "
        f"what is seen may be {_times(epsilon)} times as likely with one value of a person "
        "as with another."
    )


def local_caution(levels: Iterable[float]) -> str | None:
    """Returns a sentence about local budgets that protect almost nothing.

    >>> local_caution([0.5, 50.0])[:47]
    'Caution: level 50 is not private by any standar'
    >>> local_caution([699.958, 699.979])[:46]
    'Caution: levels above 100 are not private by a'
    """
    above = sorted({level for level in levels if level > LARGEST_LOCAL})
    if not above:
        return None
    names = [plain(level) for level in above if level <= _LARGEST_NAMED]
    # Where next to nothing is randomized, digits say nothing.
    if len(names) < len(above):
        names.append(f"{'those ' if names else ''}above {_LARGEST_NAMED:g}")
    is_one = len(above) == 1 and above[0] <= _LARGEST_NAMED
    which = ("level " if is_one else "levels ") + _names_as_text(names)
    verb = "is" if is_one else "are"
    return (
        f"Caution: {which} {verb} not private by any standard: a device then sends its "
        "value almost unchanged, and a party that knows the sender of a message knows it."
    )


def coalition_caution(statement: Statement) -> str | None:
    """Returns a sentence about statements that promise nothing against a coalition."""
    if all(level.epsilon_coalition is not None for level in statement.levels):
        return None
    return (
        "Caution: there is no local guarantee: if shuffler and analyst work together, "
        "they see each person's own report, which may show the whole answer."
    )


def shuffler_caution(statement: Statement) -> str | None:
    """Returns a sentence about statements that rest on noise of the shuffler."""
    if all(level.rests_on != "shuffler" for level in statement.levels):
        return None
    return (
        "Caution: the noise is the shuffler's: if it adds none, or if anybody learns its "
        "dummies, nothing is left of the central epsilon against the analyst."
    )


def people_caution(num_users: int) -> str | None:
    """Returns a sentence about too few people to hide among."""
    if num_users >= FEW_PEOPLE:
        return None
    noun = "person takes" if num_users == 1 else "people take"
    return (
        f"Caution: only {num_users} {noun} part: they hide each other little, and an "
        "estimate about them is mostly noise."
    )


def _rare_levels(
    stated: Sequence[LevelGuarantee],
    people: Sequence[tuple[float, int]] | None,
    num_rare: int | None,
) -> str | None:
    counts = people or [(level.chosen, level.count) for level in stated]
    rare_levels = [level for level, count in counts if count < FEW_AT_A_LEVEL]
    # Reports never carry a target: with them there is no stratified mode.
    on_targets = any(level.epsilon_local is None for level in stated)
    noun = "target" if on_targets else "level"
    if not (rare_levels or num_rare):
        return None
    # Of very many levels, those that are stated stand for others.
    if people is None or len(rare_levels) > _MOST_LEVELS:
        return (
            f"Caution: some {noun}s were chosen by fewer than {FEW_AT_A_LEVEL} people: "
            f"{noun}s are not hidden, so that these people stand out by theirs."
        )
    which = f"{noun} " if len(rare_levels) == 1 else f"{noun}s "
    which += _names_as_text(map(plain, rare_levels))
    little = "" if on_targets else ", and stratified estimates have little of them"
    return (
        f"Caution: fewer than {FEW_AT_A_LEVEL} people are at {which}: who chose what is "
        f"not hidden, so that they stand out{little}."
    )


def _central(statement: Statement) -> float:
    # Where no one hides among others, the numbers are those of devices.
    if statement.local:
        return 0.0
    return max(level.epsilon_central for level in statement.levels)


def _names_as_text(names: Iterable[str]) -> str:
    texts = list(names)
    if len(texts) > 5:
        texts = [*texts[:4], f"{len(texts) - 4:,} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _times(epsilon: float) -> str:
    if epsilon == math.inf:
        return "any number of"
    power = epsilon / math.log(10.0)
    return f"10^{math.floor(power)}" if power >= 6.0 else f"{math.exp(epsilon):,.0f}"


def _short_number(number: float) -> str:
    return f"{number:.3g}" if number < 1000.0 else f"{number:,.0f}"
