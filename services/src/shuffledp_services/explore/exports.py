"""A query as a Python program and as a command, to be run elsewhere."""

import shlex
from dataclasses import fields

import shuffledp
from shuffledp.format_number import plain
from shuffledp.randomizers.catalog import mechanism_class
from shuffledp.randomizers.mechanism_text import MechanismText
from shuffledp_services.explore.explore_query import ExploreQuery


def python_of(query: ExploreQuery) -> str:
    """Returns a program that prints the guarantee of a query."""
    people = ", ".join(f"{level!r}: {count}" for level, count in query.levels)
    terms = ", ".join(plain(value) for _, value in query.terms)
    kind = mechanism_class(query.mechanism)
    # Constructors call a number of things num_things, queries only things.
    names = {field.name.removeprefix("num_"): field.name for field in fields(kind)}
    arguments = (f"{names[name]}={plain(n)}" for name, n in query.parameters.items())
    randomizer = f"sdp.{kind.__name__}({', '.join(arguments)})"
    protocol, imported = f"sdp.{type(query.protocol).__name__}", ""
    if type(query.protocol).__name__ not in shuffledp.__all__:
        # Not every statistic has a public name.
        protocol = type(query.protocol).__name__
        imported = f"from {type(query.protocol).__module__} import {protocol}\n"
    return (
        f"import shuffledp as sdp\n{imported}\n"
        f"people = sdp.Population.from_counts({{{people}}})\n"
        f'protocol = {protocol}({terms}, "{query.mode}", {randomizer})\n'
        "guarantee = sdp.account(\n"
        f"    protocol, people, delta={query.delta!r}, absent={query.absent}, "
        f"rounds={query.rounds}\n"
        ")\n"
        "print(guarantee)\n"
    )


def command_of(query: ExploreQuery) -> str:
    """Returns a command that prints the guarantee of a query."""
    parameters = {name: plain(value) for name, value in query.parameters.items()}
    # What equals its default is left out.
    if query.mode != "agnostic":
        parameters["mode"] = query.mode
    mechanism = MechanismText(query.mechanism, parameters)
    words = ["shuffledp", "account", "--mechanism", str(mechanism)]
    words += ["--levels", query.levels_text, "--delta", plain(query.delta)]
    if query.absent:
        words += ["--absent", str(query.absent)]
    if query.rounds > 1:
        words += ["--rounds", str(query.rounds)]
    return shlex.join(words)
