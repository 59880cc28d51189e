"""The search for the fewest people and round numbers for which a claim still falls."""

import contextlib
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from shuffledp.errors import InvalidInputError, OutsidePreconditions
from shuffledp.papers.court.small.counterexample import Counterexample, Numbers

# By so much a claim must fall: no rounding decides.
_MARGIN = 1.01
# Programs and bounds evaluate the same formula in different ways.
_SAME = 1e-6


def printed(text: str) -> tuple[float, float]:
    """Runs a program in a namespace of its own; returns the claim and what is reached.

    >>> printed("print(0.1, 0.25)")
    (0.1, 0.25)

    Args:
        text: Of a `Program`.
    """
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(text, {})
    claimed, exact = (float(word) for word in out.getvalue().split())
    return claimed, exact


def smallest(small: Counterexample) -> Numbers:
    """Returns the numbers with the smallest first one and, of those, the largest gap.

    The first one is n; a program without it speaks of the fewest people that its claim
    speaks of. Numbers at which the published bound states nothing, or something else than
    the program, do not count.

    Raises:
        InvalidInputError: If the claim falls for none of the choices.
    """
    for tried in _by_the_first(small.choices):
        fallen: list[tuple[float, Numbers]] = []
        for numbers in tried:
            found = _run(small, numbers)
            if found is not None:
                claimed, exact = found
                fallen.append((exact - claimed, numbers))
        for _, numbers in sorted(fallen, key=lambda pair: -pair[0]):
            if _is_claimed(small, numbers):
                return numbers
    raise InvalidInputError(f"Expected choices for which {small.name} falls.")


def _by_the_first(choices: Mapping[str, Sequence[float]]) -> Iterator[list[Numbers]]:
    """Yields all combinations, those with the same first number together."""
    first, *rest = choices.values()
    for start in first:
        yield [
            dict(zip(choices, (start, *values), strict=True))
            for values in itertools.product(*rest)
        ]


def _run(small: Counterexample, numbers: Numbers) -> tuple[float, float] | None:
    """Returns claim and attack if the claim falls."""
    try:
        claimed, exact = printed(small.program.with_numbers(numbers))
    except (ArithmeticError, ValueError):
        return None
    return (claimed, exact) if claimed >= 0.0 and exact > _MARGIN * claimed else None


def _is_claimed(small: Counterexample, numbers: Numbers) -> bool:
    """Does the published bound state what the program says?"""
    claimed, _ = printed(small.program.with_numbers(numbers))
    try:
        stated = small.build(numbers).claim().value
    except (InvalidInputError, OutsidePreconditions):
        return False
    return math.isclose(claimed, stated, rel_tol=_SAME)
