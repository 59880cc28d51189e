"""What the analyst plans with: how many answers she counts on, and how many are spoiled."""

import math

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.service.wire.task import Task
from shuffledp.tally import Tally

# Of those who reported a target, how many may send no answer.
STAY_AWAY = 0.1

# Of the smallest number of people at any choice, how many may hide nobody, and how many
# reports may be spoiled besides. It costs little: a hundredth of the people who hide others
# is about half a hundredth of epsilon.
_SLACK = 0.01


def slack(minimum: tuple[int, ...]) -> int:
    """Returns how many reports may be spoiled in the smallest crowd that is released.

    >>> slack((1000, 500)), slack((7,))
    (5, 1)
    """
    return math.ceil(_SLACK * min(minimum, default=0))


def answers_needed(task: Task, chosen: Tally) -> int:
    """Returns the least number of answers that a plan after these choices relies on."""
    return max(task.minimum[0], math.floor((1.0 - STAY_AWAY) * chosen.num_users))


def best_plan(task: Task, chosen: Tally) -> Identity:
    """Returns the plan of least predicted error that the task's rule allows.

    Args:
        task: In which people choose targets.
        chosen: How many chose each.

    Raises:
        InvalidInputError: If people choose levels, or are too few.
        CertificationError: If the rule allows no plan.
    """
    if task.plan_rule is None:
        raise InvalidInputError("Expected a task in which people choose targets.")
    minimum = answers_needed(task, chosen)
    return task.plan_rule.plan(chosen, minimum, spare=slack((minimum,)))
