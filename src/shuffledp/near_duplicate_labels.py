"""Names that are spelled differently, and that a reader would take for the same."""

import unicodedata
from collections.abc import Iterable

# So many groups a warning names, and so much of each name.
_MOST_GROUPS = 5
_LONGEST_NAME = 40


def near_duplicates(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Returns groups of names that differ in case, white space or Unicode form only.

    Characters without a width, such as those that join letters, are no difference.

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


def spelling_warnings(names: Iterable[str], what: str) -> tuple[str, ...]:
    """Returns a sentence that names near duplicates, if there are any.

    Args:
        names: All different.
        what: The word for them, capitalized: "Categories".
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
        f"{what} that differ in case, white space or Unicode form only are counted apart: "
        f"{'; '.join(sentences)}.",
    )


def _folded(name: str) -> str:
    # Folding may undo a normal form, and a form may need folding: once more is enough.
    text = "".join(c for c in name if unicodedata.category(c) != "Cf")
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(text.split())
