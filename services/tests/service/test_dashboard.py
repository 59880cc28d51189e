"""The dashboard: what its pages say, and that everybody can read them."""

import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from analyst_parties import (
    NAMES,
    Parties,
    Service,
    parties,
    serve,
    usual_batch,
)
from contrast import contrast
from service_parties import NOTICE

from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.statistics.mean.survey import MeanSurvey
from shuffledp_services.analyst.figures import Axis, figure_of
from shuffledp_services.analyst.pages import Pages, choices_of
from shuffledp_services.wire.question import Question

HOSTILE = "<script>alert(1)</script> \"'&{{7*7}}"
VOID = {"meta", "link"}


class Page(HTMLParser):
    """Checks nesting while it reads, and keeps what tests ask for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def shuffler_says(who: Parties, **changes: Any) -> dict[str, Any]:
    """What the shuffler's public page about a task says."""
    return {
        "task": who.task.to_dict(),
        "epoch": 1,
        "stage": "answer",
        "phase": "open",
        "plan": None,
        "people": [39, 40, 1412],
        "shortfalls": ["level 0.5: 39 of 40 people"],
        "refused": {"token-spent": 3, "malformed": 0},
        **changes,
    }


@contextmanager
def shuffler(answer: bytes, status: int = 200) -> Iterator[str]:
    """A server that gives one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def look_at(
    folder: Path,
    who: Parties,
    url: str | None = None,
    *,
    batches: tuple[bytes, ...] = (),
) -> str:
    async def scenario(service: Service) -> str:
        for batch in batches:
            await service.post(batch)
            await service.counted()
        return await service.page()

    return serve(folder, who, scenario, shuffler_url=url)


def test_progress_is_what_the_shuffler_says(tmp_path: Path) -> None:
    who = parties()

    with shuffler(json.dumps(shuffler_says(who)).encode()) as url:
        page = Page(look_at(tmp_path, who, url))

    assert "39 of 40 people: up to 1 missing" in page.text
    assert "numbers are rounded down, and up to a minute old" in page.text
    assert "40 of 40 people: enough" in page.text
    assert "1,412 of 40 people: enough" in page.text
    assert "The token was used before" in page.text
    assert "The message cannot be read" not in page.text
    values = [(bar["value"], bar["max"]) for bar in page.all("progress")]
    assert values == [("39", "40"), ("40", "40"), ("40", "40")]
    assert [meta for meta in page.all("meta") if "http-equiv" in meta]


@pytest.mark.few_cases(6)
@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense",
        b"[]",
        b"{}",
        json.dumps({"epoch": 1}).encode(),
        b'{"epoch":1,"stage":"answer","phase":"open","people":[1,2],"refused":{}}',
        b'{"epoch":1,"stage":"answer","phase":"open","people":[1,2,"3"],"refused":{}}',
        b'{"epoch":1,"stage":"<b>","phase":"open","people":[1,2,3],"refused":{}}',
        b'{"epoch":1,"stage":"answer","phase":"open","people":[1,2,3],"refused":{"x":1}}',
        b'{"epoch":1,"stage":"answer","phase":"open","people":[1,2,3],"refused":[]}',
        b'{"epoch":1,"stage":[],"phase":"open","people":[1,2,3],"refused":{}}',
        b'{"epoch":1,"stage":"answer","phase":"open","people":[1,2,3],"refused":{},'
        b'"hand_over":[]}',
        b'{"epoch":1,"stage":"answer","phase":"open","people":[1,2,3],"refused":{},'
        b'"hand_over":{"refused":"<b>"}}',
    ],
)
def test_a_shuffler_that_talks_nonsense_is_not_reachable(
    tmp_path: Path, answer: bytes
) -> None:
    with shuffler(answer) as url:
        page = Page(look_at(tmp_path, parties(), url))

    assert "The shuffler is not reachable" in page.text


def test_a_shuffler_that_is_away_is_not_reachable(tmp_path: Path) -> None:
    who = parties()

    with shuffler(b"") as url:
        pass
    with shuffler(json.dumps(shuffler_says(who)).encode(), 500) as broken:
        pages = [look_at(tmp_path, who, where) for where in (url, broken)]

    assert all("The shuffler is not reachable" in page for page in pages)


def test_many_who_look_do_not_make_it_read_certificates_of_authorities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, read = parties(), list[bool]()
    create = ssl.create_default_context

    def counted(**named: Any) -> ssl.SSLContext:
        read.append(True)
        return create(**named)

    monkeypatch.setattr(ssl, "create_default_context", counted)

    async def look(service: Service) -> None:
        # 17 ms each, for anybody who asks.
        for _ in range(3):
            await service.page()

    serve(tmp_path, who, look, shuffler_url="http://127.0.0.1:9")

    assert len(read) <= 1


def test_a_shuffler_that_was_not_named_is_said_to_be_so(tmp_path: Path) -> None:
    page = Page(look_at(tmp_path, parties()))

    assert "No shuffler was named; start with --shuffler URL" in page.text
    assert "not reachable" not in page.text


def test_a_batch_that_was_refused_is_not_said_to_be_on_its_way(tmp_path: Path) -> None:
    who = parties()
    handed = {"attempts": 1, "refused": "allowance-spent"}
    waiting = {"attempts": 1, "refused": None}

    pages = []
    for how in (handed, waiting):
        says = shuffler_says(who, phase="closed", hand_over=how)
        with shuffler(json.dumps(says).encode()) as url:
            pages.append(Page(look_at(tmp_path, who, url)).text)

    words = "The analyst refused the batch: a level has too little left."
    assert words in pages[0]
    assert words not in pages[1]
    assert ["on the way here" in page for page in pages] == [False, True]


@pytest.mark.slow
def test_levels_without_budget_are_named(tmp_path: Path) -> None:
    # One epoch costs each of them some of what another may cost.
    who = parties(allowance=(0.5, 1.0, 5.0))

    page = Page(look_at(tmp_path, who, batches=(usual_batch(who),)))

    assert "Too little is left for another epoch at level 0.5, 1." in page.text


@pytest.mark.slow
def test_a_mean_of_the_widest_range_is_shown(tmp_path: Path) -> None:
    question = Question("How much?", MeanSurvey(-1e308, 1e308))
    who = parties("mean", question=question)

    page = Page(look_at(tmp_path, who, batches=(usual_batch(who),)))

    assert page.text


@pytest.mark.slow
def test_estimates_and_guarantees_are_shown(tmp_path: Path) -> None:
    who = parties()

    page = Page(look_at(tmp_path, who, batches=(usual_batch(who),)))

    assert "Published: epoch 1" in page.text
    assert all(name in page.text for name in NAMES)
    captions = len(page.all("caption"))
    assert captions == len(page.all("table")) == 3
    assert "Of 180 accepted reports, 2 are assumed" in page.text
    assert "0.148576" in page.text
    assert "One person who lies moves a share by up to" in page.text
    assert "If shuffler and analyst work together, they see" in page.text
    bars = [bar for bar in page.all("rect") if bar["class"] == "bar"]
    assert len(bars) == len(NAMES)


@pytest.mark.slow
def test_results_with_certificates_of_former_formats_are_shown(tmp_path: Path) -> None:
    who = parties()

    async def scenario(service: Service) -> dict[str, Any]:
        await service.post(usual_batch(who))
        await service.counted()
        published: dict[str, Any] = (await service.result()).json()
        return published

    result = serve(tmp_path, who, scenario)
    now = choices_of(who.task, result)
    result["certificate"]["format"] = "shuffledp-guarantee-2"
    for level in result["certificate"]["levels"]:
        del level["epsilon_coalition"], level["delta_coalition"]

    assert choices_of(who.task, result) == now
    assert len(now) == 3


@pytest.mark.slow
def test_who_asks_and_how_many_were_given_tokens_is_shown(tmp_path: Path) -> None:
    who = parties(notice=replace(NOTICE, asker="<b>City</b> & more"))
    page = Page(look_at(tmp_path, who, batches=(usual_batch(who),)))

    assert "<b>City</b> & more" in page.text
    assert who.task.notice.contact in page.text
    assert who.task.notice.consent in page.text
    assert who.task.fingerprint in page.text
    assert "180 people, of 10,000 who were given a token." in page.text


@pytest.mark.slow
def test_a_withheld_epoch_says_what_is_missing(tmp_path: Path) -> None:
    who = parties(minimum=(40, 1000, 40))

    page = Page(look_at(tmp_path, who, batches=(usual_batch(who),)))

    assert "Epoch 1 is withheld" in page.text
    assert "level 1: 60 of 1,000 people" in page.text
    assert "nothing is spent" in page.text


@pytest.mark.slow
def test_earlier_epochs_can_be_looked_at(tmp_path: Path) -> None:
    who = parties()

    async def scenario(service: Service) -> tuple[str, str, int]:
        for epoch in (1, 2):
            await service.post(usual_batch(who, epoch=epoch, per_level=39 + epoch))
            await service.counted()
        path = f"/tasks/{who.task.identity}/dashboard/3"
        missing = await service.client.get(path)
        return await service.page(), await service.page(1), missing.status_code

    last, first, missing = serve(tmp_path, who, scenario)

    assert "Epoch 2, 123 people" in last
    assert "Epoch 1, 120 people" in first
    assert missing == 404


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum"])
def test_pages_are_accessible_and_need_nothing_from_elsewhere(
    tmp_path: Path, statistic: Any
) -> None:
    who = parties(statistic)

    with shuffler(json.dumps(shuffler_says(who)).encode()) as url:
        text = look_at(tmp_path, who, url, batches=(usual_batch(who),))
    page = Page(text)

    names = [tag for tag, _ in page.tags]
    assert page.all("html") == [{"lang": "en"}]
    assert [names.count(tag) for tag in ("main", "header", "footer", "h1")] == [1] * 4
    levels = [int(name[1]) for name in names if re.fullmatch("h[1-6]", name)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    identities = [a["id"] for _, a in page.tags if "id" in a]
    assert len(set(identities)) == len(identities)
    named = {a["aria-labelledby"] for _, a in page.tags if "aria-labelledby" in a}
    assert named <= set(identities)
    # Names of WAI-ARIA, which spells them the British way.
    aria = {name[5:] for _, a in page.tags for name in a if name.startswith("aria-")}
    states = {"current", "hidden", "valuemin", "valuemax", "valuenow"}
    assert {"labelledby"} <= aria <= {"label", "labelledby"} | states
    assert all(cell.get("scope") in ("col", "row") for cell in page.all("th"))
    assert "script" not in names
    assert not any("style" in a for _, a in page.tags)
    assert not any(name.startswith("on") for _, a in page.tags for name in a)
    links = [a.get("href") or a.get("src") for _, a in page.tags]
    assert all(link.startswith(("/", "#")) for link in links if link)
    assert page.all("meta")[1]["content"] == "width=device-width, initial-scale=1"


@pytest.mark.slow
def test_hostile_names_are_text(tmp_path: Path) -> None:
    question = Question(HOSTILE, FrequencySurvey((HOSTILE, *NAMES)))
    who = parties(name=HOSTILE, question=question)

    async def scenario(service: Service) -> tuple[str, str]:
        await service.post(usual_batch(who))
        await service.counted()
        return await service.page(), (await service.client.get("/")).text

    for text in serve(tmp_path, who, scenario):
        page = Page(text)
        assert "script" not in [tag for tag, _ in page.tags]
        assert "<script>alert(1)</script>" in page.text
        assert "{{7*7}}" in page.text


def test_pages_may_load_their_style_and_nothing_else(tmp_path: Path) -> None:
    who = parties()

    async def scenario(service: Service) -> list[Any]:
        paths = ("/", f"/tasks/{who.task.identity}/dashboard", "/dashboard.css", "/x")
        return [await service.client.get(path) for path in paths]

    for answer in serve(tmp_path, who, scenario):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self';")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast(scheme: int) -> None:
    block = re.findall(r":root \{(.*?)\}", Pages().style, re.DOTALL)[scheme]
    colors = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))

    pairs = [(ink, on) for ink in ("ink", "soft", "accent") for on in ("paper", "back")]
    pairs += [(kind, f"{kind}-back") for kind in ("good", "busy", "bad")]
    for ink, on in pairs:
        assert contrast(colors[ink], colors[on]) >= 4.5, (ink, on)


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ([0.0, 46.7, -2.1], ["0%", "20%", "40%"]),
        ([0.0, 100.0], ["0%", "50%", "100%"]),
        ([0.0, 0.9], ["0.0%", "0.5%"]),
        ([-1e-9, 1e-9], ["-0.0000000010%", "-0.0000000005%", "0.0000000000%"]),
        ([5.0, 5.0], ["6%", "8%", "10%"]),
        ([0.0, 0.0], ["0.0%", "0.5%", "1.0%"]),
        ([0.0, 5e-324], []),
        ([1.7e308, 1.7e308], []),
        ([-1.7e308, 1.7e308], []),
    ],
)
def test_axes_have_marks_at_round_numbers(
    numbers: list[float], texts: list[str]
) -> None:
    axis = Axis.of(numbers)

    ticks = axis.ticks("%")

    assert [tick.text for tick in ticks][: len(texts)] == texts
    assert len(ticks) <= 6
    assert all(0.0 <= tick.position <= 100.0 for tick in ticks)


def test_bars_begin_at_zero_and_whiskers_hold_the_estimate() -> None:
    question = Question("?", FrequencySurvey(("a", "b")))
    rows = [
        {
            "name": name,
            "value": value,
            "standard_error": 0.05,
            "interval": [value - 0.1, value + 0.1],
            "population_interval": [value - 0.2, value + 0.2],
        }
        for name, value in (("a", 0.8), ("b", -0.05))
    ]

    figure = figure_of({"estimate": {"rows": rows, "num_users": 9}}, question)

    # From -15% to 90%: a hundredth of the picture is 1.05 percentage points.
    first, second = figure.bars
    assert first.start == pytest.approx(15 / 1.05, abs=1e-3)
    assert first.width == pytest.approx(80 / 1.05, abs=2e-3)
    assert second.start == pytest.approx(10 / 1.05, abs=1e-3)
    assert second.start + second.width == pytest.approx(first.start, abs=1e-2)
    assert first.low < first.dot < first.high == 100.0
    assert first.interval == "70.00% to 90.00%"


def test_only_the_largest_of_many_categories_are_drawn() -> None:
    question = Question("?", FrequencySurvey(tuple(f"c{i}" for i in range(100))))
    rows = [
        {
            "name": f"c{i}",
            "value": i / 4950,
            "standard_error": 0.01,
            "interval": [0.0, 0.1],
            "population_interval": [0.0, 0.1],
        }
        for i in range(100)
    ]

    figure = figure_of({"estimate": {"rows": rows, "num_users": 9}}, question)

    assert [bar.name for bar in figure.bars] == [f"c{i}" for i in range(60, 100)]
    assert figure.left_out == 60
