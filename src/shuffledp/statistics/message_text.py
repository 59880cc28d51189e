"""One message as a text: a mechanism, and whether levels travel with it."""

from typing import NamedTuple, get_args

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.mechanism_text import MechanismText, read_mechanism
from shuffledp.types import Mode

_MODE = "mode"


class MessageText(NamedTuple):
    """A mechanism as it was written, with the mode of its messages."""

    mechanism: MechanismText
    mode: Mode


def read_message(text: str) -> MessageText:
    """Reads a mechanism, among whose parameters the mode may stand.

    >>> read_message("laplace(low=0, high=4)").mode
    'agnostic'
    >>> str(read_message("laplace(high=4, mode=stratified)").mechanism)
    'laplace(high=4.0)'

    Raises:
        InvalidInputError: If there is no such mechanism, parameter or mode, one is given
            twice, or a value is not of its kind.
    """
    name, opened, arguments = text.partition("(")
    inside, closed, after = arguments.partition(")")
    parts = inside.split(",")
    modes = [part for part in parts if part.partition("=")[0].strip() == _MODE]
    if len(modes) != 1:
        # A mode that is given twice is refused as an unknown parameter.
        return MessageText(read_mechanism(text), "agnostic")
    others = ",".join(part for part in parts if part not in modes)
    mechanism = read_mechanism(f"{name}{opened}{others}{closed}{after}")
    given = modes[0].partition("=")[2].strip()
    for mode in get_args(Mode):
        if mode == given:
            return MessageText(mechanism, mode)
    raise InvalidInputError(
        f"Expected mode=agnostic or mode=stratified with {mechanism.name}, got "
        f"{given!r:.40}."
    )
