"""One description of a parameter serves commands, keyword arguments and the wire."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.parameter import Kind, Parameter


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("whole number", np.int64(3), 3),
        ("number", 3, 3.0),
        ("number", np.float32(0.5), 0.5),
        ("text", "a", "a"),
        ("texts", ["a", "b"], ("a", "b")),
        ("flag", False, False),
        ("file", "list.txt", Path("list.txt")),
        ("file", ["a", "a"], ("a", "a")),
        ("names", 3, 3),
        ("names", "a,b", "a,b"),
        ("names", ("a", "b"), ("a", "b")),
        ("mechanism", "laplace(low=0)", "laplace(low=0)"),
    ],
)
def test_values_are_of_the_kind(kind: Kind, value: object, expected: object) -> None:
    found = Parameter("size", kind, "Size").checked(value)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("whole number", True),
        ("whole number", 3.0),
        ("whole number", "3"),
        ("number", True),
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", 10**400),
        ("number", "3"),
        ("text", 3),
        ("texts", "ab"),
        ("texts", ["a", "a"]),
        ("texts", ["a", 3]),
        ("flag", 1),
        ("file", 3),
        ("names", 3.5),
        ("mechanism", 3),
    ],
)
def test_values_of_another_kind_are_refused(kind: Kind, value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"Expected size to be .*, got"):
        Parameter("size", kind, "Size").checked(value)


@pytest.mark.parametrize(
    ("more", "value", "expected"),
    [
        ({"least": 2}, 1, "a whole number from 2, got 1"),
        ({"least": 2, "most": 4}, 5, "a whole number from 2 to 4, got 5"),
        ({"kind": "texts", "least": 2, "most": 3}, ["a"], "2 to 3 different texts"),
        ({"kind": "text", "choices": ("a", "b")}, "c", "one of a, b, got 'c'"),
        ({"kind": "mechanism", "choices": ("a",)}, "b(c=1)", "one of a, got"),
    ],
)
def test_ranges_and_choices_are_kept(
    more: dict[str, Any], value: object, expected: str
) -> None:
    parameter = Parameter(**{"name": "n", "kind": "whole number", "help": ""} | more)

    with pytest.raises(InvalidInputError, match=f"Expected n to be {expected}"):
        parameter.checked(value)


def test_a_mechanism_with_parameters_is_one_of_the_choices() -> None:
    parameter = Parameter("mechanism", "mechanism", "", choices=("laplace",))

    assert parameter.checked("laplace (cells=3)") == "laplace (cells=3)"
