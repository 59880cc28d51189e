"""Search for the fewest users and round numbers that still violate a claim."""

import contextlib
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from shuffledp.errors import InvalidInputError
from shuffledp_papers.court.small.counterexample import Counterexample, Numbers
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# The attack must exceed the claim by this factor, so that rounding does not decide.
_MARGIN = 1.01
# Programs and bounds evaluate the same formula in different ways.
_SAME = 1e-6


def printed(text: str) -> tuple[float, float]:
    """Runs a program in a namespace of its own; returns the claim and the attack.

    >>> printed("print(0.1, 0.25)")
    (0.1, 0.25)

    Args:
        text: Text of a `Program`.
    """
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(text, {})
    claimed, exact = (float(word) for word in out.getvalue().split())
    return claimed, exact


def smallest(small: Counterexample) -> Numbers:
    """Returns the numbers with the smallest first number and then the largest gap.

    Numbers at which the published bound states nothing, or another number than the program,
    do not count.

    Raises:
        InvalidInputError: If no choice violates the claim.
    """
    # The first number is n; a program without n is about the fewest users of its claim.
    for tried in _by_the_first(small.choices):
        fallen: list[tuple[float, Numbers]] = []
        for numbers in tried:
            pair = _run(small, numbers)
            if pair is not None:
                claimed, exact = pair
                fallen.append((exact - claimed, numbers))
        for _, numbers in sorted(fallen, key=lambda pair: -pair[0]):
            if _is_claimed(small, numbers):
                return numbers
    raise InvalidInputError(f"Expected choices for which {small.name} falls.")


def _by_the_first(choices: Mapping[str, Sequence[float]]) -> Iterator[list[Numbers]]:
    """Yields all combinations, those with the same first number together."""
    first, *others = choices.values()
    for start in first:
        yield [
            dict(zip(choices, (start, *values), strict=True))
            for values in itertools.product(*others)
        ]


def _run(small: Counterexample, numbers: Numbers) -> tuple[float, float] | None:
    """Returns claim and attack if the claim falls."""
    try:
        claimed, exact = printed(small.program.with_numbers(numbers))
    # Formulas may have no value for some of the choices.
    except (ArithmeticError, ValueError):
        return None
    return (claimed, exact) if claimed >= 0.0 and exact > _MARGIN * claimed else None


def _is_claimed(small: Counterexample, numbers: Numbers) -> bool:
    """Whether the published bound states the claim of the program."""
    claimed, _ = printed(small.program.with_numbers(numbers))
    try:
        stated = small.build(numbers).claim().value
    except (InvalidInputError, OutsidePreconditions):
        return False
    return math.isclose(claimed, stated, rel_tol=_SAME)
