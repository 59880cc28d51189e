"""A device and a reader that share no code with the library understand it, and it them."""

import json
import math
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from service_parties import Parties, parties

from shuffledp.types import Mode
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.inclusion import KeptReceipt
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import (
    read_header,
    read_messages,
    read_reports,
)
from stored_vectors import SPEC, decoded, stored

# They need Node.js.
pytestmark = pytest.mark.slow

EPOCH = 3


WIRE, RESULT, REFUSALS = map(stored, ("wire.json", "result.json", "refusals.json"))
VALID: dict[str, str] = {
    "json": json.dumps(WIRE["canonical"]["value"]),
    "one byte": "AA",
    "task": WIRE["task"]["text"],
    "link": WIRE["link"]["text"],
    "receipt": json.dumps(WIRE["receipt"]),
    "agreement of the analyst": json.dumps(WIRE["agreements"]["analyst"]),
    "key to seal for": WIRE["keys"]["analyst_public_key"],
    "kept receipt": RESULT["kept_receipt"],
    "list of messages": RESULT["messages"],
    "result": RESULT["result"],
    "statements of a result": RESULT["result"],
    "certificate": json.dumps(json.loads(RESULT["result"])["certificate"]),
    "certificate and its people": json.dumps(
        json.loads(RESULT["result"])["certificate"]
    ),
}


