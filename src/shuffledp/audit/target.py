"""What is audited: anything that maps a value and a level to a message.

A black box is an object with one method, as our own devices have it:

    messages = box.randomize(values, levels, rng=rng)

values is a list of n values, or an array where they are numbers; levels an array of n local
budgets; and messages are n, in the same order (`messages.as_messages`). A plain function of
these arguments is a box, too, and need not take `rng` if it has randomness of its own. One
that maps one value at a time is a box in one line:

    def box(values, levels):
        return [client(value, level) for value, level in zip(values, levels)]
"""

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.messages import Messages, as_messages
from shuffledp.errors import InvalidInputError
from shuffledp.extension_loading import expecting, load_named
from shuffledp.randomness import Rng
from shuffledp.types import Floats

# What people hold: numbers, or rows of them, in an array; anything else in a list.
Values: TypeAlias = list[Any] | NDArray[Any]


class Target(Protocol):
    """A black box, however it is asked."""

    @property
    def name(self) -> str:
        """What it is called in reports."""

    def draw(self, values: Values, levels: Floats, *, rng: Rng) -> Messages:
        """Returns a message for each value, in their order.

        Raises:
            InvalidInputError: If it answers with something else, or not at all.
        """

    def started(self) -> AbstractContextManager["Target"]:
        """Returns the box ready for questions; whatever it runs is gone at the end."""


@dataclass(frozen=True)
class CallableTarget:
    """A Python function or an object with `randomize`, in this process.

    Attributes:
        box: The function or the object.
        name: What it is called in reports.
        place: Where it is imported from, as "module:name"; None if it is at hand only.
    """

    box: Any
    name: str
    place: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process imports it anew, with no state of this one, if it can."""
        if self.place is not None:
            return callable_target, (self.place,)
        return CallableTarget, (self.box, self.name)

    def draw(self, values: Values, levels: Floats, *, rng: Rng) -> Messages:
        """Asks once for all values."""
        with expecting(f"{self.name} to answer"):
            call = _call_of(self.box)
            named = {"rng": rng} if _takes_rng(call) else {}
            messages = as_messages(call(values, levels, **named))
        if len(messages) != len(values):
            raise InvalidInputError(
                f"Expected {len(values)} messages from {self.name}, got {len(messages)}."
            )
        return messages

    def started(self) -> AbstractContextManager[Target]:
        """Returns itself: there is nothing to start."""
        return nullcontext(self)


def callable_target(place: str) -> CallableTarget:
    """Imports "module:name"; the working folder is looked into first.

    Raises:
        InvalidInputError: If there is no such module or name, or it cannot be called.
    """
    box = load_named(place)
    with expecting(f"{place!r} to be a function, an object or a class of devices"):
        # A class of devices is asked as one of them is.
        if inspect.isclass(box):
            box = box()
        _call_of(box)
    return CallableTarget(box, place, place)


def as_array(values: list[Any]) -> NDArray[Any] | None:
    """Returns values as an array if they are numbers, or rows of numbers, else None."""
    try:
        array: NDArray[Any] = np.asarray(values)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def _call_of(box: Any) -> Callable[..., Any]:
    call = getattr(box, "randomize", box)
    if not callable(call):
        raise InvalidInputError(
            f"Expected a function or an object with randomize, got {type(box).__name__}."
        )
    found: Callable[..., Any] = call
    return found


def _takes_rng(call: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "rng" or p.kind is p.VAR_KEYWORD for p in parameters)
