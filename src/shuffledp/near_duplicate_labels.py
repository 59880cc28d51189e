"""Detection of names that differ in spelling but look the same to a reader."""

import unicodedata
from collections.abc import Iterable

# Limits of a warning: groups of names, and characters of a name.
_MOST_GROUPS = 5
_LONGEST_NAME = 40


def near_duplicates(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Returns groups of names that differ in case, white space or Unicode form only.

    Characters without a width, such as those that join letters, make no difference.

    >>> near_duplicates(["bike", "bus", "Bike", "b us"])
    [('Bike', 'bike')]

    Args:
        names: All different.

    Returns:
        Groups of two names or more, each sorted, in the order of their first names.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_folded(name), []).append(name)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


def spelling_warnings(names: Iterable[str], subject: str) -> tuple[str, ...]:
    """Returns a sentence that names near duplicates, if there are any.

    Args:
        names: All different.
        subject: Of the sentence, capitalized: "Categories".
    """
    groups = near_duplicates(names)
    if not groups:
        return ()
    sentences = [
        " and ".join(repr(name[:_LONGEST_NAME]) for name in group)
        for group in groups[:_MOST_GROUPS]
    ]
    if len(groups) > _MOST_GROUPS:
        sentences.append(f"{len(groups) - _MOST_GROUPS:,} more")
    return (
        f"{subject} that differ in case, white space or Unicode form only are counted "
        f"apart: {'; '.join(sentences)}.",
    )


def _folded(name: str) -> str:
    # Category Cf: characters without a width, such as joiners and byte order marks.
    text = "".join(c for c in name if unicodedata.category(c) != "Cf")
    # Folding may undo a normal form, and a form may need folding: twice is enough.
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(text.split())
