"""Does an object state what it draws itself, or what somebody else draws?

A cover speaks of the class that it was written for. Whoever subclasses a finished mechanism
and replaces what devices run, but keeps what is stated of it, would get a certificate of
something that never runs; so would a wrapper that passes attributes on, or a class that
looks them up in a way of its own. All are refused.
What is not looked at is the code itself: a cover that is written wrongly is found by
`shuffledp.testing.check_randomizer`, and by nothing here.
"""

import inspect
from typing import Any

from shuffledp.errors import InvalidInputError

_DRAWS = "randomize"
# With these an object answers for attributes that its class does not show.
_LOOK_UP = ("__getattribute__", "__getattr__")
# What Python itself puts into a class that says nothing, and what only shows an object.
_PLAIN = {
    "__abstractmethods__",
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__conditional_annotations__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__orig_bases__",
    "__parameters__",
    "__qualname__",
    "__repr__",
    "__slots__",
    "__static_attributes__",
    "__str__",
    "__weakref__",
}


def check_defines_own(thing: Any, states: str) -> None:
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
    if any(name in vars(each) for each in order[:-1] for name in _LOOK_UP):
        raise InvalidInputError(
            f"Expected {kind.__name__} to look up attributes as Python does: what "
            f"{' or '.join(_LOOK_UP)} answers is not certified."
        )
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
    # Above an unfinished base: whoever replaces its way of drawing states anew, too. The
    # library's own bases are written for each other.
    for place, each in enumerate(order[:stated]):
        name = None if _ours(each) else _replaced(each, order[place + 1 :])
        if name is not None:
            raise InvalidInputError(
                f"Expected {kind.__name__} to define its own {states}: those it inherits "
                f"speak of another {name}."
            )


def _replaced(kind: type, bases: tuple[type, ...]) -> str | None:
    """Returns a method of a class that replaces one of a base that draws, if any."""
    for name in vars(kind):
        for base in bases:
            if name in vars(base) and _draws(name, vars(base)[name]):
                return name
    return None


def _draws(name: str, method: Any) -> bool:
    """Whether a method is finished, and takes randomness."""
    if not inspect.isfunction(method) or hasattr(method, "__isabstractmethod__"):
        return False
    return name == _DRAWS or "rng" in inspect.signature(method).parameters


def _finished(kind: type, states: str) -> bool:
    """Whether objects of this very class draw, and state what is certified."""
    known = hasattr(kind, _DRAWS) and hasattr(kind, states)
    interface = getattr(kind, "_is_protocol", False)
    return known and not interface and not inspect.isabstract(kind)


def _ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "shuffledp"


def _changes(kind: type) -> bool:
    """Whether a class defines anything but what Python puts into every class."""
    usual = type(kind) in {type(base) for base in kind.__bases__}
    return not usual or any(
        name not in _PLAIN and not name.startswith("_abc_") for name in vars(kind)
    )
