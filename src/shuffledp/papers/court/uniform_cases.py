"""UniS, the baseline of APES: everybody is taken to have the largest budget.

The tables of Liu et al. (2023) follow from its two counts, numerically, at delta_s =
delta / tanh(e / 2): as in Theorem 4, where the victim's own coin makes delta smaller. The
counts contain that coin already. Without the second factor no violation is known.
"""

import math
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from shuffledp.papers.apes.amplification import ApesNumerical, UniformShuffle
from shuffledp.papers.bounds.bound import PublishedBound, Setting, Status
from shuffledp.papers.court.case import Case, CourtVerdict, at_delta, at_epsilon
from shuffledp.papers.court.noise_cases import trial_of
from shuffledp.population import Population
from shuffledp.randomizers.laplace import Laplace

_COUNTS = ApesNumerical(crowd="uniform")
# An equal part of 3.6e-5 for each of 7850 coordinates. The tables' own part at these
# budgets, tanh(1 / 4) 1e-8 = 2.45e-9, is not reached by any attack.
_DELTA = (3.6e-5 - 1e-8) / 7850


class _Tables(PublishedBound):
    """What the paper's tables follow from: tanh(e / 2) times the delta of the counts."""

    name: ClassVar[str] = "apes-uniform"
    title: ClassVar[str] = UniformShuffle.title
    source: ClassVar[str] = "Liu et al. (2023), Tables 3 and 4"
    applies_to: ClassVar[str] = UniformShuffle.applies_to
    proven: ClassVar[Status] = Status.FALSE
    note: ClassVar[str] = "The victim's coin is in the counts, and counts once more."

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless randomizers are pure."""
        _COUNTS.check(setting)

    def epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the epsilon of the counts at delta_s."""
        return _COUNTS.epsilon(setting, delta / _coin(setting))

    def delta(self, setting: Setting, epsilon: float) -> float:
        """Returns what is stated at this epsilon."""
        return _coin(setting) * _COUNTS.delta(setting, epsilon)


def _coin(setting: Setting) -> float:
    return math.tanh(setting.largest_budget / 2.0)


def uniform_cases() -> list[Case]:
    """Returns the cases of UniS with the budgets of the paper's Gauss1."""
    people = gauss1_quantiles()
    words = "10000 people at quantiles of Gauss1; the most liberal one"
    return [
        uniform_case("V12", people, words, delta=_DELTA),
        uniform_case("C18", people, words, delta=_DELTA, twice=False),
    ]


def gauss1_quantiles() -> Population:
    """Returns 100 people at each of 100 quantiles of N(0.1, 1), clipped to [0.05, 0.5]."""
    places = (np.arange(100) + 0.5) / 100.0
    budgets = np.clip(0.1 + ndtri(places), 0.05, 0.5)
    return Population.from_budgets(np.repeat(budgets, 100))


def uniform_case(
    name: str,
    people: Population,
    words: str,
    *,
    epsilon: float = 0.0,
    delta: float | None = None,
    twice: bool = True,
) -> Case:
    """Returns the case of Laplace noise in one coordinate.

    Args:
        name: Of the case.
        people: Their budgets.
        words: Who takes part.
        epsilon: Where the claim is tried, unless delta is given.
        delta: What is claimed; the claim's own epsilon follows.
        twice: Whether the victim's coin counts twice, as in the paper's tables.
    """
    victim = float(people.epsilons[-1])
    trial = trial_of(Laplace(), people, victim)
    bound = _Tables() if twice else _COUNTS
    claim = (
        at_epsilon(bound, trial.setting, epsilon)
        if delta is None
        else at_delta(bound, trial.setting, delta)
    )
    counted = "" if twice else "; the victim's coin counts once"
    return Case(
        name=name,
        bound="apes-uniform",
        source="Liu, Zhao, Xiong, Liu, Chen (2023), eq. (2), Tables 3 and 4",
        setting=f"UniS, Laplace noise, {words}{counted}",
        claim=claim,
        attack=trial.attack,
        certificate=trial.certificate,
        expected=CourtVerdict.VIOLATED if twice else CourtVerdict.CONSISTENT,
    )
