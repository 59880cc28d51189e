"""Level test: published numbers of users, and the batch, against canaries' levels.

No level can have fewer users than canaries with receipts, and none is published below the
task's minimum. Where levels travel with messages, each canary is in its level's pile. Where
messages must not tell levels, no property of a message may depend on its level: given the
piles, sizes and positions of canaries' messages, every assignment of them to the canaries
is equally likely. Each level is compared with all others: by positions (Mann, Whitney
1947), by each pile and size (Fisher 1935); the p-value is the least times their number.
"""

import numpy as np
from scipy.stats import hypergeom

from shuffledp.errors import InvalidInputError
from shuffledp.types import Ints
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import EpochView
from shuffledp_services.evidence.evidence import AuditFinding, EpochTest
from shuffledp_services.evidence.inversions import two_sided_p_value
from shuffledp_services.evidence.message_positions import message_positions


def levels_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Tests whether numbers of users and the batch agree with the canaries' levels.

    Raises:
        InvalidInputError: If a canary has a level that the task does not offer.
    """
    of_level = np.searchsorted(seen.levels, canaries.levels)
    known = np.minimum(of_level, seen.levels.size - 1)
    if (seen.levels[known] != canaries.levels).any():
        raise InvalidInputError("Expected canaries at levels of the task.")
    counted = known if seen.people.size > 1 else np.zeros_like(known)
    acknowledged = np.bincount(counted[canaries.receipts], minlength=seen.people.size)
    few, below = seen.people < acknowledged, seen.people < seen.minimum
    sentence = (
        f"Fewer people than canaries with receipts are published at {few.sum():,} of "
        f"{few.size:,} levels, and fewer than the minimum at {below.sum():,}"
    )
    broken = bool(few.any() or below.any())
    if seen.batch is None:
        return AuditFinding.of_rule_check(
            EpochTest.LEVELS, broken, sentence=f"{sentence}."
        )
    positions = message_positions(canaries.hashes, seen.batch.hashes)[0]
    if not seen.hides_levels:
        # A missing message, at index -1, is left to the delivery test.
        wrong = (positions >= 0) & (seen.batch.piles[positions] != known[:, None])
        broken = broken or bool(wrong.any())
        sentence = f"{sentence}; {wrong.sum():,} messages are in another level's pile."
        return AuditFinding.of_rule_check(EpochTest.LEVELS, broken, sentence=sentence)
    p_values = _level_p_values(positions, known, seen)
    if broken or not p_values:
        return AuditFinding.of_rule_check(
            EpochTest.LEVELS, broken, sentence=f"{sentence}."
        )
    # The union bound over comparisons.
    p_value = min(len(p_values) * min(p_values), 1.0)
    sentence = (
        f"{sentence}; that positions, piles and sizes of canaries' messages go with their "
        f"levels as they do has a false-alarm probability of {p_value:.2g}."
    )
    return AuditFinding.of_p_value(EpochTest.LEVELS, p_value, sentence=sentence)


def _level_p_values(positions: Ints, levels: Ints, seen: EpochView) -> list[float]:
    """Computes a p-value for each comparison of a level with the others."""
    assert seen.batch is not None
    # One message per canary: those of one report may stay together in the batch.
    present = positions[:, 0] >= 0
    positions, levels = positions[present, 0], levels[present]
    kinds = np.stack([seen.batch.piles[positions], seen.batch.sizes[positions]])
    _, kind = np.unique(kinds, axis=1, return_inverse=True)
    p_values = []
    # With two levels, both comparisons are the same; one of them is enough.
    for level in np.unique(levels)[1 if np.unique(levels).size == 2 else 0 :].tolist():
        at_level = levels == level
        count, num_others = int(at_level.sum()), int((~at_level).sum())
        if not num_others:
            continue
        # An order by hash tells no level.
        if not seen.sorted_by_hash:
            ranks = np.argsort(np.argsort(positions))
            # Pairs with the level's message behind: Mann, Whitney (1947).
            above = int(ranks[at_level].sum()) - count * (count - 1) // 2
            p_values.append(
                two_sided_p_value(
                    above, [count + num_others], tie_sizes=[count, num_others]
                )
            )
        if kind.max() == 0:
            continue
        for kind_index in range(int(kind.max()) + 1):
            of_kind = kind.ravel() == kind_index
            p_values.append(
                _fisher(
                    int((at_level & of_kind).sum()),
                    int(of_kind.sum()),
                    count,
                    num_others,
                )
            )
    return p_values


def _fisher(num_both: int, num_of_kind: int, count: int, num_others: int) -> float:
    """Returns the two-sided p-value of Fisher's exact test: twice the smaller tail."""
    parameters = count + num_others, num_of_kind, count
    tail = min(
        float(hypergeom.cdf(num_both, *parameters)),
        float(hypergeom.sf(num_both - 1, *parameters)),
    )
    return min(max(2.0 * tail, 1e-300), 1.0)
