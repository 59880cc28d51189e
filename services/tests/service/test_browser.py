"""A person takes part with a real browser; the analyst opens what she was shown.

Tests of answers at the highest level fail by chance less than once in 10^10 runs.
"""

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from page_server import (
    COLORS,
    OneTask,
    link_of,
    one_task,
    pick,
    running,
    served,
    visit,
)
from service_parties import (
    FORM,
    NOTICE,
    QUESTIONS,
    SKIPPABLE_FORM,
    TABLES_FORM,
    Enroller,
    publish,
)

from shuffledp.randomness import SystemRandom
from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.analyst.analyst_app import create_analyst
from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.shuffler.analyst_client import AnalystClient
from shuffledp_services.shuffler.shuffler_app import create_shuffler
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.storage.key_files import AnalystSecrets, ShufflerSecrets
from shuffledp_services.wire.canonical import (
    from_text,
    sha256,
    to_text,
)
from shuffledp_services.wire.command import Action, Command
from shuffledp_services.wire.inclusion import KeptReceipt
from shuffledp_services.wire.notice import Translation
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.signing import new_signing_key, verify_key_of
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import write_reports

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.slow


def make_message(page: Any) -> list[str]:
    """Returns the lines of the message that is shown before it is sent."""
    page.get_by_role("button", name="Make my message").click()
    page.get_by_role("heading", name="This is what would be sent").wait_for()
    lines: list[str] = page.locator("#message :is(p, li)").all_inner_texts()
    return lines


def send_message(page: Any) -> None:
    page.get_by_role("button", name="Send this message").click()
    page.get_by_role("heading", name="Your message has arrived").wait_for()


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("level", [0, 2])
def test_the_analyst_opens_the_category_that_the_page_showed(
    page: Any, mode: str, level: int
) -> None:
    server = one_task(mode=mode)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", level)
        pick(page, "answer", 1)
        (shown,) = make_message(page)
        assert server.reports == []
        send_message(page)

    ((opened,),) = server.opened()
    assert shown == COLORS[opened]
    if level == 2:
        assert opened == 1
    assert server.reports[0].choice == level
    assert "signature is right" in page.locator("#receipt").inner_text()


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_the_analyst_opens_the_set_that_the_page_showed(page: Any, mode: str) -> None:
    names = [f"Color {n}" for n in range(20)]
    server = one_task(
        mode=mode, mechanism="subset-selection", subset_size=15, categories=names
    )

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        page.get_by_label("One of 20").select_option("Color 17")
        shown = make_message(page)
        send_message(page)

    ((opened,),) = server.opened()
    assert len(set(opened)) == 15
    assert 17 in opened
    assert shown == [*(names[place] for place in opened[:12]), "and 3 more"]


def test_the_analyst_opens_the_column_that_the_page_showed(page: Any) -> None:
    server = one_task(mechanism="hadamard-response")

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        pick(page, "answer", 1)
        shown = make_message(page)
        send_message(page)

    ((opened,),) = server.opened()
    spoken = [n for n in range(3) if (opened & (n + 1)).bit_count() % 2 == 0]
    assert 1 in spoken
    assert shown == [COLORS[n] for n in spoken]


@pytest.mark.parametrize(("number", "bit"), [("-10", 0), ("1500,5", 1)])
def test_the_analyst_opens_the_end_of_the_range_that_the_page_showed(
    page: Any, number: str, bit: int
) -> None:
    server = one_task("mean", low=-10.0, high=1500.5)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        page.get_by_label("A number from -10 to 1,500.5").fill(number)
        (shown,) = make_message(page)
        send_message(page)

    assert shown == ("1,500.5, the high end" if bit else "-10, the low end")
    assert server.opened() == [[bit]]


