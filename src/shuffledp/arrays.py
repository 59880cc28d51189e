"""Turning what callers pass into arrays, without repeating people's data in errors."""

from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints


def float_array(
    values: ArrayLike, what: str, refusal: type[InvalidInputError] = InvalidInputError
) -> Floats:
    """Returns a one-dimensional array of floats.

    Raises:
        InvalidInputError: Or `refusal`, if `values` is not a flat list of numbers.
    """
    array = _flat(values, what, "fiu", "numbers", refusal)
    floats: Floats = array.astype(np.float64, copy=False)
    return floats


def int_array(values: ArrayLike, what: str) -> Ints:
    """Returns a one-dimensional array of integers; floats are not rounded but refused.

    Raises:
        InvalidInputError: If `values` is anything but a flat list of integers.
    """
    integers: Ints = _flat(values, what, "iu", "integers", InvalidInputError)
    return integers


def one_each(values: ArrayLike, levels: ArrayLike, *, what: str) -> tuple[Ints, Floats]:
    """Returns integers and privacy levels, one of each per person.

    Raises:
        InvalidInputError: If either is not a flat list, or their lengths differ.
    """
    integers, epsilons = int_array(values, what), float_array(levels, "privacy levels")
    if integers.shape != epsilons.shape:
        raise InvalidInputError(
            f"Expected as many {what} as privacy levels, "
            f"got {integers.size} {what} and {epsilons.size} levels."
        )
    return integers, epsilons


def _flat(
    values: ArrayLike,
    what: str,
    kinds: str,
    kind: str,
    refusal: type[InvalidInputError],
) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        # NumPy's own message may quote what people wrote.
        array = np.array(None)
    if array.shape == (0,) and array.dtype == np.float64:
        array = array.astype(np.int64)  # What NumPy makes of an empty list.
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise refusal(f"Expected {what} as a flat list of {kind}.")
    return array


def as_number(value: SupportsFloat, what: str) -> float:
    """Returns a parameter as a float.

    Raises:
        InvalidInputError: If it is not a single real number.
    """
    if isinstance(value, str | bytes | bool | np.ndarray):
        raise InvalidInputError(f"Expected {what} to be a number, got {value!r}.")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"Expected {what} to be a number, got {type(value).__name__}."
        ) from error
