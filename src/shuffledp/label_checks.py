"""Checks that people can read labels as they were meant, and tell them apart."""

import unicodedata
from collections.abc import Iterator, Sequence

from shuffledp.errors import InvalidInputError
from shuffledp.near_duplicate_labels import is_ignorable, near_duplicates

_LONGEST = 40
# Controls, line and paragraph separators, and halves of a character.
_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
_STYLES = frozenset("\ufe0e\ufe0f")
# Letters that have no case, and marks: Arabic and Indic scripts join them.
_JOINED = frozenset({"Lo", "Mn", "Mc"})


def check_label(label: object, what: str) -> str:
    """Returns a label that is displayed as it was written.

    >>> check_label("b\\u200bus", "an option")
    Traceback (most recent call last):
        ...
    shuffledp.errors.InvalidInputError: Expected an option without characters that are not \
seen or break lines, got ZERO WIDTH SPACE (U+200B) in 'b\\u200bus'.

    Args:
        label: A text, such as an option of a question.
        what: Its name in errors.

    Raises:
        InvalidInputError: If it is no text, is blank, or has a character that is not seen,
            breaks a line or turns the direction of others.
    """
    if not isinstance(label, str):
        raise InvalidInputError(
            f"Expected {what} as a text that can be displayed, got {label!r:.60}."
        )
    for hidden in hidden_characters(label):
        name = unicodedata.name(label[hidden], "a control character")
        raise InvalidInputError(
            f"Expected {what} without characters that are not seen or break lines, got "
            f"{name} (U+{ord(label[hidden]):04X}) in {label[:_LONGEST]!a}."
        )
    if not label.strip():
        raise InvalidInputError(
            f"Expected {what} as a text that can be displayed, got {label[:_LONGEST]!a}."
        )
    return label


def check_labels(labels: Sequence[object], what: str) -> tuple[str, ...]:
    """Returns labels that are all displayed as written, and do not look alike.

    >>> check_labels(["bus", "b\\u0443s", "Bus"], "options")
    Traceback (most recent call last):
        ...
    shuffledp.errors.InvalidInputError: Expected options that do not look alike, got 'Bus' \
and 'bus'.

    Args:
        labels: Of one question.
        what: Their name in errors, in the plural.

    Raises:
        InvalidInputError: If one is no such text, or two look alike.
    """
    texts = tuple(check_label(label, f"each of the {what}") for label in labels)
    # Equal texts are left to the caller, who says how many there may be.
    if similar_labels := near_duplicates(dict.fromkeys(texts)):
        first, second, *_ = similar_labels[0]
        raise InvalidInputError(
            f"Expected {what} that do not look alike, got {first[:_LONGEST]!a} and "
            f"{second[:_LONGEST]!a}."
        )
    return texts


def hidden_characters(text: str) -> Iterator[int]:
    """Yields positions of characters that are not seen, break a line or turn others.

    A joiner is seen by what it joins: letters of scripts that are joined, and emoji. So is
    the style of a symbol.

    >>> list(hidden_characters("a\\u00adb")), list(hidden_characters("\\u2764\\ufe0f"))
    ([1], [])
    """
    for index, letter in enumerate(text):
        if letter.isascii() and letter.isprintable():
            continue
        refused = unicodedata.category(letter) in _REFUSED
        if refused or (is_ignorable(letter) and not _is_seen(text, index)):
            yield index


def _is_seen(text: str, index: int) -> bool:
    """Returns whether an ignorable character changes how those beside it look."""
    if not index:
        return False
    before = text[index - 1]
    symbol = unicodedata.category(before) in ("So", "Sk") or before in _STYLES
    if text[index] in _STYLES:
        return unicodedata.category(before) == "So" and not is_ignorable(before)
    # At the end there is no other character to join.
    joins = text[index] in _JOINERS and index + 1 < len(text)
    return joins and (symbol or unicodedata.category(before) in _JOINED)
