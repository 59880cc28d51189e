"""The analyst over HTTP: what it publishes, withholds, refuses, keeps and forgets."""

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyst_parties import (
    LEVELS,
    NAMES,
    Parties,
    Service,
    answers,
    crowd_levels,
    parties,
    serve,
    usual_batch,
)
from service_parties import NOTICE, Enroller, published_values

from shuffledp.accounting.account import account
from shuffledp.errors import DataError
from shuffledp.population import Population
from shuffledp.reports import Reports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp.statistics.verify_certificate import verify
from shuffledp.tally import Tally
from shuffledp.types import Mode
from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.collection.planning import best_plan
from shuffledp_services.operator.task_setup import create_task
from shuffledp_services.operator.task_signatures import draw_keys
from shuffledp_services.storage.key_files import (
    ANALYST_FILE,
    ENROLLER_FILE,
    SHUFFLER_FILE,
    AnalystSecrets,
    EnrollerSecrets,
    ShufflerSecrets,
)
from shuffledp_services.storage.new_files import write_new
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.signed_plan import Acknowledgement, PublishedPlan
from shuffledp_services.wire.signing import new_signing_key
from shuffledp_services.wire.step import Step

NUM_PEOPLE = 180


def problem(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "mode"),
    [
        ("frequency", "agnostic"),
        ("frequency", "stratified"),
        ("mean", "agnostic"),
        ("mean", "stratified"),
        ("sum", "agnostic"),
        ("sum", "stratified"),
    ],
)
def test_the_published_result_is_that_of_the_protocol_in_one_process(
    tmp_path: Path, statistic: str, mode: Mode
) -> None:
    who = parties(statistic, mode)
    task, levels = who.task, crowd_levels()
    messages = answers(Step(task, 1), levels)

    async def scenario(service: Service) -> dict[str, Any]:
        assert (
            await service.post(who.batch(Step(task, 1), messages, levels))
        ).is_success
        await service.counted()
        return dict((await service.result()).json())

    result = serve(tmp_path, who, scenario)

    protocol: Any = Step(task, 1).answer_run.protocol
    people = Population.from_budgets(levels)
    reports = Reports(protocol.identity, messages[:, 0], levels)
    seen = shuffle(reports, rng=np.random.default_rng(5))
    alone = protocol.estimate(seen, people)
    guarantee = account(protocol, people, delta=task.delta, absent=2, quantiles=False)
    assert published_values(result) == {
        "value": np.atleast_1d(alone.value).tolist(),
        "standard_error": np.atleast_1d(alone.standard_error).tolist(),
        "interval": np.reshape(alone.interval(), (-1, 2)).tolist(),
        "population_error": np.atleast_1d(alone.population_error).tolist(),
    }
    assert result["protocol_digest"] == protocol.identity.digest
    assert Tally.from_dict(result["tally"]) == protocol.tally(seen)
    assert result["certificate"] == json.loads(json.dumps(guarantee.to_dict()))
    assert verify(result).holds
    assert result["spent"] == [e.epsilon_central for e in guarantee.levels]
    assert "Of 180 accepted reports, 2 are assumed" in result["assumptions"][0]
    assumed = " ".join(result["assumptions"])
    assert "order of the hashes of what was sealed, which was checked" in assumed
    assert "secret" not in assumed


