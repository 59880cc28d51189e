"""What the participant's page and Python agree on: four of the files in spec/vectors.

The tests in device/ check the same files with the scripts that the page is built from.
"""

import itertools
import json
import math
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from starlette.responses import JSONResponse

from shuffledp.accounting.counts.report_truncation import cut_probability
from shuffledp.randomizers.bucket_messages import BucketGroup, BucketMessages
from shuffledp.randomizers.jump_table import JumpTable
from shuffledp.randomizers.set_response import drawn_blanket_probability
from shuffledp.randomizers.stop_and_go import stop_and_go
from shuffledp.randomness import KeyedRandom
from shuffledp.statistics.counts.form_encoding import FormEncoding
from shuffledp.statistics.counts.survey import QUESTIONS
from shuffledp.statistics.survey import EpochStage
from shuffledp_services import participant
from shuffledp_services.device.permanent_randomness import stream_contexts
from shuffledp_services.wire.canonical import canonical, read_object, sha256
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.sealing import Opener, Sealer, public_key_of
from shuffledp_services.wire.signed_plan import read_plan
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task
from shuffledp_services.wire.upload_format import (
    Report,
    choices_offered,
    read_header,
    read_reports,
    write_messages,
    write_reports,
)

FOLDER = Path(__file__).parent
VECTOR_FILES = Path(__file__).parents[3] / "spec" / "vectors"
VECTORS: dict[str, Any] = json.loads(
    (VECTOR_FILES / "messages.json").read_text(encoding="utf-8")
)
CASES: list[dict[str, Any]] = VECTORS["cases"]
COINS: list[dict[str, Any]] = json.loads(
    (VECTOR_FILES / "coins.json").read_text(encoding="utf-8")
)
ENCODINGS: list[dict[str, Any]] = json.loads(
    (VECTOR_FILES / "encodings.json").read_text(encoding="utf-8")
)
NOISE: list[dict[str, Any]] = json.loads(
    (VECTOR_FILES / "noise.json").read_text(encoding="utf-8")
)
PAGE = Path(participant.__file__).parent / "page"

every_case = pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])


def step_of(case: dict[str, Any]) -> Step:
    task = read_task(case["canonical_task"])
    if case["canonical_plan"] is None:
        return Step(task, case["epoch"], EpochStage(case["stage"]))
    plan = read_plan(read_object(case["canonical_plan"], "a plan"), task)
    return Step(task, case["epoch"], EpochStage(case["stage"]), plan)


@every_case
def test_texts_and_digests_are_those_of_python(case: dict[str, Any]) -> None:
    step = step_of(case)
    served = json.loads(case["served"])

    assert canonical(served["task"]).decode() == case["canonical_task"]
    assert step.task.to_json().decode() == case["canonical_task"]
    assert step.task.digest.hex() == case["task_digest"]
    assert step.plan_digest.hex() == case["plan_digest"]
    group = case["choice_position"] if step.linked else 0
    assert step.info(group).hex() == case["info"]


@every_case
def test_what_a_shuffler_serves_keeps_the_spelling_of_numbers(
    case: dict[str, Any],
) -> None:
    served = JSONResponse(json.loads(case["served"])).body

    assert served == case["served"].encode()


@every_case
def test_messages_sealed_by_the_page_are_opened(case: dict[str, Any]) -> None:
    step = step_of(case)
    private = bytes.fromhex(VECTORS["private_key"])
    group = case["choice_position"] if step.linked else 0
    opener = Opener(step.task.suite, private, step.info(group))

    opened = [opener.open(bytes.fromhex(sealed)) for sealed in case["sealed"]]
    known = opener.open(bytes.fromhex(case["sealed_with_material"]))

    packed = step.run.code.pack(np.array(case["numbers"]))
    plain = write_messages(packed)
    assert [message.hex() for message in plain] == case["plain"]
    assert opened == plain
    assert known == plain[0]
    assert public_key_of(step.task.suite, private) == step.task.analyst_key
    assert step.task.analyst_key.hex() == VECTORS["public_key"]


@every_case
def test_uploads_are_read_and_written_alike(case: dict[str, Any]) -> None:
    step, body = step_of(case), bytes.fromhex(case["upload"])

    header, (report,) = read_header(body), read_reports(step, body)

    assert (header.task_id, header.epoch) == (step.task.task_id, step.epoch)
    assert header.stage is step.stage
    assert report.token.hex() == case["token"]
    assert report.choice == case["choice_named"]
    assert choices_offered(step, np.array([report.choice])).all()
    sealed = tuple(bytes.fromhex(message) for message in case["sealed"])
    assert report.sealed == sealed
    assert write_reports(step, [Report(report.token, report.choice, sealed)]) == body


