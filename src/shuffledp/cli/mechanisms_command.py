"""`shuffledp mechanisms`: the mechanisms of devices and their parameters."""

import inspect
import textwrap

import click

from shuffledp.cli.console import show_json
from shuffledp.cli.shared_options import json_option
from shuffledp.randomizers.catalog import MECHANISMS, mechanism_class
from shuffledp.randomizers.mechanism_text import signature
from shuffledp.randomizers.parameters import parameters_of

_WIDTH = 92


@click.command("mechanisms")
@click.argument("name", required=False, type=click.Choice(MECHANISMS), metavar="[NAME]")
@json_option
def mechanisms_command(name: str | None, as_json: bool) -> None:
    """List the mechanisms of devices; with NAME, explain its parameters.

    Wherever a command takes --mechanism, parameters stand in brackets. Those that follow
    from the data, such as the categories or the range of a mean, are left out there.

    \b
    Examples:
      shuffledp mechanisms
      shuffledp mechanisms laplace
      shuffledp account --mechanism "laplace(low=0, high=4)" --levels 1:10000 --delta 1e-6
    """
    if as_json:
        show_json(
            {each: _mechanism_record(each) for each in ([name] if name else MECHANISMS)}
        )
    elif name is None:
        for each in MECHANISMS:
            click.echo(signature(each))
    else:
        click.echo(_explanation(name))


def _mechanism_record(name: str) -> dict[str, object]:
    return {
        parameter.name: {
            "kind": parameter.kind,
            "default": parameter.default,
            "help": parameter.help,
        }
        for parameter in parameters_of(name)
    }


def _explanation(name: str) -> str:
    """Returns the signature, the first line of the module's docstring, and parameters."""
    # One mechanism per file: the docstring of its module describes it.
    module = inspect.getmodule(mechanism_class(name))
    # None under `python -OO`, which drops docstrings.
    documented = inspect.getdoc(module) or ""
    lines = [signature(name), *documented.split("\n")[:1], ""]
    for parameter in parameters_of(name):
        default = "required" if parameter.default is None else f"{parameter.default}"
        lines += textwrap.wrap(
            f"{parameter.name}: {parameter.help} [{default}].",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
        )
    return "\n".join(lines)
