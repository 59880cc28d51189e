"""Delivery test: every canary is counted exactly once, in its own epoch.

Without a receipt it is unknown whether a missing report arrived. A shuffler that never
signs may lose as many as the task says are absent. Copies, and messages of earlier epochs,
must not occur at all.
"""

import numpy as np
from scipy.stats import hypergeom

from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import EpochView
from shuffledp_services.evidence.evidence import AuditFinding, EpochTest
from shuffledp_services.evidence.message_positions import message_positions


def delivery_finding(canaries: Canaries, seen: EpochView) -> AuditFinding:
    """Tests whether the canaries' messages are missing, copied or replayed."""
    lists = [
        *([] if seen.included is None else [seen.included]),
        *([] if seen.batch is None else [seen.batch.hashes]),
    ]
    if not lists:
        sentence = "Neither the batch nor a list of counted messages was shown."
        return AuditFinding.not_tested(EpochTest.DELIVERY, sentence=sentence)
    counts = [message_positions(canaries.hashes, hashes)[1] for hashes in lists]
    lost = (np.min(counts, axis=0) == 0).any(axis=1)
    doubled = sum(hashes.size - np.unique(hashes).size for hashes in lists)
    replayed = sum(
        int((message_positions(seen.earlier, hashes)[1] > 0).sum()) for hashes in lists
    )
    with_receipt = int((lost & canaries.receipts).sum())
    without = int((lost & ~canaries.receipts).sum())
    sentence = (
        f"Of {len(canaries):,} canaries {with_receipt:,} are missing with a receipt, "
        f"{without:,} without one; {doubled:,} messages of anybody came again; "
        f"{replayed:,} messages are of canaries of earlier epochs"
    )
    # A receipt is a proof: the shuffler signed that it keeps the report.
    if with_receipt or doubled or replayed:
        return AuditFinding.of_rule_check(
            EpochTest.DELIVERY, True, sentence=f"{sentence}."
        )
    if seen.gives_receipts or not seen.absent:
        # Receipts alone decide; or the number that may get lost is unknown.
        return AuditFinding.of_rule_check(
            EpochTest.DELIVERY, False, sentence=f"{sentence}."
        )
    sent = max(int(seen.people.sum()) + seen.absent, len(canaries))
    # If losses cannot depend on who is a canary, lost canaries are hypergeometric.
    p_value = float(hypergeom.sf(without - 1, sent, seen.absent, len(canaries)))
    p_value = min(max(p_value, 1e-300), 1.0)
    sentence = (
        f"{sentence}; if {seen.absent:,} of {sent:,} reports get lost, whosever they are, "
        f"so many do with probability {p_value:.2g}."
    )
    return AuditFinding.of_p_value(EpochTest.DELIVERY, p_value, sentence=sentence)
