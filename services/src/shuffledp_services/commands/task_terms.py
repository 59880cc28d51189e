"""Question, notice, choices and minimum of a task, from options of a command."""

import codecs
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.cli import parse
from shuffledp.cli.parameter_option import parameter_option
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.parameter import Parameter
from shuffledp.randomizers.mechanism_text import read_mechanism
from shuffledp.randomizers.parameters import parameters_of
from shuffledp.statistics.statistic_catalog import SURVEYS, survey_named
from shuffledp.statistics.survey import Survey, survey_in
from shuffledp_services.wire.question import Question

if TYPE_CHECKING:
    from shuffledp_services.wire.notice import Notice, Translation

_MECHANISM = "mechanism"
KINDS = {name: survey_named(name) for name in SURVEYS}


def question_options(command: Any) -> Any:
    """Adds an option for every parameter of a question, with its statistics in the help."""
    options: dict[str, dict[Parameter, list[str]]] = {}
    for name, kind in KINDS.items():
        for parameter in kind.parameters:
            if parameter.in_mechanism:
                # Stated with the mechanism, as one value: see `_mechanism_terms`.
                continue
            # Equal descriptions are explained once, for all their statistics.
            described = options.setdefault(parameter.option, {})
            described.setdefault(parameter, []).append(name)
    # click lists options from the last decorator that was applied to the first.
    for described in reversed(options.values()):
        texts = []
        for parameter, names in described.items():
            usual = f" [{parameter.choices[0]}]" if parameter.choices else ""
            if parameter.name == _MECHANISM:
                usual = f": {_mechanism_forms(parameter, KINDS[names[0]])}{usual}"
            owners = " and ".join(names).capitalize()
            texts.append(f"{owners}: {parameter.help}{usual}.")
        choices = dict.fromkeys(choice for each in described for choice in each.choices)
        first = next(iter(described))
        if first.name == _MECHANISM:
            # A choice may have parameters: click cannot compare it with a list.
            first = replace(
                first, kind="mechanism", metavar="NAME(PARAMETER=VALUE,...)"
            )
        option = parameter_option(first, " ".join(texts), choices=tuple(choices))
        command = option(command)
    return command


def _mechanism_forms(parameter: Parameter, kind: type[Survey]) -> str:
    """Returns the mechanisms of a statistic, with parameters that are stated with them."""
    stated = [each.name for each in kind.parameters if each.in_mechanism]
    forms = []
    for mechanism in parameter.choices:
        own = {each.name for each in parameters_of(mechanism)}
        terms = ", ".join(f"{name}=..." for name in stated if name in own)
        forms.append(f"{mechanism}({terms})" if terms else mechanism)
    return ", ".join(forms)


def choices_of(given: dict[str, Any]) -> tuple[float, ...]:
    """Returns the levels or the targets on offer."""
    central = KINDS[given["statistic"]].central
    wanted, other = ("targets", "levels") if central else ("levels", "targets")
    # Which of the two is on offer follows from the statistic: never both.
    if given[wanted] is None or given[other] is not None:
        raise InvalidInputError(
            f"Expected --{wanted}, and no --{other}, with {given['statistic']}."
        )
    return tuple(parse.level_list(given[wanted]))


def question_of(given: dict[str, Any]) -> Question:
    """Returns the question with all terms that its statistic needs."""
    kind = KINDS[given["statistic"]]
    own = {parameter.name: parameter for parameter in kind.parameters}
    given = given | _mechanism_terms(given.get(_MECHANISM), own)
    # Every option of every statistic arrives, and click passes () for one that may repeat
    # and was not given.
    stated = {name for name, value in given.items() if value not in (None, ())}
    for parameter in (each for other in KINDS.values() for each in other.parameters):
        if parameter.name in stated and parameter.name not in own:
            raise InvalidInputError(
                f"Expected no --{parameter.option} with {kind.words.name}."
            )
    terms = {}
    for name, parameter in own.items():
        if name in stated:
            terms[name] = given[name]
        elif parameter.choices and parameter.required:
            terms[name] = parameter.choices[0]
        elif parameter.required:
            raise InvalidInputError(
                f"Expected --{parameter.option} with {kind.words.name}."
            )
    return Question(given["question"], survey_in(kind, terms, given["mode"]))


def _mechanism_terms(text: str | None, own: Mapping[str, Parameter]) -> dict[str, Any]:
    """Returns the terms that a mechanism with its parameters states.

    Raises:
        InvalidInputError: If there is no such mechanism, or the question states one of its
            parameters itself.
    """
    if text is None:
        return {}
    mechanism = read_mechanism(text)
    for name in mechanism.parameters:
        if name not in own or not own[name].in_mechanism:
            raise InvalidInputError(
                f"Expected {mechanism.name} without {name}, which follows from the "
                "question."
            )
    return {_MECHANISM: mechanism.name, **mechanism.parameters}


def notice_of(given: dict[str, Any]) -> "Notice":
    """Returns the notice: the asker, the contact and the consent in all languages."""
    from shuffledp_services.wire.notice import Notice

    # In the order that a notice demands: the digest depends on it.
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
    from shuffledp_services.storage.key_files import read_file
    from shuffledp_services.wire.canonical import read_object
    from shuffledp_services.wire.notice import Translation
    from shuffledp_services.wire.refusal import Refusal

    try:
        # Editors of some systems begin UTF-8 with a mark that JSON does not know.
        content = read_file(path).removeprefix(codecs.BOM_UTF8)
        value = read_object(content, f"{path}")
        language = value.pop("language", None)
        return Translation.from_dict(language, value)
    except Refusal as error:
        raise DataError(f"{path}: {error}") from error


def minimum_of(text: str, num_levels: int) -> tuple[int, ...]:
    """Returns the minimum number of people of each choice."""
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdecimal() for part in parts):
        raise InvalidInputError(f"Expected --minimum PEOPLE[,...], got {text!r}.")
    # 20 digits exceed every limit, and `int` refuses texts of thousands of digits.
    numbers = tuple(int(part[:20]) for part in parts)
    return numbers * num_levels if len(numbers) == 1 else numbers
