"""The target user of a setting, and the other users."""

import numpy as np

from shuffledp.types import Floats, Ints
from shuffledp_papers.bounds.bound import Setting


def target_user_budget(setting: Setting) -> float:
    """Returns the target user's local budget, by default the largest."""
    # Papers for one common budget take the largest as the worst case.
    return (
        setting.largest_budget
        if setting.target_user is None
        else float(setting.target_user)
    )


def others(setting: Setting) -> tuple[Floats, Ints]:
    """Returns all budgets and the number of other users at each, shape (levels,)."""
    people = setting.people
    # A copy, to leave the population as it is; a level of one user is left with 0.
    counts = np.array(people.counts)
    counts[people.level_indices([target_user_budget(setting)])] -= 1
    return people.epsilons, counts
