"""Latency of the page of `shuffledp explore`: python benchmarks/explore.py

Every request is for a new query, as when a slider moves, from a client of the application
to a process that computes and back. Prints a Markdown table of milliseconds, medians and
95% quantiles of 8: latency of the quick certificate, and of the tight one, which depends on
other load of the machine; and processor time of the latter, without transport.
"""

import asyncio
import os
import time
from urllib.parse import parse_qsl

import httpx
import numpy as np
from machine import describe

from shuffledp_services.explore.answers import answer
from shuffledp_services.explore.explore_app import create_explore
from shuffledp_services.explore.explore_query import ExploreQuery, read_query

REQUESTS = 8
CASES = {
    "3 levels, 17 categories": "categories=17&levels=0.5:{n},1:5000,2:2500",
    "3 levels, 17 categories, 50 absent": "absent=50&levels=0.5:{n},1:5000,2:2500",
    "3 levels, stratified": "mode=stratified&levels=0.5:{n},1:5000,2:2500",
    "3 levels, subset selection": "mechanism=subset-selection"
    "&levels=0.5:{n},1:5000,2:2500",
    "3 levels, Hadamard": "mechanism=hadamard-response&levels=0.5:{n},1:5000,2:2500",
    "3 levels, 17 million people": "levels=0.5:{n}000,1:5000000,2:9500000",
    "3 levels, mean, one bit": "statistic=mean&levels=0.5:{n},1:5000,2:2500",
    "3 levels, mean, Laplace": "statistic=mean&mechanism=laplace&levels=0.5:{n},2:2500",
    "3 levels, mean, Clip-Laplace": "statistic=mean&mechanism=clip-laplace"
    "&levels=0.5:{n},1:5000,2:2500",
    "3 levels, mean, Gaussian": "statistic=mean&mechanism=gaussian"
    "&levels=0.5:{n},1:5000,2:2500",
    "8 levels, 100 categories": "categories=100&levels=0.1:{n},"
    + ",".join(f"{level / 10}:{level}000" for level in range(2, 9)),
    "3 levels, 10 rounds": "rounds=10&levels=0.5:{n},1:5000,2:2500",
    "3 levels, mean, one bit, 10 rounds": "rounds=10&statistic=mean"
    "&levels=0.5:{n},1:5000,2:2500",
    "3 levels, unary encoding": "mechanism=unary-encoding&levels=0.5:{n},1:5000,2:2500",
}


def computed(case: str) -> list[float]:
    """Returns milliseconds of processor time per answer, in this process."""
    taken = []
    for query in queries(case):
        begun = time.process_time()
        answer(query)
        taken.append(1e3 * (time.process_time() - begun))
    return taken


async def waited(client: httpx.AsyncClient, path: str, case: str) -> list[float]:
    """Returns the milliseconds between each request and its answer."""
    taken = []
    for query in queries(case):
        begun = time.perf_counter()
        response = await client.get(f"/{path}?{query.query_string}", timeout=300)
        taken.append(1e3 * (time.perf_counter() - begun))
        response.raise_for_status()
    return taken


def queries(case: str) -> list[ExploreQuery]:
    """Returns queries that differ in the people at their first level."""
    texts = (case.format(n=2500 + number) for number in range(REQUESTS))
    return [read_query(dict(parse_qsl(text))) for text in texts]


async def main() -> None:
    app = create_explore()
    transport = httpx.ASGITransport(app)
    print(describe(), f"\nLoad before: {os.getloadavg()[0]:.1f}\n")
    print("| case | at once | 95% | tight | 95% | processor | 95% |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        # All processes are there before anything is measured.
        paths = ("/answer", "/certificate.json", "/quick")
        await asyncio.gather(*(client.get(path) for path in paths))
        computed("levels=1:{n}")
        for name, case in CASES.items():
            taken = [
                await waited(client, "quick", case),
                await waited(client, "answer", case),
                computed(case),
            ]
            figures = [f"{q:.0f}" for t in taken for q in np.quantile(t, [0.5, 0.95])]
            print(f"| {name} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