def test_the_analyst_opens_the_number_of_the_grid_that_the_page_showed(
    page: Any,
) -> None:
    server = one_task("mean", low=-10.0, high=30.0, mechanism="grid-response", values=5)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        page.get_by_label("A number from -10 to 30").fill("17,5")
        (shown,) = make_message(page)
        send_message(page)

    # Any of the five may be drawn; 17.5 itself is none of them.
    assert server.opened() == [[["-10", "0", "10", "20", "30"].index(shown)]]


@pytest.mark.parametrize("answer", ["Yes", "No"])
def test_the_analyst_opens_the_yes_or_no_that_the_page_showed(
    page: Any, answer: str
) -> None:
    server = one_task("sum")

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        page.get_by_role("radio", name=answer).check()
        (shown,) = make_message(page)
        send_message(page)

    assert shown == answer
    assert server.opened() == [[1 if answer == "Yes" else 0]]


def test_items_are_asked_in_two_parts_with_one_link(page: Any) -> None:
    server = one_task("items", set_size=2)
    link = server.link()

    with served(server) as url:
        visit(page, url, link)
        assert page.locator("input[name=answer]").count() == 0
        pick(page, "level", 1)
        make_message(page)
        send_message(page)
        ((level,),) = server.opened()
        assert server.reports.pop().choice == 0xFFFF

        plan = publish(server.task, server.analyst_key)
        server.state = replace(server.state, stage=EpochStage.ANSWER, plan=plan)
        page.goto("about:blank")
        visit(page, url, link)
        # The most liberal target, under which every item is sent.
        pick(page, "level", 2)
        pick(page, "answer", 0)
        pick(page, "answer", 2)
        shown = make_message(page)
        send_message(page)

    (opened,) = server.opened()
    assert level == 1
    assert {0, 2} <= set(opened)
    assert any(line.startswith("Red") for line in shown)
    assert any(line.startswith("Blue") for line in shown)


def test_at_most_as_many_items_as_asked_for_are_taken(page: Any) -> None:
    server = one_task("items", set_size=1)
    plan = publish(server.task, server.analyst_key)
    server.state = replace(server.state, stage=EpochStage.ANSWER, plan=plan)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 0)
        pick(page, "answer", 0)
        pick(page, "answer", 1)
        page.get_by_role("button", name="Make my message").click()

        assert page.get_by_role("alert").inner_text() == "Choose at most 1 answers."


def asked_at_once(questions: Any = QUESTIONS, **terms: Any) -> OneTask:
    """Several questions, whose plan is published."""
    server = one_task("counts", questions=questions, **terms)
    plan = publish(server.task, server.analyst_key)
    server.state = replace(server.state, stage=EpochStage.ANSWER, plan=plan)
    return server


def go_on(page: Any) -> None:
    page.get_by_role("button", name="Next").click()


def test_several_questions_are_answered_in_one_message(page: Any) -> None:
    server = asked_at_once()

    with served(server) as url:
        visit(page, url, server.link())
        # The most liberal target, under which every answer is sent.
        pick(page, "level", 2)
        go_on(page)
        pick(page, "answer-0", 3)
        go_on(page)
        pick(page, "answer-1", 0)
        go_on(page)
        progress = page.locator("#answer-2 .progress").inner_text()
        go_on(page)
        alert = page.get_by_role("alert").inner_text()
        inside = page.locator("#answer-2 [role=alert]").count()
        page.get_by_role("group", name="Do you dance?").get_by_label(
            "I would rather not say"
        ).check()
        go_on(page)
        shown = make_message(page)
        send_message(page)

    (opened,) = server.opened()
    assert progress == "Question 3 of 3"
    assert alert == ("Choose an answer here, or \u201cI would rather not say\u201d.")
    assert inside == 1
    # Answers stand first: the question that is left out sends a message, too.
    assert opened[:3] == [2 * 3, 2 * 4, 2 * 8]
    assert all(number % 2 == 0 and 0 <= number <= 16 for number in opened)
    assert any(line.startswith("Which color? grau-gr\u00fcn") for line in shown)
    assert any(line.startswith("Do you smoke? yes") for line in shown)


