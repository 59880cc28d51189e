"""Pages and pictures of one result: what people are sent, and pass on."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from analyst_parties import (
    NAMES,
    Parties,
    Service,
    parties,
    serve,
    some_result,
    usual_batch,
)
from contrast import contrast

from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.version import __version__
from shuffledp_services.analyst.pages import Pages
from shuffledp_services.analyst.result_picture import (
    MOST_BARS,
    WIDTH,
    ResultPicture,
    picture_of,
)
from shuffledp_services.wire.question import Question

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script> \"'&{{7*7}}\x07"


def drawn(who: Parties, published: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(Pages().picture(who.task, published))


def words(picture: ElementTree.Element) -> str:
    return " ".join(line.text or "" for line in picture.iter(f"{SVG}text"))


def fetch(
    folder: Path, who: Parties, *paths: str, **batch: Any
) -> list[httpx.Response]:
    """What an analyst answers once the first epoch is over."""

    async def scenario(service: Service) -> list[httpx.Response]:
        await service.post(usual_batch(who, **batch))
        await service.counted()
        start = f"/tasks/{who.task.identity}/results/"
        return [await service.client.get(start + path) for path in paths]

    return serve(folder, who, scenario)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum"])
def test_a_picture_is_a_file_that_needs_nothing(tmp_path: Path, statistic: str) -> None:
    who = parties(statistic)

    (answer,) = fetch(tmp_path, who, "1.svg")
    picture = ElementTree.fromstring(answer.content)

    assert answer.headers["content-type"] == "image/svg+xml"
    kept = f'attachment; filename="{who.task.identity}-1.svg"'
    assert answer.headers["content-disposition"] == kept
    tags = {element.tag.removeprefix(SVG) for element in picture.iter()}
    assert tags <= {"svg", "title", "desc", "rect", "line", "path", "circle", "text"}
    named = {name for element in picture.iter() for name in element.attrib}
    assert not any(name == "style" or "href" in name for name in named)
    assert "url(" not in answer.text
    identities = {e.attrib["id"] for e in picture.iter() if "id" in e.attrib}
    assert set(picture.attrib["aria-labelledby"].split()) == identities


@pytest.mark.slow
def test_a_picture_says_what_was_asked_found_and_promised(tmp_path: Path) -> None:
    who = parties()

    (answer,) = fetch(tmp_path, who, "1.svg")
    picture = ElementTree.fromstring(answer.content)

    said = words(picture)
    assert said.startswith("Fruit What do you like? How often each category occurs.")
    assert "180 people took part, of 10,000 who were given a token." in said
    promise = "central epsilon of at most 0.5 at level 0.5, 1 at level 1, 2 at level 2"
    assert promise in said
    assert f"task {who.task.fingerprint[:16]}…" in said
    assert said.endswith(f"made by shuffledp {__version__}")
    described = picture.findtext(f"{SVG}desc") or ""
    for name in NAMES:
        assert re.search(
            rf"{name}: -?[\d.]+%, 95% interval -?[\d.]+% to [\d.]+%", described
        )
    assert picture.findtext(f"{SVG}title") == who.task.question.text


def test_a_picture_of_sets_names_targets() -> None:
    who = parties("items")

    said = words(drawn(who, some_result(NAMES, (0.4, 0.3, 0.2, 0.1))))

    assert all(name in said for name in NAMES)
    assert "at most 0.5 at target 0.5, 1 at target 1, 2 at target 2" in said


def test_the_largest_of_many_are_a_ranking() -> None:
    names = tuple(f"number {n}" for n in range(30))
    who = parties(question=Question("?", FrequencySurvey(names)))

    picture = drawn(who, some_result(names, [(n * 7 % 30) / 435 for n in range(30)]))

    said = words(picture)
    assert f"The {MOST_BARS} largest of 30." in said
    shares = [float(share) for share in re.findall(r"number \d+ ([\d.]+)%", said)]
    assert len(shares) == MOST_BARS
    assert shares == sorted(shares, reverse=True)
    assert min(shares) > 100 * 17 / 435


def test_many_promises_are_summed_up_by_the_largest() -> None:
    levels = tuple(0.5 + place / 4 for place in range(7))
    who = parties(
        choices=levels, promise=levels, allowance=(9.0,) * 7, minimum=(40,) * 7
    )

    said = words(drawn(who, some_result(NAMES, (0.4, 0.3, 0.2, 0.1))))

    assert "central epsilon of at most 2 at all 7 levels" in said


def test_hostile_words_are_text() -> None:
    # Answers hold no characters that are not seen; other texts may.
    answer = HOSTILE.removesuffix("\x07")
    names = (answer, "漢字" * 100, "\u0645\u0631\u062d\u0628\u0627")
    question = Question(HOSTILE, FrequencySurvey(names))
    who = parties(question=question, name=HOSTILE[:60])

    picture = drawn(who, some_result(names, (0.5, 0.3, 0.2)))

    assert picture.findtext(f"{SVG}title") == HOSTILE.replace("\x07", "\ufffd")
    assert "{{7*7}}" in words(picture)


def every_number(picture: ResultPicture) -> list[float]:
    ends = [(strip.start, strip.low, strip.high, strip.dot) for strip in picture.strips]
    return [*(end for strip in ends for end in strip), *picture.marks]


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_nothing_is_drawn_beside_the_picture(size: float) -> None:
    who = parties()
    published = some_result(NAMES, (size, 0.0, -size, size), spread=size)

    picture = picture_of(who.task, published)

    assert all(0.0 <= place <= WIDTH for place in every_number(picture))
    assert all(0.0 < line.y < picture.height for line in picture.lines)
    assert picture.bottom < picture.height


@pytest.mark.slow
def test_the_page_of_a_result_is_about_that_alone(tmp_path: Path) -> None:
    who = parties()

    (answer,) = fetch(tmp_path, who, "1")

    assert answer.headers["content-type"].startswith("text/html")
    assert f"<h1>{who.task.question.text}</h1>" in answer.text
    assert "180 people, of 10,000 who were given a token." in answer.text
    assert who.task.notice.asker in answer.text
    assert f"/tasks/{who.task.identity}/results/1.svg" in answer.text
    assert "Allowance" not in answer.text
    assert "http-equiv" not in answer.text


def test_what_is_withheld_has_a_page_and_no_picture(tmp_path: Path) -> None:
    who = parties(minimum=(40, 1000, 40))

    page, picture, *later = fetch(tmp_path, who, "1", "1.svg", "2", "2.svg")

    assert "Epoch 1 is withheld" in page.text
    assert ".svg" not in page.text
    assert picture.status_code == 409
    assert [answer.status_code for answer in later] == [404, 404]


def test_words_of_a_picture_have_enough_contrast() -> None:
    text = Pages().picture(parties().task, some_result(NAMES, (0.4, 0.3, 0.2, 0.1)))

    inks = set(re.findall(r'<text[^>]* fill="(#[0-9a-f]{6})"', text))
    assert len(inks) == 2
    assert all(contrast(ink, "#ffffff") >= 4.5 for ink in inks)
