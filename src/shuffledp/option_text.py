"""Error texts that name arguments: options in commands, keywords in Python.

The caller knows which way an argument is written; the code that refuses it does not. Such a
text holds both spellings.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Argument:
    """An argument in an error text.

    >>> print(Argument("set_size", "N").option, Argument("set_size", "N").keyword)
    --set-size N set_size=N

    Attributes:
        name: As in Python.
        given: The text after the option, if any.
        value: The text after `name=` in Python; by default the same as `given`.
        python_name: Its name in Python, where that is another one.
    """

    name: str
    given: str = ""
    value: str = ""
    python_name: str = ""

    @property
    def option(self) -> str:
        """Its spelling in a command."""
        return f"--{self.name.replace('_', '-')} {self.given}".rstrip()

    @property
    def keyword(self) -> str:
        """Its spelling in Python."""
        value = self.value or self.given
        name = self.python_name or self.name
        return f"{name}={value}" if value else name


class OptionText(str):
    """A text as commands print it, with the text for Python beside it.

    Attributes:
        in_python: The same with keywords.
    """

    __slots__ = ("in_python",)
    in_python: str

    def __new__(cls, text: str, in_python: str) -> "OptionText":
        """Stores both spellings of one text."""
        self = super().__new__(cls, text)
        self.in_python = in_python
        return self

    # `str` would pickle and copy the text alone.
    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.in_python


def option_text(template: str, *parts: object) -> OptionText:
    """Returns a text with arguments, and data, in place of each `{}` of a template.

    >>> text = option_text("Expected {} for {}.", Argument("seed", "N"), "a--b c.csv")
    >>> text, text.in_python
    ('Expected --seed N for a--b c.csv.', 'Expected seed=N for a--b c.csv.')
    """
    # Both spellings before data are put in: a file's name may look like an option, so that
    # a finished text could not be translated.
    options = [p.option if isinstance(p, Argument) else p for p in parts]
    keywords = [p.keyword if isinstance(p, Argument) else p for p in parts]
    return OptionText(template.format(*options), template.format(*keywords))


def in_python(error: Exception) -> str:
    """Returns an error's text as Python spells the arguments in it."""
    text = error.args[0] if error.args else ""
    return text.in_python if isinstance(text, OptionText) else str(error)


LEVEL_SHARES = Argument("levels", "EPSILON:SHARE,...", "{EPSILON: SHARE, ...}")
FORCE = Argument("force", value="True")


def statistic(name: str) -> Argument:
    """Returns the argument that chooses a statistic."""
    return Argument("statistic", name, f'"{name}"')