def test_numbers_and_combinations_are_answered_in_one_message(page: Any) -> None:
    server = asked_at_once(FORM)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        go_on(page)
        pick(page, "answer-0", 2)
        go_on(page)
        age = page.get_by_label("A number from 16 to 110")
        alerts = []
        for wrong in ("15.9", "forty", "", "1e999", "NaN"):
            age.fill(wrong)
            # Enter in the field goes on, as the button does.
            age.press("Enter")
            alerts.append(page.get_by_role("alert").inner_text())
        age.fill("45")
        age.press("Enter")
        pick(page, "answer-2", 1)
        go_on(page)
        page.locator("#number-3").fill("120")
        go_on(page)
        answers = page.locator("#answers dd > span").all_inner_texts()
        together = page.locator("#together li").all_inner_texts()
        page.get_by_role("button", name="Change: How do you get to work?").click()
        heading = page.evaluate("document.activeElement.textContent")
        pick(page, "answer-0", 3)
        page.get_by_role("button", name="Back to all answers").click()
        changed = page.locator("#answers dd > span").first.inner_text()
        make_message(page)
        send_message(page)

    (opened,) = server.opened()
    assert alerts == ["Write a number from 16 to 110."] * 5
    assert answers == ["car", "45 years", "no", "120 minutes"]
    assert together == [
        "How do you get to work? & Is there a park near you?",
        "How do you get to work? & How long is the way?",
    ]
    assert (heading, changed) == ("How do you get to work?", "walk")
    # The way; 45 to 55 of two levels; no park; four digits 1; both; digits of the way.
    firsts = [0, 4, 6, 12, 14, 16, 18, 20, 22, 30, 38, 46, 54]
    places = [3, 0, 3, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7]
    assert opened[:13] == [
        2 * (first + place) for first, place in zip(firsts, places, strict=True)
    ]


@pytest.mark.parametrize("minutes", ["120", None])
def test_a_number_that_is_not_stated_is_sent_as_one_more_answer(
    page: Any, minutes: str | None
) -> None:
    server = asked_at_once(SKIPPABLE_FORM)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        go_on(page)
        pick(page, "answer-0", 2)
        go_on(page)
        page.locator("#number-1").fill("44")
        skip = page.locator("#answer-1").get_by_label("I would rather not say")
        skip.check()
        is_off = page.locator("#number-1").is_disabled()
        page.get_by_role("button", name="Deutsch").click()
        german = page.locator("#answer-1 .choice").inner_text()
        is_kept = page.locator("#answer-1 input[type=checkbox]").is_checked()
        is_still_off = page.locator("#number-1").is_disabled()
        page.get_by_role("button", name="English").click()
        go_on(page)
        go_on(page)
        alert = page.get_by_role("alert").inner_text()
        second = page.locator("#answer-2").get_by_label("I would rather not say")
        second.check()
        if minutes:
            # Whoever changes their mind can still state it.
            second.uncheck()
            page.locator("#number-2").fill(minutes)
        go_on(page)
        answers = page.locator("#answers dd > span").all_inner_texts()
        make_message(page)
        send_message(page)

    (opened,) = server.opened()
    assert is_off
    assert is_kept
    assert is_still_off
    assert german == "M\u00f6chte ich nicht sagen"
    assert alert == (
        "Write a number from 0 to 120, or choose \u201cI would rather not say\u201d."
    )
    last = "120 minutes" if minutes else "No answer"
    assert answers == ["car", "No answer", last]
    # The way; the last buckets of both levels of ages; three digits 1, or skips.
    stated = [14, 17, 20, 27, 35, 43] if minutes else [15, 18, 21]
    expected = [2 * bucket for bucket in (2, 5, 12, *stated)]
    assert opened[: len(expected)] == expected
    # People who skip lie in no group of the combination.
    assert len(opened) == server.state.step.messages_per_report


