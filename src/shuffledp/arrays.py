"""Conversion of arguments into arrays, with errors that repeat no user data."""

from typing import Any, SupportsFloat, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints

Numbers = TypeVar("Numbers", float, Floats)

# NumPy's kinds of arrays, in words.
_KINDS = {
    "b": "truth values",
    "f": "numbers with decimals",
    "i": "integers",
    "u": "integers",
    "S": "texts",
    "U": "texts",
}


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


def level_array(
    levels: ArrayLike,
    what: str = "privacy levels",
    refusal: type[InvalidInputError] = InvalidInputError,
) -> Floats:
    """Returns people's privacy levels as a one-dimensional array of floats.

    A level in single or half precision stands for the shortest decimal that rounds to it
    there: float32 has no 0.1, and 0.10000000149 stands for 0.1. Levels in double precision
    are unchanged, to the last bit.

    >>> level_array(np.array([0.1, 0.2, 7.0], dtype=np.float32)).tolist()
    [0.1, 0.2, 7.0]

    Raises:
        InvalidInputError: Or `refusal`, if `levels` is not a flat list of numbers.
    """
    array = _flat(levels, what, "fiu", "numbers", refusal)
    if array.dtype in (np.float16, np.float32):
        # NumPy writes each with as few digits as tell it from its neighbors. Only distinct
        # values, as conversion to text is slow.
        distinct, inverse = np.unique(array, return_inverse=True)
        array = distinct.astype(np.str_).astype(np.float64)[inverse]
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
    integers, epsilons = int_array(values, what), level_array(levels)
    _check_same_length(integers, epsilons, what)
    return integers, epsilons


def one_number_each(
    values: ArrayLike, levels: ArrayLike, *, what: str = "values"
) -> tuple[Floats, Floats]:
    """Returns real numbers and privacy levels, one of each per person.

    Raises:
        InvalidInputError: If either is not a flat list, or their lengths differ.
    """
    numbers, epsilons = float_array(values, what), level_array(levels)
    _check_same_length(numbers, epsilons, what)
    return numbers, epsilons


def check_one_row_each(values: ArrayLike, levels: ArrayLike, *, what: str) -> None:
    """Raises InvalidInputError unless there is one integer, or row, per person.

    Rows may be of integers or of truth values.
    """
    rows, epsilons = unmasked(values, what), level_array(levels)
    if rows.ndim != 2:
        rows = int_array(values, what)
    elif rows.dtype.kind not in "biu" or not rows.shape[1]:
        raise InvalidInputError(f"Expected {what} as rows of integers or bits.")
    _check_same_length(rows, epsilons, what)


def check_integers_below(
    values: Ints, bound: int, *, what: str, width: int = 0
) -> None:
    """Raises InvalidInputError unless these are integers in [0, bound).

    Args:
        values: The argument as passed by the caller.
        bound: Above the largest integer.
        what: The name of the values in errors.
        width: Integers per person, shape (n, width); 0 for a flat list.
    """
    array = unmasked(values, what)
    # For a single number this is (), its own shape: `ndim` is compared, too.
    shape = array.shape[:1] + ((width,) if width else ())
    if array.ndim == 0 or array.shape != shape or array.dtype.kind not in "iu":
        each = f"rows of {width} integers" if width else "a flat list of integers"
        got = _kind_of(array) if array.ndim and array.shape == shape else ""
        raise InvalidInputError(f"Expected {what} as {each}{got}.")
    if array.size and (array.min() < 0 or array.max() >= bound):
        # Without the offending value, which belongs to a person.
        raise InvalidInputError(
            f"Expected {what} to be integers in [0, {bound})"
            f"{first_other((array >= 0) & (array < bound))}."
        )


def first_other(expected: NDArray[np.bool_]) -> str:
    """Returns where something else stands, to end an error; it repeats no value.

    >>> first_other(np.array([True, False, True]))
    ', got another number in entry 2 of 3'

    Args:
        expected: Whether each number is as it should be, shape (n,) or (n, m).
    """
    if expected.size < 2:
        return ""
    entry = int(np.argwhere(~expected)[0][0]) + 1
    return f", got another number in entry {entry:,} of {len(expected):,}"


def unmasked(
    values: ArrayLike, what: str, dtype: type[object] | None = None
) -> NDArray[Any]:
    """Returns NumPy's array of the values, of this type if one is given.

    Raises:
        InvalidInputError: If some are masked.
    """
    _check_no_mask(values, what, InvalidInputError)
    array: NDArray[Any] = np.asarray(values, dtype=dtype)
    return array


def _check_no_mask(
    values: ArrayLike, what: str, refusal: type[InvalidInputError]
) -> None:
    # Below the mask are numbers, which would be taken for people's.
    if np.ma.is_masked(values):
        raise refusal(
            f"Expected {what} of all people, got a masked array: leave out the people "
            "whose entries are masked."
        )


def _check_same_length(values: NDArray[Any], epsilons: Floats, what: str) -> None:
    if len(values) != len(epsilons):
        raise InvalidInputError(
            f"Expected as many {what} as privacy levels, "
            f"got {len(values)} {what} and {len(epsilons)} levels."
        )


def _kind_of(array: NDArray[Any]) -> str:
    """Returns the type of values, to end an error about arrays of the right shape."""
    return f", got {_KINDS.get(array.dtype.kind, 'values of other types')}"


def _flat(
    values: ArrayLike,
    what: str,
    kinds: str,
    kind: str,
    refusal: type[InvalidInputError],
) -> NDArray[Any]:
    _check_no_mask(values, what, refusal)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        # NumPy's own message may quote users' data.
        array = np.array(None)
    if array.shape == (0,) and array.dtype == np.float64:
        array = array.astype(np.int64)  # NumPy makes floats of an empty list.
    # NumPy's kinds: i, u and f are numbers; b (truth values) and O (objects) are not.
    if array.ndim != 1 or array.dtype.kind not in kinds:
        got = _kind_of(array) if array.ndim == 1 else ""
        raise refusal(f"Expected {what} as a flat list of {kind}{got}.")
    return array


def as_whole(value: object, what: str) -> int:
    """Returns a parameter as an integer.

    Raises:
        InvalidInputError: If it is no whole number.
    """
    # True is an int in Python, and no number of anything.
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInputError(
            f"Expected a whole number of {what}, got {value!r:.80}."
        )
    return int(value)


def as_number(value: SupportsFloat, what: str) -> float:
    """Returns a parameter as a float.

    Raises:
        InvalidInputError: If it is not a single real number.
    """
    # `float` would accept all of these, arrays of one number included.
    if isinstance(value, str | bytes | bool | np.bool_ | np.ndarray):
        raise InvalidInputError(f"Expected {what} to be a number, got {value!r}.")
    try:
        return without_minus_zero(float(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"Expected {what} to be a number, got {type(value).__name__}."
        ) from error


def without_minus_zero(numbers: Numbers) -> Numbers:
    """Returns a number, or a copy of an array, with 0.0 for -0.0.

    Equal numbers are to have equal texts, and equal parameters equal identities.

    >>> without_minus_zero(-0.0), without_minus_zero(-1.5)
    (0.0, -1.5)
    """
    # By IEEE 754, -0.0 + 0.0 is 0.0; no other number changes.
    return numbers + 0.0
