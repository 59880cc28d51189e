"""What databases tell whoever reads them; that they have one owner, and name a version."""

import asyncio
import hashlib
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import httpx
import numpy as np
import postgres_server
import pytest
from analyst_parties import parties as analyst_parties
from shuffler_parties import (
    Analyst,
    Client,
    Parties,
    StoreMaker,
    messages,
    parties,
    reason,
    upload,
)

from shuffledp.errors import DataError
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.shuffler.keyed_digests import KeyedDigests
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.storage.database import ExclusiveDatabase, Layout
from shuffledp_services.wire.tokens import TokenDigests

pytest_plugins = ["store_fixtures"]

_OPENS = """
import sys
from pathlib import Path
from shuffledp_services.storage.database import Layout, ExclusiveDatabase

ExclusiveDatabase(Path(sys.argv[1]), Layout(sys.argv[2], 2, ()))
"""

SESSIONS = "shuffledp_services.shuffler.postgres_sessions"


def query(address: str, *statements: str) -> list[Any]:
    """The rows of the last of these."""

    async def run() -> list[Any]:
        connection = await asyncpg.connect(address)
        try:
            for statement in statements[:-1]:
                await connection.execute(statement)
            rows: list[Any] = await connection.fetch(statements[-1])
            return rows
        finally:
            await connection.close()

    return asyncio.run(run())


def post(client: Client, who: Parties, body: bytes) -> httpx.Response:
    return client.post(who.path("/reports"), content=body)


def wait_until_delivered(client: Client, who: Parties) -> None:
    while client.get(who.path()).json()["phase"] != "delivered":
        time.sleep(0.01)


def guesses(content: bytes) -> set[bytes]:
    """What whoever has these bytes might look for."""
    hashes = [
        hashlib.new(name, content).digest() for name in ("sha256", "blake2b", "sha512")
    ]
    return {h[:16] for h in (*hashes, content, content[16:])} | {content}


