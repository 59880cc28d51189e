"""APES: "echoes" (clones) of the target user among users with personal budgets.

A user of budget eps_i imitates a target user of budget eps_j, on x and on x' alike, with
probability p_ij (clones.py). With S = sum_{i >= 2} sum_j p_ij / n, Theorem 4 states

    epsilon = ln(1 + tanh(e / 2) (8 sqrt(ln(4 / delta_s) / S) + 8 / S)),
    delta = tanh(e / 2) delta_s,      e = max_j eps_j,      S >= 16 ln(4 / delta_s).

The figures in the paper's tables are not this formula but the divergence of the two counts
behind it, (A, C - A) with |T| a sum of Bernoulli draws of mean S, evaluated numerically.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors: Privacy Amplification for
Personalized Private Federated Learning with Shuffle Model", eq. (2), Theorem 4, Lemma 6.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints
from shuffledp_papers.apes.clones import clone_probability, mean_clone_probabilities
from shuffledp_papers.bounds.bound import PublishedBound, Setting, check_pure, require
from shuffledp_papers.bounds.invert import epsilon_at
from shuffledp_papers.bounds.target_user import others, target_user_budget
from shuffledp_papers.bounds.two_counts import clone_count, divergence
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# Beyond these the closed delta underflows, and its powers would overflow.
_LARGEST_EXPONENT = 300.0
_LARGEST_ROOT = 1e150


@dataclass(frozen=True)
class UniformShuffle(PublishedBound, row="apes-uniform"):
    """Eq. (2), "UniS": all users are taken to have the largest budget."""

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless randomizers are pure."""
        check_pure(setting)
        require(setting.num_users >= 2, "at least 2 people", f"{setting.num_users}")

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the epsilon that eq. (2) states for this delta."""
        n, largest = setting.num_users, setting.largest_budget
        clones = n * math.exp(-largest)
        _require_uniform(clones, delta)
        return _closed(largest, clones, delta)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta that eq. (2) states for this epsilon, in closed form."""
        largest = setting.largest_budget
        clones = setting.num_users * math.exp(-largest)
        delta = _closed_delta(largest, clones, epsilon)
        # From 2 on the condition below would hold for any population.
        require(delta < 1.0, "a delta below 1", f"{delta:g}")
        _require_uniform(clones, delta)
        return delta


@dataclass(frozen=True)
class ApesClosed(PublishedBound, row="apes"):
    """Theorem 4 in closed form.

    Attributes:
        as_printed: Whether clones are averaged over possible budgets of the target user.
    """

    as_printed: bool = True

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless this is Clip-Laplace with budgets > 0."""
        _check_clip_laplace(setting)

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the epsilon that Theorem 4 states for this delta."""
        largest, clones = self._clones(setting)
        # Theorem 4: delta = tanh(e / 2) delta_s.
        inner = delta / math.tanh(largest / 2.0)
        _require_clones(clones, inner)
        return _closed(largest, clones, inner)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta that Theorem 4 states for this epsilon."""
        largest, clones = self._clones(setting)
        inner = _closed_delta(largest, clones, epsilon)
        _require_clones(clones, inner)
        return math.tanh(largest / 2.0) * inner

    def _clones(self, setting: Setting) -> tuple[float, float]:
        probabilities, counts = echoes(setting, as_printed=self.as_printed)
        # Theorem 4 has the largest budget; corrected, it has the target user's.
        largest = (
            setting.largest_budget if self.as_printed else target_user_budget(setting)
        )
        # S leaves out the target user: the counts are those of the others.
        return largest, float(counts @ probabilities)


@dataclass(frozen=True)
class ApesNumerical(PublishedBound, row="apes-numerical"):
    """The two counts behind Theorem 4, or behind eq. (2), evaluated exactly.

    Attributes:
        clones: "personal" for Theorem 4; "uniform" for eq. (2), where all users have
            the largest budget.
        as_printed: Whether clones are averaged over possible budgets of the target user.
    """

    clones: Literal["personal", "uniform"] = "personal"
    as_printed: bool = True

    def __post_init__(self) -> None:
        if self.clones not in ("personal", "uniform"):
            raise InvalidInputError(
                f"Expected personal or uniform, got {self.clones!r}."
            )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless the theorem covers this setting."""
        if self.clones == "uniform":
            UniformShuffle().check(setting)
        else:
            _check_clip_laplace(setting)

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the smallest epsilon at which the two counts reach this delta."""
        stated = self._profile(setting)
        return epsilon_at(stated, delta)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two counts at this epsilon."""
        return self._profile(setting)(epsilon)

    def _profile(self, setting: Setting) -> "_Profile":
        largest = setting.largest_budget
        if self.clones == "uniform":
            # In eq. (2) each of the n - 1 others is a clone with probability e^-eps.
            probabilities = np.array([math.exp(-largest)])
            return _Profile(probabilities, np.array([setting.num_users - 1]), largest)
        if not self.as_printed:
            largest = target_user_budget(setting)
        return _Profile(*echoes(setting, as_printed=self.as_printed), largest)


