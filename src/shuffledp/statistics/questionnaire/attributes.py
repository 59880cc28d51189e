"""Attributes of people, each with some categories: what tables are made of."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arguments import expect_list
from shuffledp.arrays import unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.label_checks import check_labels
from shuffledp.types import Ints

Attributes = Mapping[str, tuple[str, ...]]


def checked_attributes(attributes: Attributes, *, most: int) -> Attributes:
    """Returns a copy of attributes, from 2 to `most`, each with 2 categories or more.

    Args:
        attributes: Categories, as different texts, of each attribute.
        most: How many attributes there may be.

    Raises:
        InvalidInputError: If there are too few or too many attributes or categories, or
            categories are repeated or no texts.
    """
    if not isinstance(attributes, Mapping) or not 2 <= len(attributes) <= most:
        raise InvalidInputError(
            f"Expected from 2 to {most} attributes, by their names."
        )
    check_labels(list(attributes), "names of attributes")
    copy = {}
    for name, categories in attributes.items():
        category_list = expect_list(
            categories, f"categories of {name!r:.60}", of="texts"
        )
        texts = check_labels(category_list, "categories")
        if len(texts) < 2 or len(set(texts)) < len(texts):
            raise InvalidInputError(
                "Expected at least 2 categories of an attribute, as different texts."
            )
        copy[name] = texts
    return copy


def checked_positions(answers: ArrayLike, sizes: Sequence[int]) -> Ints:
    """Returns positions of categories, shape (n, attributes).

    Args:
        answers: Of n people, a category's position for each attribute, from 0, or -1 for
            no answer.
        sizes: Numbers of categories.

    Raises:
        InvalidInputError: If the shape is another or a position is out of range.
    """
    rows = unmasked(answers, "answers")
    if rows.ndim != 2 or rows.shape[1] != len(sizes) or rows.dtype.kind not in "iu":
        raise InvalidInputError(
            f"Expected positions of categories as rows of {len(sizes)} whole numbers."
        )
    if not np.all((rows >= -1) & (rows < np.array(sizes))):
        raise InvalidInputError(
            "Expected positions of categories, from 0, or -1 for no answer; the number of "
            "categories is not one of them."
        )
    return rows.astype(np.int64)


def cells_of(rows: Ints, sizes: Sequence[int]) -> Ints:
    """Returns the cell of a table of each row, or -1 for no answer.

    Args:
        rows: Positions of categories, shape (n, attributes).
        sizes: Numbers of categories: the last attribute varies fastest over cells.
    """
    is_answered = np.all(rows >= 0, axis=1)
    cells = np.full(rows.shape[0], -1, dtype=np.int64)
    cells[is_answered] = np.ravel_multi_index(tuple(rows[is_answered].T), tuple(sizes))
    return cells