def test_tables_of_three_and_four_choices_are_answered_in_one_message(
    page: Any,
) -> None:
    server = asked_at_once(TABLES_FORM)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        go_on(page)
        for place, option in enumerate((2, 1, 0, 1)):
            pick(page, f"answer-{place}", option)
            go_on(page)
        together = page.locator("#together li").all_inner_texts()
        shown = make_message(page)
        send_message(page)

    (opened,) = server.opened()
    way, park, home, smoke = (asked.text for asked in TABLES_FORM[:4])
    assert together == [
        f"{home} & {way} & {park}",
        f"{way} & {park} & {home} & {smoke}",
    ]
    # Four choices; of 12 cells the last of those in the center; of 24 the third last.
    buckets = (2, 4, 5, 8, 9 + 5, 21 + 21)
    assert opened[:6] == [2 * bucket for bucket in buckets]
    cell = f"{way} car & {park} no & {home} center & {smoke} no"
    assert any(line.startswith(cell) for line in shown)


def test_what_was_filled_in_stays_in_another_language(page: Any) -> None:
    server = asked_at_once(FORM)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 0)
        go_on(page)
        pick(page, "answer-0", 1)
        go_on(page)
        page.locator("#number-1").fill("16")
        page.get_by_role("button", name="Deutsch").click()
        progress = page.locator("#answer-1 .progress").inner_text()
        number = page.locator("#number-1").input_value()
        page.get_by_role("button", name="Zur\u00fcck").click()
        kept = page.locator("#answer-0 input:checked").get_attribute("value")

    assert (progress, number, kept) == ("Frage 2 von 4", "16", "1")


def test_several_questions_are_answered_with_the_keyboard_alone(page: Any) -> None:
    server = asked_at_once(FORM)

    def tab_to(selector: str) -> None:
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate(f"document.activeElement.matches('{selector}')"):
                return
        raise AssertionError(f"The keyboard reaches no {selector}.")

    with served(server) as url:
        visit(page, url, server.link())
        page.locator("input[name=level]").first.focus()
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        for name, times in (("answer-0", 1), ("", 0), ("answer-2", 2), ("", 0)):
            tab_to(".steps button:not(.back)")
            page.keyboard.press("Enter")
            # The heading has the focus, so that screen readers begin there.
            assert page.evaluate("document.activeElement.tagName") == "H1"
            tab_to(f"[name={name}]" if name else "[type=text]")
            if name:
                page.keyboard.press("Space")
            else:
                page.keyboard.type("60")
            for _ in range(times):
                page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        tab_to("[type=submit]")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="This is what would be sent").wait_for()
        send_message(page)

    (opened,) = server.opened()
    assert opened[:4] == [2 * 1, 2 * (4 + 1), 2 * (6 + 4 + 0), 2 * 62]


def test_a_second_use_of_a_link_is_refused_in_words(page: Any) -> None:
    server = one_task()
    link = server.link()

    with served(server) as url:
        for _ in range(2):
            page.goto("about:blank")
            visit(page, url, link)
            pick(page, "level", 0)
            pick(page, "answer", 0)
            make_message(page)
            page.get_by_role("button", name="Send this message").click()
            page.get_by_role("button").wait_for(state="detached")

        assert "This link was used before" in page.locator("#trouble").inner_text()
        assert "nothing left to do" in page.locator("#trouble").inner_text()
    assert len(server.reports) == 1


GERMAN = Translation(
    "de", "Farben", "Welche Farbe?", ("Rot", "Grün", "Blau"), "Alles wird gezählt."
)


def test_who_asks_and_what_for_is_said_before_the_form(page: Any) -> None:
    server = one_task()

    with served(server) as url:
        visit(page, url, server.link())

        said = page.locator("#notice dd").all_inner_texts()
        assert said == [NOTICE.asker, NOTICE.contact, NOTICE.consent]
        before = "document.querySelector('#notice').compareDocumentPosition("
        assert page.evaluate(f"{before}document.querySelector('form'))") & 4


