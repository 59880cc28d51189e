"""Writes the test vectors of the specification from the library: the same bytes each time.

    python spec/writer/write_vectors.py

Keys, tokens and ephemeral keys are constants: test keys, which protect nothing. Not written
here are messages.json, coins.json and encodings.json, which hold what the participants'
page drew and sealed, and noise.json, a distribution in closed form:
`services/tests/service/test_page_vectors.py` checks them.
"""

import json
import struct
from typing import Any

import numpy as np

from collection_vectors import small_collection
from dummy_vectors import dummy_vectors
from known_sealing import seal_with
from refused_inputs import refused_inputs
from shuffledp_services.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp_services.wire.canonical import canonical, sha256, to_text
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.parties import Role, agreement, public_part
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason
from shuffledp_services.wire.roster import read_roster, write_roster
from shuffledp_services.wire.signed_plan import Acknowledgement, PublishedPlan
from shuffledp_services.wire.step import UNLINKED, Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.tokens import TokenDigests
from shuffledp_services.wire.upload_format import (
    Report,
    write_header,
    write_messages,
    write_reports,
)
from skipped_vectors import skipped_vectors
from stored_vectors import VECTORS, stored
from target_vectors import target_vectors
from vector_parties import (
    ANALYST,
    ENROLLER,
    EPOCH,
    SHUFFLER,
    SIGNING_KEYS,
    TOKENS,
    color_task,
    items_plan,
    key_texts,
)
from x_wing_vectors import x_wing_vectors

_EPHEMERAL = bytes.fromhex(
    "28747c5ad4606c85ab2b471bf15ed1262a35ed0512599bc1e37b4fc42c83ea42"
)
_BATCH_ID = bytes(range(0xC8, 0xD8))
_EVERY_ESCAPE = 'quotes " \\ / tab \t line \n \x00 \x1f \x7f \u2028 ü 😀'
_ABOUT = (
    "Bytes in base64url without padding, except where a member is said to be text or hex. "
    "All keys are test keys: they are published, and protect nothing."
)


def wire_vectors() -> dict[str, Any]:
    """Returns one of every document and byte string about one task, taken apart."""
    task = color_task()
    step = Step(task, EPOCH)
    (plain,) = write_messages(np.array([2]))
    sealed = seal_with(_EPHEMERAL, task.analyst_key, step.info(), plain)
    roster = write_roster(task, EPOCH, list(TOKENS), ENROLLER)
    enrolment = read_roster(roster, task).enrolment
    header = BatchHeader(
        task=task.digest,
        epoch=EPOCH,
        after=5,
        stage=step.stage,
        batch_id=_BATCH_ID,
        people=(0, 1, 0),
        sealed_size=step.sealed_size,
        bits=1,
        # The hash of the only message begins with a zero bit.
        shards=(Shard(0, 0, 1, sha256(sealed)), Shard(0, 1, 0, sha256(b""))),
        enrolment=enrolment,
    )
    manifest = write_manifest(header, SHUFFLER)
    receipt = Receipt(
        task.digest,
        EPOCH,
        0,
        messages_digest([sha256(sealed)]),
        0,
        ((0, Reason.TOKEN_SPENT),),
    )
    plan = items_plan(task.choices)
    published = PublishedPlan.sign(
        task, EPOCH, plan, minimum=300, counts=(100, 150, 80), signing_key=ANALYST
    )
    return {
        "about": _ABOUT,
        "canonical": _canonical(),
        "keys": key_texts(),
        "task": {
            "text": task.to_json().decode(),
            "digest": to_text(task.digest),
            "fingerprint": task.fingerprint,
        },
        "public_part": public_part(Role.SHUFFLER, SHUFFLER),
        "agreements": {
            role.value: agreement(role, task, key) for role, key in SIGNING_KEYS.items()
        },
        "link": _link(task),
        "step": _step(step),
        "token": {
            "whole": to_text(TOKENS[0]),
            "epoch": EPOCH,
            "digest": to_text(TokenDigests(task.digest, EPOCH).of(TOKENS[0])),
        },
        "message": {
            "plain": to_text(plain),
            "kind": 1,
            "number": 2,
            "ephemeral_private_key": to_text(_EPHEMERAL),
            "sealed": to_text(sealed),
            "enc": to_text(sealed[:32]),
        },
        "upload": _upload(step, sealed),
        "receipt": json.loads(receipt.signed(SHUFFLER)),
        "batch": {
            "whole": to_text(manifest + sealed),
            "magic": to_text(manifest[:5]),
            "header_length": len(manifest) - 9,
            "header": json.loads(manifest[9:]),
            "messages": to_text(sealed),
        },
        "plan": {
            # In the order of the library, which canonical text does not keep.
            "value": {
                name: plan.record[name]
                for name in ("statistic", "mechanism", "parameters", "mode")
            },
            "text": plan.text,
            "digest": to_text(bytes.fromhex(plan.digest)),
        },
        "acknowledgement": Acknowledgement(task.digest, _BATCH_ID, published).signed(
            ANALYST
        ),
        "roster": {
            "whole": to_text(roster),
            "tokens": [to_text(token) for token in TOKENS],
            "header": enrolment.to_dict(),
        },
    }


