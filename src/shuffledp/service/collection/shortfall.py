"""How many people are missing before a batch may be released: both parties ask."""

from dataclasses import dataclass

from shuffledp.service.wire.task import Task


@dataclass(frozen=True)
class Shortfall:
    """People who are missing.

    Attributes:
        whose: At which choice, in words.
        people: How many there are.
        needed: How many there must be.
    """

    whose: str
    people: int
    needed: int

    def __str__(self) -> str:
        return f"{self.whose}: {self.people:,} of {self.needed:,} people"


def shortfalls(
    task: Task, people: tuple[int, ...], *, planned: int = 0
) -> tuple[Shortfall, ...]:
    """Returns what is missing.

    Args:
        task: The task.
        people: Reports with each choice; in all, if choices are not named.
        planned: The least number that a plan relies on, if answers follow one.
    """
    named = [task.named(choice) for choice in task.counted]
    # Where choices are not named, one minimum counts for all together.
    needed = task.minimum[: len(named)]
    needed = tuple(max(least, planned) for least in needed)
    rows = zip(named, people, needed, strict=True)
    return tuple(Shortfall(*row) for row in rows if row[1] < row[2])
