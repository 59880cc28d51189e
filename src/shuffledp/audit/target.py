"""Black boxes: objects that map a value and a level to a message.

A black box is an object with one method, as the mechanisms of this library have it:

    messages = box.randomize(values, levels, rng=rng)

values is a list of n values, or an array where they are numbers; levels an array of n local
budgets; and messages are n, in the same order (`audit_messages.as_messages`). A plain
function of these arguments is a box, too, and need not take `rng` if it has randomness of
its own. One that maps one value at a time is a box in one line:

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

from shuffledp.audit.audit_messages import Messages, as_messages
from shuffledp.errors import InvalidInputError
from shuffledp.extension_loading import expecting, load_named
from shuffledp.randomness import Rng
from shuffledp.types import Floats

# Users' values: numbers, or rows of them, in an array; other values in a list.
Values: TypeAlias = list[Any] | NDArray[Any]


class Target(Protocol):
    """Interface of a black box, in this process or another."""

    @property
    def name(self) -> str:
        """The name in reports."""

    def draw(self, values: Values, levels: Floats, *, rng: Rng) -> Messages:
        """Draws a message for each value, in their order.

        Raises:
            InvalidInputError: If the answer is not one message per value, or there is none.
        """

    def started(self) -> AbstractContextManager["Target"]:
        """Starts the box; the context ends the processes that it runs."""


@dataclass(frozen=True)
class CallableTarget:
    """A Python function or an object with `randomize`, in this process.

    Attributes:
        box: The function or the object.
        name: The name in reports.
        import_path: Import path, as "module:name"; None if it was not imported by name.
    """

    box: Any
    name: str
    import_path: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the import path, if there is one, instead of the object."""
        # A fresh import in the other process has none of this process's state.
        if self.import_path is not None:
            return callable_target, (self.import_path,)
        return CallableTarget, (self.box, self.name)

    def draw(self, values: Values, levels: Floats, *, rng: Rng) -> Messages:
        """Draws the messages of all values in one call."""
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
        """Returns the target itself, which needs no start."""
        return nullcontext(self)


def callable_target(import_path: str) -> CallableTarget:
    """Imports "module:name"; the working directory comes first.

    Raises:
        InvalidInputError: If there is no such module or name, or it cannot be called.
    """
    box = load_named(import_path)
    with expecting(
        f"{import_path!r} to be a function, an object or a class of devices"
    ):
        # A class is audited by an instance of it.
        if inspect.isclass(box):
            box = box()
        _call_of(box)
    return CallableTarget(box, import_path, import_path)


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
    function: Callable[..., Any] = call
    return function


def _takes_rng(call: Callable[..., Any]) -> bool:
    try:
        # Some built-in functions have no signature.
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "rng" or p.kind is p.VAR_KEYWORD for p in parameters)