def _canonical() -> dict[str, Any]:
    value = {"b": [1, 1.0, True, None], "a": {"text": _EVERY_ESCAPE}, "A": []}
    numbers = (
        0.0,
        1.0,
        -2.5,
        0.1,
        1e-4,
        1e-5,
        2.5e-7,
        1e15,
        1e16,
        123456789012345680.0,
    )
    ends = (5e-324, 2.2250738585072014e-308, 1.7976931348623157e308)
    return {
        # The eight bytes of a double, big-endian, in hexadecimal digits, and its text.
        "floats": [
            [struct.pack(">d", number).hex(), repr(number)]
            for number in (*numbers, *ends)
        ],
        "value": value,
        "text": canonical(value).decode(),
    }


def _link(task: Task) -> dict[str, Any]:
    secret = sha256(b"test secret of a link")
    invitation = Invitation(task.digest, EPOCH, TOKENS[0], secret)
    return {
        "text": f"https://example.org/survey#{invitation.to_text()}",
        "token": to_text(TOKENS[0]),
        "secret": to_text(secret),
        "epoch": EPOCH,
        "task": task.fingerprint,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "epoch": step.epoch,
        "stage": int(step.stage),
        "info": {
            "whole": to_text(step.info()),
            "domain": "shuffledp message 1",
            "task_digest": to_text(step.task.digest),
            "epoch": step.epoch.to_bytes(4, "big").hex(),
            "stage": bytes([step.stage]).hex(),
            "plan_digest": to_text(step.plan_digest),
            "choice": UNLINKED.to_bytes(2, "big").hex(),
        },
    }


def _upload(step: Step, sealed: bytes) -> dict[str, Any]:
    body = write_reports(step, [Report(TOKENS[0], 1, (sealed,))])
    return {
        "whole": to_text(body),
        "header": {
            "whole": to_text(write_header(step)),
            "magic": "SDPR",
            "version": 1,
            "stage": int(step.stage),
            "epoch": step.epoch,
            "task_id": step.task.identity,
        },
        "choice": 1,
    }


def result_vectors() -> dict[str, Any]:
    """Returns a whole collection of twelve people."""
    return {"about": _ABOUT, **small_collection()}


def refusal_vectors(wire: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Returns malformed inputs, each with the kind of its refusal.

    Args:
        wire: From `wire_vectors`.
        result: From `result_vectors`.
    """
    return {"about": _ABOUT, **refused_inputs(wire, result, stored("messages.json"))}


def as_text(document: dict[str, Any]) -> str:
    """Returns the text of a file of vectors."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Writes the files."""
    wire, result = wire_vectors(), result_vectors()
    for name, document in {
        "wire.json": wire,
        "result.json": result,
        "dummies.json": {"about": _ABOUT, **dummy_vectors()},
        "skipped.json": {"about": _ABOUT, **skipped_vectors()},
        "targets.json": {"about": _ABOUT, **target_vectors()},
        "x_wing.json": {"about": _ABOUT, **x_wing_vectors()},
        "refusals.json": refusal_vectors(wire, result),
    }.items():
        (VECTORS / name).write_text(as_text(document), encoding="utf-8")


if __name__ == "__main__":
    main()
