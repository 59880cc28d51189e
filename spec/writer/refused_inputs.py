"""Malformed inputs as test vectors, each with the kind of refusal that it gets.

Every input is a valid one with one mistake, and is signed again where it has a signature:
otherwise all of them would be refused as forged.
"""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from refused_collections import refused_collections
from shuffledp_services.wire.canonical import canonical, to_text
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.signing import signed
from stored_vectors import decoded
from vector_parties import ANALYST, ENROLLER, SHUFFLER, SIGNING_KEYS, alike_task

Document: TypeAlias = dict[str, Any]
Refused: TypeAlias = tuple[str, str, Any, str]
"""What is read, the mistake, the input, and the kind of refusal."""


def refused_inputs(
    wire: Document, collection: Document, messages: Document
) -> Document:
    """Returns the vectors of refusals.json.

    Args:
        wire: Vectors of wire.json.
        collection: Vectors of result.json.
        messages: Vectors of messages.json.
    """
    (planned,) = [
        case for case in messages["cases"] if case["name"] == "items, answers"
    ]
    analyst = bytes.fromhex(messages["items_signing_keys"]["analyst_signing_key"])
    entries = [
        *_texts(),
        *_tasks(wire),
        *_forms(),
        *_links(wire),
        *_uploads(wire),
        *_receipts(wire),
        *_rosters(wire),
        *_manifests(wire),
        *_agreements(wire),
        *_plans(json.loads(planned["served"])["plan"], analyst),
        *_plain_messages(),
        *_public_keys(),
        *refused_collections(collection),
    ]
    return {
        "task": wire["task"]["text"],
        "planned_task": planned["canonical_task"],
        "collection_task": collection["task"],
        "inputs": [
            {
                "what": what,
                "mistake": mistake,
                # Documents as texts, like files: what is written here can be read as it is.
                "input": given if isinstance(given, str) else canonical(given).decode(),
                "refused": kind,
            }
            for what, mistake, given, kind in entries
        ],
    }


def _texts() -> Iterator[Refused]:
    for mistake, text in {
        "not an object": "[]",
        "a name twice": '{"a": 1, "a": 1}',
        "not a number": '{"a": NaN}',
        "beyond all doubles": '{"a": 1e999}',
        "half a character": '{"a": "\\ud800"}',
        "a byte order mark": '\ufeff{"a": 1}',
        "65 levels": '{"a":' * 65 + "1" + "}" * 65,
        "something after it": "{} {}",
    }.items():
        yield "json", mistake, text, "malformed"
    for mistake, text in {
        "padding": "AA==",
        "bits that are not used": "AB",
        "another size": "AAA",
        "another alphabet": "+w",
        "white space": "A A",
    }.items():
        yield "one byte", mistake, text, "malformed"


def _tasks(wire: Document) -> Iterator[Refused]:
    task = json.loads(wire["task"]["text"])
    question, terms = task["question"], task["question"]["terms"]
    rule = {"noise": [1.0], "rates": [[0.0, 0.0, 0.0]], "cut": 0.1, "coin_error": 0.1}
    protocol = {**task["protocol"], "mechanism": "hadamard-response"}
    key = task["analyst_signing_key"]
    for mistake, kind, changes in (
        ("another version", "malformed", {"version": 3}),
        ("an unknown member", "malformed", {"color": 1}),
        ("a short key", "malformed", {"analyst_key": "AA"}),
        ("an unknown suite", "malformed", {"suite": "p-256"}),
        ("delta as a whole number", "malformed", {"delta": 1}),
        ("a truth value as a number", "malformed", {"minimum": [True, 200, 300]}),
        ("a protocol of another question", "malformed", {"protocol": protocol}),
        ("delta of 1", "out-of-range", {"delta": 1.0}),
        ("choices that fall", "out-of-range", {"choices": [0.5, 2.0, 1.0]}),
        ("a choice above 700", "out-of-range", {"choices": [0.5, 1.0, 701.0]}),
        ("a promise too few", "out-of-range", {"promise": [0.25, 0.5]}),
        ("nobody as minimum", "out-of-range", {"minimum": [0, 200, 300]}),
        ("one key of two parties", "out-of-range", {"shuffler_signing_key": key}),
        ("an empty name", "out-of-range", {"name": " "}),
        ("a rule where people choose levels", "out-of-range", {"plan_rule": rule}),
        (
            "one answer",
            "out-of-range",
            {"question": {**question, "terms": {**terms, "categories": ["red"]}}},
        ),
        (
            "a subset size of another mechanism",
            "out-of-range",
            {"question": {**question, "terms": {**terms, "subset_size": 1}}},
        ),
    ):
        changed: Document = {**task, **changes}
        yield "task", mistake, canonical(changed).decode(), kind
    del task["absent"]
    yield "task", "a missing member", canonical(task).decode(), "malformed"


