"""Several processes of one shuffler over one database, to be killed one by one."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import cycle
from typing import Self

import httpx
from live_services import Kill, Running, Setup, free_ports

_BOTH = 0.3
_SERVER_ERROR = 500


class Several:
    """Looks like one service, wherever it is asked.

    Args:
        setup: Of the first one.
        number: Of processes.
        kills: Dealt to them in turn.
        seed: Of who is asked, or killed.
    """

    def __init__(
        self, setup: Setup, number: int, kills: Sequence[Kill], *, seed: int
    ) -> None:
        ports = [setup.port, *free_ports(number - 1)]
        dealt = [list[Kill]() for _ in ports]
        for kill, own in zip(kills, cycle(dealt), strict=False):
            own.append(kill)
        self.all = [
            Running(replace(setup, port=port), own)
            for port, own in zip(ports, dealt, strict=True)
        ]
        self._rng = random.Random(seed)

    @property
    def setup(self) -> Setup:
        return self.all[0].setup

    @property
    def url(self) -> str:
        """Of any of them."""
        return self._rng.choice(self.all).url

    @property
    def path(self) -> str:
        return self._rng.choice(self.all).path

    @property
    def killed(self) -> Counter[str]:
        return sum((one.killed for one in self.all), Counter[str]())

    def __enter__(self) -> Self:
        for one in self.all:
            one.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for one in self.all:
            one.__exit__(*error)

    def wait(self) -> None:
        for one in self.all:
            one.wait()

    def kill(self) -> None:
        """One of them."""
        self._rng.choice(self.all).kill()

    def freeze(self) -> None:
        """One of them."""
        self._rng.choice(self.all).freeze()

    @contextmanager
    def down(self) -> Iterator[None]:
        """All of them."""
        with ExitStack() as stack:
            for one in self.all:
                stack.enter_context(one.down())
            yield


class Either(httpx.AsyncBaseTransport):
    """A network in which every request goes to any of them, and some uploads to two.

    Args:
        several: Where to.
        seed: Of the choice.
    """

    def __init__(self, several: Several, seed: int) -> None:
        self._ports = [one.setup.port for one in several.all]
        self._rng, self._network = (
            random.Random(seed),
            httpx.AsyncHTTPTransport(verify=False),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends it."""
        if request.method != "POST" or self._rng.random() > _BOTH:
            return await self._send(request, self._rng.choice(self._ports))
        ports = self._rng.sample(self._ports, 2)
        answers = await asyncio.gather(
            *(self._send(request, port) for port in ports), return_exceptions=True
        )
        return _one_of(answers)

    async def aclose(self) -> None:
        """Ends its connections."""
        await self._network.aclose()

    async def _send(self, request: httpx.Request, port: int) -> httpx.Response:
        body = await request.aread()
        url = request.url.copy_with(port=port)
        headers = {**request.headers, "host": f"127.0.0.1:{port}"}
        answer = await self._network.handle_async_request(
            httpx.Request(
                request.method,
                url,
                headers=headers,
                content=body,
                # How long a device waits for an answer.
                extensions=request.extensions,
            )
        )
        await answer.aread()
        return answer


def _one_of(answers: Sequence[httpx.Response | BaseException]) -> httpx.Response:
    """What a device hears: that it is in; or else, should anything be unknown, nothing."""
    heard = [one for one in answers if isinstance(one, httpx.Response)]
    accepted = [one for one in heard if one.is_success and one.json()["accepted"]]
    failed = [one for one in heard if one.status_code >= _SERVER_ERROR]
    lost = [one for one in answers if isinstance(one, BaseException)]
    if not accepted and lost:
        raise lost[0]
    return (accepted or failed or heard)[0]
