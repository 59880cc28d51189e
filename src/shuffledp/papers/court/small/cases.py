"""Claims that fall, with the fewest people for which one is known to.

Each is a case like any other for the numbers of its program: the published formula, the
attack and the certificate come from where they always do, and share nothing with the
program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from shuffledp.errors import InvalidInputError
from shuffledp.papers.court.case import Case
from shuffledp.papers.court.small import builders, programs
from shuffledp.papers.court.small.builders import Numbers
from shuffledp.papers.court.small.program import Program
from shuffledp.papers.court.small.programs import program_of


@dataclass(frozen=True, eq=False)
class Small:
    """A counterexample whose numbers can be changed.

    Attributes:
        name: Of its case.
        program: Which prints claim and attack, and the numbers that were found.
        build: The case for such numbers.
        choices: What a search tries for each; the first is made as small as possible.
    """

    name: str
    program: Program
    build: Callable[[Numbers], Case]
    choices: Mapping[str, Sequence[float]]

    @property
    def case(self) -> Case:
        """The case for the numbers that were found."""
        return self.build(self.program.numbers)


_EPSILONS = (0.0, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
_LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
_ITEMS = (3, 4, 5, 10, 20)
_RATES = (0.1, 0.2, 0.5)

SMALL = (
    Small(
        "V1-small",
        programs.EAPES_MARKED,
        builders.marked,
        {
            "n": range(2, 4),
            "b": _LEVELS,
            "d": (0.5, 0.2, 0.1),
            "e": _EPSILONS,
        },
    ),
    Small(
        "V2-small",
        programs.EAPES_RESPONSE,
        builders.response,
        {"n": range(2, 30), "b": _LEVELS, "e": _EPSILONS},
    ),
    Small(
        "V3-small",
        programs.EAPES_LAPLACE,
        builders.laplace,
        {
            "n": range(10, 400, 10),
            "v": (0.1, 0.2, 0.5, 1.0, 1.5, 2.0),
            "b": (1.0, 2.0, 3.0, 4.0),
            "e": (0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.9, 1.0, 1.4, 1.5),
            "t": (1, 2, 3, 4, 5, 6, 7, 8, 10),
        },
    ),
    Small(
        "V3b-small",
        programs.EAPES_GAUSSIAN,
        builders.gaussian,
        {
            "n": range(100, 400, 10),
            "v": (0.2, 0.5),
            "b": (0.2, 0.5, 1.0),
            "d": (0.01, 1e-3, 1e-5),
            "e": (0.05, 0.1, 0.2, 0.5, 0.8, 1.0),
            "t": (2, 5, 10, 15, 20, 30, 40),
        },
    ),
    Small(
        "V3c-small",
        programs.EAPES_LIBERAL,
        builders.liberal,
        {
            "n": range(2, 50),
            "v": (1.0, 2.0, 5.0, 10.0, 20.0),
            "b": (0.1, 0.2, 0.5, 1.0),
            "e": _EPSILONS,
            "t": (0.05, 0.1, 0.2, 0.5),
        },
    ),
    Small(
        "V4-small",
        programs.APES_CLOSED,
        builders.closed,
        {
            "n": range(40, 80),
            "v": (20, 50, 100, 200, 500),
            "b": (0.01, 0.02, 0.05, 0.1),
            "e": _EPSILONS,
            "t": (0.01, 0.02, 0.05, 0.1),
        },
    ),
    Small(
        "V4b-small",
        programs.APES_NUMERICAL,
        builders.numerical,
        {
            "v": (2, 5, 10, 20, 50, 100),
            "b": (0.05, 0.1, 0.2, 0.5, 1.0),
            "e": _EPSILONS,
            "t": (0.05, 0.1, 0.2, 0.5),
        },
    ),
    Small(
        "V5-small",
        programs.APES_APPENDIX,
        builders.appendix,
        {
            "n": range(100, 400, 5),
            "b": (0.1, 0.2, 0.5, 1.0),
            "e": (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1),
        },
    ),
    Small(
        "V6b-small",
        programs.APES_SELECTED,
        builders.selected,
        {"d": range(2, 10), "k": (1,), "e": (1.0,)},
    ),
    Small(
        "V7-small",
        programs.TESTING_GAUSSIAN,
        lambda numbers: builders.tested(numbers, gaussian=True),
        {"b": (1.0,), "d": (1e-5, 1e-10), "t": (1, 2, 3, 4, 5)},
    ),
    Small(
        "V7b-small",
        programs.TESTING_LAPLACE,
        lambda numbers: builders.tested(numbers, gaussian=False),
        {"n": range(2, 50), "b": _LEVELS},
    ),
    Small(
        "V8-small",
        programs.TESTING_LONE,
        builders.careful,
        {"n": range(3, 60), "v": (0.5, 1.0, 2.0, 3.0, 4.0), "b": _LEVELS},
    ),
    Small(
        "V10b-small",
        programs.RATIO_RESPONSE,
        builders.categories,
        {"k": (3, 4, 5, 10), "b": _LEVELS, "e": _EPSILONS},
    ),
    Small(
        "V11-small",
        programs.SETS_ONE,
        lambda numbers: builders.sets(numbers, items=1),
        {"d": _ITEMS, "l": _RATES, "e": _EPSILONS},
    ),
    Small(
        "V11b-small",
        programs.SETS_TWO,
        lambda numbers: builders.sets(numbers, items=2),
        {"d": _ITEMS[2:], "l": _RATES, "e": _EPSILONS},
    ),
    Small(
        "V12-small",
        programs.UNIFORM,
        builders.uniform,
        {"b": _LEVELS, "e": _EPSILONS},
    ),
)


def small_of(case: str) -> Small:
    """Returns the smallest counterexample to the claim of a case, such as "V8-2".

    Raises:
        InvalidInputError: If its numbers are none that can be searched for.
    """
    program = program_of(case)
    for small in SMALL:
        if small.program is program:
            return small
    known = ", ".join(small.name for small in SMALL)
    raise InvalidInputError(f"Expected a case that {known} stand for, got {case!r}.")