def _forms() -> Iterator[Refused]:
    """Yields a task of two questions of one text, of which an option is that of both."""
    text = alike_task().to_json().decode()
    yield (
        "task of a form",
        "one label of two options",
        _with_option(text),
        "out-of-range",
    )


def _with_option(text: str) -> str:
    task = json.loads(text)
    task["question"]["terms"]["questions"][1]["options"] = ["bus", "car"]
    return canonical(task).decode()


def _links(wire: Document) -> Iterator[Refused]:
    link = wire["link"]["text"]
    for mistake, text in {
        "epoch 0": link.replace("epoch=7", "epoch=0"),
        "an epoch of 33 bits": link.replace("epoch=7", "epoch=4294967296"),
        "a leading zero": link.replace("epoch=7", "epoch=07"),
        "a short token": link.replace(f"token={wire['link']['token']}", "token=AAAA"),
        "capital digits": link.replace(
            wire["link"]["task"], wire["link"]["task"].upper()
        ),
        "one more member": f"{link}&name=x",
        "another order": "#secret={secret}&token={token}&epoch=7&task={task}".format(
            **wire["link"]
        ),
    }.items():
        yield "link", mistake, text, "malformed"


def _uploads(wire: Document) -> Iterator[Refused]:
    body = decoded(wire["upload"]["whole"])
    for mistake, kind, changed in (
        ("other letters", "malformed", b"SDPX" + body[4:]),
        ("another version", "malformed", body[:4] + b"\x02" + body[5:]),
        ("an unknown stage", "malformed", body[:5] + b"\x02" + body[6:]),
        ("no report", "wrong-size", body[:26]),
        ("part of a report", "wrong-size", body[:-1]),
    ):
        yield "upload", mistake, to_text(changed), kind


def _receipts(wire: Document) -> Iterator[Refused]:
    receipt = wire["receipt"]
    for mistake, changes in (
        ("an unknown member", {"color": 1}),
        ("a number below 0", {"accepted": -1}),
        ("an unknown kind", {"refused": [[0, "because"]]}),
        ("the plan in base64url", {"plan": wire["plan"]["digest"]}),
    ):
        yield "receipt", mistake, _signed("receipt", receipt, changes), "malformed"
    changed = {**receipt, "epoch": 8}
    yield "receipt", "changed after it was signed", changed, "signature-forged"
    other = _signed("batch", receipt, {})
    yield "receipt", "signed for another purpose", other, "signature-forged"


def _rosters(wire: Document) -> Iterator[Refused]:
    whole, header = decoded(wire["roster"]["whole"]), wire["roster"]["header"]
    digests = whole[-32:]

    def roster(changes: Document, digests: bytes, key: bytes = ENROLLER) -> str:
        text = canonical(_signed("enrolment", header, changes, key))
        return to_text(whole[:5] + len(text).to_bytes(4, "big") + text + digests)

    for mistake, kind, text in (
        ("another version", "malformed", to_text(b"SDPT\x02" + whole[5:])),
        ("digests cut", "wrong-size", roster({}, digests[:-1])),
        ("no tokens", "malformed", roster({"tokens": 0}, b"")),
        ("another task", "unknown-task", roster({"task": "A" * 43}, digests)),
        ("another key", "signature-forged", roster({}, digests, SHUFFLER)),
    ):
        yield "roster", mistake, text, kind


