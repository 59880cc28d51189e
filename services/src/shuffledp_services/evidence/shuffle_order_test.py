"""Order tests: the order of a batch must not depend on the order of sending.

A batch that is sorted by SHA-256 has one order, which every reader can check. Any other
shuffler promises a uniformly random order: then all orders of a pile's canaries have the
same probability, given the times of sending and all other messages. So the number of pairs
in the order of sending has a known distribution (`inversions`); and so has that of pairs
within uploads.
"""

import numpy as np

from shuffledp.types import Ints
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import EpochView
from shuffledp_services.evidence.evidence import AuditFinding, EpochTest
from shuffledp_services.evidence.inversions import inversions, two_sided_p_value
from shuffledp_services.evidence.message_positions import message_positions


def order_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Tests the order of the whole batch."""
    if seen.batch is None:
        return AuditFinding.not_tested(
            EpochTest.ORDER, sentence="The batch was not shown."
        )
    if not seen.sorted_by_hash:
        positions, sent, piles, _ = _canary_messages(canaries, seen)
        return _inversions_finding(
            EpochTest.ORDER, positions, sent, piles, among="in the order of sending"
        )
    hashes, piles = seen.batch.hashes, seen.batch.piles
    # A hash that comes twice is not behind the one before, either.
    same = piles[1:] == piles[:-1]
    wrong = int(np.sum((piles[1:] < piles[:-1]) | (same & (hashes[1:] <= hashes[:-1]))))
    sentence = (
        f"{wrong:,} of {hashes.size:,} messages are out of order: they should be sorted by "
        "SHA-256."
    )
    return AuditFinding.of_rule_check(EpochTest.ORDER, wrong > 0, sentence=sentence)


def uploads_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Tests the order of the messages within each upload."""
    if seen.batch is None:
        return AuditFinding.not_tested(
            EpochTest.UPLOADS, sentence="The batch was not shown."
        )
    if seen.sorted_by_hash:
        sentence = "The order is by SHA-256, of which there is one."
        return AuditFinding.not_tested(EpochTest.UPLOADS, sentence=sentence)
    positions, sent, piles, uploads = _canary_messages(canaries, seen)
    # Detects a shuffler that mixes uploads, but not the messages within them.
    _, groups = np.unique(np.stack([piles, uploads]), axis=1, return_inverse=True)
    among = "of the same upload in the order of sending"
    return _inversions_finding(
        EpochTest.UPLOADS, positions, sent, groups.ravel(), among=among
    )


def _canary_messages(
    canaries: Canaries, seen: EpochView
) -> tuple[Ints, Ints, Ints, Ints]:
    """Returns batch position, sending position, pile and upload of present messages."""
    assert seen.batch is not None
    messages = canaries.hashes.shape[1]
    positions = message_positions(canaries.hashes, seen.batch.hashes)[0].ravel()
    sent = (canaries.send_positions[:, None] * messages + np.arange(messages)).ravel()
    uploads = np.repeat(canaries.uploads, messages)
    present = positions >= 0
    positions = positions[present]
    return positions, sent[present], seen.batch.piles[positions], uploads[present]


def _inversions_finding(
    check: EpochTest, positions: Ints, sent: Ints, groups: Ints, *, among: str
) -> AuditFinding:
    """Tests the number of pairs in order, over all groups."""
    count, sizes = 0, []
    for group in np.unique(groups).tolist():
        inside = groups == group
        sizes.append(int(inside.sum()))
        count += inversions(positions[inside], sent[inside])
    pairs = sum(size * (size - 1) // 2 for size in sizes)
    if not pairs:
        sentence = "No two messages of canaries can be compared."
        return AuditFinding.not_tested(check, sentence=sentence)
    p_value = two_sided_p_value(count, sizes)
    sentence = (
        f"Of {pairs:,} pairs of messages {pairs - count:,} are {among}; half of them are "
        f"to be expected: false-alarm probability {p_value:.2g}."
    )
    return AuditFinding.of_p_value(check, p_value, sentence=sentence)
