"""Five lines of Python that show a counterexample and need nothing of this package.

The last line prints the claim and what is reached. Letters are those of the lines: n is the
number of people, v the victim's budget, b everybody's, e the epsilon of both numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A program, and the numbers for which it was found.

    Attributes:
        numbers: Of the counterexample.
        body: The lines, with `{numbers}` where they are assigned.
    """

    numbers: Mapping[str, float]
    body: str

    @property
    def text(self) -> str:
        """What runs, with a newline at the end.

        >>> print(Program({"n": 2, "e": 0.5}, "{numbers}; print(n, e)").text, end="")
        n, e = 2, 0.5; print(n, e)
        """
        return self.with_numbers(self.numbers)

    def with_numbers(self, numbers: Mapping[str, float]) -> str:
        """Returns the same lines for other numbers."""
        values = ", ".join(f"{value:g}" for value in numbers.values())
        assigned = f"{', '.join(numbers)} = {values}"
        return self.body.strip().replace("{numbers}", assigned) + "\n"