@pytest.mark.slow
def test_published_items_are_those_of_the_framework_in_one_process(
    tmp_path: Path,
) -> None:
    who = parties("items")
    task, levels, rng = who.task, crowd_levels(), np.random.default_rng(2)
    named = np.repeat(np.arange(3), 60)[:, None]

    async def scenario(service: Service) -> tuple[Any, Any, dict[str, Any]]:
        first = Step(task, 1, EpochStage.CHOICE)
        batch = who.batch(first, named, levels)
        answer = await service.post(batch)
        again = await service.post(batch)
        assert again.content == answer.content
        published = Acknowledgement.read(answer.json(), task, 1).plan
        assert published is not None
        plan = published.protocol
        step = Step(task, 1, EpochStage.ANSWER, plan)
        messages = answers(step, levels)
        assert (await service.post(who.batch(step, messages, levels))).is_success
        await service.counted()
        return plan, messages, (await service.result()).json()

    plan, messages, result = serve(tmp_path, who, scenario)

    framework = ItemsFramework(4, 2, LEVELS, task.delta, absent=task.absent)
    chosen = Reports(framework.choices.identity, named, None, "pool")
    alone = Items.from_record(plan.record)
    items = shuffle(Reports(plan, messages, None, "pool"), rng=rng)
    counts = framework.count_choices(shuffle(chosen, rng=rng))
    estimate = alone.estimate(items, counts)
    people = Population.from_budgets(levels)
    guarantee = account(alone, people, delta=task.delta, absent=2)
    assert alone.identity == plan
    assert plan == best_plan(task, framework.choices.tally(shuffle(chosen, rng=rng)))
    assert result["protocol_digest"] == plan.digest
    assert published_values(result) == {
        "value": estimate.value.tolist(),
        "standard_error": estimate.standard_error.tolist(),
        "interval": estimate.interval().tolist(),
        "population_error": estimate.population_error.tolist(),
    }
    assert result["certificate"] == json.loads(json.dumps(guarantee.to_dict()))
    assert verify(result).holds


@pytest.mark.slow
def test_too_few_people_are_never_opened_and_nothing_is_spent(tmp_path: Path) -> None:
    who = parties(minimum=(40, 100, 40))
    reached: list[str] = []

    async def scenario(service: Service) -> tuple[Any, ...]:
        acknowledged = await service.post(usual_batch(who))
        return acknowledged, await service.counted(), await service.result()

    acknowledged, status, result = serve(
        tmp_path, who, scenario, reached=reached.append
    )

    assert acknowledged.is_success
    assert "opened" not in reached
    assert status["phase"] == "withheld"
    assert status["failures"] == ["level 1: 60 of 100 people"]
    assert status["spent"] == [0.0, 0.0, 0.0]
    assert status["delta_spent"] == 0.0
    assert problem(result) == (409, "too-few-people")
    assert result.json()["detail"] == "level 1: 60 of 100 people."
    assert not list((tmp_path / "analyst.db.batches").iterdir())


@pytest.mark.slow
def test_a_promise_that_counts_do_not_keep_withholds_the_epoch(tmp_path: Path) -> None:
    who = parties(promise=(0.5, 1e-6, 2.0))

    async def scenario(service: Service) -> dict[str, Any]:
        await service.post(usual_batch(who))
        return await service.counted()

    status = serve(tmp_path, who, scenario)

    assert status["spent"] == [0.0, 0.0, 0.0]
    (failure,) = status["failures"]
    assert failure.startswith("level 1: certified epsilon 0.1")
    assert failure.endswith("promised 1e-06")


def test_too_few_levels_of_items_end_the_epoch_each_time(tmp_path: Path) -> None:
    who = parties("items", minimum=(500, 1, 1))
    levels = crowd_levels()
    batch = who.batch(
        Step(who.task, 1, EpochStage.CHOICE), np.zeros((180, 1), int), levels
    )

    async def scenario(service: Service) -> tuple[Any, ...]:
        first, again = await service.post(batch), await service.post(batch)
        return first, again, await service.counted()

    first, again, status = serve(tmp_path, who, scenario)

    assert first.status_code == 200
    assert first.json()["plan"] is None
    assert again.content == first.content
    assert status["phase"] == "withheld"
    assert status["failures"] == ["everybody: 180 of 500 people"]