def test_a_person_answers_in_german_and_the_message_is_the_same(
    page: Any,
) -> None:
    server = one_task(notice=replace(NOTICE, translations=(GERMAN,)))

    with served(server) as url:
        visit(page, url, server.link())
        assert page.locator("h1").inner_text() == server.task.question.text
        pick(page, "level", 2)
        pick(page, "answer", 1)
        page.get_by_role("button", name="Deutsch").focus()
        page.keyboard.press("Enter")
        assert page.locator("h1").inner_text() == "Welche Farbe?"
        assert page.evaluate("document.documentElement.lang") == "de"
        assert page.title() == "Farben"
        assert "Alles wird gezählt." in page.locator("#notice").inner_text()
        # What was filled in is still there.
        page.get_by_role("button", name="Meine Nachricht erstellen").click()
        page.get_by_role("heading", name="Das würden Sie senden").wait_for()
        assert page.locator("#message").inner_text() == "Grün"
        page.get_by_role("button", name="Diese Nachricht senden").click()
        page.get_by_role("heading", name="Ihre Nachricht ist angekommen").wait_for()

    assert server.opened() == [[1]]
    assert server.reports[0].choice == 2


def test_a_link_to_another_survey_is_told_by_its_digest(page: Any) -> None:
    server = one_task()

    with served(server) as url:
        link = server.link().replace(server.task.fingerprint, "0" * 64)
        visit(page, url, link)

        assert "another survey" in page.locator("#trouble").inner_text()
        assert page.locator("#notice, form").count() == 0


def test_the_browser_says_which_language_is_shown_first(browser: Any) -> None:
    translated = one_task(notice=replace(NOTICE, translations=(GERMAN,)))
    alone = one_task()
    context = browser.new_context(locale="de-AT")
    page = context.new_page()

    with served(translated) as url:
        visit(page, url, translated.link())
        assert page.locator("h1").inner_text() == "Welche Farbe?"
        assert page.locator("h1").get_attribute("lang") == "de"
    with served(alone) as url:
        visit(page, url, alone.link())
        assert page.locator("h1").get_attribute("lang") == "en"
        assert page.locator("#level legend").inner_text().startswith("Wie viel")
    context.close()


def test_a_number_with_a_sign_between_thousands_is_not_taken_for_another(
    page: Any,
) -> None:
    server = one_task("mean", low=0.0, high=1500.5)

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 2)
        page.get_by_label("A number from").fill("1,500")
        page.get_by_role("button", name="Make my message").click()

        assert "between thousands" in page.get_by_role("alert").inner_text()


def test_the_receipt_that_is_saved_is_for_the_message_that_was_sent(page: Any) -> None:
    server = one_task()

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 0)
        pick(page, "answer", 0)
        make_message(page)
        send_message(page)
        with page.expect_download() as saving:
            page.get_by_role("link", name="Save the receipt").press("Enter")
        content = Path(saving.value.path()).read_bytes()

    kept = KeptReceipt.read(content, server.task)
    (report,) = server.reports
    assert kept.messages == tuple(sha256(message) for message in report.sealed)
    assert kept.receipt.epoch == 1
    assert to_text(report.token).encode() not in content


def test_a_keyboard_is_enough(page: Any) -> None:
    server = one_task()

    with served(server) as url:
        visit(page, url, server.link())
        press = page.keyboard.press
        press("Tab")
        press("Space")
        press("ArrowDown")
        press("Tab")  # The level's numbers, which open on demand.
        press("Enter")
        press("Tab")
        press("Space")
        press("ArrowDown")
        press("Tab")
        press("Enter")
        page.get_by_role("heading", name="This is what would be sent").wait_for()
        assert page.evaluate("document.activeElement.tagName") == "H1"
        press("Tab")
        press("Enter")
        page.get_by_role("heading", name="Your message has arrived").wait_for()

    assert server.reports[0].choice == 1