def _manifests(wire: Document) -> Iterator[Refused]:
    whole, header = decoded(wire["batch"]["whole"]), wire["batch"]["header"]

    def manifest(changes: Document, key: bytes = SHUFFLER) -> bytes:
        text = canonical(_signed("batch", header, changes, key))
        return whole[:5] + len(text).to_bytes(4, "big") + text

    for mistake, kind, content in (
        ("another version", "malformed", b"SDPB\x03" + whole[5:]),
        ("a message after it", "wrong-size", whole),
        ("a header of 16 MiB", "too-large", whole[:5] + b"\x01" + bytes(3)),
        ("an unknown member", "malformed", manifest({"color": 1})),
        ("another task", "unknown-task", manifest({"task": "A" * 43})),
        ("delivered before", "wrong-epoch", manifest({"after": 7})),
        ("an enrolment of another epoch", "wrong-epoch", manifest({"epoch": 8})),
        ("more people than tokens", "wrong-size", manifest({"people": [0, 3, 0]})),
        ("too few shards", "wrong-size", manifest({"shards": header["shards"][:1]})),
        ("another number of messages", "wrong-size", manifest({"people": [0, 0, 0]})),
        ("a sealed size of 0", "wrong-size", manifest({"sealed_size": 0})),
        ("18 bits", "malformed", manifest({"bits": 18})),
        ("another key", "signature-forged", manifest({}, ENROLLER)),
    ):
        yield "manifest", mistake, to_text(content), kind


def _agreements(wire: Document) -> Iterator[Refused]:
    agreement, key = wire["agreements"]["analyst"], SIGNING_KEYS[Role.ANALYST]
    for mistake, changes in (
        ("another role", {"role": "shuffler"}),
        ("another task", {"task": "0" * 64}),
    ):
        value = _signed("agreement", agreement, changes, key)
        yield "agreement of the analyst", mistake, value, "signature-forged"


def _plans(plan: Document, key: bytes) -> Iterator[Refused]:
    parameters = plan["protocol"]["parameters"]

    def altered(**changes: Any) -> Document:
        protocol = {**plan["protocol"], "parameters": {**parameters, **changes}}
        return _signed("plan", plan, {"protocol": protocol}, key)

    for mistake, kind, value in (
        ("another key", "signature-forged", _signed("plan", plan, {}, ANALYST)),
        ("another epoch", "wrong-epoch", _signed("plan", plan, {"epoch": 4}, key)),
        (
            "another task",
            "unknown-task",
            _signed("plan", plan, {"task": "A" * 43}, key),
        ),
        ("an unknown member", "malformed", _signed("plan", plan, {"color": 1}, key)),
        ("other targets", "malformed", altered(targets=[0.1, 1.0, 2.0])),
        ("a rate above 1", "malformed", altered(rates=[1e-05, 0.25, 1.5])),
        ("a whole number as rate", "malformed", altered(rates=[1e-05, 0.25, 1])),
        ("a report of 4,097 messages", "malformed", altered(report_size=4097)),
        ("too few people", "plan-refused", _signed("plan", plan, {"minimum": 3}, key)),
        ("too large a rate", "plan-refused", altered(rates=[0.9, 0.9, 1.0])),
        ("too little noise", "plan-refused", altered(blanket=0.001)),
        ("too small a report", "plan-refused", altered(report_size=5)),
    ):
        yield "plan of epoch 3", mistake, value, kind


def _plain_messages() -> Iterator[Refused]:
    for mistake, content in {
        "a dummy": bytes(9),
        "an unknown kind": b"\x02" + bytes(8),
        "a category too many": b"\x01" + (3).to_bytes(8, "big"),
        "a category below 0": b"\x01" + b"\xff" * 8,
        "a byte too few": b"\x01" + bytes(7),
    }.items():
        yield "plain message", mistake, to_text(content), "spoiled"


def _public_keys() -> Iterator[Refused]:
    # Points of small order, RFC 7748, section 6.1: every sender shares the same secret.
    for mistake, key in {
        "a key of zeros": bytes(32),
        "a point of small order": b"\x01" + bytes(31),
    }.items():
        yield "key to seal for", mistake, to_text(key), "malformed"


def _signed(
    purpose: str, value: Document, changes: Document, key: bytes = SHUFFLER
) -> Document:
    content = {name: entry for name, entry in value.items() if name != "signature"}
    return signed(purpose, {**content, **changes}, key)
