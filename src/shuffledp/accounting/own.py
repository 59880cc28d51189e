"""Does an object state what it draws itself, or what somebody else draws?

A cover speaks of the class that it was written for. Whoever subclasses a finished mechanism
and replaces what devices run, but keeps what is stated of it, would get a certificate of
something that never runs; so would a wrapper that passes attributes on. Both are refused.
What is not looked at is the code itself: a cover that is written wrongly is found by
`shuffledp.testing.check_randomizer`, and by nothing here.
"""

import inspect
from typing import Any

from shuffledp.errors import InvalidInputError

_DRAWS = "randomize"


def check_own(thing: Any, states: str) -> None:
    """Raises InvalidInputError unless a class that draws also states what is certified.

    Args:
        thing: A randomizer or a protocol.
        states: "covers" of a randomizer, "exposures" of a protocol.
    """
    kind = type(thing)
    own = getattr(thing, "__dict__", {})
    if _DRAWS in own or states in own or not hasattr(kind, states):
        raise InvalidInputError(
            f"Expected {kind.__name__} to define {_DRAWS} and {states} as a class: what is "
            "put on an object, or passed on by one, is not certified."
        )
    order = kind.__mro__
    stated = next(place for place, each in enumerate(order) if states in vars(each))
    for place, each in enumerate(order[1:], start=1):
        if not _finished(each, states):
            continue
        # A subclass of what was finished: it may keep all of it, or state its own.
        if place <= stated and any(_changes(newer) for newer in order[:place]):
            raise InvalidInputError(
                f"Expected {kind.__name__} to define its own {states}: those of "
                f"{each.__name__} speak of what {each.__name__} draws."
            )
        return
    drawn = [place for place, each in enumerate(order) if _DRAWS in vars(each)]
    # Above an unfinished base: whoever replaces its way of drawing states anew, too. The
    # library's own bases are written for each other.
    if len(drawn) > 1 and drawn[0] < stated and not _ours(order[drawn[0]]):
        raise InvalidInputError(
            f"Expected {kind.__name__} to define its own {states}: those it inherits speak "
            f"of another way to {_DRAWS}."
        )


def _finished(kind: type, states: str) -> bool:
    """Whether objects of this very class draw, and state what is certified."""
    known = hasattr(kind, _DRAWS) and hasattr(kind, states)
    interface = getattr(kind, "_is_protocol", False)
    return known and not interface and not inspect.isabstract(kind)


def _ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "shuffledp"


def _changes(kind: type) -> bool:
    """Whether a class defines anything but what Python puts into every class."""
    plain = {"__init__", "__post_init__"}
    return any(
        name in plain or not (name.startswith("__") or name.startswith("_abc_"))
        for name in vars(kind)
    )
