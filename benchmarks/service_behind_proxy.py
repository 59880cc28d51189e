"""Processor time per upload, per participant of the page and per dashboard view.

    python benchmarks/service_behind_proxy.py    # needs nginx, and a page that was built

Uploads of one report come directly, behind nginx as in docs/how-to/deployment.md, and
behind the same without keep-alive: in turns, so that other load of the machine affects all
alike. A participant requests the page and its files and the task, and uploads, over one
connection and with a browser's headers. A dashboard view asks the shuffler, too, once for
all simultaneous views: so views come `AT_ONCE` at a time, as all other requests do, and one
by one. Printed are medians of several periods, without nginx's own time.
"""

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests" / "service"))

import asyncio
from http.client import HTTPConnection

from documented_proxy import nginx
from live_collection import close, deliver, operate, people_of, published, task_for
from live_services import Running, pair
from machine import describe
from shuffler_parties import upload

from shuffledp_services.wire.command import Action
from shuffledp_services.wire.step import Step

SPELLS, AT_ONCE = 3, 16
UPLOADS, PARTICIPANTS, VIEWS, LONE_VIEWS = 320, 160, 64, 16
BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
}


def used(service: Running) -> float:
    """Returns the processor time of a process, in seconds."""
    assert service.pid is not None
    # As clock_getcpuclockid(3) makes it.
    return time.clock_gettime((~service.pid << 3) | 2)


def measure(
    service: Running,
    work: Callable[[bytes], None],
    contents: Iterable[bytes],
    at_once: int = AT_ONCE,
) -> float:
    """Returns a service's processor time per request, in seconds."""
    before = used(service)
    with ThreadPoolExecutor(at_once) as pool:
        count = len(list(pool.map(work, contents)))
    return (used(service) - before) / count


def ask(client: HTTPConnection, path: str, body: bytes | None = None) -> None:
    """Sends one request, and reads its answer."""
    client.request("GET" if body is None else "POST", path, body, BROWSER)
    answer = client.getresponse()
    content = answer.read()
    assert answer.status == 200, content


async def finish_epoch(shuffler: Running, analyst: Running) -> None:
    """Collects and publishes an epoch, and begins another one."""
    people = people_of(shuffler.setup.who, 1)
    await deliver(shuffler, people)
    await close(shuffler, 1)
    await published(analyst, 1)
    await operate(shuffler, Action.NEXT, lambda status: status["epoch"] == 2)


def without_limits(text: str) -> str:
    """Returns a proxy's configuration without limits per address."""
    return re.sub(r" *limit_.*\n", "", text)


def without_keep_alive(text: str) -> str:
    """Returns the same with a connection to the service for every request."""
    keep_alive = r" *(keepalive|proxy_http_version|proxy_set_header Connection).*\n"
    return re.sub(keep_alive, "", without_limits(text))


def main() -> None:
    """Prints all figures."""
    print(describe())
    who = task_for("frequency")
    step, path = Step(who.task, 2), f"/tasks/{who.task.identity}"
    with ExitStack() as stack:
        folders = [
            Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(3)
        ]
        shuffler, analyst = map(stack.enter_context, pair(who, folders[0]))
        asyncio.run(finish_epoch(shuffler, analyst))
        ports = {
            "direct": shuffler.setup.port,
            "nginx, a connection each": stack.enter_context(
                nginx(folders[1], shuffler.setup.port, without_keep_alive)
            ),
            "nginx, as documented": stack.enter_context(
                nginx(folders[2], shuffler.setup.port, without_limits)
            ),
        }

        def bodies(count: int) -> list[bytes]:
            return [
                upload(step, [each]) for each in who.enroller.tokens(count, epoch=2)
            ]

        def send_upload(port: int, content: bytes) -> None:
            client = HTTPConnection("127.0.0.1", port)
            ask(client, f"{path}/reports", content)
            client.close()

        def take_part(port: int, content: bytes) -> None:
            client = HTTPConnection("127.0.0.1", port)
            files = ("/take-part/style.css", "/take-part/page.js")
            for each in (f"{path}/take-part", *files, path):
                ask(client, each)
            ask(client, f"{path}/reports", content)
            client.close()

        def view(_content: bytes) -> None:
            client = HTTPConnection("127.0.0.1", analyst.setup.port)
            ask(client, f"{path}/dashboard")
            client.close()

        uploads: dict[str, list[float]] = {name: [] for name in ports}
        participants: dict[str, list[float]] = {name: [] for name in ports}
        views, lone = list[float](), list[float]()
        for _ in range(SPELLS):
            for name, port in ports.items():
                work = partial(send_upload, port)
                uploads[name].append(measure(shuffler, work, bodies(UPLOADS)))
                work = partial(take_part, port)
                participants[name].append(measure(shuffler, work, bodies(PARTICIPANTS)))
            views.append(measure(analyst, view, [b""] * VIEWS))
            lone.append(measure(analyst, view, [b""] * LONE_VIEWS, at_once=1))
    for what, costs in (("upload", uploads), ("participant", participants)):
        direct = statistics.median(costs["direct"])
        for name, spells in costs.items():
            cost = statistics.median(spells)
            print(f"{what:<12}{name:<26}{1e3 * cost:>6.2f} ms {cost / direct:>6.2f}")
    for name, spells in ((f"{AT_ONCE} at a time", views), ("one by one", lone)):
        print(f"{'view':<12}{name:<26}{1e3 * statistics.median(spells):>6.2f} ms")


if __name__ == "__main__":
    main()
