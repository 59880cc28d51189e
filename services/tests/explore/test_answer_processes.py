"""Answer processes: abandoned answers end, and quick ones do not wait for slow ones."""

import asyncio
import multiprocessing
import os
import signal

import pytest

import shuffledp as sdp
from shuffledp_services.explore.answer_processes import (
    Abandoned,
    AnswerPools,
    AnswerProcesses,
)
from shuffledp_services.explore.answers import ANSWERS
from shuffledp_services.explore.explore_query import read_query


async def waits() -> bool:
    return False


def stop_processes(without: int | None = None) -> None:
    """Stops all processes of answers, but for one in the order of their start.

    What they compute takes as long as a test wants, however quick the machine is.
    """
    processes = sorted(
        multiprocessing.active_children(),
        key=lambda process: int(process.name.rpartition("-")[2]),
    )
    for position, process in enumerate(processes):
        if position != without and process.pid is not None:
            os.kill(process.pid, signal.SIGSTOP)


@pytest.mark.slow
def test_processes_answer_refuse_and_end_what_nobody_waits_for() -> None:
    query = read_query({"levels": "0.5:60,1:90", "delta": "1e-4"})
    alone = read_query({"levels": "1:1"})

    async def ask() -> None:
        workers = AnswerProcesses(1)
        try:
            looks = 0

            async def gone() -> bool:
                nonlocal looks
                looks += 1
                stop_processes()
                return looks > 1

            with pytest.raises(Abandoned):
                await asyncio.wait_for(workers.ask("answer", query, gone), 60)
            computed = await asyncio.wait_for(workers.ask("answer", query, waits), 60)
            assert computed == ANSWERS["answer"](query)
            with pytest.raises(sdp.PopulationError, match="at least 2 people"):
                await workers.ask("answer", alone, waits)
        finally:
            workers.end()

    asyncio.run(ask())


@pytest.mark.slow
def test_what_is_certified_at_once_does_not_wait_for_what_takes_long() -> None:
    query = read_query({"levels": "0.5:60,1:90", "delta": "1e-4"})

    async def ask() -> None:
        pools = AnswerPools()
        busy = [
            asyncio.create_task(pools.ask(name, query, waits))
            for name in ("answer", "answer", "plan")
        ]
        try:
            # All have begun: two for certificates, one for quick answers, the planner.
            await asyncio.sleep(0)
            stop_processes(without=2)
            computed = await asyncio.wait_for(pools.ask("quick", query, waits), 60)
            assert computed == ANSWERS["quick"](query)
            assert not any(task.done() for task in busy)
            # Nor does the certificate wait for the planner.
            busy[0].cancel()
            computed = await asyncio.wait_for(pools.ask("answer", query, waits), 60)
            assert computed == ANSWERS["answer"](query)
            assert not busy[2].done()
        finally:
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)
            pools.end()

    asyncio.run(ask())