@pytest.mark.slow
def test_the_same_batch_again_is_acknowledged_alike_and_counted_once(
    tmp_path: Path,
) -> None:
    who = parties()
    batch = usual_batch(who)

    async def twice(service: Service) -> tuple[Any, ...]:
        first, again = await service.post(batch), await service.post(batch)
        status = await service.counted()
        return first, again, await service.post(batch), status

    async def once(service: Service) -> tuple[Any, ...]:
        return await service.post(batch), await service.counted()

    first, again, later, status = serve(tmp_path, who, twice)
    restarted, final = serve(tmp_path, who, once)

    assert Acknowledgement.read(first.json(), who.task, 1).plan is None
    assert {r.content for r in (again, later, restarted)} == {first.content}
    assert final == status
    assert len(final["epochs"]) == 1


@pytest.mark.slow
def test_another_batch_of_the_same_epoch_is_refused(tmp_path: Path) -> None:
    who = parties()

    async def scenario(service: Service) -> tuple[Any, ...]:
        await service.post(usual_batch(who))
        before = await service.counted()
        other = await service.post(usual_batch(who))
        ahead = await service.post(usual_batch(who, epoch=3))
        return before, other, ahead, await service.counted()

    before, other, ahead, after = serve(tmp_path, who, scenario)

    assert problem(other) == (409, "already-delivered")
    assert problem(ahead) == (409, "wrong-epoch")
    assert after == before


@pytest.mark.slow
def test_epochs_stop_when_a_level_has_too_little_left(tmp_path: Path) -> None:
    # One epoch costs level 1 about 0.15.
    who = parties(allowance=(5.0, 1.1, 5.0))

    async def scenario(service: Service) -> tuple[Any, ...]:
        await service.post(usual_batch(who))
        first = await service.counted()
        refused = await service.post(usual_batch(who, epoch=2))
        return first, refused, await service.counted(), await service.page()

    first, refused, after, page = serve(tmp_path, who, scenario)

    assert first["phase"] == "published"
    assert problem(refused) == (409, "allowance-spent")
    assert after["spent"] == first["spent"]
    assert after["exhausted"] == [1.0]
    assert "too little left" in page


@pytest.mark.slow
def test_the_ledger_adds_up_epochs(tmp_path: Path) -> None:
    who = parties()

    async def scenario(service: Service) -> dict[str, Any]:
        for epoch in (1, 2, 3):
            await service.post(usual_batch(who, epoch=epoch, per_level=40 + 20 * epoch))
            await service.counted()
        return await service.counted()

    status = serve(tmp_path, who, scenario)

    by_epoch = [entry["spent"] for entry in status["epochs"]]
    assert len(by_epoch) == 3
    assert status["spent"] == pytest.approx(
        np.sum(by_epoch, axis=0).tolist(), rel=1e-15
    )
    assert status["delta_spent"] == pytest.approx(3e-3, rel=1e-12)


@pytest.mark.slow
def test_skipped_epochs_stand_in_the_ledger_and_cost_nothing(tmp_path: Path) -> None:
    who = parties()
    first = usual_batch(who)
    fourth = usual_batch(who, epoch=4, after=1)

    async def scenario(service: Service) -> Any:
        await service.post(first)
        await service.counted()
        gap = await service.post(usual_batch(who, epoch=4, after=3))
        await service.post(fourth)
        status = await service.counted()
        late = await service.post(usual_batch(who, epoch=2))
        again = await service.post(first)
        page = await service.page(3)
        return gap, status, late, again, await service.result(3), page

    gap, status, late, again, result, page = serve(tmp_path, who, scenario)

    assert problem(gap) == (409, "wrong-epoch")
    assert problem(late) == (409, "already-delivered")
    assert again.status_code == 200
    assert [
        (entry["epoch"], entry["phase"], entry["people"]) for entry in status["epochs"]
    ] == [
        (1, "published", [60] * 3),
        (2, "skipped", [0] * 3),
        (3, "skipped", [0] * 3),
        (4, "published", [60] * 3),
    ]
    costs = np.array([entry["spent"] for entry in status["epochs"]])
    assert costs[1:3].tolist() == [[0.0] * 3] * 2
    assert status["spent"] == pytest.approx((costs[0] + costs[3]).tolist(), rel=1e-12)
    assert status["delta_spent"] == 2 * who.task.delta
    assert (status["awaited"], problem(result)) == (5, (409, "skipped"))
    assert "Epoch 3 was skipped" in page


