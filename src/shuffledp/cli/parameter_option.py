"""A declared parameter as an option of a command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from shuffledp.cli.number_types import NUMBER, WHOLE
from shuffledp.parameter import Kind, Parameter

_TYPES: dict[Kind, Any] = {
    "whole number": WHOLE,
    "number": NUMBER,
    "text": str,
    "texts": str,
    # A number or names: `category_names` tells them apart.
    "names": str,
    "mechanism": str,
    "file": click.Path(path_type=Path),
    "questions": click.Path(path_type=Path),
    "described questions": click.Path(path_type=Path),
}


def parameter_option(
    parameter: Parameter,
    text: str,
    *,
    metavar: str | None = None,
    choices: tuple[str, ...] = (),
    required: bool = False,
    default: int | float | str | None = None,
) -> Callable[[Any], Any]:
    """Returns the decorator that adds a parameter to a command.

    Args:
        parameter: The name, kind and spelling of the option.
        text: Its help.
        metavar: Used if the parameter has none itself.
        choices: Those of all statistics with this option; by default the parameter's own.
        required: Whether the command refuses to run without it.
        default: Used if the option is not given.
    """
    if parameter.kind == "flag":
        return click.option(
            f"--{parameter.option}", parameter.name, is_flag=True, help=text
        )
    # Newer versions of click take a default of None for a value, and miss nothing.
    usual: dict[str, Any] = {} if default is None else {"default": default}
    all_choices = choices or parameter.choices
    # A mechanism may have parameters after its name: click cannot compare it with a list.
    closed = all_choices and parameter.kind == "text"
    return click.option(
        f"--{parameter.option}",
        parameter.name,
        type=click.Choice(all_choices) if closed else _TYPES[parameter.kind],
        multiple=parameter.kind == "texts",
        metavar=parameter.metavar or metavar,
        required=required,
        **usual,
        help=text,
    )