def test_what_is_missing_is_said_where_it_is_missing(page: Any) -> None:
    server = one_task()

    with served(server) as url:
        visit(page, url, None)
        make = page.get_by_role("button", name="Make my message")
        alert = page.get_by_role("alert")
        make.click()
        assert alert.inner_text() == "Choose a level first."
        focus = "document.activeElement.name || document.activeElement.id"
        assert page.evaluate(focus) == "level"
        pick(page, "level", 0)
        make.click()
        assert alert.inner_text() == "Choose an answer first."
        pick(page, "answer", 0)
        page.locator("#link").fill("not a link")
        make.click()
        assert alert.inner_text().startswith("This is no complete link")
        assert page.evaluate(focus) == "link"
        page.locator("#link").fill(f"{url}#{server.link()}")
        make_message(page)
        send_message(page)

    assert len(server.reports) == 1


def test_nothing_leaves_but_the_sealed_message_and_no_answer_stays(page: Any) -> None:
    server = one_task()
    sent: list[tuple[str, str, bytes | None]] = []
    page.on(
        "request",
        lambda asked: sent.append((asked.method, asked.url, asked.post_data_buffer)),
    )
    link = server.link()

    with served(server) as url:
        visit(page, url, link)
        pick(page, "level", 0)
        pick(page, "answer", 1)
        make_message(page)
        before = len(sent)
        send_message(page)
        context = page.context
        stored = page.evaluate(
            "async () => [localStorage.length, sessionStorage.length,"
            " (await indexedDB.databases()).length, (await caches.keys()).length]"
        )
        assert page.url == url

    root = url.removesuffix(f"/tasks/{server.task.identity}/take-part")
    assert {method for method, _, _ in sent[:before]} == {"GET"}
    assert {place for _, place, _ in sent[:before]} <= {
        url,
        f"{url}#{link}",
        url.removesuffix("/take-part"),
        f"{root}/take-part/page.js",
        f"{root}/take-part/style.css",
        f"{root}/favicon.ico",
    }
    ((method, place, body),) = sent[before:]
    assert (method, place) == ("POST", url.replace("/take-part", "/reports"))
    assert body is not None
    assert len(body) == 26 + 32 + 2 + 9 + 48
    # A secret, and that somebody took part: see docs/reference/data-model.md.
    assert stored == [2, 0, 0, 0]
    assert context.cookies() == []


def test_a_message_is_drawn_once_and_cannot_be_taken_back(page: Any) -> None:
    server = one_task()

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 0)
        pick(page, "answer", 0)
        make_message(page)

        assert page.locator("input, select, form").count() == 0
        assert page.get_by_role("button").all_inner_texts() == ["Send this message"]
        asked: list[str] = []

        def stay(box: Any) -> None:
            asked.append(box.type)
            box.dismiss()

        page.on("dialog", stay)
        page.evaluate("setTimeout(() => location.reload())")
        page.wait_for_timeout(500)
        assert asked == ["beforeunload"]
        send_message(page)


def test_after_a_lost_answer_the_same_message_is_sent_and_counts_once(
    page: Any,
) -> None:
    server = one_task()
    server.lose_answers = 1
    bodies: list[bytes] = []
    page.on(
        "request",
        lambda asked: (
            bodies.append(asked.post_data_buffer) if asked.method == "POST" else None
        ),
    )

    with served(server) as url:
        visit(page, url, server.link())
        pick(page, "level", 0)
        pick(page, "answer", 0)
        make_message(page)
        page.get_by_role("button", name="Send this message").click()
        page.get_by_role("button", name="Send it again").click()
        page.get_by_role("heading", name="seems to have arrived").wait_for()
        assert "most likely your first try" in page.locator("#receipt").inner_text()

    assert len(server.reports) == 1
    assert bodies[0] == bodies[1]