@pytest.mark.slow
def test_an_epoch_whose_choices_were_opened_can_be_skipped(tmp_path: Path) -> None:
    who = parties("items")
    levels, named = crowd_levels(), np.repeat(np.arange(3), 60)[:, None]

    def choices(epoch: int) -> bytes:
        return who.batch(
            Step(who.task, epoch, EpochStage.CHOICE), named, levels, after=0
        )

    async def scenario(service: Service) -> dict[str, Any]:
        assert (await service.post(choices(1))).json()["plan"] is not None
        await service.post(choices(2))
        return await service.counted()

    status = serve(tmp_path, who, scenario)

    assert [entry["phase"] for entry in status["epochs"]] == ["skipped"]
    assert (status["epoch"], status["stage"]) == (2, "answer")
    assert status["spent"] == [0.0] * 3


def damage(sealed: list[bytes], *, seed: int) -> None:
    """One random bit of each of 1,000 messages, or their beginning replaced by zeros."""
    rng = np.random.default_rng(seed)
    for place in rng.permutation(len(sealed))[:1000].tolist():
        message = bytearray(sealed[place])
        if rng.random() < 0.1:
            message[:32] = bytes(32)  # A point of small order.
        else:
            message[rng.integers(len(message))] ^= 1 << int(rng.integers(8))
        sealed[place] = bytes(message)


@pytest.mark.slow
def test_damaged_messages_are_spoiled_and_cost_privacy(tmp_path: Path) -> None:
    who = parties(promise=(5.0, 5.0, 5.0), allowance=(50.0, 50.0, 50.0))
    batch = usual_batch(who, per_level=400, spoil=lambda sealed: damage(sealed, seed=1))

    async def scenario(service: Service) -> dict[str, Any]:
        await service.post(batch)
        await service.counted()
        return dict((await service.result()).json())

    result = serve(tmp_path, who, scenario)

    # An X25519 key has one bit that means nothing: some flips change nothing at all.
    assert 980 <= result["spoiled"] <= 1000
    assert result["estimate"]["num_users"] == 1200 - result["spoiled"]
    assert result["certificate"]["absent"] == 2 + result["spoiled"]


@pytest.mark.slow
def test_spoiled_messages_that_break_the_promise_withhold_what_was_opened(
    tmp_path: Path,
) -> None:
    who = parties(promise=(0.5, 0.16, 2.0))

    async def scenario(service: Service) -> dict[str, Any]:
        await service.post(usual_batch(who, dummies=90))
        return await service.counted()

    status = serve(tmp_path, who, scenario)

    assert status["phase"] == "withheld"
    assert any("certified epsilon" in words for words in status["failures"])
    assert status["spent"][1] > 0.16
    assert status["delta_spent"] == who.task.delta


def created(folder: Path, minimum: int) -> Parties:
    """A task as it is made by default, for so many people at each level."""
    for role in Role:
        draw_keys(folder, role, Suite.X25519)
    shuffler = ShufflerSecrets.load(folder / SHUFFLER_FILE)
    enroller = EnrollerSecrets.load(folder / ENROLLER_FILE)
    task = create_task(
        folder,
        name="Fruit",
        question=parties().task.question,
        notice=NOTICE,
        choices=LEVELS,
        minimum=(minimum,) * 3,
        promise=None,
        delta=1e-3,
        absent=None,
        epochs=3,
        shuffler_key=shuffler.verify_key,
        enroller_key=enroller.verify_key,
    )
    host = AnalystHost(task, AnalystSecrets.load(folder / ANALYST_FILE))
    return Parties(host, shuffler.signing_key, Enroller(task, enroller.signing_key))


