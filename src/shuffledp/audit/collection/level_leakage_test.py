"""Do published numbers of people, and the batch, agree with what canaries know of levels?

No level can have fewer people than canaries whose reports were kept, and none is published
below the task's minimum. Where levels travel with messages, each canary is in its level's
pile. Where they must not be told from messages, nothing of a message may go with its level:
given which piles, sizes and places canaries' messages have, every assignment of them to
the canaries is as likely. Each level is compared with all others: by places (Mann, Whitney
1947), by each pile and size (Fisher 1935); the least p-value counts, times their number.
"""

import numpy as np
from scipy.stats import hypergeom

from shuffledp.audit.collection.canaries import Canaries
from shuffledp.audit.collection.epoch_view import EpochView
from shuffledp.audit.collection.evidence import AuditFinding, EpochTest
from shuffledp.audit.collection.inversions import two_sided_p_value
from shuffledp.audit.collection.message_positions import message_positions
from shuffledp.errors import InvalidInputError
from shuffledp.types import Ints


def levels_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Returns what is known of levels.

    Raises:
        InvalidInputError: If a canary has a level that nobody can choose.
    """
    of_level = np.searchsorted(seen.levels, canaries.levels)
    known = np.minimum(of_level, seen.levels.size - 1)
    if (seen.levels[known] != canaries.levels).any():
        raise InvalidInputError("Expected canaries at levels of the task.")
    counted = known if seen.people.size > 1 else np.zeros_like(known)
    kept = np.bincount(counted[canaries.receipts], minlength=seen.people.size)
    few, below = seen.people < kept, seen.people < seen.minimum
    sentence = (
        f"Fewer people than canaries with receipts are published at {few.sum():,} of "
        f"{few.size:,} levels, and fewer than the minimum at {below.sum():,}"
    )
    broken = bool(few.any() or below.any())
    if seen.batch is None:
        return AuditFinding.of_rule(EpochTest.LEVELS, broken, sentence=f"{sentence}.")
    places = message_positions(canaries.hashes, seen.batch.hashes)[0]
    if not seen.hides_levels:
        wrong = (places >= 0) & (seen.batch.piles[places] != known[:, None])
        broken = broken or bool(wrong.any())
        sentence = f"{sentence}; {wrong.sum():,} messages are in another level's pile."
        return AuditFinding.of_rule(EpochTest.LEVELS, broken, sentence=sentence)
    found = _told(places, known, seen)
    if broken or not found:
        return AuditFinding.of_rule(EpochTest.LEVELS, broken, sentence=f"{sentence}.")
    p_value = min(len(found) * min(found), 1.0)
    sentence = (
        f"{sentence}; that places, piles and sizes of canaries' messages go with their "
        f"levels as they do has a false-alarm probability of {p_value:.2g}."
    )
    return AuditFinding.of_p_value(EpochTest.LEVELS, p_value, sentence=sentence)


def _told(places: Ints, levels: Ints, seen: EpochView) -> list[float]:
    """Returns a p-value of each comparison of a level with the others."""
    assert seen.batch is not None
    # One message of each: those of one report may be kept together.
    there = places[:, 0] >= 0
    places, levels = places[there, 0], levels[there]
    kinds = np.stack([seen.batch.piles[places], seen.batch.sizes[places]])
    _, kind = np.unique(kinds, axis=1, return_inverse=True)
    found = []
    # Of two levels, the second says what the first says.
    for level in np.unique(levels)[1 if np.unique(levels).size == 2 else 0 :].tolist():
        here = levels == level
        count, rest = int(here.sum()), int((~here).sum())
        if not rest:
            continue
        if not seen.sorted_by_hash:
            ranks = np.argsort(np.argsort(places))
            above = int(ranks[here].sum()) - count * (count - 1) // 2
            found.append(two_sided_p_value(above, [count + rest], alike=[count, rest]))
        if kind.max() == 0:
            continue
        for one in range(int(kind.max()) + 1):
            alike = kind.ravel() == one
            found.append(
                _fisher(int((here & alike).sum()), int(alike.sum()), count, rest)
            )
    return found


def _fisher(both: int, alike: int, count: int, rest: int) -> float:
    """Returns twice the smaller tail: how many of `count` are among `alike`."""
    law = count + rest, alike, count
    tail = min(float(hypergeom.cdf(both, *law)), float(hypergeom.sf(both - 1, *law)))
    return min(max(2.0 * tail, 1e-300), 1.0)
