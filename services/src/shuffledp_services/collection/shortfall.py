"""Minimum number of reports of a batch, as shuffler and analyst check it."""

from dataclasses import dataclass

from shuffledp_services.wire.task import Task


@dataclass(frozen=True)
class Shortfall:
    """Choice with fewer reports than its minimum.

    Attributes:
        whose: The choice, as text.
        people: The number of reports.
        needed: The minimum.
    """

    whose: str
    people: int
    needed: int

    def __str__(self) -> str:
        return f"{self.whose}: {self.people:,} of {self.needed:,} people"


def shortfalls(
    task: Task, people: tuple[int, ...], *, planned: int = 0
) -> tuple[Shortfall, ...]:
    """Returns the choices below their minimum.

    Args:
        task: The task.
        people: Reports per choice; one total if choices are not named.
        planned: The minimum of the plan, if answers follow one.
    """
    named = [task.named(choice) for choice in task.counted]
    # Where choices are not named, the first minimum counts for all together.
    needed = task.minimum[: len(named)]
    needed = tuple(max(minimum, planned) for minimum in needed)
    rows = zip(named, people, needed, strict=True)
    return tuple(Shortfall(*row) for row in rows if row[1] < row[2])
