"""A collection from answers to result, by two services.

    python benchmarks/service_end_to_end.py [people] [frequency | counts]

A million simulated people by default, who answer one question with one message; or three
questions with a report of several messages, after they chose targets. Both services run as
processes of their own, started as an operator starts them, on SQLite; devices randomize and
seal in further processes, with randomness of the operating system, 4,000 reports per
upload. Every token is checked, every commit durable, every batch signed, every
message opened. Memory and processor time of the services, and of the devices together, are
those that the operating system reports at their end; a service's start is not counted. Per
person are processor time, bytes uploaded, and bytes in the shuffler's database before its
last batch leaves. Reports of several messages are shorter the more people share the noise,
so that a million people are not fifty times 20,000. The published shares are compared with
the true ones, in standard errors as published; farther than five is an error. The printed
load is that of other processes at the beginning; progress goes to the error output.
"""

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from machine import describe
from numpy.typing import NDArray
from processes import sample

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

from live_services import peak_memory
from service_parties import LEVELS, Parties, answers, parties, question

from shuffledp.randomness import SystemRandom
from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp_services.device.simulated_devices import Delivery, TaskSnapshot, send
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.http.http_client import UnreachableError
from shuffledp_services.operator.shuffler_commands import operate_with
from shuffledp_services.operator.task_signatures import signature_file
from shuffledp_services.storage.key_files import TASK_FILE
from shuffledp_services.storage.new_files import write_new
from shuffledp_services.storage.roster_files import roster_filename
from shuffledp_services.wire.command import Action
from shuffledp_services.wire.parties import Role, agreement
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import report_size

PER_UPLOAD = 4_000
# Sixteen shares are that far off by chance less than once in 100,000 runs.
MOST_ERRORS = 5.0
CATEGORIES = tuple("abcdefghijklmnop")