def answered(page: Any, url: str, link: str, answer: int) -> None:
    """Fills in the form of a page that was just opened."""
    page.goto("about:blank")
    visit(page, url, link)
    pick(page, "level", 0)
    pick(page, "answer", answer)


def test_a_page_that_is_asked_again_sends_the_same_message(page: Any) -> None:
    server = one_task(categories=[f"C{n}" for n in range(10)])
    link, messages = server.link(), list[int]()
    page.on("dialog", lambda box: box.accept())

    with served(server) as url:
        for _ in range(4):
            # The server keeps the message, and says that it broke.
            server.lose_answers = 1
            answered(page, url, link, 0)
            make_message(page)
            page.get_by_role("button", name="Send this message").click()
            page.get_by_role("button", name="Send it again").wait_for()
            ((opened,),) = server.opened()
            messages.append(opened)
            server.reports.clear()

    # Four draws that are independent would agree once in 500 runs.
    assert len(messages) == 4
    assert len(set(messages)) == 1


def test_another_answer_is_sent_once_its_cost_is_accepted(page: Any) -> None:
    server = one_task()
    link = server.link()
    page.on("dialog", lambda box: box.accept())

    with served(server) as url:
        server.lose_answers = 1
        answered(page, url, link, 0)
        make_message(page)
        page.get_by_role("button", name="Send this message").click()
        page.get_by_role("button", name="Send it again").wait_for()
        server.reports.clear()
        answered(page, url, link, 1)
        page.get_by_role("button", name="Make my message").click()
        page.get_by_role("heading", name="You sent another answer before").wait_for()
        said = page.locator("#changed").inner_text()
        page.get_by_role("button", name="Send another answer all the same").click()
        page.get_by_role("heading", name="This is what would be sent").wait_for()
        send_message(page)

    assert "may have been recorded" in said
    assert len(server.reports) == 1


def test_a_link_to_another_round_is_not_answered(page: Any) -> None:
    server = one_task()

    with served(server) as url:
        link = link_of(server.task, bytes(32), epoch=2)
        visit(page, url, link)

        assert "another round" in page.locator("#trouble").inner_text()
        assert page.locator("form").count() == 0


def test_a_browser_that_keeps_nothing_sends_nothing(page: Any) -> None:
    server = one_task()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage',"
        " { get() { throw new DOMException('no', 'SecurityError'); } })"
    )

    with served(server) as url:
        answered(page, url, server.link(), 0)
        page.get_by_role("button", name="Make my message").click()

        page.locator("#trouble").wait_for()
        assert "keeps nothing" in page.locator("#trouble").inner_text()
    assert server.reports == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"suite": Suite.X_WING}, "X-Wing"),
        ({"closed": True}, "closed"),
        ({"begun": False}, "has not begun yet"),
        ({"forged": True}, "does not belong to this round"),
    ],
    ids=["x-wing", "closed", "not begun", "forged token"],
)
def test_who_cannot_take_part_is_told_why(
    page: Any, change: dict[str, Any], words: str
) -> None:
    server = one_task(suite=change.get("suite", Suite.X25519))
    if "closed" in change:
        server.state = server.state.close((100, 100, 100), bytes(16))
    if "begun" in change:
        server.state = replace(server.state, enrolment=None)
    forged = link_of(server.task, bytes(32))
    link = forged if "forged" in change else server.link()

    with served(server) as url:
        visit(page, url, link)
        if "forged" in change:
            pick(page, "level", 0)
            pick(page, "answer", 0)
            make_message(page)
            page.get_by_role("button", name="Send this message").click()

        page.locator("#trouble").wait_for()
        assert words in page.locator("#trouble").inner_text()
        # Whom to ask, where the page knows the survey at all.
        asked = page.locator("#notice dd").all_inner_texts()
        assert asked == ([] if "suite" in change else [NOTICE.asker, NOTICE.contact])
    assert server.reports == []


