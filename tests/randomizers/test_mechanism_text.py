"""A mechanism and its parameters are one text, and come back from it."""

import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.catalog import MECHANISMS
from shuffledp.randomizers.mechanism_text import MechanismText, read_mechanism
from shuffledp.randomizers.parameters import parameters_of


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_written_is_read_again(mechanism: str) -> None:
    values: dict[str, int | float | str] = {
        "whole number": 3,
        "number": 0.25,
        "text": "symmetric",
    }
    given = {p.name: values[p.kind] for p in parameters_of(mechanism)}

    text = str(MechanismText(mechanism, given))

    assert read_mechanism(text) == MechanismText(mechanism, given)
    assert read_mechanism(f" {mechanism} ( ) ") == MechanismText(mechanism)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lapace", "one of kary-response"),
        ("", "one of kary-response"),
        ("laplace(low=0", "laplace\\(low=0.0"),
        ("laplace(low=0))", "laplace\\(low=0.0"),
        ("laplace(low=0)(high=1)", "laplace\\(low=0.0"),
        ("laplace(low)", "laplace\\(low=0.0"),
        ("laplace(low=0,)", "laplace\\(low=0.0"),
        ("laplace(low=0,low=1)", "laplace\\(low=0.0"),
        ("laplace(depth=0)", "laplace\\(low=0.0"),
        ("laplace(low=)", "low to be a number"),
        ("laplace(low=1_0)", "low to be a number"),
        ("laplace(low=\uff11)", "low to be a number"),
        ("laplace(low=nan)", "low to be a number"),
        ("laplace(low=1e-400)", "low to be a number"),
        ("laplace(cells=2.0)", "cells to be a whole number"),
        ("laplace(cells=1e3)", "cells to be a whole number"),
    ],
)
def test_other_texts_are_refused(text: str, expected: str) -> None:
    with pytest.raises(InvalidInputError, match=f"Expected {expected}"):
        read_mechanism(text)
