"""Every screen, in both languages and color schemes, as axe-core sees it: WCAG 2.2, AA.

axe-core comes with what `scripts/build-page` installs; only tests use it.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from analyst_parties import parties, some_result, usual_batch
from handed_evidence import evidence, showing
from page_server import COLORS, OneTask, one_task, pick, running, served, visit
from service_parties import FORM, NOTICE, SKIPPABLE_FORM, publish
from whole_batches import split

from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.statistics.survey import EpochStage
from shuffledp_services import participant
from shuffledp_services.analyst.analyst_app import create_analyst
from shuffledp_services.analyst.pages import Pages
from shuffledp_services.analyst.result_picture import WIDTH
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.wire.notice import Translation
from shuffledp_services.wire.question import Question

AXE = Path(participant.__file__).parent / "page/node_modules/axe-core/axe.min.js"
SHOWN = ("dashboard", "dashboard/1", "results/2")
WANTED = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

pytest_plugins = ["browser_fixtures"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not AXE.is_file(),
        reason="axe-core is not here: scripts/build-page installs it.",
    ),
]

every_look = pytest.mark.parametrize(
    "look", ["en light", "en dark", "de light", "de dark"]
)


@dataclass(frozen=True)
class Screen:
    """A browser of somebody with a language and a color scheme."""

    page: Any
    language: str

    def check(self, what: str) -> None:
        """Fails on whatever axe-core objects to."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("tags => axe.run(document, {runOnly: tags})", WANTED)
        assert found["passes"], what
        objections = [
            f"{rule['id']}: {node['failureSummary']} {node['html']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]
        assert objections == [], what

    def press(self, english: str, german: str) -> None:
        name = german if self.language == "de" else english
        self.page.get_by_role("button", name=name).click()

    def open_details(self) -> None:
        for summary in self.page.locator("summary").all():
            summary.click()


@pytest.fixture
def screen(browser: Any, look: str) -> Iterator[Screen]:
    language, scheme = look.split()
    context = browser.new_context(
        viewport={"width": 320, "height": 640}, locale=language, color_scheme=scheme
    )
    context.set_default_timeout(10_000)
    yield Screen(context.new_page(), language)
    context.close()


GERMAN = Translation(
    "de", "Farben", "Welche Farbe?", ("Rot", "Grün", "Blau"), "Alles wird gezählt."
)


ALL_GERMAN = replace(
    GERMAN,
    answers=(
        *("Wie kommen Sie zur Arbeit?", "Rad", "Bus", "Auto", "zu Fuß"),
        *("Wie alt sind Sie?", "Jahre"),
        *("Gibt es bei Ihnen einen Park?", "Ja", "Nein"),
        *("Wie lange brauchen Sie?", "Minuten"),
    ),
)


def translated(
    statistic: str, translation: Translation = GERMAN, **terms: Any
) -> OneTask:
    notice = replace(NOTICE, translations=(translation,))
    return one_task(statistic, notice=notice, **terms)


@every_look
def test_everybody_can_read_each_step_of_taking_part(screen: Screen) -> None:
    server, page = translated("frequency"), screen.page

    with served(server) as url:
        visit(page, url, None)
        screen.open_details()
        screen.check("the form, with a field for the code")
        screen.press("Make my message", "Meine Nachricht erstellen")
        page.get_by_role("alert").wait_for()
        screen.check("the form, with something missing")
        pick(page, "level", 1)
        pick(page, "answer", 1)
        page.locator("#link").fill(server.link())
        screen.check("the form, filled in")
        screen.press("Make my message", "Meine Nachricht erstellen")
        page.locator("#message").wait_for()
        screen.open_details()
        screen.check("the message")
        server.lose_answers = 1
        screen.press("Send this message", "Diese Nachricht senden")
        page.get_by_role("alert").wait_for()
        screen.check("the message, after a lost answer")
        server.reports.clear()
        screen.press("Send it again", "Noch einmal senden")
        page.locator("#receipt").wait_for()
        screen.check("the receipt")


def many() -> OneTask:
    return one_task(categories=[f"Color {n}" for n in range(20)])


def number() -> OneTask:
    return one_task("mean", low=0.0, high=9.0)


def choosing() -> OneTask:
    return translated("items", set_size=2)


def answering() -> OneTask:
    server = choosing()
    plan = publish(server.task, server.analyst_key)
    server.state = replace(server.state, stage=EpochStage.ANSWER, plan=plan)
    return server


def several() -> OneTask:
    server = translated("counts", ALL_GERMAN, questions=FORM)
    plan = publish(server.task, server.analyst_key)
    server.state = replace(server.state, stage=EpochStage.ANSWER, plan=plan)
    return server


@every_look
@pytest.mark.parametrize("server_of", [many, number, choosing, answering, several])
def test_everybody_can_fill_in_each_form(
    screen: Screen, server_of: Callable[[], OneTask]
) -> None:
    server = server_of()

    with served(server) as url:
        visit(screen.page, url, server.link())
        screen.open_details()
        screen.check("the form")


@every_look
def test_everybody_can_go_through_several_questions(screen: Screen) -> None:
    server, page = several(), screen.page

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 1)
        for place, number in enumerate((None, "44", None, "30")):
            screen.press("Next", "Weiter")
            screen.check(f"question {place + 1}")
            if number is None:
                screen.press("Next", "Weiter")
                page.get_by_role("alert").wait_for()
                screen.check(f"question {place + 1}, with something missing")
                pick(page, f"answer-{place}", 1)
            else:
                page.locator(f"#number-{place}").fill(number)
            wide = "document.documentElement.scrollWidth"
            assert page.evaluate(wide) <= 320
        screen.press("Next", "Weiter")
        screen.check("all answers")
        shown = page.locator("#answers dd > span").all_inner_texts()
        screen.press("Make my message", "Meine Nachricht erstellen")
        page.locator("#message").wait_for()
        screen.check("the message of several questions")

    assert shown[1] == ("44 Jahre" if screen.language == "de" else "44 years")


