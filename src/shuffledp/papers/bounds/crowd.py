"""The victim of a setting and the people among whom she hides."""

import numpy as np

from shuffledp.papers.bounds.bound import Setting
from shuffledp.types import Floats, Ints


def victim_budget(setting: Setting) -> float:
    """Returns the victim's local budget; by default the largest, as the papers do."""
    return setting.largest_budget if setting.victim is None else float(setting.victim)


def others(setting: Setting) -> tuple[Floats, Ints]:
    """Returns everybody's budgets and how many have each, without the victim.

    Both have shape (levels,); the victim's own level may be left with nobody.
    """
    people = setting.people
    counts = np.array(people.counts)
    counts[people.level_indices([victim_budget(setting)])] -= 1
    return people.epsilons, counts
