"""Amplification by shuffling, the first bound: a closed form for small budgets.

    epsilon = 12 eps_0 sqrt(ln(1 / delta) / n)

Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta (2019),
"Amplification by Shuffling: From Local to Central Differential Privacy via Anonymity",
arXiv:1811.12469, Theorem 7.
"""

import math

from shuffledp_papers.bounds.bound import PublishedBound, Setting, check_pure, require

_LARGEST_BUDGET = 0.5
_FEWEST_PEOPLE = 1000
_LARGEST_DELTA = 0.01


class Erlingsson2019(PublishedBound, row="erlingsson2019"):
    """The closed form, for budgets below 1/2."""

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


class Erlingsson2019Formula(PublishedBound, row="erlingsson2019-formula"):
    """The same formula for any budget, as papers plot it that compare with it."""

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