@pytest.mark.slow
@pytest.mark.parametrize(("dummies", "phase"), [(1, "published"), (40, "withheld")])
def test_a_dummy_in_the_smallest_crowd_is_counted_and_breaks_no_promise(
    tmp_path: Path, dummies: int, phase: str
) -> None:
    who = created(tmp_path, 60)

    async def scenario(service: Service) -> tuple[dict[str, Any], Any]:
        await service.post(usual_batch(who, dummies=dummies))
        return await service.counted(), await service.result()

    status, result = serve(tmp_path, who, scenario)

    kept = np.array(status["spent"]) <= np.array(who.task.promise)
    assert (status["phase"], bool(kept.all())) == (phase, phase == "published")
    if phase == "published":
        assert result.json()["spoiled"] == 1
        # One that the task assumes, and the dummy.
        assert result.json()["certificate"]["absent"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum"])
def test_a_batch_of_dummies_alone_costs_no_more_than_the_local_levels(
    tmp_path: Path, statistic: str
) -> None:
    who = parties(statistic)

    async def scenario(service: Service) -> tuple[Any, ...]:
        await service.post(usual_batch(who, dummies=NUM_PEOPLE))
        status, said = await service.counted(), await service.result()
        await service.post(usual_batch(who, epoch=2))
        return status, said, await service.counted()

    status, said, later = serve(tmp_path, who, scenario)

    assert status["phase"] == "withheld"
    assert status["spent"] == list(LEVELS)
    assert later["phase"] == "published"
    detail = said.json()["detail"]
    assert detail.endswith(".")
    assert not detail.endswith("..")


@pytest.mark.slow
def test_what_cannot_be_certified_may_cost_more_than_is_left(tmp_path: Path) -> None:
    # Half of what level 2 guarantees by itself was all that people agreed to.
    who = parties(promise=(0.5, 1.0, 1.0), allowance=(5.0, 5.0, 1.0))

    async def scenario(service: Service) -> tuple[Any, ...]:
        await service.post(usual_batch(who, dummies=NUM_PEOPLE))
        return await service.counted(), await service.post(usual_batch(who, epoch=2))

    status, refused = serve(tmp_path, who, scenario)

    assert (status["spent"], status["exhausted"]) == ([0.5, 1.0, 2.0], [2.0])
    assert problem(refused) == (409, "allowance-spent")


@pytest.mark.slow
def test_dummies_are_left_out_of_counts(tmp_path: Path) -> None:
    who = parties(promise=(5.0, 5.0, 5.0))

    async def scenario(service: Service) -> dict[str, Any]:
        await service.post(usual_batch(who, dummies=9))
        await service.counted()
        return dict((await service.result()).json())

    result = serve(tmp_path, who, scenario)

    assert result["spoiled"] == 9
    assert result["people"] == [60, 60, 60]
    assert result["estimate"]["num_users"] == NUM_PEOPLE - 9


@pytest.mark.slow
def test_people_who_send_dummies_for_items_are_left_out(tmp_path: Path) -> None:
    who = parties(
        "items", choices=(1.0,), promise=(9.0,), allowance=(9.0,), minimum=(100,)
    )
    task, levels = who.task, np.full(NUM_PEOPLE, 1.0)
    first = Step(task, 1, EpochStage.CHOICE)

    async def scenario(service: Service) -> dict[str, Any]:
        answer = await service.post(
            who.batch(first, np.zeros((NUM_PEOPLE, 1), int), levels)
        )
        published = Acknowledgement.read(answer.json(), task, 1).plan
        assert published is not None
        step = Step(task, 1, EpochStage.ANSWER, published.protocol)
        messages = answers(step, levels)
        await service.post(who.batch(step, messages, levels, dummies=3))
        await service.counted()
        return dict((await service.result()).json())

    result = serve(tmp_path, who, scenario)

    assert result["people"] == [NUM_PEOPLE]
    assert result["estimate"]["num_users"] == NUM_PEOPLE - 3
    assert result["certificate"]["absent"] == 2 + result["spoiled"]


@pytest.mark.slow
def test_batches_changed_on_the_way_are_refused_and_leave_nothing(
    tmp_path: Path,
) -> None:
    who = parties()
    batch, rng = usual_batch(who), np.random.default_rng(3)
    changed = []
    for number in range(1000):
        copy, place = bytearray(batch), int(rng.integers(len(batch)))
        if number % 4 == 0:
            del copy[place:]
        else:
            copy[place] ^= 1 << int(rng.integers(8))
        changed.append(bytes(copy))
    changed += [
        batch + b"x",
        b"",
        b"SDPB\x03\xff\xff\xff\xff",
        b"SDPB\x03\x00\x00\x00\x02{}",
    ]

    async def scenario(service: Service) -> tuple[Any, ...]:
        answers = [await service.post(body) for body in changed]
        status = await service.counted()
        return answers, status, await service.post(batch), await service.counted()

    answers, status, accepted, after = serve(tmp_path, who, scenario)

    assert {answer.status_code for answer in answers} <= {400, 403, 404, 413}
    assert all(problem(answer) for answer in answers)
    assert status["phase"] == "waiting"
    assert accepted.is_success
    assert after["phase"] == "published"


def test_a_forged_signature_or_another_task_is_refused(tmp_path: Path) -> None:
    who, others = parties(), parties()

    async def scenario(service: Service) -> tuple[Any, ...]:
        forged = usual_batch(who, shuffler_key=new_signing_key())
        unknown = await service.post(usual_batch(others), others.task)
        return (
            await service.post(forged),
            await service.post(usual_batch(others)),
            unknown,
        )

    forged, other, unknown = serve(tmp_path, who, scenario)

    assert problem(forged) == (403, "signature-forged")
    assert problem(other) == (403, "signature-forged")
    assert problem(unknown) == (404, "unknown-task")


def test_a_signed_batch_with_other_numbers_of_messages_is_refused(
    tmp_path: Path,
) -> None:
    who = parties()
    short = usual_batch(who, disorder=lambda sealed: sealed.pop())
    cut = usual_batch(who, disorder=lambda sealed: sealed.append(sealed.pop()[:-1]))

    async def scenario(service: Service) -> tuple[Any, ...]:
        return await service.post(short), await service.post(cut)

    for answer in serve(tmp_path, who, scenario):
        assert problem(answer) == (400, "wrong-size")
    # Of the last one, whose shard may still come.
    kept = (tmp_path / "analyst.db.batches").rglob("*")
    assert [path.name for path in kept if path.is_file()] == ["manifest.bin"]


CRASH = """
import asyncio, os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[4], os.path.dirname(sys.argv[4])]
from analyst_parties import Parties, serve
from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.storage.key_files import AnalystSecrets, load_task
folder, boundary = Path(sys.argv[1]), sys.argv[2]
task = load_task(folder)
secrets = AnalystSecrets.load(folder / "analyst.json")
def reached(name):
    if name == boundary:
        os._exit(9)
async def scenario(service):
    await service.post((folder / sys.argv[3]).read_bytes())
    await service.counted()
serve(folder, Parties(AnalystHost(task, secrets), b"", None), scenario, reached=reached)
"""


def crash_at(folder: Path, boundary: str, batch: str) -> None:
    command = [sys.executable, "-c", CRASH, str(folder), boundary, batch]
    command.append(str(Path(__file__).parent))
    done = subprocess.run(command, timeout=300, check=False)
    assert done.returncode == 9


@pytest.mark.slow
@pytest.mark.parametrize(
    "boundary",
    [
        "opened",
        *(
            pytest.param(boundary, marks=pytest.mark.slow)
            for boundary in ("after batch", "before result", "after result")
        ),
    ],
)
def test_a_killed_analyst_counts_every_message_once(
    tmp_path: Path, boundary: str
) -> None:
    who = parties()
    batch = usual_batch(who)
    write_new(tmp_path / "task.json", who.task.to_json().decode())
    who.hosted.secrets.save(tmp_path / "analyst.json")
    (tmp_path / "batch").write_bytes(batch)

    async def without_batch(service: Service) -> dict[str, Any]:
        return await service.counted()

    async def scenario(service: Service) -> tuple[Any, ...]:
        await service.post(batch)
        return await service.counted(), (await service.result()).json()

    crash_at(tmp_path, boundary, "batch")
    resumed = serve(tmp_path, who, without_batch)
    status, result = serve(tmp_path, who, scenario)
    (tmp_path / "calm").mkdir()
    calm_status, calm = serve(tmp_path / "calm", who, scenario)

    assert resumed["phase"] == "published"
    assert status == calm_status
    assert result == calm
    # The batch is gone; the public list of its messages' hashes stays.
    left = [path.name for path in (tmp_path / "analyst.db.batches").iterdir()]
    assert left == [f"{who.task.identity}.1.messages"]


@pytest.mark.slow
def test_a_list_of_messages_that_was_lost_is_said_to_be_missing(
    tmp_path: Path,
) -> None:
    who = parties()

    async def scenario(service: Service) -> Any:
        await service.post(usual_batch(who))
        await service.counted()
        for kept in (tmp_path / "analyst.db.batches").glob("*.messages"):
            kept.unlink()
        path = f"/tasks/{who.task.identity}/epochs/1/messages"
        return await service.client.get(path)

    answer = serve(tmp_path, who, scenario)

    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:shuffledp:problem:not-found"
    assert "list of messages of epoch 1" in answer.json()["detail"]


@pytest.mark.slow
def test_a_service_that_is_stopped_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = parties()
    batch = usual_batch(who)
    monkeypatch.setattr("shuffledp_services.analyst.shard_opening.PART", 1)

    async def hand_over(service: Service) -> Any:
        return await service.post(batch)

    async def wait(service: Service) -> dict[str, Any]:
        return await service.counted()

    acknowledged = serve(tmp_path, who, hand_over)
    status = serve(tmp_path, who, wait)

    assert acknowledged.is_success
    assert status["phase"] == "published"
    assert status["people"] == [60, 60, 60]


@pytest.mark.slow
def test_a_killed_analyst_signs_the_plan_when_asked_again(tmp_path: Path) -> None:
    who = parties(
        "items", choices=(1.0,), promise=(1.0,), allowance=(5.0,), minimum=(100,)
    )
    levels = np.full(NUM_PEOPLE, 1.0)
    step = Step(who.task, 1, EpochStage.CHOICE)
    batch = who.batch(step, np.zeros((NUM_PEOPLE, 1), int), levels)
    write_new(tmp_path / "task.json", who.task.to_json().decode())
    who.hosted.secrets.save(tmp_path / "analyst.json")
    (tmp_path / "levels").write_bytes(batch)

    async def scenario(service: Service) -> PublishedPlan | None:
        answer = (await service.post(batch)).json()
        return Acknowledgement.read(answer, who.task, 1).plan

    crash_at(tmp_path, "before plan", "levels")
    plan = serve(tmp_path, who, scenario)
    again = serve(tmp_path, who, scenario)

    assert plan is not None
    assert again == plan


def test_files_that_no_state_names_are_deleted_at_the_start(tmp_path: Path) -> None:
    who = parties()
    folder = tmp_path / "analyst.db.batches"
    folder.mkdir()
    (folder / "0.incoming").write_bytes(b"half a batch")
    (folder / "1.sealed").write_bytes(b"a batch whose result is there")

    async def scenario(service: Service) -> list[Path]:
        return list(folder.iterdir())

    assert serve(tmp_path, who, scenario) == []


def test_a_task_that_was_changed_is_not_served(tmp_path: Path) -> None:
    who = parties()
    path = tmp_path / "analyst.db"
    store = SqliteAnalystStore(path)
    store.open([who.task])
    store.close()
    changed = parties(task_id=who.task.task_id)

    with pytest.raises(DataError, match="as it was when it began"):
        SqliteAnalystStore(path).open([changed.task])


def test_a_crash_inside_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    who = parties()

    def broken(*_arguments: object) -> None:
        raise RuntimeError("a secret")

    async def scenario(service: Service) -> Any:
        monkeypatch.setattr(SqliteAnalystStore, "epochs", broken)
        return await service.result()

    answer = serve(tmp_path, who, scenario)

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text + caplog.text


def stored_values(path: Path) -> list[Any]:
    """Every value of every row of a database, JSON taken apart."""

    def flat(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [leaf for entry in value.values() for leaf in flat(entry)]
        if isinstance(value, list):
            return [leaf for entry in value for leaf in flat(entry)]
        return [value]

    with sqlite3.connect(path) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type='table'")
        rows = [
            value
            for (table,) in tables.fetchall()
            for row in database.execute(f"SELECT * FROM {table}")
            for value in row
        ]
    database.close()
    return [
        leaf
        for value in rows
        for leaf in flat(
            json.loads(value) if isinstance(value, str) and value[:1] in "[{" else value
        )
    ]


@pytest.mark.slow
def test_nothing_kept_or_logged_tells_of_a_person_a_message_or_a_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    who = parties()
    sealed: list[bytes] = []
    batch = usual_batch(who, spoil=sealed.extend)
    caplog.set_level("DEBUG")

    async def scenario(service: Service) -> None:
        await service.post(batch, who.task)
        await service.post(b"nonsense 10.1.2.3")
        await service.counted()
        await service.result()

    serve(tmp_path, who, scenario)

    kept = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert len(sealed) == NUM_PEOPLE
    assert not any(message in kept for message in sealed)
    assert b"127.0.0.1" not in kept
    assert b"10.1.2.3" not in kept
    # Neither seconds nor milliseconds of today are among the numbers.
    numbers = [
        v for v in stored_values(tmp_path / "analyst.db") if type(v) in (int, float)
    ]
    now = time.time()
    assert numbers
    assert not any(
        abs(v / unit - now) < 1e6 for v in numbers for unit in (1, 1e3, 1e6, 1e9)
    )
    place = f"task={who.task.identity} epoch=1 stage=answer"
    logs = [r.getMessage() for r in caplog.records if r.name.startswith("shuffledp")]
    assert logs == [f"received {place}", f"published {place}"]


@pytest.mark.slow
def test_no_count_of_messages_outlives_the_count(tmp_path: Path) -> None:
    who = parties(minimum=(40, 100, 40))

    async def scenario(service: Service) -> dict[str, Any]:
        await service.post(usual_batch(who))
        return await service.counted()

    serve(tmp_path, who, scenario)

    numbers = [v for v in stored_values(tmp_path / "analyst.db") if type(v) is int]
    # Epoch, stage, and people per level: of the state, the batch and the epoch; and which
    # version of tables it is. How many tokens there were is public.
    tokens = who.enroller.enrolment(1).tokens
    assert set(numbers) <= {0, 1, 60, 4, tokens}


@pytest.mark.slow
def test_names_and_levels_of_the_task_are_those_of_the_result(tmp_path: Path) -> None:
    who: Parties = parties()

    async def scenario(service: Service) -> tuple[Any, ...]:
        await service.post(usual_batch(who))
        return await service.counted(), (await service.result()).json()

    status, result = serve(tmp_path, who, scenario)

    assert [row["name"] for row in result["estimate"]["rows"]] == list(NAMES)
    assert status["choices"] == list(LEVELS)