@every_case
def test_receipts_are_signed_by_the_shuffler(case: dict[str, Any]) -> None:
    step = step_of(case)

    receipt = Receipt.read(
        read_object(case["receipt"], "a receipt"), step.task.shuffler_signing_key
    )

    hashes = [sha256(bytes.fromhex(message)) for message in case["sealed"]]
    assert receipt.messages == sha256(b"".join(hashes))
    assert receipt.task.hex() == case["task_digest"]
    assert (receipt.accepted, receipt.refused) == (1, ())
    assert receipt.plan == (None if step.plan is None else step.plan_digest)


def test_sealed_messages_open_for_their_own_case_alone() -> None:
    private = bytes.fromhex(VECTORS["private_key"])
    suite = step_of(CASES[0]).task.suite

    for case in CASES:
        opener = Opener(suite, private, bytes.fromhex(case["info"]))
        opened = [
            other["name"]
            for other in CASES
            if opener.open(bytes.fromhex(other["sealed"][0])) is not None
        ]

        assert opened == [case["name"]]


def number_of(stated: float | None) -> float:
    """Returns a number of a vector, where null stands for one that was skipped."""
    # Not the NaN that the wire has, so that it is spelled anew.
    return -math.nan if stated is None else stated


@pytest.mark.parametrize("entry", COINS, ids=[each["case"] for each in COINS])
def test_coins_are_those_of_the_page(entry: dict[str, Any]) -> None:
    (case,) = [each for each in CASES if each["name"] == entry["case"]]
    step, secret = step_of(case), bytes.fromhex(entry["device_secret"])
    link = bytes.fromhex(entry["link_secret"])
    answer = np.array([[number_of(each) for each in entry["answer"]]])

    places = np.array([entry["level"]])
    (context,) = stream_contexts(step, [link], places, answer)

    assert context.hex() == entry["context"]
    people = np.frombuffer(context, np.uint8).reshape(1, 32)
    drawn = KeyedRandom(secret, people).random(len(entry["words"]))
    assert drawn.tolist() == [(int(word, 16) >> 11) / 2**53 for word in entry["words"]]


@pytest.mark.parametrize("entry", ENCODINGS, ids=[each["form"] for each in ENCODINGS])
def test_answers_of_forms_lie_in_the_buckets_of_the_page(entry: dict[str, Any]) -> None:
    encoding = FormEncoding(QUESTIONS.checked(entry["questions"]))
    secret = bytes.fromhex(entry["device_secret"])
    options = [each["options"] for each in entry["questions"] if "options" in each]
    choices, total = len(options), sum(map(len, options))

    for answer in entry["answers"]:
        people = np.frombuffer(bytes.fromhex(answer["context"]), np.uint8)
        rng = KeyedRandom(secret, people.reshape(1, 32))
        picked = answer["picked"]
        # A choice that was left out; of each, people pick one option at most.
        left_out = [total] * (choices - len(picked))
        row = [*picked, *left_out, *map(number_of, answer["numbers"])]
        (buckets,) = encoding.encode([row], rng=rng).tolist()

        by_group, last = [], 0
        for group in encoding.groups:
            first, last = last, last + group.most
            own = buckets[first:last]
            by_group.append([each for each in own if each >= 0])
        assert by_group == answer["buckets"]


every_noise = pytest.mark.parametrize("entry", NOISE, ids=[e["name"] for e in NOISE])


@every_noise
def test_the_law_of_noise_is_poisson_in_each_group_until_a_report_is_full(
    entry: dict[str, Any],
) -> None:
    cap = entry["report_size"] - sum(group["most"] for group in entry["groups"])

    with mp.workdps(50):
        for cell, stated in zip(entry["cells"], entry["law"], strict=True):
            room, exact, counts = cap, mp.mpf(1), iter(cell)
            for group in entry["groups"]:
                own = list(itertools.islice(counts, group["buckets"]))
                number, mean = sum(own), mp.mpf(group["mean"])
                masses = [
                    mp.exp(-mean) * mean**j / mp.factorial(j) for j in range(room + 1)
                ]
                # What does not fit is not drawn: the last number takes the whole tail.
                fits = number < room
                exact *= masses[number] if fits else 1 - mp.fsum(masses[:room])
                exact *= mp.factorial(number) / mp.mpf(group["buckets"]) ** number
                exact /= mp.fprod(mp.factorial(count) for count in own)
                room -= number
            assert stated == pytest.approx(float(exact), rel=1e-15, abs=0.0)
    # All cells, none of them too rare for a chi-square test.
    assert math.fsum(entry["law"]) == pytest.approx(1.0, abs=1e-14)
    assert entry["draws"] * min(entry["law"]) > 5.0


