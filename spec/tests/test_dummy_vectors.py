"""Vectors of a shuffler that adds the noise, recomputed from the text."""

import hashlib
import hmac

import write_vectors
from dummy_vectors import dummy_vectors
from known_sealing import seal_with
from shuffledp.identity import Identity
from shuffledp.shuffler.dummy_seed import DummySeed
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.shuffler.batch_dummies import BatchDummies
from shuffledp_services.wire.parties import Role, read_public_part
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.signed_plan import check_plan, prove_plan_rule
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task
from stored_vectors import VECTORS, decoded, stored
from vector_parties import ANALYST_PRIVATE

STORED = stored("dummies.json")
TASK = read_task(STORED["task"])


def test_the_library_writes_the_vectors_of_dummies_to_the_byte() -> None:
    written = {"about": STORED["about"], **dummy_vectors()}

    text = (VECTORS / "dummies.json").read_text(encoding="utf-8")

    assert write_vectors.as_text(written) == text


def test_seeds_and_the_batch_id_follow_from_the_secret_as_stated() -> None:
    seeds = {65_536: decoded(STORED["secret"])}
    for epoch in range(65_536, 0, -1):
        seeds[epoch - 1] = hashlib.sha256(seeds[epoch]).digest()
    messages = map(decoded, STORED["messages"])
    hashes = [hashlib.sha256(message).digest() for message in messages]
    total = sum(int.from_bytes(each, "big") for each in hashes) % 2**256
    text = b"shuffledp batch among dummies 1" + TASK.digest
    text += STORED["epoch"].to_bytes(4, "big") + total.to_bytes(32, "big")

    assert decoded(STORED["commitment"]) == seeds[0] == TASK.dummy_commitment
    assert decoded(STORED["seed"]) == seeds[STORED["epoch"]]
    assert decoded(STORED["sum"]) == total.to_bytes(32, "big")
    digest = hmac.digest(seeds[STORED["epoch"]], text, "sha256")
    assert decoded(STORED["batch_id"]) == digest[:16]
    part = read_public_part(STORED["public_part"], Role.SHUFFLER)
    assert part == (TASK.shuffler_signing_key, seeds[0])


def test_the_plan_is_the_one_that_the_task_states() -> None:
    plan, rule = Identity.from_record(STORED["plan"]), STORED["plan"]["parameters"]
    prove_plan_rule(TASK)
    check_plan(plan, TASK.minimum[0], TASK)

    # Three colors and no answer; three things, and no first and no second one.
    sizes = [(each["buckets"], each["most"]) for each in rule["groups"]]
    assert sizes == [(4, 1), (5, 2)]
    noise = [each["noise"]["shuffler"] for each in rule["groups"]]
    assert TASK.plan_rule is not None
    assert noise == [TASK.plan_rule.to_dict()["shuffler"]] * 2
    assert STORED["mean_dummies"] == 9 * noise[0]["dummies"]
    # Red, cheese and wine; no color, bread, and no second thing.
    assert STORED["entries"] == [[0, 5, 6], [3, 4, 8]]


def test_dummies_are_sealed_with_the_stated_ephemeral_keys() -> None:
    plan, batch_id = Identity.from_record(STORED["plan"]), decoded(STORED["batch_id"])
    step = Step(TASK, STORED["epoch"], EpochStage.ANSWER, plan)
    dummies = BatchDummies(step, DummySeed(decoded(STORED["seed"])))
    scope = TASK.digest + STORED["epoch"].to_bytes(4, "big")
    label = b"shuffledp sealing of dummies 1" + scope + batch_id
    secret = hmac.digest(decoded(STORED["seed"]), label, "sha256")

    content = b"".join(dummies.sealed(batch_id))

    for index, bucket in enumerate(dummies.messages(batch_id).tolist()[:5]):
        ephemeral = hmac.digest(secret, index.to_bytes(8, "big"), "sha256")
        plain = b"\x01" + bucket.to_bytes(8, "big")
        expected = seal_with(ephemeral, TASK.analyst_key, step.info(), plain)
        size = step.sealed_size
        assert content[index * size : (index + 1) * size] == expected
        if index == 0:
            assert hashlib.sha256(expected).digest() == decoded(STORED["first_sealed"])
    opener = Opener(TASK.suite, ANALYST_PRIVATE, step.info())
    assert opener.open(content[-step.sealed_size :]) is not None
