"""Keys are replaced between epochs: what was spent stays spent, and old keys do nothing."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import analyst_parties
import httpx
import numpy as np
import pytest
import shuffler_parties
from analyst_parties import Service, serve, usual_batch
from rotated_parties import of_analyst, of_shuffler, successor
from service_parties import parties
from shuffler_parties import Analyst, Client, StoreMaker, reason, upload
from whole_batches import split

from shuffledp.errors import DataError
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.device.receipt_check import former_task, missing_messages
from shuffledp_services.device.simulated_devices import TaskSnapshot
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.shuffler.store import storage_refusal
from shuffledp_services.wire.batch import read_manifest
from shuffledp_services.wire.canonical import canonical, sha256, to_text
from shuffledp_services.wire.inclusion import KeptReceipt, check_result, keep_receipt
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import read_roster
from shuffledp_services.wire.sealing import (
    Opener,
    Sealer,
    Suite,
    new_private_key,
    public_key_of,
)
from shuffledp_services.wire.signed_plan import Acknowledgement
from shuffledp_services.wire.signing import new_signing_key, verify_key_of
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.task_reading import read_task

pytest_plugins = ["store_fixtures"]

TASK = parties().task
EVERY = [roles for size in (1, 2, 3) for roles in combinations(Role, size)]


@pytest.mark.parametrize("roles", EVERY, ids=" and ".join)
def test_a_task_with_other_keys_says_whose_they_are(roles: tuple[Role, ...]) -> None:
    task = successor(TASK, *roles)

    assert check_succession(task, TASK) == roles
    assert task.identity == TASK.identity
    assert task.digest != TASK.digest
    assert read_task(task.to_json()) == task


@pytest.mark.parametrize(
    "changed",
    [
        {"task_id": bytes(16)},
        {"name": "Another"},
        {"notice": replace(TASK.notice, consent="Answers are sold.")},
        {"notice": replace(TASK.notice, contact="nobody@example.org")},
        {"question": Question("Why?", TASK.question.survey)},
        {"choices": (0.5, 1.0, 4.0)},
        {"minimum": (1, 1, 1)},
        {"promise": (5.0, 5.0, 5.0)},
        {"allowance": (50.0, 50.0, 50.0)},
        {"delta": 0.5},
        {"absent": 0},
        {
            "suite": Suite.X_WING,
            "analyst_key": public_key_of(Suite.X_WING, new_private_key(Suite.X_WING)),
        },
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_people_agreed_to_does_not_change_with_keys(
    changed: dict[str, Any],
) -> None:
    task = replace(successor(TASK, *Role), **changed)

    with pytest.raises(Refusal, match="nothing else changed"):
        check_succession(task, TASK)


def test_what_replaces_no_key_or_mixes_them_up_is_refused() -> None:
    key = verify_key_of(new_signing_key())
    one, other = successor(TASK, Role.SHUFFLER), successor(TASK, Role.ENROLLER)
    cases = {
        "new keys": replace(TASK, succeeds=TASK.digest),
        "both of the analyst's": replace(one, analyst_signing_key=key),
        "nobody's before": replace(
            one,
            shuffler_signing_key=TASK.enroller_signing_key,
            enroller_signing_key=TASK.shuffler_signing_key,
        ),
        f"succeeds {TASK.fingerprint}, got one that succeeds none": replace(
            one, succeeds=None
        ),
        f"got one that succeeds {one.fingerprint}": replace(other, succeeds=one.digest),
    }

    for said, task in cases.items():
        with pytest.raises(Refusal, match=said):
            check_succession(task, TASK)


@pytest.mark.parametrize("succeeds", ["", "x", 1, [], to_text(bytes(31)), False])
def test_a_task_that_names_no_digest_is_none(succeeds: object) -> None:
    value = json.loads(TASK.to_json()) | {"succeeds": succeeds}

    with pytest.raises(Refusal):
        read_task(canonical(value))


def post(
    client: Client, who: shuffler_parties.Parties, *, epoch: int, tokens: int = 9
) -> httpx.Response:
    body = upload(who.step(epoch=epoch), who.tokens(tokens, epoch=epoch))
    return client.post(who.path("/reports"), content=body)


def collect(
    client: Client, who: shuffler_parties.Parties, *, epoch: int
) -> dict[str, Any]:
    """An epoch, from its first report to its delivery."""
    assert post(client, who, epoch=epoch).is_success
    assert who.order(client, "close").is_success
    return wait_until_delivered(client, who)


def wait_until_delivered(
    client: Client, who: shuffler_parties.Parties
) -> dict[str, Any]:
    while (now := client.get(who.path()).json())["phase"] == "closed":
        pass
    found: dict[str, Any] = now
    return found


@pytest.mark.slow
@pytest.mark.parametrize("roles", [(Role.SHUFFLER,), tuple(Role)], ids=" and ".join)
def test_the_shuffler_goes_on_with_other_keys_where_it_stood(
    make_store: StoreMaker, roles: tuple[Role, ...]
) -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, *roles)
    analyst = Analyst(new)

    with Client(old.app(make_store(), Analyst(old))) as client:
        collect(client, old, epoch=1)
        refused = client.get(old.path()).json()["refused"]
        post(client, old, epoch=1)
        before = client.get(old.path()).json()
    with Client(new.app(make_store(), analyst)) as client:
        after = client.get(new.path()).json()
        assert new.order(client, "next").is_success
        now = collect(client, new, epoch=2)

    assert refused == {}
    assert after["digest"] == new.task.fingerprint
    for name in ("epoch", "phase", "people", "refused"):
        assert after[name] == before[name]
    assert (now["epoch"], now["phase"]) == (2, "delivered")
    [(header, _)] = analyst.received
    assert (header.epoch, header.after, header.task) == (2, 1, new.task.digest)


def test_old_keys_tokens_and_rosters_do_nothing_at_the_shuffler(
    make_store: StoreMaker,
) -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, *Role)

    with Client(new.app(make_store(), Analyst(new))) as client:
        stolen = post(client, old, epoch=1)
        mixed = upload(new.step(), old.tokens(3))
        forged = client.post(new.path("/reports"), content=mixed)
        assert post(client, new, epoch=1).is_success
        commands = [
            client.post(new.path("/commands"), content=content)
            for action in ("close", "skip", "next", "status")
            for content in (
                old.command(action),
                new.command(action, key=old.hosted.secrets.signing_key),
            )
        ]
        now = client.get(new.path()).json()

    assert [reason(answer) for answer in (stolen, forged)] == ["token-forged"] * 2
    assert {reason(answer) for answer in commands} == {"signature-forged"}
    assert now["phase"] == "open"
    with pytest.raises(Refusal, match=r"to be signed"):
        read_roster(old.enroller.written(1), new.task)
    said = Acknowledgement(old.task.digest, bytes(16)).signed(old.analyst_key)
    with pytest.raises(Refusal, match="acknowledgement to be signed"):
        Acknowledgement.read(said, new.task, 1)


def test_a_roster_under_a_kept_key_is_still_of_the_former_task() -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, Role.ANALYST)

    with pytest.raises(Refusal, match="this task"):
        read_roster(old.enroller.written(1), new.task)


def refuses(who: shuffler_parties.Parties, make_store: StoreMaker) -> str:
    with (
        pytest.raises(DataError) as caught,
        Client(who.app(make_store(), Analyst(who))),
    ):
        pass
    return str(caught.value)


def test_keys_of_the_shuffler_are_replaced_between_epochs(
    make_store: StoreMaker,
) -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, Role.SHUFFLER)
    silent = Analyst(old, [lambda: httpx.Response(500)] * 10_000)

    with Client(old.app(make_store(), Analyst(old))) as client:
        post(client, old, epoch=1)
    with_reports = refuses(new, make_store)
    with Client(old.app(make_store(), silent)) as client:
        assert old.order(client, "close").is_success
    closed = refuses(new, make_store)
    with Client(old.app(make_store(), Analyst(old))) as client:
        assert wait_until_delivered(client, old)["people"] == [3, 3, 3]
    with Client(new.app(make_store(), Analyst(new))) as client:
        now = client.get(new.path()).json()

    assert "delivered or skipped" in with_reports
    assert "delivered or skipped" in closed
    assert (now["phase"], now["people"]) == ("delivered", [3, 3, 3])


def test_who_was_enrolled_and_did_not_answer_is_enrolled_again(
    make_store: StoreMaker,
) -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, Role.ENROLLER)

    with Client(old.app(make_store(), Analyst(old))) as client:
        before = client.get(old.path()).json()
    with Client(new.app(make_store(), Analyst(new))) as client:
        after = client.get(new.path()).json()
        assert collect(client, new, epoch=1)["phase"] == "delivered"

    assert before["enrolment"] != after["enrolment"] is not None


def test_keys_are_replaced_in_their_order_and_never_back(
    make_store: StoreMaker,
) -> None:
    first = shuffler_parties.parties()
    second = of_shuffler(first, Role.SHUFFLER)
    third = of_shuffler(second, Role.ENROLLER, Role.ANALYST)

    with Client(first.app(make_store(), Analyst(first))) as client:
        collect(client, first, epoch=1)
    too_soon = refuses(third, make_store)
    for who in (second, third):
        for _ in range(2):
            with Client(who.app(make_store(), Analyst(who))) as client:
                assert client.get(who.path()).json()["phase"] == "delivered"
    back = [refuses(who, make_store) for who in (first, second)]

    assert "each task is served in turn" in too_soon
    assert first.task.fingerprint in too_soon
    assert all("not taken back" in said for said in back)


@pytest.mark.parametrize("kept", [False, True])
def test_a_full_disk_or_a_crash_replaces_keys_as_a_whole_or_not_at_all(
    make_store: StoreMaker, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, *Role)
    with Client(old.app(make_store(), Analyst(old))) as client:
        collect(client, old, epoch=1)
    store = make_store()
    move = store.change_state

    async def silent(*arguments: Any, **named: Any) -> None:
        if kept:
            await move(*arguments, **named)
        raise storage_refusal()

    monkeypatch.setattr(store, "change_state", silent)
    with (
        pytest.raises(Refusal, match="room and a working disk"),
        Client(new.app(store, Analyst(new))),
    ):
        pass
    if not kept:
        with Client(old.app(make_store(), Analyst(old))) as client:
            assert client.get(old.path()).json()["phase"] == "delivered"
    with Client(new.app(make_store(), Analyst(new))) as client:
        assert client.get(new.path()).json()["phase"] == "delivered"


def test_a_batch_that_she_refuses_as_she_went_on_first_is_skipped(
    make_store: StoreMaker,
) -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, Role.ANALYST)
    refusal = Refusal(Reason.UNKNOWN_TASK, "Expected a batch of this task.").problem
    gone_on = Analyst(
        old, [lambda: httpx.Response(refusal.status, json=refusal.to_dict())] * 1000
    )

    with Client(old.app(make_store(), gone_on)) as client:
        post(client, old, epoch=1)
        assert old.order(client, "close").is_success
        while client.get(old.path()).json()["hand_over"]["refused"] is None:
            pass
        stuck = client.get(old.path()).json()
        assert old.order(client, "skip").is_success
    analyst = Analyst(new)
    with Client(new.app(make_store(), analyst)) as client:
        assert new.order(client, "next").is_success
        collect(client, new, epoch=2)

    assert stuck["hand_over"]["refused"] == "unknown-task"
    [(header, _)] = analyst.received
    assert (header.epoch, header.after) == (2, 0)


def test_a_lost_key_is_replaced_with_a_new_database(
    make_store: StoreMaker, tmp_path: Path
) -> None:
    old = shuffler_parties.parties()
    new = of_shuffler(old, Role.SHUFFLER)
    with Client(old.app(make_store(), Analyst(old))) as client:
        post(client, old, epoch=1)

    class Waiting(Analyst):
        async def answer(self, request: httpx.Request) -> httpx.Response:
            if request.method == "GET":
                return httpx.Response(200, json={"awaited": 3})
            return await super().answer(request)

    analyst = Waiting(new)
    with Client(new.app(SqliteStore(tmp_path / "new.db"), analyst)) as client:
        assert new.order(client, "resume").json()["epoch"] == 4
        collect(client, new, epoch=4)

    [(header, _)] = analyst.received
    assert (header.epoch, header.after) == (4, 2)


def counted(folder: Path, who: analyst_parties.Parties, batch: bytes) -> dict[str, Any]:
    async def scenario(service: Service) -> dict[str, Any]:
        answer = await service.post(batch)
        assert answer.is_success, answer.text
        return await service.counted()

    return serve(folder, who, scenario)


def looked(folder: Path, who: analyst_parties.Parties, path: str = "") -> Any:
    async def scenario(service: Service) -> Any:
        answer = await service.client.get(f"/tasks/{who.task.identity}{path}")
        return answer.json()

    return serve(folder, who, scenario)


@pytest.mark.slow
@pytest.mark.parametrize("roles", [(Role.ANALYST,), tuple(Role)], ids=" and ".join)
def test_what_was_spent_stays_spent_with_other_keys(
    tmp_path: Path, roles: tuple[Role, ...]
) -> None:
    old = analyst_parties.parties()
    new = of_analyst(old, *roles)
    counted(tmp_path, old, usual_batch(old))
    before, result = looked(tmp_path, old), looked(tmp_path, old, "/epochs/1")

    after, kept = looked(tmp_path, new), looked(tmp_path, new, "/epochs/1")
    late = counted(tmp_path, new, usual_batch(new, epoch=2))

    names = ("epoch", "phase", "awaited", "people", "spent", "epochs", "delta_spent")
    assert [after[name] for name in names] == [before[name] for name in names]
    assert before["replaced"] == []
    assert after["replaced"] == [
        {"after": 1, "former": old.task.fingerprint, "keys": [r.value for r in roles]}
    ]
    first, second = late["epochs"]
    assert late["spent"] == [
        a + b for a, b in zip(first["spent"], second["spent"], strict=True)
    ]
    assert min(first["spent"]) > 0.0
    assert kept == result
    assert check_result(kept, old.task, 1)
    with pytest.raises(Refusal):
        check_result(kept, new.task, 1)


@pytest.mark.slow
def test_old_keys_and_old_batches_do_nothing_at_the_analyst(tmp_path: Path) -> None:
    old = analyst_parties.parties()
    new = of_analyst(old, *Role)
    known = usual_batch(old)
    counted(tmp_path, old, known)
    batches = [
        known,
        usual_batch(old, epoch=2),
        usual_batch(new, epoch=2, shuffler_key=old.shuffler_key),
    ]

    async def scenario(service: Service) -> list[str]:
        return [reason(await service.post(batch)) for batch in batches]

    assert set(serve(tmp_path, new, scenario)) == {"signature-forged"}
    sealed = Sealer(Suite.X25519, new.task.analyst_key, Step(new.task, 2).info())
    (message,) = sealed.seal([b"mine"])
    for step in (Step(new.task, 2), Step(old.task, 2)):
        stolen = old.hosted.secrets.private_key
        assert Opener(Suite.X25519, stolen, step.info()).open(message) is None


def test_a_batch_under_a_kept_key_is_still_of_the_former_task() -> None:
    old = analyst_parties.parties()
    new = of_analyst(old, Role.ANALYST)
    manifest, _ = split(usual_batch(old))

    assert read_manifest(manifest, old.task)
    with pytest.raises(Refusal) as caught:
        read_manifest(manifest, new.task)
    assert caught.value.reason is Reason.UNKNOWN_TASK


@pytest.mark.slow
def test_a_batch_that_waits_is_counted_before_keys_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = analyst_parties.parties()
    new = of_analyst(old, Role.ANALYST)

    async def scenario(service: Service) -> None:
        assert (await service.post(usual_batch(old))).is_success

    with monkeypatch.context() as context:
        run = "shuffledp_services.analyst.batch_processing.BatchProcessor.run"
        context.setattr(run, lambda _work: None)
        serve(tmp_path, old, scenario)
    with pytest.raises(DataError, match="until epoch 1 is counted"):
        looked(tmp_path, new)

    async def wait(service: Service) -> dict[str, Any]:
        return await service.counted()

    published = serve(tmp_path, old, wait)

    assert published["phase"] == "published"
    assert looked(tmp_path, new)["spent"] == published["spent"]


@pytest.mark.slow
def test_the_analyst_keeps_the_line_of_tasks_and_goes_no_way_back(
    tmp_path: Path,
) -> None:
    first = analyst_parties.parties()
    second = of_analyst(first, Role.SHUFFLER)
    third = of_analyst(second, Role.ANALYST)
    counted(tmp_path, first, usual_batch(first))

    with pytest.raises(DataError, match="each task is served in turn"):
        looked(tmp_path, third)
    looked(tmp_path, second)
    counted(tmp_path, third, usual_batch(third, epoch=2))
    for who in (first, second):
        with pytest.raises(DataError, match="not taken back"):
            looked(tmp_path, who)
    replaced = looked(tmp_path, third)["replaced"]

    assert [(e["after"], e["former"], e["keys"]) for e in replaced] == [
        (1, first.task.fingerprint, ["shuffler"]),
        (1, second.task.fingerprint, ["analyst"]),
    ]

    async def page(service: Service) -> str:
        return await service.page()

    shown = serve(tmp_path, third, page)
    assert shown.count("Keys were replaced after epoch 1") == 2
    assert "Those of the shuffler." in shown
    assert first.task.fingerprint in shown


@pytest.mark.slow
def test_answers_that_a_former_plan_waited_for_are_skipped(tmp_path: Path) -> None:
    old = analyst_parties.parties("items")
    new = of_analyst(old, Role.ANALYST)
    levels = analyst_parties.crowd_levels()
    named = np.searchsorted(analyst_parties.LEVELS, levels)[:, None]

    def choices(who: analyst_parties.Parties, epoch: int) -> bytes:
        step = Step(who.task, epoch, EpochStage.CHOICE)
        return who.batch(step, named, levels, after=0)

    planned = counted(tmp_path, old, choices(old, 1))
    after = looked(tmp_path, new)
    later = counted(tmp_path, new, choices(new, 2))

    async def again(service: Service) -> str:
        return reason(await service.post(choices(new, 1)))

    assert (planned["stage"], planned["phase"]) == ("answer", "waiting")
    assert (after["stage"], after["phase"], after["awaited"]) == (
        "choice",
        "waiting",
        2,
    )
    [skipped] = after["epochs"]
    assert (skipped["phase"], skipped["spent"]) == ("skipped", [0.0] * 3)
    assert (later["epoch"], later["stage"], later["awaited"]) == (2, "answer", 2)
    assert serve(tmp_path, new, again) == "already-delivered"


def test_no_ledger_begins_anew_with_other_keys(tmp_path: Path) -> None:
    old = analyst_parties.parties()
    new = of_analyst(old, Role.ANALYST)

    with pytest.raises(DataError, match="would be forgotten"):
        looked(tmp_path, new)
    looked(tmp_path, old)

    assert looked(tmp_path, new)["epoch"] == 1


def saved(who: analyst_parties.Parties, epoch: int, message: bytes) -> bytes:
    """What the page of an epoch saved."""
    hashes = [sha256(message)]
    receipt = Receipt(who.task.digest, epoch, 0, messages_digest(hashes), 1, ())
    return keep_receipt(who.task, hashes, json.loads(receipt.signed(who.shuffler_key)))


@pytest.mark.slow
def test_receipts_are_checked_after_keys_were_replaced_twice(tmp_path: Path) -> None:
    first = analyst_parties.parties()
    second = of_analyst(first, *Role)
    third = of_analyst(second, Role.SHUFFLER)
    line, sealed = [first, second, third], list[list[bytes]]()
    for epoch, who in enumerate(line, 1):
        sealed.append([])
        counted(
            tmp_path, who, usual_batch(who, epoch=epoch, disorder=sealed[-1].extend)
        )

    async def check(service: Service, content: bytes, task: Task) -> int:
        transport = service.client._transport
        digest = KeptReceipt.task_of(content)
        of = await former_task(digest, task, "https://analyst", transport=transport)
        receipt = KeptReceipt.read(content, of)
        return await missing_messages(
            [receipt], of, "https://analyst", transport=transport
        )

    async def scenario(service: Service) -> list[int]:
        found = []
        for epoch, who in enumerate(line, 1):
            kept = saved(who, epoch, sealed[epoch - 1][7])
            # Whoever has the task of her own time needs no other; nor has the present one.
            found += [
                await check(service, kept, task) for task in (who.task, third.task)
            ]
        dropped = saved(first, 1, b"another message")
        found.append(await check(service, dropped, third.task))
        later = saved(third, 3, sealed[2][0])
        with pytest.raises(Refusal, match="whose keys it replaced"):
            await check(service, later, first.task)
        return found

    assert serve(tmp_path, third, scenario) == [0] * 6 + [1]


def test_nobody_slips_another_task_under_a_receipt() -> None:
    first = analyst_parties.parties()
    second, forged = of_analyst(first, *Role), analyst_parties.parties()

    def lie(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=forged.task.to_json())

    looking = former_task(
        forged.task.digest,
        second.task,
        "https://analyst",
        transport=httpx.MockTransport(lie),
    )
    with pytest.raises(Refusal, match="Expected a task that succeeds"):
        asyncio.run(looking)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda value: value | {"task": None},
        lambda value: value | {"task": "x" * 64},
        lambda _: {},
    ],
)
def test_a_receipt_that_names_no_task_is_none(
    spoil: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    value = json.loads(saved(analyst_parties.parties(), 1, b"mine"))

    with pytest.raises(Refusal, match="names its task"):
        KeptReceipt.task_of(json.dumps(spoil(value)).encode())


def test_a_device_that_agreed_to_the_former_task_is_told_why_it_is_refused() -> None:
    task = successor(TASK, Role.ANALYST)
    document = {
        "task": task.to_dict(),
        "epoch": 1,
        "stage": "answer",
        "phase": "open",
        "plan": None,
        "enrolment": {},
    }

    assert TaskSnapshot.read(document, task.digest).is_open
    with pytest.raises(Refusal, match="replaces its keys"):
        TaskSnapshot.read(document, TASK.digest)