@every_look
def test_everybody_can_leave_out_a_number(screen: Screen) -> None:
    german = replace(ALL_GERMAN, answers=(*ALL_GERMAN.answers[:7], "Minuten?", "min"))
    server = translated("counts", german, questions=SKIPPABLE_FORM)
    plan = publish(server.task, server.analyst_key)
    server.state = replace(server.state, stage=EpochStage.ANSWER, plan=plan)
    page = screen.page

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 1)
        screen.press("Next", "Weiter")
        pick(page, "answer-0", 1)
        screen.press("Next", "Weiter")
        screen.check("a number that may be left out")
        screen.press("Next", "Weiter")
        page.get_by_role("alert").wait_for()
        screen.check("a number that is neither stated nor left out")
        skip = page.locator("#answer-1 input[type=checkbox]")
        # The keyboard suffices: from the field to the choice below it.
        page.locator("#number-1").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert skip.is_checked()
        screen.check("a number that is left out")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


@every_look
def test_everybody_can_read_why_a_message_is_not_taken(screen: Screen) -> None:
    server = translated("frequency")
    link = server.link()
    server.state = replace(server.state, enrolment=None)

    with served(server) as url:
        visit(screen.page, url, link)
        screen.page.locator("#trouble").wait_for()
        screen.check("a round that has not begun")


@pytest.mark.parametrize("look", ["en light", "en dark"])
def test_everybody_can_read_what_the_analyst_shows(
    screen: Screen, tmp_path: Path
) -> None:
    plain = parties()
    found = evidence(plain.task.fingerprint, [1e-12])
    who = showing(plain, tmp_path, found.to_json())
    service = create_analyst(
        {who.task.identity: who.hosted},
        SqliteAnalystStore(tmp_path / "analyst.db"),
        shuffler_url=None,
    )
    path = f"/tasks/{who.task.identity}"

    with running(service) as root, httpx.Client(trust_env=False) as client:
        screen.page.goto(f"{root}{path}/dashboard")
        screen.check("before the first epoch")
        for batch in (usual_batch(who), usual_batch(who, epoch=2, per_level=9)):
            manifest, [shard] = split(batch)
            batches = f"{root}{path}/batches"
            assert client.post(batches, content=manifest).status_code == 202
            name = json.loads(manifest[9:])["batch_id"]
            client.put(f"{batches}/{name}/shards/0", content=shard, timeout=60)
            assert client.post(batches, content=manifest).status_code == 200
            while client.get(f"{root}{path}").json()["phase"] == "received":
                time.sleep(0.05)
        for where in ("", *(f"{path}/{end}" for end in (*SHOWN, "results/1"))):
            answer = screen.page.goto(f"{root}{where}")
            assert answer.status == 200
            screen.check(where)
            # Only tables scroll sideways, each by itself.
            wide = "document.documentElement.scrollWidth"
            assert screen.page.evaluate(wide) <= 320, where
        picture = screen.page.locator("img.picture")
        assert picture.evaluate("image => image.naturalWidth") == WIDTH
        drawn = client.get(f"{root}{path}/results/1.svg").text
    screen.page.set_content(f"<main><h1>A picture</h1>{drawn}</main>")
    screen.page.evaluate("document.title = 'A'; document.documentElement.lang = 'en'")
    screen.check("the picture")


@pytest.mark.parametrize("look", ["en light"])
@pytest.mark.parametrize("letter", ["W", "m", "漢", "e"])
def test_no_word_of_a_picture_reaches_beyond_it(screen: Screen, letter: str) -> None:
    long = f"{letter * 11} " * 7 + letter * 11
    names = (long, *COLORS)
    who = parties(name=long[:60], question=Question(long * 4, FrequencySurvey(names)))
    published = some_result(names, (0.4, 0.3, 0.2, 0.1))

    screen.page.set_content(Pages().picture(who.task, published))

    boxes = screen.page.evaluate(
        "[...document.querySelectorAll('text')].map(line => line.getBBox())"
        ".map(({x, width}) => [x, x + width])"
    )
    # The widest letters there are may come close to the edge, and no further.
    assert all(0 <= start < end <= WIDTH for start, end in boxes)
