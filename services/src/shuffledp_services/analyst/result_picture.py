"""Picture of a published result for sharing: one SVG file.

It has no date, no scripts, no external resources, and its own background, so it looks the
same in a message, on a slide and on a dark page. Text stays text in a font of the viewer,
so lines are broken by the usual width of letters.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from shuffledp.display_text import printable
from shuffledp.format_number import plain
from shuffledp.version import __version__
from shuffledp_services.analyst.figures import Bar, Figure, Tick, figure_of
from shuffledp_services.wire.task import Task

WIDTH = 800
MOST_BARS = 12
_LEFT, _RIGHT = 40, 760
# Between these are bars; names are on their left, numbers on their right.
_BARS = (250, 600)
_ROW = 46
# Above this number of choices, only the largest promise is named.
_LISTED = 6
# How wide letters are in the widest of the usual fonts, as parts of their size.
_WIDTHS = {
    **dict.fromkeys(" .,:;'|!ijlI", 0.35),
    **dict.fromkeys("()[]ftr-", 0.42),
    **dict.fromkeys("mwMW@%…", 1.0),
}
_BOLD = 1.12
# Not "Cf": joiners of some scripts are invisible, too, and must stay.
_UNSEEN = frozenset({"Cc", "Cs", "Cn", "Co"})


@dataclass(frozen=True)
class Line:
    """Line of text.

    Attributes:
        x: Position of its start, end or middle, by `anchor`.
        y: Position of its baseline.
        size: Size of its letters.
        words: Text of the line.
        kind: Style: "title", "strong", "ink" or "soft".
        anchor: "start", "middle" or "end".
    """

    x: float
    y: float
    size: int
    words: str
    kind: str = "soft"
    anchor: str = "start"


@dataclass(frozen=True)
class Strip:
    """Number on its axis: `y` is its middle, the other positions are along the axis."""

    y: float
    start: float
    width: float
    dot: float
    low: float
    high: float


@dataclass(frozen=True)
class ResultPicture:
    """Picture of a result, in units of 1 / `WIDTH` of its width.

    Attributes:
        title: Question of the task.
        description: Alternative text with all numbers.
        height: Height of the picture.
        lines: Lines of text.
        strips: One per number.
        marks: Positions of the axis's marks.
        top: Upper end of the marks' lines.
        bottom: Lower end of the marks' lines.
        has_bars: Whether lengths of bars are meaningful.
    """

    title: str
    description: str
    height: float
    lines: tuple[Line, ...]
    strips: tuple[Strip, ...]
    marks: tuple[float, ...]
    top: float
    bottom: float
    has_bars: bool


def picture_of(task: Task, result: dict[str, Any]) -> ResultPicture:
    """Returns the picture of a published result."""
    figure, sheet = figure_of(result, task.question, most=MOST_BARS), _Sheet()
    title = visible(task.question.text)
    words = task.question.survey.words
    confidence = f"{plain(100 * result['estimate']['confidence'])}% interval"
    sheet.write(visible(task.name), 15)
    sheet.write(title, 26, kind="title", above=6)
    sheet.write(f"{words.asked}.{_left_out(figure)}", 15, above=4)
    sheet.y += 18
    # If some numbers are left out, the others are shown as a ranking.
    ranked = sorted(figure.bars, key=lambda bar: -bar.dot)
    bars = ranked if figure.left_out else figure.bars
    # One number has room for large letters, and its axis for the whole width.
    alone = len(bars) == 1
    span = (_LEFT, _RIGHT) if alone else _BARS
    if alone:
        sheet.number(bars[0], confidence)
    top = sheet.y
    strips = [_strip(bar, sheet.row(bar, named=not alone), span) for bar in bars]
    marks = tuple(_along(tick.position, span) for tick in figure.ticks)
    bottom = sheet.y
    sheet.axis(figure.ticks, marks)
    for note in (*_people(result, confidence), _privacy(task)):
        sheet.write(note, 15, kind="ink", above=6)
    made = f"made by shuffledp {__version__}"
    where = f"epoch {result['epoch']:,} · SHA-256 of the task {result['digest'][:16]}…"
    sheet.write(f"{where} · {made}", 13, above=12)
    descriptions = (
        f"{printable(b.name)}: {b.value}, {confidence} {b.interval}"
        for b in figure.bars
    )
    return ResultPicture(
        title,
        f"{words.asked}. {'; '.join(descriptions)}. "
        f"{' '.join(_people(result, confidence))}",
        sheet.y + 28,
        tuple(sheet.lines),
        tuple(strips),
        marks,
        top,
        bottom,
        figure.has_bars,
    )


def _left_out(figure: Figure) -> str:
    if not figure.left_out:
        return ""
    return f" The {len(figure.bars)} largest of {len(figure.bars) + figure.left_out:,}."


def _people(result: dict[str, Any], confidence: str) -> tuple[str, str]:
    people, tokens = result["estimate"]["num_users"], result["enrolment"]["tokens"]
    return (
        f"{people:,} people took part, of {tokens:,} who were given a token. Lines with "
        f"ends are {confidence}s about those who took part.",
        "Chance decided on every device what was sent, and messages were mixed before "
        "anybody could read them.",
    )


def _privacy(task: Task) -> str:
    """Returns the promises on a line; a published result keeps them."""
    promises = list(zip(task.choices, task.promise, strict=True))
    if len(promises) <= _LISTED:
        each = [
            f"{plain(promise)} at {task.named(choice)}" for choice, promise in promises
        ]
        listed = ", ".join(each)
    else:
        listed = (
            f"{plain(max(task.promise))} at all {len(promises)} {task.choice_word}s"
        )
    return (
        f"Promised, and proven: central epsilon of at most {listed}, with delta "
        f"{plain(task.delta)}, as long as shuffler and analyst do not work together."
    )


def _along(percent: float, span: tuple[float, float]) -> float:
    return round(span[0] + percent * (span[1] - span[0]) / 100.0, 2)


def _strip(bar: Bar, y: float, span: tuple[float, float]) -> Strip:
    start, end = (_along(at, span) for at in (bar.start, bar.start + bar.width))
    dot, low, high = (_along(at, span) for at in (bar.dot, bar.low, bar.high))
    return Strip(y, start, round(end - start, 2), dot, low, high)


@dataclass
class _Sheet:
    """Lines written so far; `y` is the lower end of the last one."""

    y: float = 30.0
    lines: list[Line] = field(default_factory=list)

    def write(
        self, text: str, size: int, *, kind: str = "soft", above: int = 0
    ) -> None:
        """Writes a paragraph as wide as the picture."""
        self.y += above
        # SVG does not break lines: the width of text has to be estimated.
        wide = size * (_BOLD if kind == "title" else 1.0)
        for words in wrapped(text, (_RIGHT - _LEFT) / wide):
            self.y += round(1.3 * size)
            self.lines.append(Line(_LEFT, self.y, size, words, kind))

    def number(self, bar: Bar, confidence: str) -> None:
        """Writes the number of a result that has only one."""
        self.y += 54
        self.lines.append(Line(_LEFT, self.y, 64, bar.value, "title"))
        self.write(f"{confidence}: {bar.interval}", 18, kind="ink", above=4)
        self.y += 10

    def row(self, bar: Bar, *, named: bool) -> float:
        """Writes the texts beside a bar; returns the bar's middle."""
        middle = self.y + _ROW / 2
        self.y += _ROW
        if named:
            # A long name gets several lines, centered beside its bar.
            names = list(wrapped(printable(bar.name), (_BARS[0] - _LEFT - 14) / 15))
            # Each further line, 18 high, moves the first one up by half of that.
            first = middle + 5 - 9 * (len(names) - 1)
            for index, words in enumerate(names):
                self.lines.append(Line(_LEFT, first + 18 * index, 15, words, "ink"))
            right = (_RIGHT, "end")
            for y, size, words, kind in (
                (middle - 2, 17, bar.value, "strong"),
                (middle + 15, 13, bar.interval, "soft"),
            ):
                self.lines.append(Line(right[0], y, size, words, kind, right[1]))
        return middle

    def axis(self, ticks: tuple[Tick, ...], marks: tuple[float, ...]) -> None:
        """Writes the numbers of the axis."""
        self.y += 18
        for tick, x in zip(ticks, marks, strict=True):
            self.lines.append(Line(x, self.y, 13, tick.text, anchor=tick.anchor))
        self.y += 10


