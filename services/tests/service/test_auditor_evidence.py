"""Evidence of an auditor at the analyst: her file as it is, or nothing."""

import hashlib
import math
import re
from pathlib import Path

import httpx
import pytest
from analyst_parties import Parties, Service, parties, serve, usual_batch
from handed_evidence import SENTENCE, evidence, showing
from test_dashboard import HOSTILE, Page

from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.analyst.analyst_host import with_evidence
from shuffledp_services.analyst.auditor_evidence import (
    EvidenceFile,
    picture_of,
)
from shuffledp_services.evidence.evidence import (
    Evidence,
)


def look(
    folder: Path, who: Parties, *, published: int = 1
) -> tuple[Page, httpx.Response]:
    """The dashboard, of epoch 1 if it is over, and the JSON."""

    async def scenario(service: Service) -> tuple[Page, httpx.Response]:
        for epoch in range(1, published + 1):
            await service.post(usual_batch(who, epoch=epoch))
            assert (await service.counted())["phase"] == "published"
        page = Page(await service.page(1 if published else None))
        return page, await service.client.get(f"/tasks/{who.task.identity}/audit")

    return serve(folder, who, scenario)


@pytest.mark.slow
def test_what_was_handed_over_is_shown_as_it_is(tmp_path: Path) -> None:
    plain = parties(allowance=(50.0, 50.0, 50.0))
    found = evidence(plain.task.fingerprint, [0.5, 1e-3, 1e-12])
    content = found.to_json()
    who = showing(plain, tmp_path, content)

    page, answer = look(tmp_path, who, published=3)

    assert answer.json() == found.to_dict()
    assert Evidence.from_json(answer.content) == found
    assert found.sentence in page.text
    assert "A promise is broken: epoch 3" in page.text
    assert "Written by The union and shown as it was handed over" in page.text
    assert hashlib.sha256(content.encode()).hexdigest() in page.text
    assert "(chance of a false alarm: 1e-12)" in page.text
    assert SENTENCE in page.text
    # The epoch that is shown is unfolded, and the one that broke a promise.
    assert ["open" in details for details in page.all("details")] == [
        True,
        False,
        True,
    ]
    assert "the e-value ever reaches 100 with probability 1% at most" in page.text


@pytest.mark.slow
def test_nothing_found_is_no_praise(tmp_path: Path) -> None:
    plain = parties()
    found = evidence(plain.task.fingerprint, [0.9])

    page, _ = look(tmp_path, showing(plain, tmp_path, found.to_json()))

    assert "Nothing was found" in page.text
    assert "A smaller e-value does not prove that they are kept." in page.text
    assert "promise is broken" not in page.text


def test_evidence_without_epochs_is_shown_before_the_first(tmp_path: Path) -> None:
    plain = parties()
    content = Evidence(plain.task.fingerprint).to_json()

    page, answer = look(tmp_path, showing(plain, tmp_path, content), published=0)

    assert "No epoch was audited yet" in page.text
    assert answer.json()["epochs"] == []


def test_nothing_is_said_where_nothing_was_handed_over(tmp_path: Path) -> None:
    page, answer = look(tmp_path, parties(), published=0)

    assert "auditor" not in page.text
    assert (answer.status_code, answer.json()["type"]) == (
        404,
        "urn:shuffledp:problem:not-found",
    )


@pytest.mark.slow
def test_a_file_that_is_no_evidence_is_not_shown(tmp_path: Path) -> None:
    plain = parties()
    found = evidence(plain.task.fingerprint, [0.5])
    other = evidence("00" * 32, [0.5]).to_json()
    # An e-value that does not follow from its p-value.
    forged = re.sub('"running": [0-9.]+', '"running": 0.1', found.to_json())
    assert forged != found.to_json()

    check_not_shown(tmp_path, plain, other, forged, "{}", b"\xff", " " * 5_000_000)


@pytest.mark.slow
def test_evidence_about_an_epoch_that_is_not_published_is_not_shown(
    tmp_path: Path,
) -> None:
    plain = parties()
    whole = evidence(plain.task.fingerprint, [0.5, 0.5])
    missing = whole.to_json().replace('"epoch": 2', '"epoch": 99')
    assert Evidence.from_json(missing).epochs[1].epoch == 99

    # Epoch 2 is withheld, as too few people answered.
    check_not_shown(tmp_path, plain, whole.to_json(), missing)


def check_not_shown(folder: Path, plain: Parties, *contents: str | bytes) -> None:
    """Files are refused where one about epoch 1 is shown."""
    who = showing(plain, folder, evidence(plain.task.fingerprint, [0.5]).to_json())

    async def scenario(service: Service) -> None:
        address = f"/tasks/{plain.task.identity}/audit"
        for epoch, per_level in ((1, 60), (2, 9)):
            await service.post(usual_batch(who, epoch=epoch, per_level=per_level))
            await service.counted()
        assert (await service.client.get(address)).status_code == 200
        for content in contents:
            showing(plain, folder, content)
            page, answer = await service.page(), await service.client.get(address)
            assert "The file of The union cannot be read, or is about" in page
            assert answer.status_code == 404
            assert str(folder) not in page + answer.text

    serve(folder, who, scenario)


@pytest.mark.slow
def test_what_an_auditor_writes_is_text(tmp_path: Path) -> None:
    plain = parties()
    found = evidence(plain.task.fingerprint, [0.5]).to_json()
    found = found.replace(SENTENCE, HOSTILE.replace('"', '\\"'))

    who = showing(plain, tmp_path, found, HOSTILE)
    page, _ = look(tmp_path, who)

    assert page.text.count(HOSTILE) == 2
    assert not page.all("script")


def test_evidence_is_shown_with_its_own_task(tmp_path: Path) -> None:
    first, second = (parties(task_id=bytes([place] * 16)) for place in (1, 2))
    hosts = {who.task.identity: who.hosted for who in (first, second)}
    path = tmp_path / "evidence.json"
    path.write_text(evidence(second.task.fingerprint, [0.5]).to_json())
    shown = EvidenceFile(path, "The union")

    found = with_evidence(hosts, [shown])

    assert found[first.task.identity].evidence is None
    assert found[second.task.identity].evidence is shown
    with pytest.raises(InvalidInputError, match="one file of evidence for each task"):
        with_evidence(hosts, [shown, shown])
    with pytest.raises(InvalidInputError, match="about a task of this service"):
        with_evidence({first.task.identity: first.hosted}, [shown])
    with pytest.raises(DataError, match="Could not read"):
        with_evidence(hosts, [EvidenceFile(tmp_path / "none.json", "The union")])


def test_the_picture_rises_with_the_e_value(tmp_path: Path) -> None:
    found = evidence("00" * 32, [1.0, 0.5, 1e-2, 1e-9, 0.0, 0.5])

    picture = picture_of(found)

    logs = [math.log10(e) for e in found.running]
    heights = [-dot.y for dot in picture.dots]
    finite = sorted(range(4), key=lambda place: logs[place])
    assert sorted(range(4), key=lambda place: heights[place]) == finite
    assert [dot.beyond for dot in picture.dots] == [e >= 100 for e in found.running]
    for dot in picture.dots:
        assert (dot.y <= picture.threshold) is dot.beyond
        assert 0.0 <= dot.x <= 100.0
        assert 0.0 <= dot.y <= 180.0
    # Unlimited is as high as anything.
    assert min(dot.y for dot in picture.dots) == picture.dots[-1].y
    assert "unlimited after epoch 5" in picture.description