@pytest.mark.slow
def test_postgres_joins_no_token_to_a_message_and_copies_neither(
    postgres: postgres_server.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.shuffler.upload_intake._MOMENT", 0.0)
    who = parties()
    name, analyst = who.task.task_id.hex(), Analyst(who)
    tokens, sealed = who.tokens(120), messages(who.step(), 120)

    with Client(who.app(PostgresStore(postgres.address), analyst)) as client:
        for token, message in zip(tokens, sealed, strict=True):
            post(client, who, upload(who.step(), [token], sealed=[message]))
        # One transaction for each: the number of it is in every row.
        joined = query(
            postgres.address,
            f"SELECT mark, content FROM marks_{name} AS a JOIN messages_{name} AS b "
            "ON a.xmin::text = b.xmin::text",
        )
        gathered = query(
            postgres.address,
            f"ANALYZE marks_{name}",
            f"ANALYZE messages_{name}",
            f"SELECT attname FROM pg_stats WHERE tablename LIKE '%{name}'",
        )
        untouched = query(
            postgres.address,
            f"SELECT reloptions FROM pg_class WHERE relname LIKE '%s_{name}'",
        )
        post(client, who, upload(who.step(), who.tokens(9)))
        who.order(client, "close")
        wait_until_delivered(client, who)
        left = query(
            postgres.address,
            f"SELECT relname FROM pg_class WHERE relname LIKE '%{name}%'",
        )

    kept = {row["mark"] for row in joined}
    digests = TokenDigests(who.task.digest, 1)
    known = [*tokens, *map(digests.of, tokens), *(message for (message,) in sealed)]
    assert {row["content"] for row in joined} == {message for (message,) in sealed}
    assert len(kept) == 240
    assert not any(guess in kept for content in known for guess in guesses(content))
    assert gathered == []
    assert [row["reloptions"] for row in untouched] == [
        ["autovacuum_enabled=false"]
    ] * 3
    assert left == []


def test_sqlite_keeps_what_a_transaction_brought_in_the_order_of_marks(
    tmp_path: Path,
) -> None:
    who = parties()
    step, sealed = who.step(), messages(who.step(), 300)

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:
        post(client, who, upload(step, who.tokens(300), sealed=sealed))
    database = sqlite3.connect(tmp_path / "db")
    table = f"messages_{who.task.task_id.hex()}"
    [(stored,)] = database.execute(f"SELECT content FROM {table}").fetchall()
    database.close()

    rows = np.frombuffer(b"".join(message for (message,) in sealed), np.uint8)
    found = KeyedDigests(who.hosted.secrets.signing_key, step).of_messages(
        rows.reshape(300, 1, step.sealed_size)
    )
    by_mark = sorted(zip((mark.tobytes() for mark in found), sealed, strict=True))
    assert stored == b"".join(message for _, (message,) in by_mark)


def test_devices_that_come_at_once_share_a_transaction(
    make_store: StoreMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.shuffler.upload_intake._MOMENT", 0.5)
    who, reached = parties(), list[str]()
    bodies = [upload(who.step(), who.tokens(1)) for _ in range(40)]

    with (
        Client(who.app(make_store(), Analyst(who), reached=reached.append)) as client,
        ThreadPoolExecutor(40) as pool,
    ):
        answers = list(pool.map(lambda body: post(client, who, body), bodies))

    assert all(answer.json()["accepted"] == 1 for answer in answers)
    assert reached.count("after upload") <= 4


def test_a_second_shuffler_on_a_database_does_not_start(
    make_store: StoreMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SESSIONS}._LOCK_SECONDS", 0.1)
    one, other = parties(), parties()
    words = "a database that no other service uses: another process has it open"

    with Client(one.app(make_store(), Analyst(one))) as client:
        with (
            pytest.raises(DataError, match=words),
            Client(other.app(make_store(), Analyst(other))),
        ):
            pass
        # The first one has not noticed anything.
        first = post(client, one, upload(one.step(), one.tokens(3)))
    with Client(other.app(make_store(), Analyst(other))) as client:
        second = post(client, other, upload(other.step(), other.tokens(3)))

    assert first.json()["accepted"] == second.json()["accepted"] == 3


def test_a_second_analyst_on_a_database_does_not_start(tmp_path: Path) -> None:
    who = analyst_parties()
    first, second = (SqliteAnalystStore(tmp_path / "analyst.db") for _ in range(2))
    first.open([who.task])

    with pytest.raises(DataError, match="another process has it open"):
        second.open([who.task])

    first.close()
    second.open([who.task])
    second.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Needs locks apart from SQLite's.")
@pytest.mark.parametrize("party", ["shuffler", "analyst"])
def test_a_removed_lock_file_lets_no_second_process_start(
    party: str, tmp_path: Path
) -> None:
    path, layout = tmp_path / "one.db", Layout(party, 2, ())
    first = ExclusiveDatabase(path, layout)
    (tmp_path / "one.db.lock").unlink()

    found = subprocess.run(
        [sys.executable, "-c", _OPENS, str(path), party],
        capture_output=True,
        text=True,
        check=False,
    )
    first.close()
    ExclusiveDatabase(path, layout).close()

    assert "another process has it open" in found.stderr


@pytest.mark.slow
def test_a_shuffler_that_lost_its_lock_stores_nothing_until_it_has_it_again(
    postgres: postgres_server.Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(f"{SESSIONS}._LOCK_SECONDS", 0.1)
    # It does not look by itself.
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 60.0)
    who, stranger = parties(), parties()
    end_all = (
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
    )

    with Client(who.app(PostgresStore(postgres.address), Analyst(who))) as one:
        post(one, who, upload(who.step(), who.tokens(3)))
        query(postgres.address, end_all)
        time.sleep(0.1)
        app = stranger.app(PostgresStore(postgres.address), Analyst(stranger))
        with Client(app) as other:
            meanwhile = post(one, who, upload(who.step(), who.tokens(3)))
            taken = post(other, stranger, upload(stranger.step(), stranger.tokens(3)))
        after = post(one, who, upload(who.step(), who.tokens(3)))
        status = who.order(one, "status").json()

    assert (meanwhile.status_code, reason(meanwhile)) == (507, "storage-full")
    said = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    assert said[0].endswith("no other service uses: another process has it open.")
    assert taken.json()["accepted"] == after.json()["accepted"] == 3
    assert status["people"] == [2, 2, 2]


@pytest.mark.slow
def test_a_shuffler_is_ready_again_once_it_has_its_database_back(
    postgres: postgres_server.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SESSIONS}._LOCK_SECONDS", 0.1)
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 0.02)
    who, analyst = parties(), Analyst(parties())
    end_all = (
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
    )

    def until(client: Client, code: int) -> httpx.Response:
        end = time.monotonic() + 10
        while (answer := client.get("/ready")).status_code != code:
            assert time.monotonic() < end
            time.sleep(0.01)
        return answer

    with Client(who.app(PostgresStore(postgres.address), analyst)) as client:
        before = client.get("/ready").status_code
        query(postgres.address, end_all)
        # Somebody else has the lock before it can come back.
        holder = PostgresStore(postgres.address)
        loop = asyncio.new_event_loop()
        while True:
            try:
                loop.run_until_complete(holder.open([parties().task]))
                break
            except DataError:
                query(postgres.address, end_all)
        lost = until(client, 503)
        loop.run_until_complete(holder.close())
        loop.close()
        until(client, 200)

    assert before == 200
    assert lost.json()["reason"] == "the database cannot be used"


def sqlite_of(path: Path, *statements: str) -> Path:
    database = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()
    return path


OTHER_VERSION = (
    "CREATE TABLE meta (owner TEXT NOT NULL, version INTEGER NOT NULL)",
    "INSERT INTO meta VALUES ('{owner}', 9)",
)


VERSIONS = {"shuffler": 6, "analyst": 4}


@pytest.mark.parametrize("owner", ["shuffler", "analyst"])
def test_databases_of_other_versions_are_refused(tmp_path: Path, owner: str) -> None:
    def opened(path: Path) -> None:
        if owner == "analyst":
            SqliteAnalystStore(path).open([])
        else:
            asyncio.run(SqliteStore(path).open([]))

    old = sqlite_of(tmp_path / "old", "CREATE TABLE task (name TEXT PRIMARY KEY)")
    new = sqlite_of(
        tmp_path / "new", *(text.format(owner=owner) for text in OTHER_VERSION)
    )
    before = [path.read_bytes() for path in (old, new)]

    expected = f"Expected the {owner}'s database of version {VERSIONS[owner]}, got "
    with pytest.raises(DataError, match=expected + "one of 0.1.0: finish its tasks"):
        opened(old)
    with pytest.raises(DataError, match=expected + f"the {owner}'s of version 9"):
        opened(new)

    assert [path.read_bytes() for path in (old, new)] == before


def test_a_database_of_the_other_party_is_refused(tmp_path: Path) -> None:
    store = SqliteAnalystStore(tmp_path / "db")
    store.open([])
    store.close()

    with pytest.raises(DataError, match="got the analyst's of version 4"):
        asyncio.run(SqliteStore(tmp_path / "db").open([]))


@pytest.mark.slow
def test_databases_of_other_versions_are_refused_in_postgres(
    postgres: postgres_server.Server,
) -> None:
    old, new = postgres.new_database(), postgres.new_database()
    query(old, "CREATE TABLE task (name text PRIMARY KEY)", "SELECT 1")
    query(new, *(text.format(owner="shuffler") for text in OTHER_VERSION), "SELECT 1")

    with pytest.raises(DataError, match=r"got one of 0\.1\.0: finish its tasks"):
        asyncio.run(PostgresStore(old).open([]))
    with pytest.raises(DataError, match="got the shuffler's of version 9"):
        asyncio.run(PostgresStore(new).open([]))