def visible(text: str) -> str:
    """Returns a text on one line, with U+FFFD for characters that SVG cannot contain.

    >>> visible("a\\tb\\x07")
    'a b\\ufffd'
    """
    return "".join(
        "\ufffd" if unicodedata.category(letter) in _UNSEEN else letter
        for letter in " ".join(text.split())
    )


def wrapped(text: str, width: float) -> Iterator[str]:
    """Breaks a text into lines of at most `width`, also inside words that are wider.

    Args:
        text: Words with single spaces between them.
        width: Largest width, as a multiple of the size of letters.

    >>> list(wrapped("one two three", 5.0)), list(wrapped("abcdef", 2.7))
    (['one two', 'three'], ['abcd', 'ef'])
    """
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if text_width(joined) <= width:
            line = joined
            continue
        if line:
            yield line
        line = ""
        # A word that is wider than a line is broken between letters.
        for letter in word:
            if text_width(line + letter) > width:
                yield line
                line = ""
            line += letter
    yield line


def text_width(text: str) -> float:
    """Returns the estimated width of a text, as a multiple of the size of its letters.

    >>> text_width("mill"), text_width("漢字")
    (2.05, 2.0)
    """
    return round(sum(map(_letter_width, text)), 3)


def _letter_width(letter: str) -> float:
    # Drawn on the letter before it.
    if unicodedata.combining(letter):
        return 0.0
    # Full-width letters of East Asian scripts.
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return _WIDTHS.get(letter, 0.75 if letter.isupper() else 0.63)
