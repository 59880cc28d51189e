"""Malformed parts of a collection as test vectors: shards, results, records of auditors.

As in `refused_inputs`, every input is a valid one with one mistake.
"""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from shuffledp_services.wire.canonical import canonical, to_text
from shuffledp_services.wire.signing import signed
from stored_vectors import decoded
from vector_parties import ANALYST, SHUFFLER

Document: TypeAlias = dict[str, Any]
_SIZE = 57
"""Bytes of a sealed message."""


def refused_collections(collection: Document) -> Iterator[tuple[str, str, Any, str]]:
    """Yields what is read, the mistake, the input, and the kind of refusal.

    Args:
        collection: Vectors of result.json.
    """
    yield from _shards(collection)
    yield from _lists(collection)
    yield from _kept_receipts(collection)
    yield from _successions(collection)
    yield from _results(collection)
    yield from _certificates(json.loads(collection["result"])["certificate"])
    yield from _canaries(json.loads(collection["canaries"]))
    yield from _evidence(json.loads(collection["evidence"]))


def _shards(collection: Document) -> Iterator[tuple[str, str, Any, str]]:
    (whole,) = map(decoded, collection["shards"])
    swapped = whole[_SIZE : 2 * _SIZE] + whole[:_SIZE] + whole[2 * _SIZE :]
    repeated = whole[:_SIZE] + whole[:-_SIZE]
    for mistake, kind, content in (
        ("two messages exchanged", "wrong-order", swapped),
        ("a message twice", "wrong-order", repeated),
        ("a message too few", "wrong-size", whole[:-_SIZE]),
        ("a message too many", "wrong-size", whole + whole[:_SIZE]),
    ):
        yield "shard", mistake, to_text(content), kind


def _lists(collection: Document) -> Iterator[tuple[str, str, Any, str]]:
    whole = decoded(collection["messages"])
    for mistake, content in {
        "cut": whole[:-1],
        "a message too few": whole[:-32],
        "not in order": whole[32:] + whole[:32],
    }.items():
        yield "list of messages", mistake, to_text(content), "wrong-size"


def _kept_receipts(collection: Document) -> Iterator[tuple[str, str, Any, str]]:
    kept = json.loads(collection["kept_receipt"])
    receipt = {
        name: entry for name, entry in kept["receipt"].items() if name != "signature"
    }
    none = signed(
        "receipt",
        {**receipt, "accepted": 0, "refused": [[0, "token-spent"]]},
        SHUFFLER,
    )
    elsewhere = signed("receipt", {**receipt, "task": "A" * 43}, SHUFFLER)
    for mistake, kind, changes in (
        ("an unknown member", "malformed", {"color": 1}),
        ("no messages", "malformed", {"messages": []}),
        ("nothing accepted", "malformed", {"receipt": none}),
        ("another message", "signature-forged", {"messages": ["A" * 43]}),
        ("another task", "unknown-task", {"task": "0" * 64}),
        ("a receipt of another task", "unknown-task", {"receipt": elsewhere}),
    ):
        changed: Document = {**kept, **changes}
        yield "kept receipt", mistake, canonical(changed).decode(), kind


def _successions(collection: Document) -> Iterator[tuple[str, str, Any, str]]:
    successor, former = (
        json.loads(collection["successor"]),
        json.loads(collection["task"]),
    )
    same = former["shuffler_signing_key"]
    for mistake, kind, changes in (
        ("of another task", "unknown-task", {"succeeds": "A" * 43}),
        ("other terms", "malformed", {"absent": 0}),
        ("the same keys", "malformed", {"shuffler_signing_key": same}),
        (
            "a former key of another party",
            "malformed",
            {
                "shuffler_signing_key": former["enroller_signing_key"],
                "enroller_signing_key": successor["shuffler_signing_key"],
            },
        ),
        (
            "one of two keys of the analyst",
            "malformed",
            {"analyst_key": successor["shuffler_signing_key"]}
            | {"shuffler_signing_key": same},
        ),
    ):
        changed: Document = {**successor, **changes}
        yield "successor", mistake, canonical(changed).decode(), kind


