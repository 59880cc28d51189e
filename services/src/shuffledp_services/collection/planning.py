"""Plans for the answers to collected choices, with reserves for missing answers."""

import math

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.tally import Tally
from shuffledp_services.wire.task import Task

# Assumed share of users who reported a target and send no answer.
STAY_AWAY = 0.1

# Share of the smallest level group that may not hide the others, and again the share whose
# reports may be spoiled. It costs little: 1 % fewer users raise epsilon by about 0.5 %.
_SLACK = 0.01


def slack(minimum: tuple[int, ...]) -> int:
    """Returns the spoiled reports that the smallest level group may have.

    >>> slack((1000, 500)), slack((7,))
    (5, 1)
    """
    return math.ceil(_SLACK * min(minimum, default=0))


def answers_needed(task: Task, chosen: Tally) -> int:
    """Returns the minimum number of answers for a plan after these choices."""
    return max(task.minimum[0], math.floor((1.0 - STAY_AWAY) * chosen.num_users))


def best_plan(task: Task, chosen: Tally) -> Identity:
    """Returns the plan of least predicted error that the task's rule allows.

    Args:
        task: A task whose users choose targets.
        chosen: The counts of the choices.

    Raises:
        InvalidInputError: If users choose levels, or are too few.
        CertificationError: If the rule allows no plan.
    """
    if task.plan_rule is None:
        raise InvalidInputError("Expected a task in which people choose targets.")
    minimum = answers_needed(task, chosen)
    return task.plan_rule.plan(chosen, minimum, spare=slack((minimum,)))
