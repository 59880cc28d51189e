"""What people are told before they answer is checked, and part of the task."""

from dataclasses import replace
from typing import Any

import pytest
from service_parties import CATEGORIES, NOTICE, parties

from shuffledp.errors import InvalidInputError
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.notice import Translation
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.task_reading import read_task

GERMAN = Translation(
    "de", "Ein Test", "Wie ist es?", ("rot", "grün", "blau", "grau"), "Alles zählt."
)
FRENCH = replace(GERMAN, language="fr")


def test_everything_people_read_is_part_of_the_digest() -> None:
    notice = replace(NOTICE, translations=(GERMAN, FRENCH))
    task = parties(notice=notice).task
    others = [
        replace(notice, asker="Another"),
        replace(notice, contact="other@example.org"),
        replace(notice, consent="Nothing is counted."),
        replace(notice, language="sv"),
        replace(notice, translations=(GERMAN,)),
        replace(notice, translations=(replace(GERMAN, consent="Nichts."), FRENCH)),
    ]

    assert read_task(task.to_json()) == task
    assert task.notice.languages == ("en", "de", "fr")
    digests = {replace(task, notice=other).digest for other in others}
    assert len(digests | {task.digest}) == len(others) + 1


@pytest.mark.parametrize("name", ["asker", "contact", "consent"])
@pytest.mark.parametrize("text", ["", "  ", "\x1b[2J", "a\nb", "a\u202eb", "x" * 2001])
def test_texts_that_cannot_be_shown_as_written_are_refused(
    name: str, text: str
) -> None:
    changed: dict[str, Any] = {name: text}
    with pytest.raises(InvalidInputError, match="without control characters"):
        replace(NOTICE, **changed)


@pytest.mark.parametrize("language", ["", "English", "DE", "de_DE", "de-de", "../x"])
def test_a_language_is_named_as_browsers_name_it(language: str) -> None:
    with pytest.raises(InvalidInputError, match="language"):
        replace(NOTICE, language=language)
    with pytest.raises(InvalidInputError, match="language"):
        replace(GERMAN, language=language)


def test_a_translation_has_as_many_answers_as_the_question() -> None:
    fewer = replace(GERMAN, answers=GERMAN.answers[1:])

    with pytest.raises(InvalidInputError, match="answers in de"):
        parties(notice=replace(NOTICE, translations=(fewer,)))
    assert len(GERMAN.answers) == len(CATEGORIES)


def test_two_answers_are_not_translated_into_one() -> None:
    twice = replace(GERMAN, answers=("rot", "rot", "blau", "grau"))

    with pytest.raises(InvalidInputError, match="in de that do not look alike"):
        parties(notice=replace(NOTICE, translations=(twice,)))


@pytest.mark.slow
def test_answers_of_different_questions_may_be_alike() -> None:
    answers = ("F", "rot", "grün", "blau", "grau", "R", "ja", "nein", "T", "ja", "nein")
    allowed = replace(GERMAN, answers=answers)

    task = parties("counts", notice=replace(NOTICE, translations=(allowed,))).task

    assert read_task(task.to_json()) == task
    for wrong in (answers[1:], ("F", "rot", "rot", *answers[3:])):
        changed = replace(NOTICE, translations=(replace(GERMAN, answers=wrong),))
        with pytest.raises(InvalidInputError, match="in de"):
            parties("counts", notice=changed)


def test_every_language_comes_once_and_in_order() -> None:
    for translations in ((FRENCH, GERMAN), (GERMAN, GERMAN)):
        with pytest.raises(InvalidInputError):
            replace(NOTICE, translations=translations)
    with pytest.raises(InvalidInputError, match="once"):
        replace(NOTICE, language="de", translations=(GERMAN,))


@pytest.mark.parametrize(
    "changed",
    [
        {"asker": 1},
        {"more": "x"},
        {"language": None},
        {"translations": []},
        {"translations": {"de": {}}},
        {"translations": {"de": GERMAN.to_dict() | {"answers": "rot"}}},
        {"translations": {"de": GERMAN.to_dict() | {"answers": [1, 2, 3, 4]}}},
    ],
)
def test_what_is_no_notice_is_refused(changed: dict[str, Any]) -> None:
    value = parties().task.to_dict()
    value["notice"] |= changed

    with pytest.raises(Refusal):
        read_task(canonical(value))
