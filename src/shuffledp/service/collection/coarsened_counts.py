"""How many people answered so far, as everybody may know it while a step is open.

Exact numbers tell whoever looks before and after somebody answered which level she chose.
"""

from shuffledp.service.wire.task import Task

_PARTS, _LEAST = 20, 10


def coarsen_counts(task: Task, people: tuple[int, ...]) -> tuple[int, ...]:
    """Rounds numbers of people down, by less than a twentieth of the minimum or by 9.

    The minimum itself is among the numbers that are left: whether it is reached, which is
    what everybody may check, is never a matter of rounding.

    Args:
        task: The task.
        people: Reports with each choice; in all, if choices are not named.
    """
    minimum = task.minimum[: len(task.counted)]
    return tuple(
        max(count - (count - least) % max(least // _PARTS, _LEAST), 0)
        for count, least in zip(people, minimum, strict=True)
    )