class _Profile:
    """The divergence of the two counts as a function of epsilon."""

    def __init__(self, probabilities: Floats, counts: Ints, budget: float) -> None:
        self.clones = clone_count(probabilities, counts)
        # 1 / (1 + e^budget), without overflow.
        self.other = math.exp(-budget) / (1.0 + math.exp(-budget))

    def __call__(self, epsilon: float) -> float:
        same = 1.0 - self.other
        return divergence(self.clones, same=same, other=self.other, epsilon=epsilon)


def echoes(setting: Setting, *, as_printed: bool = True) -> tuple[Floats, Ints]:
    """Returns clone probabilities and numbers of the other users, per level.

    Args:
        setting: With budgets > 0.
        as_printed: The mean of p_ij over all n users j, or else the target user's p_i1.
    """
    epsilons, counts = others(setting)
    # Erratum: the target user's budget is the same in both worlds, so that no average
    # over j arises: sum_i p_i1 belongs in place of S.
    if as_printed:
        people = setting.people
        return mean_clone_probabilities(people.epsilons, people.counts), counts
    return clone_probability(epsilons, target_user_budget(setting)), counts


def _check_clip_laplace(setting: Setting) -> None:
    check_pure(setting)
    require(setting.num_users >= 2, "at least 2 people", f"{setting.num_users}")
    name = setting.mechanism_name
    require(name == "clip-laplace", "the mechanism clip-laplace", f"{name}")
    # p_ij is 0 / 0 at a budget of 0.
    smallest = float(setting.people.epsilons[0])
    require(smallest > 0.0, "every budget > 0", f"{smallest:g}")


def _require_uniform(clones: float, delta: float) -> None:
    # The condition of the theorem that eq. (2) quotes.
    min_clones = 16.0 * math.log(2.0 / delta)
    require(
        clones >= min_clones,
        "n e^-eps >= 16 ln(2 / delta)",
        f"{clones:g} and {min_clones:g}",
    )


def _require_clones(clones: float, delta: float) -> None:
    require(0.0 < delta <= 1.0, "delta_s in (0, 1]", f"{delta:g}")
    min_clones = 16.0 * math.log(4.0 / delta)
    require(
        clones >= min_clones,
        "S >= 16 ln(4 / delta_s)",
        f"{clones:g} and {min_clones:g}",
    )


def _closed(budget: float, clones: float, delta: float) -> float:
    # The appendix lacks the square root of the first S.
    spread = 8.0 * math.sqrt(math.log(4.0 / delta) / clones) + 8.0 / clones
    return math.log1p(math.tanh(budget / 2.0) * spread)


def _closed_delta(budget: float, clones: float, epsilon: float) -> float:
    """Returns the delta at which `_closed` equals epsilon."""
    scale = math.tanh(budget / 2.0)
    # expm1 keeps the digits of small epsilons.
    growth = math.expm1(min(epsilon, _LARGEST_EXPONENT))
    root = growth / scale - 8.0 / clones if scale > 0.0 else math.inf
    if not root >= 0.0 or math.isinf(root):
        raise OutsidePreconditions(
            f"Expected an epsilon that the formula states, got {epsilon:g}."
        )
    # The formula never states 0: where it underflows, return the smallest double.
    return max(4.0 * math.exp(-clones * (min(root, _LARGEST_ROOT) / 8.0) ** 2), 5e-324)