def reading(node: str, requests: str) -> subprocess.CompletedProcess[str]:
    """Runs the reader on a standard input."""
    return subprocess.run(
        [node, str(SPEC / "example" / "reader.mjs")],
        input=requests,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def answers(
    inputs: list[tuple[str, Any]], *, task: str = WIRE["task"]["text"]
) -> list[dict[str, Any]]:
    """Returns what the reader answers, or skips the test without Node.js."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is missing.")
    requests = {
        "task": task,
        "collection_task": RESULT["task"],
        "result": RESULT["result"],
        "inputs": [{"what": what, "input": given} for what, given in inputs],
    }
    done = reading(node, json.dumps(requests))
    assert done.returncode == 0, done.stderr[-2000:]
    value: list[dict[str, Any]] = json.loads(done.stdout)
    return value


def link_of(made: Parties) -> str:
    (token,) = made.enroller.tokens(1, epoch=EPOCH)
    return Invitation(made.task.digest, EPOCH, token, bytes(32)).to_text()


def drawn(made: Parties, number: int, category: int, level: int) -> list[int]:
    """Returns the messages of reports of the second device, as the library opens them."""
    task, step = made.task, Step(made.task, EPOCH)
    request = {"link": link_of(made), "category": category, "level": level}
    reports = answers([("report", request)] * number, task=task.to_json().decode())
    opener = Opener(
        task.suite,
        made.analyst.private_key,
        step.info(level if step.linked else 0),
    )
    plain = b""
    for answer in reports:
        body = decoded(answer["value"])
        header, (report,) = read_header(body), read_reports(step, body)
        opened = opener.open(report.sealed[0])
        assert (header.task_id, header.epoch) == (task.task_id, EPOCH)
        assert made.enroller.roster(EPOCH).valid(report.token)
        assert report.choice == level
        assert opened is not None
        plain += opened
    entries, *others = read_messages(plain)
    assert others == [0, 0]
    messages: list[int] = entries.tolist()
    return messages


def test_the_second_reader_accepts_what_is_whole() -> None:
    result = json.loads(RESULT["result"])

    values = [answer["value"] for answer in answers([*VALID.items()])]

    by_name: dict[str, Any] = dict(zip(VALID, values, strict=True))
    assert by_name["json"] == WIRE["canonical"]["text"]
    assert by_name["task"]["digest"] == WIRE["task"]["fingerprint"]
    assert by_name["task"]["protocol_digest"] == result["protocol_digest"]
    assert by_name["statements of a result"] == {
        "protocol_digest": result["protocol_digest"],
        "counts": result["tally"]["counts"][0][0],
    }
    assert by_name["kept receipt"] == json.loads(RESULT["kept_receipt"])["messages"]
    assert by_name["list of messages"] == len(RESULT["sealed"])
    stated = result["certificate"]["levels"]
    assert [each["central"] for each in by_name["certificate"]] == [
        each["epsilon_central"] for each in stated
    ]


def test_the_second_reader_refuses_what_the_library_refuses() -> None:
    wrong = [each for each in REFUSALS["inputs"] if each["what"] in VALID]

    given = answers([(each["what"], each["input"]) for each in wrong])

    assert len(wrong) > 70
    assert given == [{"refused": each["refused"]} for each in wrong]


def test_the_malformed_inputs_are_requests_as_they_are() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is missing.")

    done = reading(node, (SPEC / "vectors" / "refusals.json").read_text("utf-8"))

    given = json.loads(done.stdout)
    assert len(given) == len(REFUSALS["inputs"])
    for answer, each in zip(given, REFUSALS["inputs"], strict=True):
        assert answer in ({"refused": each["refused"]}, {"unsupported": each["what"]})


@pytest.mark.parametrize(
    "requests",
    ["", "{}", "null", "[]", '{"task": "no task"}', json.dumps(REFUSALS)[:-1]],
    ids=["nothing", "empty", "null", "list", "no task", "cut off"],
)
def test_the_second_reader_ends_with_one_line_on_other_requests(requests: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is missing.")

    done = reading(node, requests)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "spec/vectors/refusals.json" in done.stderr


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_reports_of_the_second_device_are_opened_and_follow_the_law(mode: Mode) -> None:
    made = parties("frequency", mode=mode)
    number, k, level = 2_000, 4, 1

    messages = drawn(made, number, 2, level)

    # The category is kept by a draw, or drawn by chance: 1 / (1 + (k - 1) / e^epsilon).
    epsilon = made.task.choices[level]
    share = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    error = math.sqrt(share * (1 - share) / number)
    # Each of the two cases fails by chance once in 10^6 runs.
    assert abs(messages.count(2) / number - share) < 5 * error
    assert set(messages) == set(range(k))


def test_the_second_device_keeps_receipts_that_the_library_reads() -> None:
    made = parties("frequency")
    task, link = made.task, link_of(made)
    text = task.to_json().decode()
    request = {"link": link, "category": 0, "level": 0}
    (sent,) = answers([("report", request)], task=text)
    (report,) = read_reports(Step(task, EPOCH), decoded(sent["value"]))
    messages = messages_digest([sha256(report.sealed[0])])

    def receipt(**changes: Any) -> dict[str, str]:
        whole = Receipt(task.digest, EPOCH, 0, messages, accepted=1, refused=())
        stated = replace(whole, **changes)
        signed = stated.signed(made.shuffler.signing_key).decode()
        return {"link": link, "upload": sent["value"], "receipt": signed}

    wrong = [
        receipt(epoch=EPOCH + 1),
        receipt(stage=1),
        receipt(messages=bytes(32)),
        receipt(task=bytes(32)),
        receipt(plan=bytes(32)),
        receipt(accepted=0, refused=((0, Reason.TOKEN_SPENT),)),
    ]
    kept, *refused = answers(
        [("receipt of a report", each) for each in (receipt(), *wrong)], task=text
    )

    assert KeptReceipt.read(kept["value"].encode(), task).messages == (
        sha256(report.sealed[0]),
    )
    assert refused == [{"refused": "signature-forged"}] * len(wrong)


def test_probabilities_of_the_second_device_are_on_the_safe_side() -> None:
    stated = stored("messages.json")["blanket_chances"]

    given = answers([("probability", entry) for entry in stated])

    for entry, answer in zip(stated, given, strict=True):
        formula = Fraction(entry["formula"])
        value = Fraction(answer["value"])
        assert formula <= value <= formula * Fraction("1.000000000000002")
