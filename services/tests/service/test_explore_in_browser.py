"""A browser that drives the page of `shuffledp explore` with the keyboard."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_server import running

import shuffledp as sdp
from shuffledp.accounting.closed_form import closed_form_epsilons
from shuffledp.format_number import plain
from shuffledp_services import participant
from shuffledp_services.explore.explore_app import create_explore

AXE = Path(participant.__file__).parent / "page/node_modules/axe-core/axe.min.js"
WANTED = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with running(create_explore()) as root:
        yield root


def column(page: Any, place: int) -> list[str]:
    texts: list[str] = page.locator(f"#rows tr > :nth-child({place})").all_inner_texts()
    return texts


def settle(page: Any) -> None:
    page.locator('#answer[aria-busy="false"]').wait_for()
    page.locator("#profiles svg").wait_for()


def certified(counts: dict[float, int], **circumstances: Any) -> list[str]:
    people = sdp.Population.from_counts(counts)
    guarantee = sdp.account(sdp.Frequency(17), people, delta=1e-6, **circumstances)
    return [plain(level.epsilon_central) for level in guarantee.levels]


def test_the_keyboard_moves_sliders_and_the_number_is_that_of_account(
    page: Any, root: str
) -> None:
    page.goto(root)
    settle(page)
    assert column(page, 3) == certified({0.5: 2500, 1.0: 5000, 2.0: 2500})
    slider = page.get_by_label("People at level 1, slider")

    slider.focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    settle(page)

    people = int(page.get_by_label("People at level 1", exact=True).input_value())
    assert people == 10_000
    page.wait_for_url(f"**1:{people},2:2500**")
    page.locator("#rows >> text=10,000").wait_for()
    assert column(page, 3) == certified({0.5: 2500, 1.0: people, 2.0: 2500})


def test_the_address_is_the_state_and_the_back_button_undoes(
    page: Any, root: str
) -> None:
    page.goto(f"{root}/?levels=1:50,2:70&absent=3")
    settle(page)
    before = certified({1.0: 50, 2.0: 70}, absent=3)
    assert column(page, 3) == before

    page.get_by_role("button", name="Remove level 2").click()
    page.locator(f"#rows >> text='{certified({1.0: 50}, absent=3)[0]}'").wait_for()
    assert "levels=1:50&" in page.url

    page.go_back()
    page.locator(f"#rows >> text='{before[0]}'").wait_for()
    assert page.get_by_label("People at level 2", exact=True).input_value() == "70"


@pytest.mark.parametrize(
    ("name", "key", "presses", "value"),
    [
        ("Delta", "ArrowLeft", 20, "1e-8"),
        ("Rounds", "ArrowRight", 2, "3"),
        ("Absent people", "ArrowRight", 13, "20"),
    ],
)
def test_a_slider_of_circumstances_leads_to_the_number_of_account(
    page: Any, root: str, name: str, key: str, presses: int, value: str
) -> None:
    page.goto(f"{root}/?levels=1:50,2:70&categories=5")
    settle(page)

    page.get_by_label(f"{name}, slider").focus()
    for _ in range(presses):
        page.keyboard.press(key)
    settle(page)

    assert page.get_by_label(name, exact=True).input_value() == value
    asked: dict[str, Any] = {"delta": 1e-6}
    asked[name.lower().split()[0]] = float(value) if name == "Delta" else int(value)
    people = sdp.Population.from_counts({1.0: 50, 2.0: 70})
    guarantee = sdp.account(sdp.Frequency(5), people, **asked)
    assert column(page, 3) == [plain(one.epsilon_central) for one in guarantee.levels]


def test_a_slider_follows_its_field_and_the_people_there_are(
    page: Any, root: str
) -> None:
    page.goto(f"{root}/?levels=1:50,2:71&delta=1e-9")
    slider = page.get_by_label("Absent people, slider")

    assert page.get_by_label("Delta, slider").input_value() == "-90"
    page.get_by_label("Delta", exact=True).fill("0.001")
    assert page.get_by_label("Delta, slider").input_value() == "-30"
    slider.press("End")
    assert page.get_by_label("Absent people", exact=True).input_value() == "120"
    assert slider.get_attribute("aria-valuetext") == "120 absent"


def test_what_takes_long_is_certified_at_once_and_tightened(
    page: Any, root: str
) -> None:
    page.goto(root)
    settle(page)
    # The tight number is kept back, for as long as the test looks.
    kept: list[Any] = []
    page.route("**/answer?*", lambda route: kept.append(route))

    page.get_by_label("Rounds", exact=True).fill("3")
    page.locator("#status >> text=being tightened").wait_for()
    quick, attacks = column(page, 3), column(page, 4)
    kept[-1].continue_()
    settle(page)

    people = sdp.Population.from_counts({0.5: 2500, 1.0: 5000, 2.0: 2500})
    at_once = closed_form_epsilons(sdp.Frequency(17), people, delta=1e-6, rounds=3)
    assert quick == [plain(epsilon) for epsilon in at_once]
    assert attacks == ["…"] * 3
    tight = certified({0.5: 2500, 1.0: 5000, 2.0: 2500}, rounds=3)
    assert column(page, 3) == tight
    assert "tightened" not in page.locator("#status").inner_text()


def test_nothing_is_shown_as_certified_before_anything_is(page: Any, root: str) -> None:
    page.goto(root)
    settle(page)
    page.route("**/answer?*", lambda route: None)
    page.route("**/quick?*", lambda route: None)

    page.get_by_label("Rounds", exact=True).fill("3")
    page.locator("#status >> text=Computing").wait_for()

    assert not page.locator("#result").is_visible()


def test_the_planner_is_asked_by_a_button_and_goes_when_something_changes(
    page: Any, root: str
) -> None:
    page.goto(f"{root}/?levels=0.5:60,1:90&categories=2")
    settle(page)

    page.get_by_role("button", name="Ask the planner").click()
    page.locator("#options tr").first.wait_for(timeout=60_000)

    assert "kary-response" in page.locator("#planned").inner_text()
    page.get_by_label("Absent people", exact=True).fill("1")
    page.locator("#plan").wait_for(state="hidden")


def test_what_makes_no_sense_is_refused_in_a_sentence(page: Any, root: str) -> None:
    page.goto(f"{root}/?levels=1:50&delta=2")

    page.get_by_role("alert").wait_for()

    assert page.get_by_role("alert").inner_text().startswith("Expected delta to be")
    assert not page.locator("#result").is_visible()


def test_a_task_is_of_what_is_shown_or_says_why_there_is_none(
    page: Any, root: str
) -> None:
    page.goto(f"{root}/?levels=1:400,2:400&categories=3")
    settle(page)

    page.get_by_text("As a task for the services").click()
    page.locator("#task").wait_for()
    first = page.locator("#task").inner_text()
    page.locator("[name=mechanism]").select_option("unary-encoding")
    page.get_by_text("Expected kary-response or").wait_for()

    assert "--minimum=400,400" in first
    assert not page.locator("#task").is_visible()


def test_a_statistic_brings_its_mechanisms_its_fields_and_a_usual_value(
    page: Any, root: str
) -> None:
    page.goto(f"{root}/?levels=1:50,2:70&categories=5")
    settle(page)
    assert page.get_by_label("Share to estimate").input_value() == "0.2"

    page.get_by_label("Statistic").select_option("mean")
    settle(page)

    mechanisms = page.locator("[name=mechanism] option").all_inner_texts()
    names = ["One bit", "Laplace", "Clip-Laplace", "Grid response", "Gaussian"]
    assert mechanisms == names
    assert page.get_by_label("Mean to estimate").input_value() == "5"
    assert page.get_by_label("Lowest value").is_visible()
    assert not page.get_by_label("Categories", exact=True).is_visible()
    people = sdp.Population.from_counts({1.0: 50, 2.0: 70})
    guarantee = sdp.account(sdp.Mean(0.0, 10.0), people, delta=1e-6)
    assert column(page, 3) == [plain(one.epsilon_central) for one in guarantee.levels]


def test_an_address_of_an_unknown_statistic_is_refused_in_a_sentence(
    page: Any, root: str
) -> None:
    page.goto(f"{root}/?statistic=median")

    page.get_by_role("alert").wait_for()

    assert "frequency, mean" in page.get_by_role("alert").inner_text()


@pytest.mark.skipif(not AXE.is_file(), reason="scripts/build-page installs axe-core.")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize(
    "query",
    [
        "",
        "?statistic=mean&mechanism=gaussian&levels=0.5:40,16:9&low=0",
        "?mechanism=subset-selection",
        "?delta=2",
    ],
)
def test_everybody_can_read_it(
    browser: Any, root: str, scheme: str, width: int, query: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 740}, color_scheme=scheme
    )
    page = context.new_page()
    page.goto(f"{root}/{query}")
    if query == "?delta=2":
        page.get_by_role("alert").wait_for()
    else:
        settle(page)
        for summary in page.locator("summary").all():
            summary.click()

    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("tags => axe.run(document, {runOnly: tags})", WANTED)
    wide = page.evaluate("document.documentElement.scrollWidth")
    context.close()

    assert found["passes"]
    assert [
        f"{rule['id']}: {node['failureSummary']} {node['html']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ] == []
    assert wide <= width
