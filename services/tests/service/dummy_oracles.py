"""A shuffler's dummies, recomputed from its secret as the specification says."""

import hashlib
import hmac
from typing import Any

import numpy as np
from live_collection import People
from numpy.typing import NDArray
from service_parties import CATEGORIES, Parties

from shuffledp.identity import Identity
from shuffledp.shuffler.dummy_seed import DummySeed
from shuffledp.statistics.counts.protocol import Counts
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.wire.canonical import from_text

# Of `QUESTIONS`: options, and one more for people who leave a question out.
SIZES = (len(CATEGORIES) + 1, 3, 3)
_LAST = 65_536


def seed_of(secret: bytes, epoch: int) -> bytes:
    """The seed of an epoch: hashes of hashes of the secret."""
    for _ in range(_LAST - epoch):
        secret = hashlib.sha256(secret).digest()
    return secret


def batch_id_of(seed: bytes, task: bytes, epoch: int, people_s: list[bytes]) -> bytes:
    """The id of the batch with these sealed messages of people."""
    total = sum(int.from_bytes(hashlib.sha256(each).digest()) for each in people_s)
    text = b"shuffledp batch among dummies 1" + task + epoch.to_bytes(4)
    text += (total % 2**256).to_bytes(32)
    return hmac.digest(seed, text, "sha256")[:16]


def dummies_in(
    seed: bytes, task: bytes, epoch: int, plan: Identity, batch_id: bytes
) -> NDArray[np.int64]:
    """How many dummies each bucket of a batch has."""
    nonce = task + epoch.to_bytes(4) + batch_id
    counts = Counts.from_record(plan.record)
    drawn = counts.draw_dummies(rng=DummySeed(seed).random(plan, nonce=nonce))
    buckets = sum(group.buckets for group in counts.groups)
    return np.bincount(drawn.messages // 2, minlength=buckets)


def true_counts(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many people gave each answer, and how many left each question out."""
    answered = np.bincount(values.ravel(), minlength=9)[:8]
    parts, first = [], 0
    for size in SIZES:
        own = answered[first : first + size - 1]
        parts.append([*own, len(values) - own.sum()])
        first += size - 1
    return np.concatenate(parts)


def check_noisy_result(
    who: Parties, people: People, plan: Identity, result: dict[str, Any]
) -> None:
    """Nothing is lost or doubled: every person is counted, and every dummy once."""
    assert who.dummies is not None
    batch_id = from_text(result["batch"]["id"], 16, "a batch id")
    seed = seed_of(who.dummies.secret, result["epoch"])
    dummies = dummies_in(seed, who.task.digest, result["epoch"], plan, batch_id)
    counts = np.array(result["tally"]["counts"][0][0])
    assert counts[-1] == 1
    assert not counts[1:-1:2].any()
    assert (counts[:-1:2] - dummies).tolist() == true_counts(people.values).tolist()
    assert result["spoiled"] == 0
    assert problems_in(result, who.task) == ()
