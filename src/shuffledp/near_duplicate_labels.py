"""Detection of names that differ in spelling but look the same to a reader.

Letters that look alike: Unicode Technical Standard 39. Characters that are not seen by
themselves: Default_Ignorable_Code_Point of the Unicode Character Database.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# Letters of other scripts that look like Latin ones, capitals like capitals: the meaning of
# the Unicode table of confusable characters, for Cyrillic and Greek.
_LOOK_ALIKES = {
    "A": "\u0391\u0410",
    "B": "\u0392\u0412",
    "C": "\u0421",
    "E": "\u0395\u0415",
    "H": "\u0397\u041d",
    "I": "\u0399\u0406\u04c0",
    "J": "\u037f\u0408",
    "K": "\u039a\u041a",
    "M": "\u039c\u041c",
    "N": "\u039d",
    "O": "\u039f\u041e",
    "P": "\u03a1\u0420",
    "Q": "\u051a",
    "S": "\u0405",
    "T": "\u03a4\u0422",
    "V": "\u0474",
    "W": "\u051c",
    "X": "\u03a7\u0425",
    "Y": "\u03a5\u0423\u04ae",
    "Z": "\u0396",
    "a": "\u03b1\u0430",
    "c": "\u0441",
    "d": "\u0501",
    "e": "\u0435",
    "h": "\u04bb",
    "i": "\u03b9\u0456",
    "j": "\u03f3\u0458",
    "l": "\u04cf",
    "o": "\u03bf\u043e",
    "p": "\u03c1\u0440",
    "q": "\u051b",
    "s": "\u0455",
    "u": "\u03c5",
    "v": "\u03bd\u0475",
    "w": "\u051d",
    "x": "\u0445",
    "y": "\u03b3\u0443\u04af",
}
_AS_LATIN = str.maketrans(
    {other: latin for latin, others in _LOOK_ALIKES.items() for other in others}
)
# Default ignorable characters that are not of category Cf, and blanks: first and last.
_IGNORABLE = (
    ("\u034f", "\u034f"),
    ("\u115f", "\u1160"),
    ("\u17b4", "\u17b5"),
    ("\u180b", "\u180f"),
    ("\u2065", "\u2065"),
    ("\u2800", "\u2800"),
    ("\u3164", "\u3164"),
    ("\ufe00", "\ufe0f"),
    ("\uffa0", "\uffa0"),
    ("\ufff0", "\ufff8"),
    ("\U000e0000", "\U000e0fff"),
)
# Limits of a warning: groups of names, and characters of a name.
_MOST_GROUPS = 5
_LONGEST_NAME = 40


def near_duplicates(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Returns groups of names that a reader would take for the same.

    Case, white space, Unicode form and characters that are not seen make no difference,
    nor do Cyrillic and Greek letters that look like Latin ones.

    >>> near_duplicates(["bike", "bus", "Bike", "b us", "b\\u0456ke"])
    [('Bike', 'bike', 'b\u0456ke')]

    Args:
        names: All different.

    Returns:
        Groups of two names or more, each sorted, in the order of their first names.
    """
    name_list = list(names)
    parents: dict[str, str] = {}

    def root(key: str) -> str:
        while (parent := parents.setdefault(key, key)) != key:
            # Halves the way for the next search.
            key = parents[key] = parents.setdefault(parent, parent)
        return key

    # Two names are alike if they have a key in common, or each with a third name.
    for name in name_list:
        parents[root(_look(name))] = root(_folded(name))
    groups: dict[str, list[str]] = {}
    for name in name_list:
        groups.setdefault(root(_folded(name)), []).append(name)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


# Names are made of few letters: each is looked up once.
@lru_cache(maxsize=4096)
def is_ignorable(letter: str) -> bool:
    """Returns whether a character is not seen by itself, as joiners and fillers are.

    >>> is_ignorable("\\u200d"), is_ignorable("\\u3164"), is_ignorable(" ")
    (True, True, False)
    """
    if letter.isascii():
        return False
    is_listed = any(first <= letter <= last for first, last in _IGNORABLE)
    return is_listed or unicodedata.category(letter) == "Cf"


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
        f"{subject} that look alike, or differ in case, white space or Unicode form only, "
        f"are counted apart: {'; '.join(sentences)}.",
    )


def _folded(name: str) -> str:
    """Returns a key that names of one spelling share, whatever their case."""
    text = "".join(letter for letter in name if not is_ignorable(letter))
    # Folding may undo a normal form, and a form may need folding: twice is enough.
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(text.split())


def _look(name: str) -> str:
    """Returns a key that names share which look alike."""
    if name.isascii():
        return _folded(name)
    # Before case is folded: capitals of other scripts look like other letters than small
    # ones. Decomposed, so that marks above a letter do not hide it.
    text = unicodedata.normalize("NFKD", name)
    return _folded(text.translate(_AS_LATIN))