def _results(collection: Document) -> Iterator[tuple[str, str, Any, str]]:
    result = json.loads(collection["result"])
    yield "result", "changed", {**result, "spoiled": 0}, "signature-forged"
    content = {name: entry for name, entry in result.items() if name != "signature"}
    for mistake, kind, changes in (
        ("another epoch", "signature-forged", {"epoch": 8}),
        ("another task", "signature-forged", {"digest": "0" * 64}),
        ("a batch without messages", "malformed", {"batch": {"id": "AA"}}),
    ):
        yield "result", mistake, signed("result", {**content, **changes}, ANALYST), kind
    unknown = signed("result", {**content, "color": 1}, ANALYST)
    yield "statements of a result", "an unknown member", unknown, "malformed"
    certificate: Document = content["certificate"]
    statements: dict[str, Document] = {
        "more people than tokens": {"people": [5, 4, 4]},
        "fewer people than the minimum": {"people": [3, 4, 5]},
        "a level without people": {"people": [0, 6, 6]},
        "nobody spoiled": {"spoiled": 0},
        "less spent than certified": {"spent": [0.0, 1.0, 2.0]},
        "absent people forgotten": {"certificate": {**certificate, "absent": 0}},
        "another delta": {"certificate": {**certificate, "delta": 1e-5}},
    }
    for mistake, changed in statements.items():
        value = signed("result", {**content, **changed}, ANALYST)
        yield "statements of a result", mistake, value, "not-verified"


def _certificates(certificate: Document) -> Iterator[tuple[str, str, Any, str]]:
    levels = certificate["levels"]
    first: Document = levels[0]
    protocol = {**certificate["protocol"], "mode": "stratified"}
    for mistake, changes in (
        ("another format", {"format": "shuffledp-guarantee-2"}),
        ("an unknown member", {"color": 1}),
        ("not certified", {"certified": False}),
        ("delta and epsilon", {"epsilon": 1.0}),
        ("no level", {"levels": []}),
        ("levels that fall", {"levels": levels[::-1]}),
        ("another protocol", {"protocol": protocol}),
        ("a truth value as a number", {"absent": True}),
        ("a negative number", {"delta": -1e-6}),
        ("a level with a mistake", {"levels": [{**first, "slack": 2.0}]}),
        ("an unknown theorem", {"levels": [{**first, "rests_on": "hope"}]}),
        ("both choices", {"levels": [{**first, "target": 1.0}]}),
    ):
        yield "certificate", mistake, {**certificate, **changes}, "malformed"
    people: dict[str, Document] = {
        "another digest of the people": {"people_digest": "0" * 64},
        "people of another digest": {"people": [[0.5, 4], [1.0, 8]]},
        "people whose levels fall": {"people": certificate["people"][::-1]},
    }
    for mistake, changed in people.items():
        value: Document = {**certificate, **changed}
        yield "certificate and its people", mistake, value, "malformed"


def _canaries(record: Document) -> Iterator[tuple[str, str, Any, str]]:
    for mistake, changes in (
        ("another format", {"format": "shuffledp-canaries-2"}),
        ("an unknown member", {"color": 1}),
        ("a bit of 2", {"bits": [0, 2]}),
        ("one value twice", {"pairs": [[1.0, 1.0], [2.0, 0.0]]}),
        ("a canary too few", {"levels": [0.5]}),
        ("a message twice", {"hashes": [record["hashes"][0]] * 2}),
        ("one position of two canaries", {"places": [1, 1]}),
        ("epoch 0", {"epoch": 0}),
    ):
        changed: Document = {**record, **changes}
        yield "record of canaries", mistake, json.dumps(changed), "malformed"


def _evidence(evidence: Document) -> Iterator[tuple[str, str, Any, str]]:
    epoch: Document = evidence["epochs"][0]
    findings: list[Document] = epoch["findings"]
    changed_first = {**findings[0], "e_value": 0.7}
    for mistake, changes in (
        ("another format", {"format": "shuffledp-evidence-2"}),
        ("a threshold that does not follow", {"threshold": 50.0}),
        ("a product that does not follow", {"epochs": [{**epoch, "running": 9.0}]}),
        ("a test left out", {"epochs": [{**epoch, "findings": findings[1:]}]}),
        (
            "an e-value that does not follow",
            {"epochs": [{**epoch, "findings": [changed_first, *findings[1:]]}]},
        ),
    ):
        changed: Document = {**evidence, **changes}
        yield "evidence", mistake, json.dumps(changed), "malformed"
