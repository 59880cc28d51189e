"""Registry of all cases: violated claims of papers, and some that stand."""

from collections.abc import Callable, Sequence

from shuffledp.errors import InvalidInputError
from shuffledp_papers.court.case import Case, Ruling, judge
from shuffledp_papers.court.case_table import CASE_ROWS
from shuffledp_papers.court.small.counterexample import COUNTEREXAMPLES
from shuffledp_papers.court.stated_claim import CLAIMS


def all_cases() -> tuple[Case, ...]:
    """Returns the cases of all papers."""
    return (
        *(row.case for row in CASE_ROWS),
        *(small.case for small in COUNTEREXAMPLES),
    )


def case_named(name: str) -> Case:
    """Returns the case of this name.

    Raises:
        InvalidInputError: If there is none, or if it is no longer run.
    """
    for claim in CLAIMS:
        for earlier in claim.earlier:
            if earlier.lower() == name.lower():
                raise InvalidInputError(
                    f"{earlier} is no longer run. {claim.source}: {claim.verdict}. "
                    f"{claim.why}."
                )
    # Names such as "V4b" may be typed in any case.
    cases = {case.name.lower(): case for case in all_cases()}
    if name.lower() not in cases:
        known = ", ".join(case.name for case in cases.values())
        raise InvalidInputError(f"Expected one of {known}, got {name!r}.")
    return cases[name.lower()]


def judge_all(
    cases: Sequence[Case], on_share: Callable[[float], None] | None = None
) -> list[Ruling]:
    """Returns one ruling per case.

    Args:
        cases: In the order of the result.
        on_share: Called with the share of cases that are done.
    """
    rulings = []
    for number, case in enumerate(cases, start=1):
        rulings.append(judge(case))
        if on_share is not None:
            on_share(number / len(cases))
    return rulings
