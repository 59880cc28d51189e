"""A mechanism with its parameters as one text, such as "laplace(low=0, high=4)"."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from shuffledp.errors import InvalidInputError
from shuffledp.number_text import is_lost, is_plain
from shuffledp.parameter import Parameter
from shuffledp.randomizers.catalog import MECHANISMS
from shuffledp.randomizers.parameters import parameters_of

Value: TypeAlias = int | float | str


@dataclass(frozen=True)
class MechanismText:
    """A mechanism by its name, with the parameters that were given.

    Attributes:
        name: One of `MECHANISMS`.
        parameters: By their names; missing ones take their defaults, or follow from the
            rest of the query.
    """

    name: str
    parameters: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        parameter_texts = ", ".join(
            f"{name}={value}" for name, value in self.parameters.items()
        )
        return f"{self.name}({parameter_texts})" if parameter_texts else self.name


def read_mechanism(text: str) -> MechanismText:
    """Reads the name of a mechanism and its parameters.

    >>> read_mechanism("laplace(low=0, high=4)").parameters
    {'low': 0.0, 'high': 4.0}

    Raises:
        InvalidInputError: If there is no such mechanism or parameter, one is given twice,
            or a value is not of its kind.
    """
    name, opened, arguments = text.strip().partition("(")
    name = name.rstrip()
    if name not in MECHANISMS:
        raise InvalidInputError(
            f"Expected one of {', '.join(MECHANISMS)}, got {name!r:.80}."
        )
    if not opened:
        return MechanismText(name)
    known_parameters = {parameter.name: parameter for parameter in parameters_of(name)}
    inside, closed, after = arguments.partition(")")
    pairs = (
        [part.partition("=") for part in inside.split(",")] if inside.strip() else []
    )
    names = [key.strip() for key, _, _ in pairs]
    wrong = not closed or after.strip() or len(set(names)) != len(names)
    if (
        wrong
        or not set(names) <= set(known_parameters)
        or not all(equals for _, equals, _ in pairs)
    ):
        raise InvalidInputError(f"Expected {signature(name)}, got {text!r:.80}.")
    return MechanismText(
        name,
        {
            key.strip(): _value(known_parameters[key.strip()], value.strip())
            for key, _, value in pairs
        },
    )


def signature(name: str) -> str:
    """Returns a mechanism's name with its parameters, and their defaults.

    >>> signature("one-bit"), signature("subset-selection")
    ('one-bit(low=0.0, high=1.0)', 'subset-selection(categories=..., subset_size=...)')
    """
    parts = [
        f"{p.name}={'...' if p.default is None else p.default}"
        for p in parameters_of(name)
    ]
    return f"{name}({', '.join(parts)})"


def _value(parameter: Parameter, text: str) -> Value:
    """Returns the value that a text stands for."""
    value: object = text
    if parameter.kind != "text" and is_plain(text):
        # What is not a number stays a text, which `checked` refuses.
        with suppress(ValueError):
            value = int(text) if parameter.kind == "whole number" else float(text)
        # So does a number that is too small for a double, and became 0.
        if isinstance(value, float) and is_lost(text, value):
            value = text
    checked: Value = parameter.checked(value)
    return checked
