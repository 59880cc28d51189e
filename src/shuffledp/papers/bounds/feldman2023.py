"""Stronger clones: others imitate only what the victim may send.

If the victim's message on x is Q with chance e^eps_0 p, Q' with chance p, and otherwise
something that does not depend on her value, and everybody else's is Q or Q' with chance p
each, then it is claimed that with C ~ Binomial(n - 1, 2 p), A ~ Binomial(C, 1/2) the
shuffled messages are told apart no better than (A + D1, C - A + D2) and
(A + D2, C - A + D1), where (D1, D2) is (1, 0) with chance e^eps_0 p, (0, 1) with chance p.
The paper takes p = 1 / (e^eps_0 + 1) for any randomizer with budget eps_0 and
p = 1 / (e^eps_0 + k - 1) for k-ary response. The first holds (docs/theory/theorem.md), the
second does not.

*Closed form*, for eps_0 <= ln(n / (8 ln(2 / delta)) - 1):

    epsilon = ln(1 + (e^eps_0 - 1)
                     (4 sqrt(2 ln(4 / delta)) / sqrt((e^eps_0 + 1) n) + 4 / n)).

Source: Feldman, McMillan, Talwar (2023), "Stronger Privacy Amplification by Shuffling for
Renyi and Approximate Differential Privacy", arXiv:2208.04591.
"""

import math
from typing import ClassVar

from shuffledp.papers.bounds.bound import (
    EQUAL_ONLY,
    PublishedBound,
    Setting,
    Status,
    check_delta,
    check_epsilon,
    check_pure,
    require,
)
from shuffledp.papers.bounds.equal_clones import reduced_delta
from shuffledp.papers.bounds.invert import delta_at, epsilon_at

_TITLE = (
    "Stronger Privacy Amplification by Shuffling for Renyi and Approximate Differential "
    "Privacy"
)
_DROPPED = (
    "The reduction keeps two counts and drops the others, in which the victim's third "
    "kind of message shows"
)


class Feldman2023Closed(PublishedBound):
    """The closed form."""

    name: ClassVar[str] = "feldman2023-closed"
    title: ClassVar[str] = _TITLE
    source: ClassVar[str] = "Feldman et al. 2023, arXiv:2208.04591, Theorem 3.2"
    applies_to: ClassVar[str] = "any local randomizers, chosen one after the other"
    proven: ClassVar[Status] = Status.UNPROVEN
    note: ClassVar[str] = (
        "It rests on the reduction of feldman2023-numerical, which holds; the inequalities "
        f"after it were not checked here. No violation is known. {EQUAL_ONLY} Small "
        "budgets in small crowds make the value exceed the local budget."
    )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless randomizers are pure."""
        check_pure(setting)

    def epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the closed form; eps_0 must be <= ln(n / (8 ln(2 / delta)) - 1)."""
        delta = check_delta(delta)
        self.check(setting)
        budget, num_users = setting.largest_budget, setting.num_users
        room = num_users / (8.0 * math.log(2.0 / delta)) - 1.0
        require(
            math.exp(budget) <= room,
            f"a local budget with e^eps_0 <= n / (8 ln(2 / delta)) - 1 = {room:.6g}",
            f"{math.exp(budget):.6g}",
        )
        root = math.sqrt(2.0 * math.log(4.0 / delta))
        spread = 4.0 * root / math.sqrt((math.exp(budget) + 1.0) * num_users)
        return math.log1p(math.expm1(budget) * (spread + 4.0 / num_users))

    def delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the smallest delta at which the closed form allows this epsilon."""
        epsilon = check_epsilon(epsilon)
        self.check(setting)
        return delta_at(lambda delta: self.epsilon(setting, delta), epsilon)


class Feldman2023Numerical(PublishedBound):
    """The reduction for any randomizer, p = 1 / (e^eps_0 + 1)."""

    name: ClassVar[str] = "feldman2023-numerical"
    title: ClassVar[str] = _TITLE
    source: ClassVar[str] = "Feldman et al. 2023, arXiv:2208.04591, section 3"
    applies_to: ClassVar[str] = "any local randomizers, chosen one after the other"
    proven: ClassVar[Status] = Status.PROVEN
    note: ClassVar[str] = (
        "The paper's own proof keeps two counts and drops what the others may show of her "
        "third kind of message. Binary response has none, and its privacy blanket is the "
        "largest of all randomizers with the same budget: docs/theory/theorem.md proves "
        f"the bound, also for messages that depend on all earlier ones. {EQUAL_ONLY}"
    )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless randomizers are pure."""
        check_pure(setting)

    def epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the smallest epsilon of the reduction, at most the local budget."""
        delta = check_delta(delta)
        return epsilon_at(
            lambda epsilon: self.delta(setting, epsilon),
            delta,
            ceiling=setting.largest_budget,
        )

    def delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts."""
        epsilon = check_epsilon(epsilon)
        self.check(setting)
        return _delta(setting, epsilon, categories=2.0)


class Feldman2023Kary(PublishedBound):
    """The reduction for k-ary response, p = 1 / (e^eps_0 + k - 1)."""

    name: ClassVar[str] = "feldman2023-kary"
    title: ClassVar[str] = _TITLE
    source: ClassVar[str] = "Feldman et al. 2023, arXiv:2208.04591, k-ary response"
    applies_to: ClassVar[str] = "k-ary randomized response"
    proven: ClassVar[Status] = Status.FALSE
    note: ClassVar[str] = (
        f"{_DROPPED}: with 10 categories, 60 people and budget 4, this claims a "
        "divergence of 1.3e-12 at epsilon 3.6, and 1.57e-5 is reached. The same formula "
        f"as the variation ratio. {EQUAL_ONLY}"
    )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless everybody runs k-ary response."""
        check_pure(setting)
        require(
            setting.mechanism_name == "kary-response",
            "k-ary randomized response",
            setting.mechanism_name or "any randomizer",
        )

    def epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the smallest epsilon of the reduction, at most the local budget."""
        delta = check_delta(delta)
        return epsilon_at(
            lambda epsilon: self.delta(setting, epsilon),
            delta,
            ceiling=setting.largest_budget,
        )

    def delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts."""
        epsilon = check_epsilon(epsilon)
        self.check(setting)
        categories = 2.0
        if setting.mechanism is not None:
            categories = float(setting.mechanism.parameters["categories"])
        return _delta(setting, epsilon, categories=categories)


def _delta(setting: Setting, epsilon: float, *, categories: float) -> float:
    budget = setting.largest_budget
    if epsilon >= budget:
        return 0.0
    decay = math.exp(-budget)
    same = 1.0 / (1.0 + (categories - 1.0) * decay)
    return reduced_delta(
        epsilon,
        num_users=setting.num_users,
        clone=2.0 * same * decay,
        same=same,
        other=same * decay,
    )
