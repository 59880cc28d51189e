"""A task whose shuffler adds the noise, and its batch, without a network."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from service_parties import Parties, allowed_plan, answers, noisy_parties
from shuffler_parties import Analyst, Client, upload
from shuffler_parties import Parties as AtShuffler

from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import read_messages

NUM_USERS = 30


@cache
def made() -> Parties:
    return noisy_parties(minimum=(NUM_USERS,) * 3, absent=0)


def answering(who: Parties, epoch: int = 1) -> Step:
    return Step(who.task, epoch, EpochStage.ANSWER, allowed_plan(who.task))


def values(count: int, *, seed: int = 1) -> NDArray[np.int64]:
    return answers("counts", count, np.random.default_rng(seed))


def at_shuffler(who: Parties) -> AtShuffler:
    host = ShufflerHost(
        who.task, who.shuffler, who.enroller.roster, lambda: 0, dummies=who.dummies
    )
    return AtShuffler(host, who.analyst.signing_key, who.enroller)


def collected(
    folder: Path,
    who: Parties,
    given: NDArray[np.int64],
    reached: Callable[[str], None] = lambda _name: None,
    attempts: int = 1,
) -> tuple[BatchHeader, list[bytes], list[bytes], bytes]:
    """Returns header, messages of people and of the batch, manifest, of the answers."""
    mine = at_shuffler(who)
    analyst, step = Analyst(mine), answering(who)
    levels = np.resize(np.array(who.task.choices), len(given))
    tokens = mine.tokens(len(given))
    app = mine.app(SqliteStore(folder / "s.db"), analyst, reached=reached)
    with Client(app) as client:

        def send(at: Step, content: Any) -> None:
            sent = upload(at, tokens, sealed=content)
            assert client.post(mine.path("/reports"), content=sent).is_success

        def wait(stage: str, phase: str) -> None:
            for _ in range(500):
                status = client.get(mine.path()).json()
                if (status["stage"], status["phase"]) == (stage, phase):
                    return
                client.get("/health")
            raise AssertionError(status)

        first = Step(who.task, 1, EpochStage.CHOICE)
        choices = first.run.randomize(given, levels, rng=np.random.default_rng(2))
        send(first, sealed(first, choices, levels))
        assert mine.order(client, "close").is_success
        wait("answer", "open")
        messages = step.run.randomize(given, levels, rng=np.random.default_rng(3))
        from_people = sealed(step, messages, levels)
        send(step, from_people)
        for attempt in range(attempts):
            closed = mine.order(client, "close")
            assert closed.is_success is (attempt == attempts - 1)
        wait("answer", "delivered")
    (header, _), (whole,) = analyst.received[-1], analyst.piles[-1]
    flat = [each for row in from_people for each in row]
    return header, flat, whole, analyst.bodies[-1]


def sealed(step: Step, messages: Any, levels: Any) -> list[tuple[bytes, ...]]:
    tokens = [os.urandom(32) for _ in levels]
    return [each.sealed for each in seal_reports(step, messages, levels, tokens)]


def opened(who: Parties, messages: list[bytes]) -> NDArray[np.int64]:
    """What is in a batch, message by message."""
    opener = Opener(who.task.suite, who.analyst.private_key, answering(who).info())
    plain = [opener.open(each) for each in messages]
    assert None not in plain
    numbers, nulls, invalid = read_messages(b"".join(each or b"" for each in plain))
    assert (nulls, invalid) == (0, 0)
    return numbers


def plan_of(who: Parties) -> Counts:
    return Counts.from_record(allowed_plan(who.task).record)