@every_noise
@pytest.mark.slow
def test_devices_draw_noise_by_the_law_of_the_page(entry: dict[str, Any]) -> None:
    groups = tuple(
        BucketGroup(each["buckets"], each["most"], one_message(each["mean"]))
        for each in entry["groups"]
    )
    most = sum(group.most for group in groups)
    devices = BucketMessages(groups, entry["report_size"] - most)
    answers = np.full((entry["draws"], most), -1)

    reports = devices.randomize(
        answers, np.ones(entry["draws"]), rng=np.random.default_rng(3)
    )

    rows = np.stack(
        [(reports == 2 * b).sum(axis=1) for b in range(devices.num_buckets)], axis=1
    )
    cells, counts = np.unique(rows, axis=0, return_counts=True)
    # A false alarm in 10^7 seeds, as in the device's own test.
    assert cells.tolist() == sorted(entry["cells"])
    expected = entry["draws"] * np.array(entry["law"])
    assert float(np.sum((counts - expected) ** 2 / expected)) < entry["largest"]


def one_message(mean: float) -> JumpTable:
    ones = np.ones(1, np.int64)
    return JumpTable(plus=ones, minus=0 * ones, weights=np.ones(1), mean=mean)


def test_sealing_adds_what_the_page_expects() -> None:
    task = step_of(CASES[0]).task

    (sealed,) = Sealer(task.suite, task.analyst_key, b"").seal([bytes(9)])

    assert len(sealed) == 9 + 32 + 16


def test_blanket_chances_are_on_the_safe_side_of_the_formula() -> None:
    for entry in VECTORS["blanket_chances"]:
        drawn = drawn_blanket_probability(
            np.array([entry["epsilon"]]), 1.0 / entry["categories"]
        )

        formula = Fraction(entry["formula"])
        # Exponentials of other machines may differ in the last digit.
        assert drawn[0] == pytest.approx(entry["drawn_in_python"], rel=5e-16, abs=0.0)
        assert (
            formula
            <= Fraction(float(drawn[0]))
            <= formula * Fraction("1.000000000000002")
        )


def test_the_bound_of_cut_reports_is_that_of_the_page() -> None:
    for entry in VECTORS["cut_probabilities"]:
        bound = cut_probability(entry["blanket"], entry["cap"], entry["honest"])

        assert bound == pytest.approx(entry["bound"], rel=1e-9, abs=0.0)


def test_poisson_numbers_stop_where_they_did() -> None:
    for entry in VECTORS["stop_and_go"]:
        mean, cap = entry["blanket"], entry["cap"]
        last = max(cap, math.ceil(mean)) + 80 + 20 * math.ceil(math.sqrt(mean))

        stop, go = stop_and_go(mean / np.arange(1.0, last + 1.0))

        assert stop[:cap].tolist() == entry["stop"]
        assert go[:cap].tolist() == entry["go"]


@pytest.mark.slow
def test_the_scripts_of_the_page_keep_their_own_tests() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is missing.")
    if not (PAGE / "node_modules").is_dir():
        pytest.skip("scripts/build-page was not run.")

    done = subprocess.run(
        [node, "--test", str(FOLDER / "page.test.mjs")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_the_page_itself_asks_for_the_policy_that_servers_send() -> None:
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    sent = participant.PAGE_HEADERS["Content-Security-Policy"]

    # Browsers take this directive from headers alone.
    inside = sent.replace("; frame-ancestors 'none'", "")
    assert f'content="{inside}"' in html
    assert "://" not in html


def test_the_page_is_served_if_it_was_built() -> None:
    folder = participant.page_folder()

    if folder is None:
        pytest.skip("scripts/build-page was not run.")
    files = {path.name for path in folder.iterdir()}
    assert files == {"LICENSES.txt", "index.html", "page.js", "style.css"}
