"""Commands and options of earlier versions, and how to write them now."""

import sys
from typing import NamedTuple

import click


class _FormerOption(NamedTuple):
    """An option that some commands had.

    Attributes:
        commands: Beginnings of their paths, without `shuffledp`.
        successor: The sentence for those who write it.
    """

    commands: tuple[str, ...]
    successor: str


# A command of an earlier version, and its name now.
_COMMANDS = {"court": "claims"}
_OPTIONS = {
    "--distribution": _FormerOption(("train",), 'Write --levels "apes/uniform1".'),
    "--mode": _FormerOption(
        ("account", "calibrate"),
        'Write it with the mechanism: "laplace(low=0, high=4, mode=stratified)".',
    ),
    "--target": _FormerOption(("calibrate level",), "Write --change LEVEL:EPSILON."),
    "--power": _FormerOption(
        ("audit canaries",), "Leave it out: with --task and --count nothing is sent."
    ),
    "--item": _FormerOption(("estimate", "device send"), "Write --value COLUMN."),
    "--subset-size": _FormerOption(
        ("task create",), 'Write --mechanism "NAME(subset_size=...)".'
    ),
    "--values": _FormerOption(
        ("task create",), 'Write --mechanism "NAME(values=...)".'
    ),
    "--rounds": _FormerOption(("calibrate rounds",), "They are what is computed."),
    "--honest-fraction": _FormerOption(
        ("account", "calibrate", "plan"), "Write --absent 10% instead of 0.9."
    ),
}


def command_successor(name: str) -> str | None:
    """Returns the name of the command that replaces one of an earlier version."""
    return _COMMANDS.get(name)


def option_successor(error: click.NoSuchOption) -> str:
    """Returns the sentence that says how to write an unknown option, or ""."""
    path = error.ctx.command_path if error.ctx else ""
    former = _OPTIONS.get(error.option_name)
    if former is not None:
        # With a space: "calibrate level" is no beginning of "calibrate levels".
        words = f"{path.partition(' ')[2]} "
        if words.startswith(tuple(f"{command} " for command in former.commands)):
            return former.successor
    return _of_mechanisms(error.option_name)


def _of_mechanisms(option: str) -> str:
    """Returns a hint if an unknown option is a parameter of mechanisms, else ""."""
    from shuffledp.randomizers.catalog import MECHANISMS
    from shuffledp.randomizers.mechanism_text import signature
    from shuffledp.randomizers.parameters import parameters_of

    name = option.lstrip("-").replace("-", "_")
    owners = [
        mechanism
        for mechanism in MECHANISMS
        if any(parameter.name == name for parameter in parameters_of(mechanism))
    ]
    if not owners:
        return ""
    # The mechanism that was asked for, if it is a word of the command line.
    owner_name = next((owner for owner in owners if owner in sys.argv), owners[0])
    return f'Expected parameters with the mechanism, as "{signature(owner_name)}".'
