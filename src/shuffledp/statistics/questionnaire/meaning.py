"""A digest of questions: equal for equal questions, and for no others."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from shuffledp.errors import InvalidInputError

# In the metadata of a field: its default is not written down.
LATER = "later"


def meaning_of(questions: Sequence[object]) -> str:
    """Returns the SHA-256 of all terms of questions, in their order, as 64 hex digits.

    Raises:
        InvalidInputError: If a question is not a dataclass of numbers, texts and lists.
    """
    text = json.dumps([_plain_term(question) for question in questions], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain_term(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | np.bool_):
        return bool(value) if isinstance(value, np.bool_) else value
    # Equal numbers are written alike, whatever their types.
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, Mapping):
        return {
            "map": [
                [_plain_term(key), _plain_term(each)] for key, each in value.items()
            ]
        }
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain_term(each) for each in value]
    if is_dataclass(value):
        terms = {
            each.name: _plain_term(getattr(value, each.name))
            for each in fields(value)
            # Terms that a kind of question got later: digests of questions without them
            # stay what they were.
            if not (
                each.metadata.get(LATER) and getattr(value, each.name) == each.default
            )
        }
        return {"kind": type(value).__name__, "terms": terms}
    raise InvalidInputError(
        f"Expected questions as dataclasses of plain values, got {type(value).__name__}."
    )
