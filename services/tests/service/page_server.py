"""What the participant's page needs of a shuffler, for one task, in memory."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from service_parties import NOTICE, Enroller, rule_for
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from shuffledp.statistics.statistic_catalog import survey_named
from shuffledp.statistics.survey import survey_in
from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.participant import PAGE_HEADERS, page_folder
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.sealing import (
    Opener,
    Suite,
    new_private_key,
    public_key_of,
)
from shuffledp_services.wire.signing import new_signing_key, verify_key_of
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import (
    Report,
    choices_offered,
    read_header,
    read_messages,
    read_reports,
)

FOLDER = page_folder()
# At the last one, a message says what was answered, but for a chance of 1e-12.
LEVELS = (0.5, 1.0, 30.0)
COLORS = ("Red", "Green, or <b>nearly</b>", "Blue")


@dataclass(eq=False)
class OneTask:
    """The routes of a shuffler that the page needs, for one task, in memory."""

    task: Task
    enroller: Enroller
    signing_key: bytes
    private_key: bytes
    analyst_key: bytes
    state: ShufflerState
    reports: list[Report] = field(default_factory=list)
    lose_answers: int = 0

    def link(self) -> str:
        """What stands behind the `#` of a new link."""
        epoch = self.state.epoch
        return link_of(self.task, self.enroller.tokens(1, epoch=epoch)[0], epoch)

    def opened(self) -> list[list[Any]]:
        """Opens all messages of all reports: numbers, or sets."""
        step = self.state.step
        code = step.run.code
        found = []
        for report in self.reports:
            group = report.choice if step.linked else 0
            opener = Opener(self.task.suite, self.private_key, step.info(group))
            plain = [opener.open(sealed) for sealed in report.sealed]
            assert all(message is not None for message in plain)
            content = b"".join(message for message in plain if message)
            messages, dummies, spoiled = read_messages(content, code.entry)
            assert dummies == spoiled == 0
            assert code.known(messages).all()
            found.append(code.unpack(messages).tolist())
        return found

    def receive(self, body: bytes) -> dict[str, Any]:
        step = self.state.step
        self.state.check_upload(read_header(body))
        (report,) = read_reports(step, body)
        assert choices_offered(step, np.array([report.choice])).all()
        if not self.enroller.roster(self.state.epoch).valid(report.token):
            raise Refusal(Reason.TOKEN_FORGED, "Expected a token of this task.")
        if any(report.sealed == known.sealed for known in self.reports):
            raise Refusal(Reason.MESSAGE_REPEATED, "Expected another message.")
        if any(report.token == known.token for known in self.reports):
            raise Refusal(Reason.TOKEN_SPENT, "Expected a token that is not spent.")
        self.reports.append(report)
        digest = messages_digest(map(sha256, report.sealed))
        receipt = Receipt(
            self.task.digest,
            step.epoch,
            step.stage,
            digest,
            1,
            (),
            None if self.state.plan is None else self.state.plan.digest,
        )
        signed: dict[str, Any] = json.loads(receipt.signed(self.signing_key))
        return signed

    def app(self) -> Starlette:
        assert FOLDER is not None

        async def describe(_request: Request) -> Response:
            state = self.state
            value = {
                "task": self.task.to_dict(),
                "epoch": state.epoch,
                "stage": state.stage.name.lower(),
                "phase": state.phase,
                "plan": state.plan and state.plan.to_dict(),
                "enrolment": state.enrolment and state.enrolment.to_dict(),
            }
            return JSONResponse(value)

        async def upload(request: Request) -> Response:
            try:
                receipt = self.receive(await request.body())
            except Refusal as error:
                problem = error.problem
                return JSONResponse(problem.to_dict(), status_code=problem.status)
            if self.lose_answers:
                self.lose_answers -= 1
                return Response(status_code=503)
            return JSONResponse(receipt)

        async def page(_request: Request) -> Response:
            return FileResponse(FOLDER / "index.html", headers=PAGE_HEADERS)

        files = StaticFiles(directory=FOLDER)
        path = f"/tasks/{self.task.identity}"
        return Starlette(
            routes=[
                Route(path, describe),
                Route(f"{path}/reports", upload, methods=["POST"]),
                Route(f"{path}/take-part", page),
                Mount("/take-part", files),
            ]
        )


def link_of(task: Task, token: bytes, epoch: int = 1) -> str:
    return Invitation(task.digest, epoch, token, sha256(token)).to_text()


def one_task(
    statistic: str = "frequency", *, suite: Suite = Suite.X25519, **terms: Any
) -> OneTask:
    private, analyst = new_private_key(suite), new_signing_key()
    shuffler, enrolling = new_signing_key(), new_signing_key()
    mode, notice = terms.pop("mode", "agnostic"), terms.pop("notice", NOTICE)
    if statistic in ("frequency", "items"):
        terms.setdefault("categories", COLORS)
    if statistic == "frequency":
        terms.setdefault("mechanism", "kary-response")
    asked = Question(
        "Which color do you like best?",
        survey_in(survey_named(statistic), terms, mode),
    )
    task = Task(
        os.urandom(16),
        "Colors & shapes",
        notice,
        asked,
        LEVELS,
        (100, 100, 100),
        LEVELS if asked.survey.central else (0.05, 0.1, 0.3),
        LEVELS if asked.survey.central else (5.0, 5.0, 5.0),
        1e-06,
        0,
        suite,
        public_key_of(suite, private),
        verify_key_of(analyst),
        verify_key_of(shuffler),
        verify_key_of(enrolling),
        plan_rule=rule_for(
            {"question": asked, "choices": LEVELS, "delta": 1e-06, "absent": 0}
        ),
    )
    enroller = Enroller(task, enrolling)
    state = ShufflerState.begin(task).enroll(enroller.enrolment(1))
    return OneTask(task, enroller, shuffler, private, analyst, state)


@contextmanager
def running(app: Starlette) -> Iterator[str]:
    """Serves on a free port; gives the address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        # As the services run it; with web sockets it would import their libraries.
        config = uvicorn.Config(app, log_level="critical", access_log=False, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        thread.start()
        while not server.started:
            assert thread.is_alive(), "The server ended before it began."
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert thread.is_alive(), "The server ended before the test did."
        finally:
            server.should_exit = True
            thread.join(10)


@contextmanager
def served(server: OneTask) -> Iterator[str]:
    """Serves a task; gives the address of its page."""
    with running(server.app()) as root:
        yield f"{root}/tasks/{server.task.identity}/take-part"


def visit(page: Any, url: str, link: str | None) -> None:
    """Opens the page of a task, as a link does."""
    page.goto(url if link is None else f"{url}#{link}")
    page.locator("h1").first.wait_for()


def pick(page: Any, name: str, place: int) -> None:
    """Clicks where a person clicks: on the card, not on the hidden control."""
    page.locator(f"label:has(input[name={name}][value='{place}'])").click()
