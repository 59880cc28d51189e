"""Refuses certificates for classes whose `covers` describe another `randomize`.

A cover describes the class that it was written for. A subclass that overrides `randomize`
but inherits `covers` would get a certificate of a mechanism that never runs; so would a
wrapper that forwards attributes, or a class with attribute lookup of its own. All three
are refused. The code itself is not inspected: only
`shuffledp.testing.check_randomizer` detects a cover that is written wrongly.
"""

import inspect
from collections.abc import Iterable
from typing import Any

from shuffledp.accounting.exposure import Certifiable, Exposure, SingleMessages
from shuffledp.accounting.joint.joint_exposure import JointExposure
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import InvalidInputError

_DRAWS = "randomize"
# Methods through which an object can answer for attributes that its class lacks.
_LOOK_UP = ("__getattribute__", "__getattr__")
# Names that Python puts into an empty class, and methods that only display an object.
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


def check_certifiable(
    protocol: Certifiable | LocalRandomizer, exposures: Iterable[Exposure]
) -> None:
    """Raises InvalidInputError unless a protocol and its randomizers pass the guard."""
    for exposure in exposures:
        if isinstance(exposure, SingleMessages):
            check_defines_own(exposure.randomizer, "covers")
        if isinstance(exposure, JointExposure):
            for part in exposure.parts:
                check_certifiable(part.protocol, [part.exposure])
    if hasattr(protocol, "exposures"):
        check_defines_own(protocol, "exposures")


def check_defines_own(mechanism: object, states: str) -> None:
    """Raises InvalidInputError unless the class that draws also defines `states`.

    Args:
        mechanism: A randomizer or a protocol.
        states: "covers" of a randomizer, "exposures" of a protocol.
    """
    kind = type(mechanism)
    # Attributes of an object hide those of its class, which alone is looked at below.
    own_attributes = getattr(mechanism, "__dict__", {})
    if (
        _DRAWS in own_attributes
        or states in own_attributes
        or not hasattr(kind, states)
    ):
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
    stated = next(index for index, each in enumerate(order) if states in vars(each))
    for index, each in enumerate(order[1:], start=1):
        if not _finished(each, states):
            continue
        # A subclass of a finished class may change nothing, or must state its own.
        if index <= stated and any(_defines_more(newer) for newer in order[:index]):
            raise InvalidInputError(
                f"Expected {kind.__name__} to define its own {states}: those of "
                f"{each.__name__} speak of what {each.__name__} draws."
            )
        return
    # All bases are unfinished: a class that replaces how they draw must state its own.
    # The library's own bases are exempt, as they are written for each other.
    for index, each in enumerate(order[:stated]):
        name = None if _ours(each) else _overridden_drawing(each, order[index + 1 :])
        if name is not None:
            raise InvalidInputError(
                f"Expected {kind.__name__} to define its own {states}: those it inherits "
                f"speak of another {name}."
            )


def _overridden_drawing(kind: type, bases: tuple[type, ...]) -> str | None:
    """Returns the name of a method that overrides a drawing method of a base, or None."""
    for name in vars(kind):
        for base in bases:
            if name in vars(base) and _is_drawing_method(name, vars(base)[name]):
                return name
    return None


def _is_drawing_method(name: str, method: Any) -> bool:
    """Returns whether a method is concrete and takes randomness."""
    if not inspect.isfunction(method) or hasattr(method, "__isabstractmethod__"):
        return False
    return name == _DRAWS or "rng" in inspect.signature(method).parameters


def _finished(kind: type, states: str) -> bool:
    """Returns whether a class is concrete, draws reports and defines `states`."""
    has_both = hasattr(kind, _DRAWS) and hasattr(kind, states)
    interface = getattr(kind, "_is_protocol", False)
    return has_both and not interface and not inspect.isabstract(kind)


def _ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "shuffledp"


def _defines_more(kind: type) -> bool:
    """Returns whether a class defines more than Python puts into every class."""
    usual = type(kind) in {type(base) for base in kind.__bases__}
    return not usual or any(
        name not in _PLAIN and not name.startswith("_abc_") for name in vars(kind)
    )
