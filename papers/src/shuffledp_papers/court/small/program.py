"""Program of five lines that shows a counterexample without this package.

The last line prints the claim and the attack. In the lines, n is the number of users, v the
target user's budget, b all others', e the epsilon of both numbers.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = r"-?[0-9.]+(?:e-?[0-9]+)?"
# Such as "n, e = 2, 0.5", where a line begins.
_ASSIGNED = re.compile(
    rf"^(?P<names>\w+(?:, \w+)+) = (?P<values>{_NUMBER}(?:, {_NUMBER})+)", re.MULTILINE
)


@dataclass(frozen=True)
class Program:
    """A program, with the numbers of its counterexample.

    >>> program = Program("n, e = 2, 0.5; print(n, e)\\n")
    >>> program.numbers
    {'n': 2, 'e': 0.5}
    >>> print(program.with_numbers({"n": 3, "e": 1.0}), end="")
    n, e = 3, 1; print(n, e)

    Attributes:
        text: Source code, with a newline at the end.
    """

    text: str

    @property
    def numbers(self) -> Mapping[str, float]:
        """The numbers of the counterexample; none if there is nothing to change."""
        assigned = _ASSIGNED.search(self.text)
        if assigned is None:
            return {}
        values = ast.literal_eval(assigned["values"])
        return dict(zip(assigned["names"].split(", "), values, strict=True))

    def with_numbers(self, numbers: Mapping[str, float]) -> str:
        """Returns the same lines for other numbers."""
        # Only the first assignment holds the numbers; later ones are intermediate results.
        values = ", ".join(f"{value:g}" for value in numbers.values())
        return _ASSIGNED.sub(f"{', '.join(numbers)} = {values}", self.text, count=1)
