"""Serializes the stored state of an object, so that different distributions differ.

The messages of a mechanism may depend on everything that it stores: the values in its
`__dict__` and its slots, and the attributes of its classes that are not code. Values that
cannot be serialized without loss (functions, generators, arbitrary objects) are refused: if
they were left out, two mechanisms with different distributions would have one identity.
Code itself is identified by the name of its class only.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from shuffledp.errors import IdentityError

# Certificates nest no deeper than `strict_json.MAX_DEPTH` in all.
_MAX_DEPTH = 16
# Python and typing put these into classes.
_TYPING = frozenset({"_is_protocol", "_is_runtime_protocol"})


def class_name(kind: type) -> str:
    """Returns the name under which Python finds a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def is_ours(kind: type) -> bool:
    """Returns whether a class is this library's."""
    # Parameters of our own mechanisms describe all that they store.
    return kind.__module__.partition(".")[0] == "shuffledp"


def stored_state(thing: Any) -> dict[str, Any]:
    """Returns everything that an object stores, as values of JSON's types.

    >>> class Thing:
    ...     def __init__(self):
    ...         self.size, self.pairs = 3, [(1, 2.5)]
    >>> stored_state(Thing())
    {'size': 3, 'pairs': [[1, 2.5]]}

    Args:
        thing: Of a class that was written in Python.

    Raises:
        IdentityError: If a stored value cannot be serialized without loss.
    """
    return _state_of(thing, 0)


def _state_of(thing: Any, depth: int) -> dict[str, Any]:
    kind = type(thing)
    for base in kind.__mro__[:-1]:
        # A subclass of dict or list has contents besides its attributes.
        if base.__module__ == "builtins":
            raise IdentityError(
                f"Expected {kind.__name__} to store what it depends on in attributes, "
                f"got a subclass of {base.__name__}."
            )
    return {
        name: _written(value, f"{kind.__name__}.{name}", depth)
        for name, value in _attributes(thing).items()
    }


def _attributes(thing: Any) -> dict[str, Any]:
    """Returns all stored attributes by their names; those of the object come first."""
    kind = type(thing)
    try:
        own_attributes = dict(object.__getattribute__(thing, "__dict__"))
    except AttributeError:
        own_attributes = {}
    for name in _slots(kind):
        try:
            own_attributes[name] = object.__getattribute__(thing, name)
        except AttributeError:
            continue  # The slot is empty.
    shared: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        shared |= vars(base) if not is_ours(base) else dict.fromkeys(vars(base), base)
    for name, value in shared.items():
        if isinstance(value, cached_property):
            # Computed now, so that the state is the same before and after its first use.
            own_attributes[name] = getattr(thing, name)
        elif name not in own_attributes and not _is_code(name, value):
            own_attributes[name] = value
    return own_attributes


def _is_code(name: str, value: object) -> bool:
    """Returns whether an attribute of a class is part of its code, and not data."""
    if name.startswith(("__", "_abc_")) or name in _TYPING:
        return True
    # Functions, properties and slots have `__get__`.
    return isinstance(value, type) or hasattr(type(value), "__get__")


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            # Python mangles private names with the class that declares them.
            private = name.startswith("__") and not name.endswith("__")
            yield f"_{base.__name__.lstrip('_')}{name}" if private else name


def _written(value: Any, name: str, depth: int) -> Any:
    """Returns one value as JSON's types hold it; different values differ."""
    kind = type(value)
    if kind in (bool, int, str) or value is None:
        return value
    if kind in (float, complex):
        return _number_state(value)
    if isinstance(value, np.generic) and _is_exact(value.dtype):
        return _number_state(value.item())
    if kind is bytes:
        return {"bytes": hashlib.sha256(value).hexdigest()}
    if kind is np.ndarray and (_is_exact(value.dtype) or value.dtype.kind in "SU"):
        return _array_state(value)
    if depth < _MAX_DEPTH:
        if isinstance(value, Enum):
            written = _written(value.value, name, depth + 1)
            return {"class": class_name(kind), "value": written}
        if kind in (list, tuple):
            return [_written(entry, name, depth + 1) for entry in value]
        if kind in (set, frozenset):
            # Sorted: the order of a set may differ from one process to the next.
            entries = [_written(entry, name, depth + 1) for entry in value]
            return {"set": sorted(entries, key=repr)}
        if kind is range:
            return {"range": [value.start, value.stop, value.step]}
        if kind in (dict, MappingProxyType):
            # As pairs: keys of JSON's objects are texts only, so that 1 and "1" would meet.
            pairs = [list(pair) for pair in value.items()]
            return {"items": _written(pairs, name, depth + 1)}
        if not isinstance(value, type) and (
            is_dataclass(value) or _is_mechanism(value)
        ):
            return {"class": class_name(kind), **_nested(value, depth + 1)}
    raise IdentityError(
        f"Expected {name} to hold numbers, texts, arrays, or lists and dictionaries of "
        f"them, got {kind.__name__}: a mechanism is identified by all that it stores, and "
        "this cannot be written down."
    )


def _nested(value: Any, depth: int) -> dict[str, Any]:
    """Returns the state of a mechanism or a record inside another."""
    if is_ours(type(value)) and _is_mechanism(value):
        return {"mechanism": value.mechanism, "parameters": dict(value.parameters)}
    return {"state": _state_of(value, depth)}


def _is_mechanism(value: Any) -> bool:
    return hasattr(value, "mechanism") and hasattr(value, "parameters")


def _number_state(value: complex) -> complex | dict[str, str]:
    # JSON has no NaN, no infinity and no complex numbers.
    plain = not isinstance(value, complex) and abs(value) < math.inf
    return value if plain else {"number": repr(value)}


def _is_exact(kind: "np.dtype[Any]") -> bool:
    """Returns whether the bytes of this type determine its value, and the reverse."""
    # Longer floats are padded with bytes that mean nothing.
    widest_types = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}
    return kind.itemsize <= widest_types.get(kind.kind, 0)


def _array_state(value: "np.ndarray[Any, Any]") -> dict[str, Any]:
    array_bytes = np.ascontiguousarray(value).tobytes()
    return {
        "array": value.dtype.str,
        "shape": list(value.shape),
        "sha256": hashlib.sha256(array_bytes).hexdigest(),
    }
