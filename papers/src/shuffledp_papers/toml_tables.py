"""Strict reader of tables in TOML files beside the code.

A file has exactly the keys and the types that a dataclass has. In its texts `$name` stands
for a text of its table `shared`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from importlib.resources import files
from string import Template
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from shuffledp.errors import InvalidInputError

T = TypeVar("T")


def read_table(kind: type[T], folder: str, name: str) -> T:
    """Returns the contents of a file of `shuffledp_papers`.

    Args:
        kind: A dataclass, as for `parse_table`.
        folder: Below `shuffledp_papers`, such as "apes".
        name: Of the file, such as "contents.toml".

    Raises:
        InvalidInputError: If the file holds anything else.
    """
    text = files("shuffledp_papers").joinpath(folder, name).read_text("utf-8")
    return parse_table(kind, text, f"{folder}/{name}")


def read_rows(kind: type[T], folder: str, name: str) -> tuple[T, ...]:
    """Returns the rows of a file of `shuffledp_papers` that is one list of them.

    Args:
        kind: A dataclass, as for `parse_table`: that of a row.
        folder: Below `shuffledp_papers`.
        name: Of the file.

    Raises:
        InvalidInputError: If the file holds anything else.
    """
    schema: Any = Mapping[str, tuple[kind, ...]]  # type: ignore[valid-type]
    lists = read_table(schema, folder, name)
    if len(lists) != 1:
        raise InvalidInputError(f"Expected one list of rows in {folder}/{name}.")
    (rows,) = lists.values()
    return cast("tuple[T, ...]", rows)


def parse_table(kind: type[T], text: str, source: str) -> T:
    """Returns the contents of a text in TOML.

    Args:
        kind: A dataclass whose fields are texts, numbers, truth values, words of a
            `StrEnum`, other such dataclasses, tuples of one of them, mappings from texts
            to one of them, or one of them or None.
        text: In TOML.
        source: The word for it in errors.

    Raises:
        InvalidInputError: If it is no TOML; has other keys or types than the dataclass; is
            refused by a dataclass; or names a shared text that it does not have. Errors
            say in which row, counted from 1.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"Expected TOML in {source}: {error}.") from error
    except RecursionError:
        raise InvalidInputError(
            f"Expected values nested less deep in {source}."
        ) from None
    texts = table.pop("shared", {})
    shared = _value(Mapping[str, str], texts, {}, f"{source}, shared")
    return cast(T, _value(kind, table, shared, source))


def _value(kind: Any, cell: Any, shared: Mapping[str, str], source: str) -> Any:
    """Returns a cell as the type that its field has."""
    # `X | None` is read as X: TOML has no null, an absent key is the default.
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    (kind,) = (each for each in kinds if each is not NoneType)
    if is_dataclass(kind) and isinstance(cell, dict):
        return _row(kind, cell, shared, source)
    if get_origin(kind) is tuple and isinstance(cell, list):
        each, _ = get_args(kind)
        return tuple(
            _value(each, value, shared, f"{source} {number}")
            for number, value in enumerate(cell, start=1)
        )
    if get_origin(kind) is Mapping and isinstance(cell, dict):
        _, each = get_args(kind)
        return {
            key: _value(each, value, shared, f"{source}, {key}")
            for key, value in cell.items()
        }
    if kind is str and isinstance(cell, str):
        try:
            return Template(cell).substitute(shared)
        except (KeyError, ValueError) as error:
            raise InvalidInputError(
                f"Expected names of shared texts in {source}, got {cell!r}."
            ) from error
    if isinstance(kind, type) and issubclass(kind, StrEnum) and cell in list(kind):
        return kind(cell)
    if kind is float and type(cell) in (int, float):
        return float(cell)
    # By exact type: a bool is an int, and must not pass for a number.
    if kind in (int, bool) and type(cell) is kind:
        return cell
    raise InvalidInputError(f"Expected {kind.__name__} in {source}, got {cell!r}.")


def _row(
    kind: Any, cells: Mapping[str, Any], shared: Mapping[str, str], source: str
) -> Any:
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind) if field.init}
    unknown = [key for key in cells if key not in known]
    missing = [
        key for key, field in known.items() if key not in cells and _needed(field)
    ]
    if unknown or missing:
        wrong = f"got {unknown[0]}" if unknown else f"{missing[0]} is missing"
        raise InvalidInputError(f"Expected {', '.join(known)} in {source}; {wrong}.")
    values = {
        key: _value(hints[key], cell, shared, f"{source}, {key}")
        for key, cell in cells.items()
    }
    # A dataclass may refuse its values; the error then names the row.
    try:
        return kind(**values)
    except InvalidInputError as error:
        raise InvalidInputError(f"{source}: {error}") from error


def _needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
