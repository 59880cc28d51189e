"""Plans from rows of a certified table: the row of the smallest error, and report sizes."""

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from shuffledp.accounting.counts.report_truncation import smallest_report
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.identity import Identity

# Reports are no larger than a device sends.
LARGEST_REPORT = 4096


class RateTable(Protocol):
    """Noise and the rates that keep targets with it: see `rate_rows`."""

    @property
    def targets(self) -> tuple[float, ...]:
        """Central epsilons, ascending."""
        ...

    @property
    def delta(self) -> float:
        """At which targets are kept."""
        ...

    @property
    def noise(self) -> tuple[float, ...]:
        """Of each row, ascending."""
        ...

    @property
    def rates(self) -> tuple[tuple[float, ...], ...]:
        """Of each row."""
        ...

    def fits(self, messages: float, cap: int, num_honest: int) -> bool:
        """Tells whether cuts and draws cost no more than the table allows."""
        ...

    def prove(self) -> None:
        """Certifies every rate."""
        ...


def honest_senders(minimum: int, *, absent: int, spare: int) -> int:
    """Returns how many people send noise if `minimum` take part.

    Raises:
        InvalidInputError: If there are none beside `spare` others.
    """
    if minimum - absent - spare < 1:
        raise InvalidInputError(
            f"Expected more than {absent + spare:,} people, got {minimum:,}."
        )
    return minimum - absent


def report_size(
    table: RateTable, messages: float, answers: int, num_honest: int
) -> int | None:
    """Returns the smallest size of reports with which the table holds.

    Args:
        table: Of the plan.
        messages: Of noise, per person in the mean.
        answers: The most answers of a person.
        num_honest: People who really send their noise, spare ones included: the bound of
            cuts rises with them.

    Returns:
        None if it is larger than a device sends.
    """
    size = smallest_report(
        messages,
        answers,
        num_honest=num_honest,
        # A cut costs 1 + e^epsilon times its probability: most at this target.
        epsilon=table.targets[-1],
        delta=table.delta,
    )
    # The table's own bound of what is cut may be a little smaller.
    while size <= LARGEST_REPORT and not table.fits(
        messages, size - answers, num_honest
    ):
        size += 1
    return size if size <= LARGEST_REPORT else None


def best_plan(
    table: RateTable,
    minimum: int,
    plan_of: Callable[[float, tuple[float, ...]], tuple[float, Identity] | None],
) -> Identity:
    """Returns the plan of the row with the smallest error.

    Args:
        table: Whose rows are compared.
        minimum: People for whom plans are made.
        plan_of: Returns the error and the plan of a row's noise and rates; None if its
            reports were too large.

    Raises:
        CertificationError: If all reports were too large.
    """
    plans = []
    for noise, rates in zip(table.noise, table.rates, strict=True):
        plan = plan_of(noise, rates)
        # Noise increases by row: later rows need larger reports still.
        if plan is None:
            break
        plans.append(plan)
    if not plans:
        raise CertificationError(
            f"Expected more people than {minimum:,}: no report of up to "
            f"{LARGEST_REPORT:,} messages holds enough noise."
        )
    return min(plans, key=lambda plan: plan[0])[1]


# A proof is remembered by the content of its table. A failure raises, and is not.
@lru_cache(maxsize=64)
def prove_once(table: RateTable) -> None:
    """Certifies every rate of a table; raises CertificationError if one is too large."""
    table.prove()
