"""What sets of items among Poisson blanket messages are worth: certified and attacked.

Everybody sends each of her at most s items with a chance set by her level, Poisson(m)
blanket messages, and dummies up to `report_size` messages, which only the analyst can
tell from items. `items_profile` argues what s replaced items reveal without the limit.

*The limit.* A draw above c = report_size - s is cut. Let t bound the probability that any
of the H honest people is cut: t <= H P(Poisson(m) > c). In either world, collections with
and without the limit can be drawn together so that they differ with probability at most t.
So for every event, if P(event) <= e^eps Q(event) + delta without the limit, then with it

    P'(event) <= P(event) + t <= e^eps (Q'(event) + t) + delta + t:

(1 + e^eps) t is added to delta, and subtracted from what the attack shows.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

from shuffledp.accounting.asked import check_whole
from shuffledp.accounting.items.guarantee import ItemsGuarantee, ItemsLevelGuarantee
from shuffledp.accounting.items.profile import ItemsProfile
from shuffledp.accounting.solve import (
    largest_attacked_epsilon,
    smallest_certified_epsilon,
)
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.population import Population

MAX_SET_SIZE = 4096
# Part of delta that pays for cut reports, unless their size is given.
CUT_SHARE = 1e-3

# Of the coins that devices draw Poisson numbers with, relative to their chances.
_COIN_ERROR = 1e-13
_LEAST_DELTA, _LARGEST_EPSILON = 1e-30, 600.0
_MAX_ITEMS = 2**31
_THEOREM = (
    "exact composition over replaced items: Poisson counts, with a Bernoulli count on "
    "one side or the other"
)
_NUMERICS = (
    "Certified numbers have six digits, rounded outward, at which the bound was evaluated "
    "and held.",
    "Bounds of truncation and rounding are added to every certified delta, and what the "
    "limited size of reports cuts off.",
    "Composed through a loss distribution that dominates that of one item (chords between "
    "nodes), by an integral whose errors are added.",
)


def account_items(
    people: Population,
    send_chances: Sequence[float],
    *,
    num_items: int,
    set_size: int,
    blanket: float,
    delta: float,
    absent: int = 0,
    report_size: int | None = None,
) -> ItemsGuarantee:
    """Certifies what a collection of sets is worth for the people of every level.

    Args:
        people: Levels (central epsilons that were asked for) and counts of all people.
        send_chances: lambda of each level, in [0, 1], in the order of `people.epsilons`.
        num_items: d, at least 2.
        set_size: s, from 1 to d: nobody holds more items.
        blanket: m > 0, blanket messages per person in the mean.
        delta: In [1e-30, 1).
        absent: How many of the other people may be absent or collude.
        report_size: Messages per person, dummies included. By default as few as cost less
            than a thousandth of delta.

    Raises:
        InvalidInputError: If a parameter is out of range, or reports are too small.
        PopulationError: If more people are absent than there are others.
        CertificationError: If no finite epsilon holds, or none can be proven.
    """
    if not isinstance(people, Population):
        raise InvalidInputError(f"Expected a Population, got {type(people).__name__}.")
    check_items(num_items, set_size, delta)
    honest = honest_people(people, absent)
    chances = [check_chance(chance) for chance in send_chances]
    if len(chances) != people.num_levels:
        raise InvalidInputError(
            f"Expected {people.num_levels} chances to send, got {len(chances)}."
        )
    mean = blanket_mean(blanket, num_items, honest)
    profiles = {
        chance: ItemsProfile(mean, chance, set_size, num_items, delta)
        for chance in chances
    }
    levels = people.epsilons.tolist()
    kept = (1.0 - CUT_SHARE) * delta
    if report_size is None:
        uppers = [
            _certified(profiles[chance].upper, kept, level)
            for level, chance in zip(levels, chances, strict=True)
        ]
        report_size = smallest_report(
            blanket, set_size, honest=honest, epsilon=max(uppers), delta=delta
        )
        cut = cut_chance(blanket, report_size - set_size, honest)
    else:
        check_whole(report_size, "messages per report", least=set_size)
        cut = cut_chance(blanket, report_size - set_size, honest)
        uppers = [
            _with_cut(profiles[chance].upper, delta, cut, level)
            for level, chance in zip(levels, chances, strict=True)
        ]
    entries = []
    for level, chance, count, upper in zip(
        levels, chances, people.counts.tolist(), uppers, strict=True
    ):
        shown = partial(_less_cut, profiles[chance].lower, cut)
        lower = largest_attacked_epsilon(
            shown, delta, ceiling=_LARGEST_EPSILON, guess=0.99 * upper
        )
        if not lower <= upper:
            raise CertificationError(
                f"The bounds contradict each other ({lower!r} > {upper!r}): the numbers "
                "are too extreme for double precision."
            )
        entries.append(ItemsLevelGuarantee(level, count, chance, upper, lower))
    return ItemsGuarantee(
        num_users=people.num_users,
        absent=int(absent),
        num_items=int(num_items),
        set_size=int(set_size),
        blanket=float(blanket),
        report_size=int(report_size),
        delta=float(delta),
        delta_cut=(1.0 + math.exp(max(uppers))) * cut,
        levels=tuple(entries),
        theorem=_THEOREM,
        assumptions=_assumed(absent, set_size, report_size, honest),
        numerics=_NUMERICS,
    )


def smallest_report(
    blanket: float, set_size: int, *, honest: int, epsilon: float, delta: float
) -> int:
    """Returns the smallest size of reports that costs less than delta / 1000.

    Args:
        blanket: m.
        set_size: s.
        honest: People who really send their blanket messages.
        epsilon: The largest at which delta is to hold.
        delta: In (0, 1).
    """
    enough = CUT_SHARE * delta / (1.0 + math.exp(epsilon))
    low, high = -1, 1
    while cut_chance(blanket, high, honest) >= enough:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        small = cut_chance(blanket, middle, honest) < enough
        low, high = (low, middle) if small else (middle, high)
    return set_size + high


def cut_chance(blanket: float, cap: int, honest: int) -> float:
    """Returns a bound of the chance that anybody's Poisson(m) is above `cap`.

    P(N > c) <= P(N = c + 1) / (1 - m / (c + 2)), a geometric series, for c + 2 > m.
    """
    if cap + 2 <= blanket:
        return 1.0
    log = (cap + 1) * math.log(blanket) - blanket - math.lgamma(cap + 2)
    # The terms cancel: their rounding is of the size of the largest.
    log += 1e-14 * (cap + 2) * (math.log(cap + 2) + abs(math.log(blanket)) + 1.0)
    tail = math.exp(min(log, 0.0)) / (1.0 - blanket / (cap + 2))
    return min(honest * tail * (1.0 + 1e-12) + 1e-300, 1.0)


def check_items(num_items: int, set_size: int, delta: float) -> None:
    """Raises InvalidInputError unless these are a protocol's and a promise's."""
    check_whole(num_items, "items", least=2)
    check_whole(set_size, "items per set", least=1)
    if num_items > _MAX_ITEMS or set_size > min(num_items, MAX_SET_SIZE):
        raise InvalidInputError(
            f"Expected sets of at most {MAX_SET_SIZE} of at most {_MAX_ITEMS} items, got "
            f"{set_size} of {num_items}."
        )
    if not _LEAST_DELTA <= as_number(delta, "delta") < 1.0:
        raise InvalidInputError(
            f"Expected {_LEAST_DELTA:g} <= delta < 1, got {delta:g}."
        )


def check_chance(send_chance: float) -> float:
    """Returns a chance to send; raises InvalidInputError if it is none."""
    chance = as_number(send_chance, "chance to send")
    if not 0.0 <= chance <= 1.0:
        raise InvalidInputError(f"Expected chances to send in [0, 1], got {chance:g}.")
    return chance


def honest_people(people: Population, absent: int) -> int:
    """Returns how many people surely send blanket messages, the victim included."""
    check_whole(absent, "absent people", least=0)
    if absent > people.num_users - 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {absent}."
        )
    return people.num_users - int(absent)


def blanket_mean(blanket: float, num_items: int, honest: int) -> float:
    """Returns mu, the honest blanket messages per item in the mean."""
    m = as_number(blanket, "blanket messages per person")
    if not (m > 0.0 and math.isfinite(m)):
        raise InvalidInputError(
            f"Expected more than 0 blanket messages per person, got {m:g}."
        )
    return honest * (m / num_items)


def _certified(upper: Callable[[float], float], delta: float, guess: float) -> float:
    """Returns the smallest certified epsilon at `delta`."""
    if upper(_LARGEST_EPSILON) > delta:
        raise CertificationError(
            f"No finite epsilon holds at delta {delta:g}: there are too few blanket "
            "messages for these chances to send."
        )
    return smallest_certified_epsilon(
        upper, delta, ceiling=_LARGEST_EPSILON, guess=max(guess, 1e-6)
    )


def _with_cut(
    upper: Callable[[float], float], delta: float, cut: float, guess: float
) -> float:
    """Returns an epsilon at which upper(epsilon) + (1 + e^epsilon) cut <= delta."""
    epsilon = 0.0
    while True:
        rest = delta * (1.0 - 1e-15) - (1.0 + math.exp(epsilon)) * cut
        if rest <= 0.0:
            raise InvalidInputError(
                "Expected larger reports: blanket messages that do not fit cost more "
                f"than delta {delta:g}."
            )
        found = _certified(upper, rest, guess)
        if found <= epsilon:
            # Certified at `epsilon`: the bound falls, and held below.
            return epsilon
        epsilon = guess = found


def _less_cut(lower: Callable[[float], float], cut: float, epsilon: float) -> float:
    return lower(epsilon) - (1.0 + math.exp(epsilon)) * cut


def _assumed(
    absent: int, set_size: int, report_size: int, honest: int
) -> tuple[str, ...]:
    # A message's law may be off by this part of itself, in both worlds.
    off = 2.0 * honest * report_size * _COIN_ERROR
    but = f" but {absent:,} of the others" if absent else ""
    return (
        f"Everybody{but} who is counted is honest and really draws her Poisson blanket "
        "messages; people who collude or are absent hide nobody. Her own blanket messages "
        "hide her, too.",
        f"Everybody sends one report of {report_size:,} messages, once: items, blanket "
        "messages, and dummies that only the analyst can tell from them.",
        "Numbers of blanket messages are exactly Poisson. Devices draw them with coins "
        f"whose chances are exact to 1e-13, which adds {off:.1e} to an epsilon at most.",
        "People are independent, and sets do not depend on others' messages.",
        "The shuffler puts all messages of all people in a uniformly random order and "
        "keeps it secret.",
        "Levels travel apart from messages: nobody can tell which belongs to which.",
        f"Two worlds are compared in which one person's set, of at most {set_size:,} "
        "items, is replaced by any other; her level, and how many people chose each, are "
        "public.",
    )
