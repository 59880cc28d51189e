"""Rounded report counts, which are public while a step is open.

Exact counts before and after a user's answer would reveal the level of that user.
"""

from shuffledp_services.wire.task import Task

_PARTS, _MIN_STEP = 20, 10


def coarsen_counts(task: Task, people: tuple[int, ...]) -> tuple[int, ...]:
    """Rounds counts down to steps of a twentieth of the minimum, at least 10.

    Args:
        task: The task.
        people: Reports per choice; one total if choices are not named.
    """
    minima = task.minimum[: len(task.counted)]
    # The steps start from the minimum: rounding never hides that it is reached.
    return tuple(
        max(count - (count - minimum) % max(minimum // _PARTS, _MIN_STEP), 0)
        for count, minimum in zip(people, minima, strict=True)
    )
