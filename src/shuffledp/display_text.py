"""Formatting of a statistic's numbers and names for display."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from shuffledp.label_checks import hidden_characters
from shuffledp.labels import Display

# Letters of a name in tables and pictures.
_LONGEST = 40
# Beyond these, numbers are written with an exponent.
_LARGE, _MOST_DECIMALS = 1e15, 12
# Of a number that a collection says nothing about, and of ends that an interval lacks.
UNKNOWN = "unknown"


def percent(share: float, digits: int) -> str:
    """Formats a share in percent, without a negative zero.

    >>> percent(0.12345, 2), percent(-1e-9, 2)
    ('12.35', '0.00')
    """
    text = f"{100 * share:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def decimals(errors: Iterable[float]) -> int:
    """Returns the number of decimals that give the smallest error three digits.

    More decimals would suggest a precision that the estimate does not have. A negative
    number counts the digits before the point that are rounded to 0.

    >>> decimals([0.01234, 0.5]), decimals([0.0999999]), decimals([123456.0])
    (4, 3, -3)
    """
    smallest_error = min((error for error in errors if error > 0.0), default=0.0)
    if smallest_error == 0.0:
        return 6
    # The exponent of the rounded number: 0.0999999 becomes 1.00e-01.
    return 2 - int(f"{smallest_error:.2e}".partition("e")[2])


def rounded(number: float, digits: int) -> str:
    """Formats a number with `digits` decimals, without a negative zero.

    >>> rounded(-1234567.8, -3), rounded(0.5, 3), rounded(-0.0001, 2)
    ('-1,235,000', '0.500', '0.00')
    >>> rounded(1.25e300, -298), rounded(1.25e-300, 302)
    ('1.25e+300', '1.25e-300')
    """
    if not math.isfinite(number):
        return str(number)
    # Hundreds of digits would say less.
    if number and (abs(number) >= _LARGE or digits > _MOST_DECIMALS):
        exponent = math.floor(math.log10(abs(number)))
        return f"{number:.{min(max(exponent + digits, 0), _MOST_DECIMALS)}e}"
    digits = min(digits, _MOST_DECIMALS)
    text = f"{round(number, digits):,.{max(digits, 0)}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def number_format(
    display: Display, errors: Iterable[float], *, more_decimals: int = 0
) -> Callable[[float], str]:
    """Returns the formatter of a statistic's numbers; one without a value is unknown.

    >>> written = number_format(Display("share", factor=100.0, suffix="%"), [0.001])
    >>> written(0.12345), written(math.inf)
    ('12.345%', 'unknown')

    Args:
        display: Of the statistic.
        errors: Standard errors of the numbers.
        more_decimals: Added to the decimals of a statistic that fixes their number.
    """
    if display.decimals is None:
        digits = decimals(display.factor * error for error in errors)
    else:
        digits = display.decimals + more_decimals

    def formatted(number: float) -> str:
        if not math.isfinite(number):
            return UNKNOWN
        return f"{rounded(display.factor * number, digits)}{display.suffix}"

    return formatted


def interval_text(
    written: Callable[[float], str], low: float, high: float, suffix: str = ""
) -> str:
    """Returns an interval for display: unknown if it has no end.

    >>> interval_text(str, 0.25, 0.5), interval_text(str, -math.inf, math.inf)
    ('0.25 to 0.5', 'unknown')

    Args:
        written: The formatter of its ends.
        low: Lower end.
        high: Upper end.
        suffix: The unit that `written` adds: it is left out of the lower end.
    """
    if not (math.isfinite(low) or math.isfinite(high)):
        return UNKNOWN
    return f"{written(low).removesuffix(suffix)} to {written(high)}"


def error_text(written: Callable[[float], str], error: float) -> str:
    """Returns a standard error for display: a dash where there is none, as of quantiles.

    >>> error_text(str, 0.25), error_text(str, math.nan)
    ('0.25', '-')
    """
    return "-" if math.isnan(error) else written(error)


def printable(name: str) -> str:
    """Returns a category's name for display: short, and without hidden characters.

    >>> printable("a\\x1b[31mb"), printable("x" * 60)[-4:]
    ('a\ufffd[31mb', 'xxx…')
    """
    (short,) = printable_names([name])
    return short


def printable_names(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """Returns names for display: see `printable`; different ones look different.

    Of long names whose beginnings are alike, as much of the end is shown as tells them
    apart.

    >>> printable_names(["short", "a longer name"], longest=8)
    ['short', 'a longe…']
    >>> printable_names(["a matter of time", "a matter of tide"], longest=12)
    ['a matter …me', 'a matter …de']

    Args:
        names: Of rows.
        longest: Letters of a name, at least 3.
    """
    visible = [_visible(name) for name in names]
    short = [n if len(n) <= longest else f"{n[: longest - 1]}…" for n in visible]
    for length in range(1, longest - 1):
        times = Counter(short)
        if len(times) == len(set(visible)):
            break
        short = [
            cut
            if len(name) <= longest or times[cut] == 1
            else f"{name[: longest - length - 1]}…{name[-length:]}"
            for name, cut in zip(visible, short, strict=True)
        ]
    return short


def _visible(name: str) -> str:
    hidden = set(hidden_characters(name))
    return "".join("\ufffd" if index in hidden else c for index, c in enumerate(name))
