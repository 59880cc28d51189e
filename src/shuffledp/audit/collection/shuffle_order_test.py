"""Does the order of a batch tell when messages were sent?

A batch that is sorted by SHA-256 has one order, which anybody can check. Of any other
shuffler a uniformly random order is promised: then canaries of a pile are in every order
with the same chance, whenever they were sent, and whatever the others did. So the number of
pairs in the order in which they were sent has a known law (`inversions`); and so has that
of pairs within uploads, which shows a shuffler that mixes uploads and not what is in them.
"""

import numpy as np

from shuffledp.audit.collection.canaries import Canaries
from shuffledp.audit.collection.epoch_view import EpochView
from shuffledp.audit.collection.evidence import AuditFinding, EpochTest
from shuffledp.audit.collection.inversions import inversions, two_sided_p_value
from shuffledp.audit.collection.message_positions import message_positions
from shuffledp.types import Ints


def order_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Returns what the order of the whole batch says."""
    if seen.batch is None:
        return AuditFinding.unseen(EpochTest.ORDER, sentence="The batch was not shown.")
    if not seen.sorted_by_hash:
        places, sent, piles, _ = _found(canaries, seen)
        return _ranked(
            EpochTest.ORDER, places, sent, piles, among="in the order of sending"
        )
    hashes, piles = seen.batch.hashes, seen.batch.piles
    same = piles[1:] == piles[:-1]
    wrong = int(np.sum((piles[1:] < piles[:-1]) | (same & (hashes[1:] <= hashes[:-1]))))
    sentence = (
        f"Of {hashes.size:,} messages, {wrong:,} are not behind the one before by "
        "SHA-256, as all should be."
    )
    return AuditFinding.of_rule(EpochTest.ORDER, wrong > 0, sentence=sentence)


def uploads_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Returns what the order of messages of the same upload says."""
    if seen.batch is None:
        return AuditFinding.unseen(
            EpochTest.UPLOADS, sentence="The batch was not shown."
        )
    if seen.sorted_by_hash:
        sentence = "The order is by SHA-256, of which there is one."
        return AuditFinding.unseen(EpochTest.UPLOADS, sentence=sentence)
    places, sent, piles, uploads = _found(canaries, seen)
    _, groups = np.unique(np.stack([piles, uploads]), axis=1, return_inverse=True)
    among = "of the same upload in the order of sending"
    return _ranked(EpochTest.UPLOADS, places, sent, groups.ravel(), among=among)


def _found(canaries: Canaries, seen: EpochView) -> tuple[Ints, Ints, Ints, Ints]:
    """Returns place in the batch, place of sending, pile and upload of what is there."""
    assert seen.batch is not None
    messages = canaries.hashes.shape[1]
    places = message_positions(canaries.hashes, seen.batch.hashes)[0].ravel()
    sent = (canaries.places[:, None] * messages + np.arange(messages)).ravel()
    uploads = np.repeat(canaries.uploads, messages)
    there = places >= 0
    places = places[there]
    return places, sent[there], seen.batch.piles[places], uploads[there]


def _ranked(
    check: EpochTest, places: Ints, sent: Ints, groups: Ints, *, among: str
) -> AuditFinding:
    """Returns how unlikely it is that so many pairs of each group are in order."""
    count, sizes = 0, []
    for group in np.unique(groups).tolist():
        inside = groups == group
        sizes.append(int(inside.sum()))
        count += inversions(places[inside], sent[inside])
    pairs = sum(size * (size - 1) // 2 for size in sizes)
    if not pairs:
        sentence = "No two messages of canaries can be compared."
        return AuditFinding.unseen(check, sentence=sentence)
    p_value = two_sided_p_value(count, sizes)
    sentence = (
        f"Of {pairs:,} pairs of messages {pairs - count:,} are {among}; half of them are "
        f"to be expected: false-alarm probability {p_value:.2g}."
    )
    return AuditFinding.of_p_value(check, p_value, sentence=sentence)
