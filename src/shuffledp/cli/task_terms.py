"""What a task asks, whom it is for, and in which languages, from options of a command."""

import codecs
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shuffledp.cli import parse
from shuffledp.cli.number_types import NUMBER, WHOLE
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.service.wire.question import Question
from shuffledp.statistics.catalog import SURVEYS, survey_named
from shuffledp.statistics.survey import survey_in
from shuffledp.statistics.survey_terms import Term

if TYPE_CHECKING:
    from shuffledp.service.wire.notice import Notice, Translation

KINDS = {name: survey_named(name) for name in SURVEYS}
_TYPES = {"texts": str, "number": NUMBER, "whole number": WHOLE}


def term_options(command: Any) -> Any:
    """Adds an option for every term of any statistic, and whose it is."""
    owners: dict[Term, list[str]] = {}
    for name, kind in KINDS.items():
        for term in kind.terms:
            owners.setdefault(term, []).append(name)
    # Applied from the bottom up, as options are.
    for term, names in reversed(owners.items()):
        usual = f" [{term.options[0]}]" if term.options else ""
        help_text = f"{' and '.join(names).capitalize()}: {term.help}{usual}."
        many = term.kind == "texts"
        command = click.option(
            f"--{term.option}",
            term.name,
            type=click.Choice(term.options) if term.options else _TYPES[term.kind],
            multiple=many,
            metavar="NAME" if many else None,
            help=help_text,
        )(command)
    return command


def choices_of(given: dict[str, Any]) -> tuple[float, ...]:
    """Returns the levels or the targets on offer."""
    central = KINDS[given["statistic"]].central
    wanted, other = ("targets", "levels") if central else ("levels", "targets")
    if given[wanted] is None or given[other] is not None:
        raise InvalidInputError(
            f"Expected --{wanted}, and no --{other}, with {given['statistic']}."
        )
    return tuple(parse.level_list(given[wanted]))


def question_of(given: dict[str, Any]) -> Question:
    """Returns what is asked, with all terms that its statistic needs."""
    kind = KINDS[given["statistic"]]
    for other in KINDS.values():
        for term in other.terms:
            missing, asked = given[term.name] in (None, ()), term in kind.terms
            needed = asked and term.needed and not term.options
            if needed if missing else not asked:
                only = "" if missing else "no "
                raise InvalidInputError(
                    f"Expected {only}--{term.option} with {kind.words.name}."
                )
    terms = {}
    for term in kind.terms:
        value = given[term.name]
        if value is None and term.options:
            value = term.options[0]
        if value is not None:
            terms[term.name] = value
    return Question(given["question"], survey_in(kind, terms, given["mode"]))


def notice_of(given: dict[str, Any]) -> "Notice":
    """Returns who asks, and what people agree to."""
    from shuffledp.service.wire.notice import Notice

    translations = sorted(
        map(_translation, given["translations"]), key=lambda entry: entry.language
    )
    return Notice(
        given["asker"],
        given["contact"],
        given["consent"],
        given["language"],
        tuple(translations),
    )


def _translation(path: Path) -> "Translation":
    from shuffledp.service.wire.canonical import read_object
    from shuffledp.service.wire.notice import Translation
    from shuffledp.service.wire.refusal import Refusal

    try:
        # Editors of some systems begin UTF-8 with a mark that JSON does not know.
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        value = read_object(content, f"{path}")
        language = value.pop("language", None)
        return Translation.from_dict(language, value)
    except (OSError, Refusal) as error:
        raise DataError(f"{path}: {error}") from error


def minimum_of(text: str, num_levels: int) -> tuple[int, ...]:
    """Returns how many people each choice needs."""
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdecimal() for part in parts):
        raise InvalidInputError(f"Expected --minimum PEOPLE[,...], got {text!r}.")
    numbers = tuple(int(part[:20]) for part in parts)
    return numbers * num_levels if len(numbers) == 1 else numbers
