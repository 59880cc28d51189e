"""A scene as a Python program and as a command, to be run elsewhere."""

import shlex
from dataclasses import fields

import shuffledp
from shuffledp.format_number import plain
from shuffledp.randomizers.catalog import mechanism_class
from shuffledp.randomizers.mechanism_text import MechanismText
from shuffledp_services.explore.scene import Scene


def python_of(scene: Scene) -> str:
    """Returns a program that prints the guarantee of a scene."""
    people = ", ".join(f"{level!r}: {count}" for level, count in scene.levels)
    terms = ", ".join(plain(value) for _, value in scene.terms)
    kind = mechanism_class(scene.mechanism)
    # Constructors call a number of things num_things, scenes only things.
    names = {field.name.removeprefix("num_"): field.name for field in fields(kind)}
    arguments = (f"{names[name]}={plain(n)}" for name, n in scene.parameters.items())
    randomizer = f"sdp.{kind.__name__}({', '.join(arguments)})"
    protocol, imported = f"sdp.{type(scene.protocol).__name__}", ""
    if type(scene.protocol).__name__ not in shuffledp.__all__:
        # Not every statistic has a public name.
        protocol = type(scene.protocol).__name__
        imported = f"from {type(scene.protocol).__module__} import {protocol}\n"
    return (
        f"import shuffledp as sdp\n{imported}\n"
        f"people = sdp.Population.from_counts({{{people}}})\n"
        f'protocol = {protocol}({terms}, "{scene.mode}", {randomizer})\n'
        "guarantee = sdp.account(\n"
        f"    protocol, people, delta={scene.delta!r}, absent={scene.absent}, "
        f"rounds={scene.rounds}\n"
        ")\n"
        "print(guarantee)\n"
    )


def command_of(scene: Scene) -> str:
    """Returns a command that prints the guarantee of a scene."""
    parameters = {name: plain(value) for name, value in scene.parameters.items()}
    mechanism = MechanismText(scene.mechanism, parameters)
    words = ["shuffledp", "account", "--mechanism", str(mechanism)]
    words += ["--mode", scene.mode, "--levels", scene.levels_text]
    words += ["--delta", plain(scene.delta)]
    # Options that equal their defaults are left out.
    if scene.absent:
        words += ["--absent", str(scene.absent)]
    if scene.rounds > 1:
        words += ["--rounds", str(scene.rounds)]
    return shlex.join(words)
