"""Amplification by shuffling, the first bound: a closed form for small budgets.

    epsilon = 12 eps_0 sqrt(ln(1 / delta) / n)

Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta (2019),
"Amplification by Shuffling: From Local to Central Differential Privacy via Anonymity",
arXiv:1811.12469, Theorem 7.
"""

import math

from shuffledp_papers.bounds.bound import (
    EQUAL_ONLY,
    PublishedBound,
    Setting,
    Status,
    check_pure,
    require,
)

_LARGEST_BUDGET = 0.5
_FEWEST_PEOPLE = 1000
_LARGEST_DELTA = 0.01


class Erlingsson2019(PublishedBound):
    """The closed form, for budgets below 1/2."""

    name = "erlingsson2019"
    title = (
        "Amplification by Shuffling: From Local to Central Differential Privacy via "
        "Anonymity"
    )
    source = "Erlingsson et al. 2019, arXiv:1811.12469, Theorem 7"
    applies_to = "any local randomizers, chosen one after the other"
    proven = Status.PROVEN
    note = (
        "People are shuffled before they randomize, so that the k-th randomizer belongs "
        f"to a place and not to a person. {EQUAL_ONLY} The value may exceed the local "
        "budget."
    )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless 0 < eps_0 < 1/2 and n >= 1000."""
        check_pure(setting)
        budget, num_users = setting.largest_budget, setting.num_users
        require(
            0.0 < budget < _LARGEST_BUDGET,
            "local budgets above 0 and below 1/2",
            f"{budget:g}",
        )
        require(num_users >= _FEWEST_PEOPLE, "at least 1000 people", f"{num_users}")

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns 12 eps_0 sqrt(ln(1 / delta) / n), for delta < 1/100."""
        _check_small(delta)
        return _formula(setting, delta)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta at which the formula gives this epsilon."""
        delta = _inverse(setting, epsilon)
        _check_small(delta)
        return delta


class Erlingsson2019Formula(PublishedBound):
    """The same formula for any budget, as papers plot it that compare with it."""

    name = "erlingsson2019-formula"
    title = Erlingsson2019.title
    source = "after Erlingsson et al. 2019, arXiv:1811.12469, Theorem 7"
    applies_to = "what other papers compare with, at any budget"
    proven = Status.UNPROVEN
    note = (
        "From a local budget of 1/2 on, with fewer than 1000 people, or from a delta of "
        "1/100 on, the theorem says nothing."
    )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless randomizers are pure, with a budget > 0."""
        check_pure(setting)
        budget = setting.largest_budget
        require(budget > 0.0, "a local budget above 0", f"{budget:g}")

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns 12 eps_0 sqrt(ln(1 / delta) / n), whatever eps_0, n and delta are."""
        return _formula(setting, delta)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta at which the formula gives this epsilon."""
        return _inverse(setting, epsilon)


def _formula(setting: Setting, delta: float) -> float:
    spread = math.sqrt(-math.log(delta) / setting.num_users)
    return 12.0 * setting.largest_budget * spread


def _inverse(setting: Setting, epsilon: float) -> float:
    # delta = e^{-n (epsilon / (12 eps_0))^2}, solved from the formula above.
    ratio = epsilon / (12.0 * setting.largest_budget)
    return math.exp(-setting.num_users * ratio**2)


def _check_small(delta: float) -> None:
    # Theorem 7 requires delta < 1/100.
    require(delta < _LARGEST_DELTA, "delta below 1/100", f"{delta:g}")
