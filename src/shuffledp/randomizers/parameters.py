"""Names, types and explanations of a mechanism's parameters, read off its class.

A mechanism is a frozen dataclass whose docstring explains its attributes; certificates,
options of the command line and their help texts follow from that.
"""

import inspect
import re
import sys
from dataclasses import MISSING, fields
from typing import Any, Literal, get_origin

from shuffledp.errors import InvalidInputError
from shuffledp.parameter import Kind, Parameter
from shuffledp.randomizers.catalog import mechanism_class

_KINDS: dict[object, Kind] = {int: "whole number", float: "number", str: "text"}


def parameters_of(mechanism: str) -> tuple[Parameter, ...]:
    """Returns the public parameters of the mechanism of this name.

    >>> [parameter.name for parameter in parameters_of("subset-selection")]
    ['categories', 'subset_size']

    Raises:
        InvalidInputError: If a field is not explained in the docstring, or is of another
            type than a number or a text.
    """
    kind = mechanism_class(mechanism)
    explained = _explanations(kind)
    parameters = []
    for field in fields(kind):
        plain = _plain_type(field.type)
        if field.name not in explained or plain not in _KINDS:
            raise InvalidInputError(
                f"Expected {kind.__name__} to explain {field.name}, a number or a text, "
                "among the attributes of its docstring."
            )
        default = None if field.default is MISSING else field.default
        name = field.name.removeprefix("num_")
        text = explained[field.name].removesuffix(".")
        parameters.append(Parameter(name, _KINDS[plain], text, default=default))
    return tuple(parameters)


def _plain_type(annotation: Any) -> object:
    """Returns int, float or str, also where None is allowed beside it."""
    # Where annotations are postponed, they are texts.
    if isinstance(annotation, str):
        annotation = {"int": int, "float": float, "str": str}.get(
            annotation.removesuffix(" | None"), annotation
        )
    # One of several texts; the class itself says which.
    if get_origin(annotation) is Literal:
        return str
    args = [arg for arg in getattr(annotation, "__args__", ()) if arg is not type(None)]
    return args[0] if len(args) == 1 else annotation


def _explanations(kind: type[Any]) -> dict[str, str]:
    """Returns the explanation of each attribute, from the class docstring."""
    # `python -OO` removes docstrings: parameters are explained by their names alone.
    if sys.flags.optimize >= 2:  # Dataclasses fill the gap with their signature.
        return {field.name: field.name.removeprefix("num_") for field in fields(kind)}
    return _attributes(inspect.getdoc(kind) or "")


def _attributes(docstring: str) -> dict[str, str]:
    """Returns the entries of the section `Attributes:`, each on one line."""
    _, _, section = docstring.partition("Attributes:\n")
    explanations: dict[str, str] = {}
    for line in section.splitlines():
        begun = re.match(r"    (\w+): (.*)", line)
        if begun:
            name = begun[1]
            explanations[name] = begun[2].strip()
        elif line.startswith("        ") and explanations:
            explanations[name] += f" {line.strip()}"
        elif line.strip():
            # The heading of another section.
            break
    return explanations
