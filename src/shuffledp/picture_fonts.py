"""Fonts for characters that Matplotlib's own font lacks, such as Chinese ones."""

import logging
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shuffledp.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of Unicode, with a box for every character there is.
_PLACEHOLDERS = "Last Resort"


@contextmanager
def fonts_with_all_characters(figure: "Figure") -> Iterator[None]:
    """Lets texts of a figure fall back to installed fonts that have their characters.

    Of characters that no installed font has, a box is drawn, without a warning.
    """
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    # Of fonts without the usual weight, which are better than boxes.
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            _set_families(figure)
            yield
    finally:
        logger.setLevel(level)


def _set_families(figure: "Figure") -> None:
    text = require("matplotlib.text", extra="report", what="A picture").Text
    manager = require("matplotlib.font_manager", extra="report", what="A picture")
    # Labels of axes have no text until they are drawn.
    figure.draw_without_rendering()
    artists = figure.findobj(text)
    needed_letters = {ord(letter) for artist in artists for letter in artist.get_text()}
    usual = manager.findfont(manager.FontProperties())
    missing = needed_letters - _characters_of(usual) - {ord("\n")}
    if not missing:
        return
    fonts = defaultdict[str, set[int]](set)
    for entry in manager.fontManager.ttflist:
        if entry.style == "normal" and not entry.name.startswith(_PLACEHOLDERS):
            fonts[entry.name] |= _characters_of(entry.fname) & missing
    families = ["sans-serif", *_families_with(missing, fonts)]
    for artist in artists:
        artist.set_fontfamily(families)


def _families_with(missing: set[int], fonts: Mapping[str, set[int]]) -> list[str]:
    """Returns few families that together have as many of the characters as all have."""
    families = list[str]()
    while True:
        best_font = max(sorted(fonts), key=lambda name: len(fonts[name] & missing))
        if not fonts[best_font] & missing:
            return families
        families.append(best_font)
        missing = missing - fonts[best_font]


def _characters_of(path: str) -> set[int]:
    manager = require("matplotlib.font_manager", extra="report", what="A picture")
    try:
        return set(manager.get_font(path).get_charmap())
    # Fonts of pictures, as those of emoji may be, cannot be drawn.
    except RuntimeError:
        return set()
