"""The dashboard is rendered once, and once more when what it says changed."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from analyst_parties import Service, parties, serve, usual_batch
from handed_evidence import evidence, showing
from test_dashboard import shuffler, shuffler_says

from shuffledp_services.analyst.encoded_pages import EncodedPages
from shuffledp_services.analyst.pages import Pages
from shuffledp_services.analyst.progress import ShufflerProgress, read_progress


def renderings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every page of a task that is rendered from now on."""
    made, task = list[str](), Pages.task

    def noted(pages: Pages, *arguments: Any, **named: Any) -> str:
        made.append(task(pages, *arguments, **named))
        return made[-1]

    monkeypatch.setattr(Pages, "task", noted)
    return made


@pytest.mark.slow
def test_a_page_is_rendered_once_until_an_epoch_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, made = parties(), renderings(monkeypatch)

    async def scenario(service: Service) -> tuple[list[str], list[str]]:
        before = [await service.page() for _ in range(3)]
        await service.post(usual_batch(who))
        await service.counted()
        return before, [await service.page() for _ in range(3)]

    with shuffler(json.dumps(shuffler_says(who)).encode()) as url:
        before, after = serve(tmp_path, who, scenario, shuffler_url=url)

    assert made == [before[0], after[0]]
    assert (len(set(before)), len(set(after))) == (1, 1)
    assert "Waiting for answers: epoch 1" in before[0]
    assert "Published: epoch 1" in after[0]


def test_what_the_shuffler_says_is_shown_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, made = parties(), renderings(monkeypatch)
    said = [
        read_progress(shuffler_says(who, **changes), who.task)
        for changes in (
            {},
            {"phase": "closed"},
            {"people": [40, 40, 1412]},
            {"refused": {"token-forged": 7}},
            {"phase": "closed", "hand_over": {"refused": "wrong-epoch"}},
        )
    ]
    asked = [*said, None]
    left = [one for one in asked for _ in range(2)]

    async def ask(_self: ShufflerProgress, _task: object) -> object:
        return left.pop(0)

    monkeypatch.setattr(ShufflerProgress, "ask", ask)

    async def scenario(service: Service) -> list[str]:
        return [await service.page() for _ in range(2 * len(asked))]

    pages = serve(tmp_path, who, scenario, shuffler_url="http://shuffler")

    assert pages[::2] == pages[1::2] == made
    assert len(set(made)) == len(asked)


def test_all_who_look_at_a_time_ask_the_shuffler_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    who, asked = parties(), list[httpx.Request]()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=shuffler_says(who, epoch=len(asked)))

    def client(*_arguments: object, **_named: object) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(answer))

    monkeypatch.setattr("shuffledp_services.analyst.progress.service_client", client)

    async def ask() -> list[int | None]:
        progress = ShufflerProgress("http://shuffler", None)
        together = await asyncio.gather(*(progress.ask(who.task) for _ in range(20)))
        # What is asked for later is asked again.
        later = await progress.ask(who.task)
        await progress.close()
        return [None if said is None else said.epoch for said in (*together, later)]

    assert asyncio.run(ask()) == [1] * 20 + [2]


def test_other_evidence_is_shown_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, made = parties(), renderings(monkeypatch)
    path = tmp_path / "evidence.json"
    contents = ["nonsense", evidence(who.task.fingerprint, ()).to_json(), None]
    shown = showing(who, tmp_path, "nonsense")

    async def scenario(service: Service) -> list[str]:
        pages = []
        for content in contents:
            path.unlink()
            if content is not None:
                path.write_text(content)
            pages += [await service.page(), await service.page()]
            path.touch()
        return pages

    pages = serve(tmp_path, shown, scenario)

    assert pages[::2] == pages[1::2] == made
    assert (made[0] == made[1], made[0] == made[2]) == (False, True)


async def _text() -> str:
    return "page"


def test_as_many_pages_are_kept_as_were_asked_for_last() -> None:
    pages = EncodedPages()

    async def get() -> tuple[bool, bool]:
        first = await pages.get(0, (), _text)
        near = await pages.get(0, (), _text) is first
        for name in range(1, 20):
            await pages.get(name, (), _text)
        return near, await pages.get(0, (), _text) is first

    assert asyncio.run(get()) == (True, False)