def test_a_browser_that_cannot_seal_is_told_before_anything_is_asked(
    page: Any,
) -> None:
    server = one_task()
    page.add_init_script(
        "crypto.subtle.importKey = () => Promise.reject(new Error('unknown'))"
    )

    with served(server) as url:
        visit(page, url, server.link())

        assert "too old" in page.locator("#trouble").inner_text()
        assert page.locator("form").count() == 0


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_no_screen_is_scrolled_sideways(page: Any, width: int) -> None:
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen"
    server = one_task(categories=(long, "B", "C"))
    page.set_viewport_size({"width": width, "height": 700})

    def fits() -> bool:
        wide: int = page.evaluate("document.documentElement.scrollWidth")
        return wide <= width

    with served(server) as url:
        visit(page, url, server.link())
        for summary in page.locator("summary").all():
            summary.click()
        pick(page, "level", 2)
        pick(page, "answer", 0)
        assert fits()
        make_message(page)
        page.locator("summary").click()
        assert fits()
        send_message(page)
        assert fits()


def test_a_person_among_others_shows_in_what_the_services_publish(
    page: Any, tmp_path: Path
) -> None:
    others, level = 99, 30.0
    mine, theirs = ShufflerSecrets.new(), AnalystSecrets.new(Suite.X25519)
    enrolling = new_signing_key()
    task = Task(
        os.urandom(16),
        "Colors",
        NOTICE,
        Question("Which color?", FrequencySurvey(COLORS)),
        (level,),
        (others + 1,),
        (2 * level,),
        (2 * level,),
        1e-6,
        0,
        Suite.X25519,
        *theirs.public_keys(),
        mine.verify_key,
        verify_key_of(enrolling),
    )
    enroller = Enroller(task, enrolling)
    first, *tokens = enroller.tokens(others + 1)
    analyst = create_analyst(
        {task.identity: AnalystHost(task, theirs)},
        SqliteAnalystStore(tmp_path / "analyst.db"),
        shuffler_url=None,
    )
    step = Step(task, 1)
    levels = np.full(others, level)
    blue = step.run.randomize(np.full(others, 2), levels, rng=SystemRandom())
    reports = seal_reports(step, blue, levels, tokens)

    with running(analyst) as analyst_url:
        shuffler = create_shuffler(
            {task.identity: ShufflerHost(task, mine, enroller.roster, lambda: 1)},
            SqliteStore(tmp_path / "shuffler.db"),
            analyst=AnalystClient(analyst_url, first_wait=0.05),
        )
        with running(shuffler) as root, httpx.Client(trust_env=False) as client:
            path = f"{root}/tasks/{task.identity}"
            answer = client.post(
                f"{path}/reports", content=write_reports(step, reports)
            )
            assert answer.status_code == 200
            visit(page, f"{path}/take-part", link_of(task, first))
            pick(page, "level", 0)
            pick(page, "answer", 0)
            assert make_message(page) == ["Red"]
            send_message(page)
            assert "signature is right" in page.locator("#receipt").inner_text()
            asked = from_text(client.get(path).json()["challenge"], 16, "a challenge")
            command = Command(Action.CLOSE, 1, "answer", asked)
            close = command.signed(task, mine.signing_key)
            assert client.post(f"{path}/commands", json=close).status_code == 200
            result = {}
            for _ in range(200):
                found = client.get(f"{analyst_url}/tasks/{task.identity}/epochs/1")
                if found.status_code == 200:
                    result = found.json()
                    break
                time.sleep(0.1)

    rows = {row["name"]: row["value"] for row in result["estimate"]["rows"]}
    assert rows == pytest.approx(
        dict(zip(COLORS, (0.01, 0.0, 0.99), strict=True)), abs=1e-9
    )
