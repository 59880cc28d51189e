"""How numbers and names are written for people."""

import math
from collections.abc import Callable, Iterable

from shuffledp.accounting.statement import Statement
from shuffledp.format_number import plain
from shuffledp.labels import Display

# More rows than this are no picture; the rest is in the CSV and JSON files.
MAX_ROWS = 40


def percent(share: float, digits: int) -> str:
    """Returns a share in percent, without a negative zero.

    >>> percent(0.12345, 2), percent(-1e-9, 2)
    ('12.35', '0.00')
    """
    text = f"{100 * share:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def decimals(errors: Iterable[float]) -> int:
    """Returns how many decimals show the smallest error with three digits.

    An estimate with more of them would seem better known than it is. Negative numbers
    count the digits before the point that stay 0.

    >>> decimals([0.01234, 0.5]), decimals([0.0999999]), decimals([123456.0])
    (4, 3, -3)
    """
    smallest = min((error for error in errors if error > 0.0), default=0.0)
    if smallest == 0.0:
        return 6
    # What is written in scientific form is rounded already: 0.0999999 becomes 0.1.
    return 2 - int(f"{smallest:.2e}".partition("e")[2])


def rounded(number: float, digits: int) -> str:
    """Returns a number with so many decimals, without a negative zero.

    >>> rounded(-1234567.8, -3), rounded(0.5, 3), rounded(-0.0001, 2)
    ('-1,235,000', '0.500', '0.00')
    """
    if not math.isfinite(number):
        return str(number)
    text = f"{round(number, digits):,.{max(digits, 0)}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def number_format(
    display: Display, errors: Iterable[float], *, more_decimals: int = 0
) -> Callable[[float], str]:
    """Returns how a statistic's numbers are written.

    >>> number_format(Display("share", factor=100.0, suffix="%"), [0.001])(0.12345)
    '12.345%'

    Args:
        display: Of the statistic.
        errors: Standard errors of the numbers.
        more_decimals: Where the statistic has a fixed number of decimals.
    """
    if display.decimals is None:
        digits = decimals(display.factor * error for error in errors)
    else:
        digits = display.decimals + more_decimals

    def written(number: float) -> str:
        return f"{rounded(display.factor * number, digits)}{display.suffix}"

    return written


def shown(name: str) -> str:
    """Returns a category's name as it can be shown: short, and without control codes.

    >>> shown("a\\x1b[31mb"), shown("x" * 60)[-4:]
    ('a\ufffd[31mb', 'xxx…')
    """
    printable = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return printable if len(printable) <= 40 else printable[:39] + "…"


def left_alone(statement: Statement) -> str | None:
    """Returns whom the shuffle is not proven to help, if there are any such people."""
    alone = [entry for entry in statement.levels if entry.rests_on == "device"]
    # Whose number is 0 could not be helped any further.
    alone = [e for e in alone if e.epsilon_central > 0.0 and e.delta_central > 0.0]
    if statement.local or not alone:
        return None
    names = ", ".join(dict.fromkeys(plain(entry.chosen) for entry in alone))
    return f"Nothing better is proven for level {names} than what a device keeps alone."
