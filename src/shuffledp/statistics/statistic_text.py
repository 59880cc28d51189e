"""A statistic with its parameters as one text, such as "frequency(num_categories=17)".

It is what Python calls: the parameters are those of the class, `randomizer` apart, which is
spelled `mechanism` and is a mechanism with parameters of its own.
"""

import inspect
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

from shuffledp.accounting.exposure import Certifiable
from shuffledp.arrays import without_minus_zero
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.number_text import is_lost, is_plain
from shuffledp.randomizers.catalog import MECHANISMS, build
from shuffledp.randomizers.mechanism_text import read_mechanism
from shuffledp.randomizers.parameters import parameters_of
from shuffledp.statistics.message_text import read_message
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.statistics.statistic_catalog import (
    STATISTICS,
    protocol_class,
    protocol_of,
)
from shuffledp.statistics.verify_certificate import read

# The parameter of a class that takes a mechanism, and how texts spell it.
_RANDOMIZER, _MECHANISM = "randomizer", "mechanism"


def read_statistic(text: str) -> Certifiable:
    """Reads a statistic, a mechanism of one message, or the file of a certificate.

    >>> read_statistic("frequency(num_categories=17)").num_categories
    17
    >>> read_statistic("mean(low=0, high=10, mechanism=laplace(low=0, high=10))").high
    10.0
    >>> str(read_statistic("laplace(low=0, high=4)").identity)
    'message by laplace (cells 4096, high 4, low 0), agnostic'

    Args:
        text: NAME(PARAMETER=VALUE, ...), of a statistic or a mechanism; or a path that ends
            in .json: the protocol of the certificate in it, of one round.

    Raises:
        InvalidInputError: If there is no such statistic or parameter, one is missing or
            given twice, or a value is not of its kind.
        DataError: If a file holds no certificate of a protocol that can be rebuilt.
    """
    if text.strip().lower().endswith(".json"):
        return _certified_protocol(Path(text.strip()))
    name, opened, arguments = text.strip().partition("(")
    name = name.strip()
    if name in MECHANISMS:
        mechanism, mode = read_message(text)
        return SingleMessage(build(mechanism.name, mechanism.parameters), mode)
    kinds = statistics_as_text()
    if name not in kinds:
        raise InvalidInputError(
            f"Expected one of {', '.join(kinds)} with its parameters, a mechanism, or the "
            f"file of a certificate, FILE.json, got {text!r:.80}."
        )
    parts = _parts_of_arguments(arguments) if opened else []
    if parts is None or len({key for key, _ in parts}) < len(parts):
        raise InvalidInputError(f"Expected {signature(name)}, got {text!r:.80}.")
    return _built(name, dict(parts), text)


def _certified_protocol(file: Path) -> Certifiable:
    """Returns the protocol of the certificate in a file.

    Raises:
        DataError: If it is of anything else than one round of all people's messages: what
            takes place oftener would be certified as if it took place once.
    """
    certificates = list(read(file).values())
    if len(certificates) > 1:
        raise DataError(
            f"Expected one certificate in {file}, found {len(certificates)}: name the "
            "statistic itself."
        )
    (guarantee,) = certificates
    counted = {
        "rounds": guarantee.rounds != 1,
        "coordinates": guarantee.coordinates != 1,
        "absent people": guarantee.absent != 0,
    }
    stated = [what for what, counts in counted.items() if counts]
    if stated:
        raise DataError(
            f"Expected a certificate of one round, one coordinate and no absent people in "
            f"{file}; it states {' and '.join(stated)}. Give these for all statistics "
            "together, or repeat the statistic."
        )
    return protocol_of(guarantee.protocol)


def statistics_as_text() -> tuple[str, ...]:
    """Returns the statistics whose parameters are numbers, texts and a mechanism.

    >>> statistics_as_text()
    ('frequency', 'mean', 'sum', 'strings')
    """
    return tuple(
        name for name in STATISTICS if None not in _parameter_kinds(name).values()
    )


def signature(name: str) -> str:
    """Returns a statistic's name with its parameters, and their defaults.

    >>> signature("frequency")
    'frequency(num_categories=..., mode=agnostic, mechanism=...)'
    """
    parameters = inspect.signature(protocol_class(name)).parameters.values()
    parts = []
    for parameter in parameters:
        spelled = _MECHANISM if parameter.name == _RANDOMIZER else parameter.name
        has_default = parameter.default not in (parameter.empty, None)
        parts.append(f"{spelled}={parameter.default if has_default else '...'}")
    return f"{name}({', '.join(parts)})"


def _parameter_kinds(name: str) -> dict[str, type | None]:
    """Returns the kind of each parameter; None of what no text can be."""
    kind = protocol_class(name)
    hints = get_type_hints(kind.__init__)
    kinds: dict[str, type | None] = {}
    for key in inspect.signature(kind).parameters:
        hint = str if get_origin(hints[key]) is Literal else hints[key]
        if key == _RANDOMIZER:
            kinds[_MECHANISM] = str
        else:
            kinds[key] = hint if hint in (int, float, str) else None
    return kinds


def _parts_of_arguments(arguments: str) -> list[tuple[str, str]] | None:
    """Returns names and values, or None if the text is not of this form."""
    parts, depth = [""], 1
    for index, letter in enumerate(arguments):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            # Nothing follows the last parenthesis.
            if arguments[index + 1 :].strip():
                return None
            break
        # Commas inside of a mechanism's parentheses divide its own parameters.
        if letter == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        return None
    if parts == [""] or not "".join(parts).strip():
        return []
    divided = [part.partition("=") for part in parts]
    if not all(equals for _, equals, _ in divided):
        return None
    return [(key.strip(), value.strip()) for key, _, value in divided]


def _built(name: str, given: Mapping[str, str], text: str) -> Certifiable:
    kinds, kind = _parameter_kinds(name), protocol_class(name)
    expected = f"Expected {signature(name)}"
    unknown = [key for key in given if key not in kinds]
    if unknown:
        raise InvalidInputError(f"{expected}, which has no {unknown[0]!r:.40}.")
    terms: dict[str, Any] = {}
    for key, value in given.items():
        if key != _MECHANISM:
            terms[key] = _value_of_kind(kinds[key], value)
            if terms[key] is None:
                raise InvalidInputError(f"{expected}, got {key}={value:.40}.")
    if _MECHANISM in given:
        terms[_RANDOMIZER] = _mechanism(given[_MECHANISM], terms)
    try:
        inspect.signature(kind).bind(**terms)
    except TypeError:
        raise InvalidInputError(f"{expected}, got {text!r:.80}.") from None
    protocol: Certifiable = kind(**terms)
    return protocol


def _mechanism(text: str, terms: Mapping[str, Any]) -> Any:
    """Returns a mechanism, with the statistic's own values of parameters of both."""
    mechanism = read_mechanism(text)
    own_terms = {key.removeprefix("num_"): value for key, value in terms.items()}
    needed_names = {parameter.name for parameter in parameters_of(mechanism.name)}
    shared = {key: value for key, value in own_terms.items() if key in needed_names}
    return build(mechanism.name, {**shared, **mechanism.parameters})


def _value_of_kind(kind: type | None, text: str) -> int | float | str | None:
    """Returns the value that a text stands for; None if it is of another kind."""
    if kind is str:
        # The class itself says which texts it takes.
        return text
    if not is_plain(text):
        return None
    with suppress(ValueError):
        number = int(text) if kind is int else without_minus_zero(float(text))
        return None if isinstance(number, float) and is_lost(text, number) else number
    return None