class Service:
    """A service in a process of its own, as an operator runs it."""

    def __init__(self, folder: Path, party: str, port: int, *more: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.busy = self.peak = self.started = 0.0
        command = [sys.executable, "-m", "shuffledp", "serve", party, str(folder)]
        command += ["--database", f"sqlite:///{folder / 'database'}"]
        command += ["--port", str(port), *more]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(command, env=environment)

    def wait(self) -> None:
        """Waits until the service answers, and records the time of its start."""
        ask_until(f"{self.url}/health")
        seconds: dict[int, float] = {}
        for _ in sample(self._process.pid, seconds):
            pass
        self.started = sum(seconds.values())

    def stop(self) -> None:
        """Ends the service, and records its processor seconds and memory in MB."""
        if self._process.returncode is not None:
            return
        # What the system counts at the end begins with the memory of who started it.
        self.peak = peak_memory(self._process.pid)
        self._process.send_signal(signal.SIGTERM)
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.busy = max(used.ru_utime + used.ru_stime - self.started, 0.0)


def ask_until(url: str) -> dict[str, Any]:
    """Polls an address, and returns its document once there is one."""
    while True:
        try:
            answer = httpx.get(url, timeout=60, trust_env=False)
            if answer.is_success:
                document: dict[str, Any] = answer.json()
                return document
        except httpx.TransportError:
            pass
        time.sleep(0.05)


def devices_busy() -> float:
    """Returns processor seconds of this process and of those it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def stored_bytes(folder: Path) -> int:
    """Returns the bytes of a service's database, its log of writes included."""
    return sum(path.stat().st_size for path in folder.glob("database*"))


def uploaded_bytes(who: Parties, url: str, people: int) -> int:
    """Returns the bytes of all reports of all steps, while the last one is open."""
    address = f"{url}/tasks/{who.task.identity}"
    document = httpx.get(address, timeout=60, trust_env=False).json()
    last = TaskSnapshot.read(document, who.task.digest).step
    steps = [Step(who.task, 1, stage) for stage in who.task.stages[:-1]]
    return people * sum(report_size(step) for step in [*steps, last])


def folders(who: Parties, folder: Path) -> tuple[Path, Path]:
    """Writes each party's folder, with its own secrets and the others' signatures."""
    created = []
    keys = {Role.ANALYST: who.analyst, Role.SHUFFLER: who.shuffler}
    for role, secrets in keys.items():
        own = folder / role.value
        own.mkdir(mode=0o700)
        write_new(own / TASK_FILE, who.task.to_json())
        secrets.save(own / f"{role.value}.json")
        for other, key in who.signing_keys.items():
            signature = json.dumps(agreement(other, who.task, key))
            write_new(own / signature_file(other), signature)
        created.append(own)
    write_new(created[1] / roster_filename(1), who.enroller.written(1))
    return created[1], created[0]


def free_ports() -> tuple[int, int]:
    # Both are bound at the same time, so that the ports differ.
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def print_progress(done: int, total: int) -> None:
    """Prints the number of reports sent, some twenty times in all."""
    step = max(total // 20, PER_UPLOAD)
    if done // step > (done - PER_UPLOAD) // step or done == total:
        clock = time.strftime("%H:%M:%S")
        print(
            f"{clock} {done:,} of {total:,} reports sent", file=sys.stderr, flush=True
        )


def errors_of(result: dict[str, Any], values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns how far each published share is from the true one, in standard errors."""
    rows = result["estimate"]["rows"]
    published = np.array([[row["value"], row["standard_error"]] for row in rows])
    # Of a question that somebody leaves out, the position is after all answers.
    people = np.bincount(values.reshape(-1), minlength=len(rows))[: len(rows)]
    errors: NDArray[np.float64] = (published[:, 0] - people / len(values)) / published[
        :, 1
    ]
    return errors


async def collected(who: Parties, people: SimulatedPeople, url: str) -> Delivery:
    """Sends answers; where people choose targets, closes that stage when all have."""
    sending = asyncio.create_task(
        send(
            people,
            shuffler=url,
            identity=who.task.identity,
            expected=who.task.digest,
            rng=SystemRandom(),
            reports_per_upload=PER_UPLOAD,
            patience=3600.0,
            progress=print_progress,
        )
    )
    if who.task.question.survey.central:
        status = f"{url}/tasks/{who.task.identity}"
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            while (await client.get(status)).json()["people"] != [len(people.tokens)]:
                await asyncio.sleep(0.5)
        await operate_with(who.task, who.shuffler, url, Action.CLOSE)
    return await sending


def main() -> None:
    """Prints one row per step, and one per service."""
    people = int(sys.argv[1]) if len(sys.argv) > 1 else 10**6
    load = os.getloadavg()[0]
    print(f"{describe()}; load {load:.1f}; {people:,} people")
    rng = np.random.default_rng()
    statistic = sys.argv[2] if len(sys.argv) > 2 else "frequency"
    several = statistic == "counts"
    usual = Question("Which one?", FrequencySurvey(CATEGORIES))
    who = parties(
        statistic,
        question=question("counts") if several else usual,
        task_id=os.urandom(16),
        minimum=(people // 4,) * 3,
        delta=1e-9,
        absent=0,
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        own, hers = folders(who, folder)
        ports = free_ports()
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        shuffler = Service(own, "shuffler", ports[0], "--analyst", urls[1])
        stack.callback(shuffler.stop)
        analyst = Service(hers, "analyst", ports[1], "--shuffler", urls[0])
        stack.callback(analyst.stop)
        for service in (shuffler, analyst):
            service.wait()
        tokens = who.enroller.tokens(people)
        levels = rng.permutation(np.resize(LEVELS, people))
        values = (
            answers("counts", people, rng)
            if several
            else rng.integers(0, len(CATEGORIES), people)
        )
        who_answers = SimulatedPeople(values, levels, tokens)
        before, begun = devices_busy(), time.perf_counter()
        delivery = asyncio.run(collected(who, who_answers, shuffler.url))
        sent, devices = time.perf_counter(), devices_busy() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        uploaded = uploaded_bytes(who, shuffler.url, people)
        stored = stored_bytes(own)
        # A close that takes longer than a client waits goes on without it.
        with suppress(UnreachableError):
            asyncio.run(
                operate_with(who.task, who.shuffler, shuffler.url, Action.CLOSE)
            )
        closed = time.perf_counter()
        result = ask_until(f"{analyst.url}/tasks/{who.task.identity}/epochs/1")
        over = time.perf_counter()
        shuffler.stop()
        analyst.stop()
    if delivery.accepted != people or sum(result["people"]) != people:
        raise SystemExit(f"Expected {people:,} people, got {result['people']}.")
    for what, seconds in (
        ("answer, seal, upload", sent - begun),
        ("close", closed - sent),
        ("hand over, open, publish", over - closed),
        ("all", over - begun),
    ):
        print(f"{what:<26}{seconds:>8.1f} s{people / seconds:>12,.0f} per second")
    print(f"{'':<26}{'busy s':>10}{'ms a person':>14}{'MB at most':>14}")
    busy = {
        "devices": (devices, peak),
        "shuffler": (shuffler.busy, shuffler.peak),
        "analyst": (analyst.busy, analyst.peak),
    }
    for name, (seconds, memory) in busy.items():
        each = 1e3 * seconds / people
        print(f"{name:<26}{seconds:>10.1f}{each:>14.2f}{memory:>14.0f}")
    print(f"{'bytes a person, uploaded':<26}{uploaded / people:>10,.0f}")
    print(f"{'bytes a person, stored':<26}{stored / people:>10,.0f}")
    rows, errors = result["estimate"]["rows"], errors_of(result, values)
    largest = np.abs(errors).max()
    root = np.sqrt(np.mean(errors**2))
    print(f"{errors.size} shares, standard errors from the truth: ", end="")
    print(f"root mean square {root:.2f}, largest {largest:.2f}")
    print(f"largest standard error {max(row['standard_error'] for row in rows):.2g}")
    if largest > MOST_ERRORS:
        raise SystemExit(f"Expected shares within {MOST_ERRORS} standard errors.")


if __name__ == "__main__":
    main()
