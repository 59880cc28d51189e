"""Tasks, devices and a stand-in for the analyst, as tests of the shuffler need them."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any, Self

import httpx
import numpy as np
from service_parties import NOTICE, Enroller, publish, question, rule_for
from starlette.applications import Starlette
from whole_batches import read_whole

from shuffledp.statistics.survey import EpochStage
from shuffledp.types import Mode
from shuffledp_services.shuffler.analyst_client import AnalystClient
from shuffledp_services.shuffler.shuffler_app import create_shuffler
from shuffledp_services.shuffler.shuffler_host import ShufflerHost, ignore_boundary
from shuffledp_services.shuffler.store import ShufflerStore
from shuffledp_services.storage.key_files import EnrollerSecrets, ShufflerSecrets
from shuffledp_services.wire.batch import BatchHeader, read_manifest
from shuffledp_services.wire.canonical import canonical, from_text, to_text
from shuffledp_services.wire.command import Action, Command
from shuffledp_services.wire.sealing import Suite, new_private_key, public_key_of
from shuffledp_services.wire.signed_plan import Acknowledgement, PublishedPlan
from shuffledp_services.wire.signing import new_signing_key, verify_key_of
from shuffledp_services.wire.step import UNLINKED, Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import Report, write_reports

StoreMaker = Callable[[], ShufflerStore]

LEVELS = (0.5, 1.0, 2.0)
MARK = b"sealed-message!!"


def no_rosters() -> int:
    """The last roster that was there before a database was lost."""
    return 0


@dataclass
class Parties:
    """A task, its keys, and the tokens that are left."""

    hosted: ShufflerHost
    analyst_key: bytes
    enroller: Enroller

    @property
    def task(self) -> Task:
        return self.hosted.task

    def command(
        self,
        action: str,
        *,
        epoch: int = 1,
        stage: str | None = None,
        key: bytes | None = None,
        at: int | None = None,
        challenge: bytes = bytes(16),
    ) -> bytes:
        """What the operator sends."""
        named = stage or self.task.stages[0].name.lower()
        command = Command(Action(action), epoch, named, challenge, at)
        signing_key = key or self.hosted.secrets.signing_key
        return canonical(command.signed(self.task, signing_key))

    def path(self, what: str = "") -> str:
        return f"/tasks/{self.task.identity}{what}"

    def order(
        self, client: "Client | httpx.Client", action: str, *, at: int | None = None
    ) -> httpx.Response:
        """An operator looks where the task stands, and commands what comes next."""
        command = self.next_command(client, action, at=at)
        return client.post(self.path("/commands"), content=command)

    def next_command(
        self, client: "Client | httpx.Client", action: str, *, at: int | None = None
    ) -> bytes:
        """What the operator sends where the task stands."""
        now = client.get(self.path()).json()
        challenge = from_text(now["challenge"], 16, "a challenge")
        place = {"epoch": now["epoch"], "stage": now["stage"]}
        return self.command(action, **place, at=at, challenge=challenge)

    def tokens(self, count: int, *, epoch: int = 1) -> list[bytes]:
        return self.enroller.tokens(count, epoch=epoch)

    def step(self, *, epoch: int = 1, stage: EpochStage | None = None) -> Step:
        first = self.task.stages[0]
        return Step(self.task, epoch, first if stage is None else stage)

    def app(
        self, store: ShufflerStore, analyst: "Analyst", **options: Any
    ) -> Starlette:
        client = AnalystClient(
            "http://analyst",
            transport=httpx.MockTransport(analyst.answer),
            first_wait=0.01,
            longest_wait=0.05,
            refused_wait=0.05,
        )
        options = {"reached": ignore_boundary, **options}
        return create_shuffler(
            {self.task.identity: self.hosted}, store, analyst=client, **options
        )


class Analyst:
    """Acknowledges batches, after as many troubles as a test asks for.

    Attributes:
        troubles: What is answered to the next manifests.
        received: Every batch that was acknowledged, and its messages.
        bodies: Manifests that were answered with a trouble or an acknowledgement.
        piles: Messages of every pile of each batch.
    """

    def __init__(self, parties: Parties, troubles: Sequence[Callable[[], Any]] = ()):
        self._parties, self.troubles = parties, list(troubles)
        self.received: list[tuple[BatchHeader, bytes]] = []
        self.piles: list[list[list[bytes]]] = []
        self.bodies: list[bytes] = []
        self._shards: dict[tuple[str, int], bytes] = {}

    async def answer(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        if request.method == "PUT":
            *_, batch_id, _, place = request.url.path.split("/")
            self._shards[batch_id, int(place)] = body
            return httpx.Response(204)
        if self.troubles:
            self.bodies.append(body)
            response: httpx.Response = self.troubles.pop(0)()
            return response
        manifest = read_manifest(body, self._parties.task)
        known = {
            place: content
            for (batch_id, place), content in self._shards.items()
            if batch_id == to_text(manifest.batch_id)
        }
        places = [place for place, one in enumerate(manifest.shards) if one.messages]
        if missing := [place for place in places if place not in known]:
            return httpx.Response(202, json={"missing": missing})
        self.bodies.append(body)
        messages = b"".join(known[place] for place in places)
        header, piles = read_whole(body + messages, self._parties.task)
        self.received.append((header, messages))
        self.piles.append(piles)
        plan = None
        if header.stage is EpochStage.CHOICE:
            task, key = self._parties.task, self._parties.analyst_key
            plan = publish(task, key, epoch=header.epoch)
        return self.acknowledge(header.batch_id, plan)

    def acknowledge(
        self, batch_id: bytes, plan: PublishedPlan | None = None
    ) -> httpx.Response:
        said = Acknowledgement(self._parties.task.digest, batch_id, plan)
        return httpx.Response(200, json=said.signed(self._parties.analyst_key))


def parties(
    statistic: str = "frequency",
    mode: Mode = "agnostic",
    minimum: int = 2,
    *,
    tokens: int = 10_000,
    **changes: Any,
) -> Parties:
    """Draws the keys of a new task."""
    secrets, analyst_key = ShufflerSecrets.new(), new_signing_key()
    enroller_secrets = EnrollerSecrets.new()
    stated: dict[str, Any] = {
        "task_id": os.urandom(16),
        "name": "Task",
        "notice": NOTICE,
        "question": question(statistic, mode, text="How?"),
        "choices": LEVELS,
        "minimum": (minimum,) * 3,
        "promise": LEVELS,
        "allowance": (50.0,) * 3,
        "delta": 1e-3,
        "absent": 0,
        "suite": Suite.X25519,
        "analyst_key": public_key_of(Suite.X25519, new_private_key(Suite.X25519)),
        "analyst_signing_key": verify_key_of(analyst_key),
        "shuffler_signing_key": secrets.verify_key,
        "enroller_signing_key": enroller_secrets.verify_key,
    }
    stated |= changes
    task = Task(**{"plan_rule": rule_for(stated), **stated})
    enroller = Enroller(task, enroller_secrets.signing_key, each=tokens)
    hosted = ShufflerHost(task, secrets, enroller.roster, no_rosters)
    return Parties(hosted, analyst_key, enroller)


def messages(step: Step, count: int) -> list[tuple[bytes, ...]]:
    """Returns bytes of the right size; the shuffler cannot tell. All are different."""
    rest = step.sealed_size - len(MARK)
    return [
        tuple(MARK + os.urandom(rest) for _ in range(step.messages_per_report))
        for _ in range(count)
    ]


def upload(
    step: Step,
    tokens: Sequence[bytes],
    *,
    levels: Sequence[int] | None = None,
    sealed: Sequence[tuple[bytes, ...]] | None = None,
) -> bytes:
    """Returns an upload of one report per token, over all levels in turn."""
    count = len(tokens)
    if levels is None:
        turns = (np.arange(count) % len(step.task.choices)).tolist()
        levels = turns if step.task.choices_are_levels else [UNLINKED] * count
    sealed = messages(step, count) if sealed is None else sealed
    rows = zip(tokens, levels, sealed, strict=True)
    return write_reports(step, [Report(*row) for row in rows])


def reason(response: httpx.Response) -> str:
    """Returns the reason of a problem document, having looked at its form."""
    assert response.headers["content-type"] == "application/problem+json"
    value = json.loads(response.content)
    assert value["status"] == response.status_code
    kind: str = value["type"]
    return kind.removeprefix("urn:shuffledp:problem:")


class Client:
    """A started service in a thread of its own, called without a network."""

    def __init__(self, app: Starlette) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        self._lifespan = self._app.router.lifespan_context(self._app)
        try:
            self._wait(self._lifespan.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            self._wait(self._lifespan.__aexit__(None, None, None))
        finally:
            self._stop()

    def get(self, path: str) -> httpx.Response:
        response: httpx.Response = self._wait(self._send("GET", path))
        return response

    def post(self, path: str, **options: Any) -> httpx.Response:
        response: httpx.Response = self._wait(self._send("POST", path, **options))
        return response

    async def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._app)
        base = "http://shuffler"
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return await client.request(method, path, **options)

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


def exact(client: Client, who: Parties) -> dict[str, Any]:
    """What the operator knows."""
    answer = who.order(client, "status")
    status: dict[str, Any] = answer.json()
    return status
