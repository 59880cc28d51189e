"""How long the client of services waits for them."""

import asyncio

import httpx

from shuffledp_services.http.http_client import TIMEOUT, ask
from shuffledp_services.http.trusted_certificates import service_client


def test_a_connection_takes_less_time_than_an_answer_may() -> None:
    seconds: list[dict[str, float]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seconds.append(request.extensions["timeout"])
        return httpx.Response(200, content=b"{}")

    async def run() -> None:
        transport = httpx.MockTransport(handler)
        async with service_client(TIMEOUT, transport=transport) as client:
            await ask(client, "GET", "https://shuffler.example")

    asyncio.run(run())

    # Firewalls that drop what they are sent are not waited for eight times a minute.
    assert [(each["connect"], each["read"]) for each in seconds] == [(10.0, 60.0)]
