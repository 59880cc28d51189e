"""What everybody asks for is encoded once, and once more when what it says changed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from shuffler_parties import Analyst, Client, Parties, parties, upload

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.shuffler.task_record import HandoverAttempts
from shuffledp_services.shuffler.task_status import EncodedStatus, TaskStatus
from shuffledp_services.wire.refusal import Reason

Said = dict[str, Any]

LATER = 4_000_000_000


def encodings(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every document that is encoded from now on."""
    made, encode = list[bytes](), TaskStatus.encode

    def noted(status: TaskStatus) -> bytes:
        made.append(encode(status))
        return made[-1]

    monkeypatch.setattr(TaskStatus, "encode", noted)
    return made


def post(client: Client, who: Parties, count: int) -> httpx.Response:
    body = upload(who.step(), who.tokens(count))
    return client.post(who.path("/reports"), content=body)


def forge(client: Client, who: Parties) -> None:
    body = upload(who.step(), [bytes(32)])
    assert client.post(who.path("/reports"), content=body).status_code == 403


def close(client: Client, who: Parties) -> None:
    assert post(client, who, 30).is_success
    assert who.order(client, "close").is_success


def test_who_asks_again_gets_the_same_bytes_and_nothing_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, made = parties(), encodings(monkeypatch)

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        first = client.get(who.path())
        # Nobody outside may know that somebody answered, and nothing is encoded.
        assert post(client, who, 1).is_success
        again = [client.get(who.path()) for _ in range(5)]

    assert made == [first.content]
    assert {answer.content for answer in again} == {first.content}
    assert first.headers["cache-control"] == "no-store"
    assert first.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (forge, lambda told: told["refused"] == {"token-forged": 1}),
        (close, lambda told: told["phase"] != "open" and sum(told["people"]) == 30),
        (
            partial(Parties.order, action="deadline", at=LATER),
            lambda told: told["deadline"] == LATER,
        ),
        (
            partial(Parties.order, action="skip"),
            lambda told: told["phase"] == "skipped",
        ),
    ],
    ids=["refusals", "closed", "deadline", "skipped"],
)
def test_a_change_is_told_at_once(
    change: Callable[..., object],
    said: Callable[[Said], bool],
    tmp_path: Path,
) -> None:
    who = parties()
    analyst = Analyst(who, [lambda: httpx.Response(503)] * 10**6)

    with Client(who.app(SqliteStore(tmp_path / "db"), analyst)) as client:
        before = client.get(who.path()).json()
        if isinstance(change, partial):
            assert change(who, client).is_success
        else:
            change(client, who)
        after = client.get(who.path()).json()

    assert not said(before)
    assert said(after)


def test_every_part_of_a_status_is_told_at_once() -> None:
    who, items = parties(), parties("items")
    state = ShufflerState.begin(who.task)
    enrolled = state.enroll(who.enroller.enrolment(1))
    first = TaskStatus(state, (0, 0, 0), {}, b"", HandoverAttempts())
    refused = HandoverAttempts(1, Reason.WRONG_EPOCH)
    changed = [
        first,
        first._replace(state=enrolled),
        first._replace(state=enrolled.with_deadline(LATER)),
        first._replace(state=enrolled.wait()),
        first._replace(state=enrolled.skip(refused=False)),
        first._replace(state=enrolled.close((9, 9, 9), bytes(16))),
        first._replace(state=ShufflerState.begin(items.task), people=(0,)),
        first._replace(people=(10, 0, 0)),
        first._replace(refused={"malformed": 1}),
        first._replace(refused={"malformed": 2}),
        first._replace(challenge=bytes(16)),
        first._replace(attempts=HandoverAttempts(1)),
        first._replace(attempts=refused),
        first._replace(attempts=HandoverAttempts(1, full=True)),
    ]

    told = EncodedStatus()
    documents = [told.encode(status) for status in changed]

    assert documents == [status.encode() for status in changed]
    assert len(set(documents)) == len(changed)
    same = changed[-1]._replace(people=(0, 0, 0), refused={})
    assert told.encode(same) is documents[-1]


def test_numbers_are_told_once_they_are_rounded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = parties(minimum=40)
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._SHOW_SECONDS", 0.01)

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        before = client.get(who.path()).json()["people"]
        assert post(client, who, 120).is_success
        while (after := client.get(who.path()).json()["people"]) == before:
            pass

    assert (before, after) == ([0, 0, 0], [40, 40, 40])


def test_a_plan_is_told_as_soon_as_it_is_there(tmp_path: Path) -> None:
    who = parties("items")

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        assert client.get(who.path()).json()["plan"] is None
        body = upload(who.step(), who.tokens(30))
        assert client.post(who.path("/reports"), content=body).is_success
        who.order(client, "close")
        while (told := client.get(who.path()).json())["stage"] == "choice":
            pass

    assert told["plan"] is not None
    assert (told["phase"], told["people"]) == ("open", [0])


def test_paths_that_are_read_cannot_be_written(tmp_path: Path) -> None:
    who = parties()

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        answers = [
            client.post(path, content=b"")
            for path in (who.path(), who.path("/take-part"), "/take-part/page.js")
        ]

    assert [answer.status_code for answer in answers] == [405] * 3
    assert {answer.headers["allow"] for answer in answers} == {"GET, HEAD"}
