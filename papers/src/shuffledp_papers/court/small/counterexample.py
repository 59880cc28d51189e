"""Violated claims, each with the fewest users for which the violation is known.

Each is a case like any other, for the numbers of its program. Formula, attack and
certificate share nothing with the program; noise and bound are those of the larger case.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp_papers.apes.local import report_budget, selection_loss
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.published_bounds import published_bound
from shuffledp_papers.court.case import BoundClaim, Case, PrintedNumbers
from shuffledp_papers.court.case_table import (
    CASE_ROWS,
    CaseRow,
    Group,
    PopulationRow,
    population_case,
)
from shuffledp_papers.court.item_attack import item_divergence
from shuffledp_papers.court.small.program import Program
from shuffledp_papers.court.small.programs import program_of
from shuffledp_papers.court.statements import local
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)
from shuffledp_papers.segmented.privacy import SegmentedPrivacy
from shuffledp_papers.toml_tables import read_rows

Numbers = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A counterexample whose numbers can be changed.

    Attributes:
        name: Name of its case.
        program: The program that prints claim and attack, with its numbers.
        build: Returns the case for given numbers.
        choices: Values to search for each number; the first number is minimized.
    """

    name: str
    program: Program
    build: Callable[[Numbers], Case]
    choices: Mapping[str, Sequence[float]]

    @property
    def case(self) -> Case:
        """The case for the numbers of the program."""
        return self.build(self.program.numbers)


@dataclass(frozen=True)
class _CounterexampleRow:
    """Row of the table of counterexamples.

    Attributes:
        name: Name of the counterexample's case.
        case: The larger case.
        setting: Description, with `{letters}` of the program.
        choices: Values to search for each letter.
        items_per_user: Number of items of every user, if they send items.
    """

    name: str
    case: str
    setting: str
    choices: Mapping[str, tuple[float, ...]]
    items_per_user: int = 0


def _case(small: _CounterexampleRow, large: CaseRow, given: Numbers) -> Case:
    """Returns the case for these numbers."""
    # Claims whose programs do not say so are about two people.
    numbers = {"n": 2.0, **given}
    words = small.setting.format(
        **numbers, others=numbers["n"] - 1, items_per_user=small.items_per_user
    )
    row = replace(large, name=small.name, setting=words, printed=PrintedNumbers())
    if large.population is not None:
        bound = published_bound(large.bound)
        if isinstance(bound, HypothesisTesting):
            # The most charitable reading: sums begin without clones, failures reveal.
            bound = HypothesisTesting(as_printed=False)
        population = _population(large.population, numbers)
        return population_case(row, population, bound)
    if large.items is not None:
        return _items(row, small.items_per_user, numbers)
    claim, attack, _ = local(
        report_budget(numbers["e"], coordinates=int(numbers["k"])),
        selection_loss(numbers["e"], coordinates=int(numbers["d"])),
    )
    return row.to_case(claim, attack)


def _population(large: PopulationRow, numbers: Numbers) -> PopulationRow:
    """Returns the target user among others, or all users at one budget."""
    count = int(numbers["n"])
    people: tuple[Group, ...] = (Group(count, numbers["b"]),)
    if "v" in numbers:
        people = (Group(1, numbers["v"]), Group(count - 1, numbers["b"]))
    return replace(
        large,
        people=people,
        categories=int(numbers.get("k", 0)),
        delta_local=numbers.get("d", 0.0),
        delta=None,
        epsilon=numbers.get("e", 0.0),
    )


def _items(row: CaseRow, set_size: int, numbers: Numbers) -> Case:
    """Returns the case of two users with one blanket message each."""
    # The other user sends every item: the total number of messages is then known.
    items, rate, epsilon = int(numbers["d"]), numbers["l"], numbers["e"]
    bound = SegmentedPrivacy(
        num_items=items, blanket_messages=1, items_per_user=set_size, sampling_rate=rate
    )
    people = Setting(Population.from_counts({epsilon: 2}))
    return row.to_case(
        BoundClaim(bound, people, epsilon=epsilon),
        lambda where: item_divergence(
            num_users=2,
            num_items=items,
            blanket_messages=1,
            items_per_user=set_size,
            sampling_rate=rate,
            epsilon=where,
        ),
    )


_CLAIMS = {row.name: row for row in CASE_ROWS}
COUNTEREXAMPLES = tuple(
    Counterexample(
        row.name,
        program_of(row.case),
        partial(_case, row, _CLAIMS[row.case]),
        row.choices,
    )
    for row in read_rows(_CounterexampleRow, "court/small", "small.toml")
)


def counterexample_of(case: str) -> Counterexample:
    """Returns the smallest counterexample to the claim of a case, such as "V8-2".

    Raises:
        InvalidInputError: If there is no search for its numbers.
    """
    program = program_of(case)
    # By identity: cases of one claim share one cached program.
    for small in COUNTEREXAMPLES:
        if small.program is program:
            return small
    known = ", ".join(small.name for small in COUNTEREXAMPLES)
    raise InvalidInputError(f"Expected a case that {known} stand for, got {case!r}.")
