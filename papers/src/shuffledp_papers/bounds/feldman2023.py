"""Stronger clones: other users imitate only messages that the target user may send.

If the target user's message on x is Q with probability e^eps_0 p, Q' with probability p,
and otherwise independent of their value, and every other user's is Q or Q' with probability
p each, then it is claimed that with C ~ Binomial(n - 1, 2 p), A ~ Binomial(C, 1/2) the
shuffled messages are told apart no better than (A + D1, C - A + D2) and
(A + D2, C - A + D1), where (D1, D2) is (1, 0) with probability
e^eps_0 p, (0, 1) with probability p.
The paper takes p = 1 / (e^eps_0 + 1) for any randomizer with budget eps_0 and
p = 1 / (e^eps_0 + k - 1) for k-ary response.

Errata of the authors, in later versions of arXiv:2208.04591: the proof of Lemma 3.5 has an
error for p < 1 / (e^eps_0 + 1), which reaches Theorems 3.1, 3.2 and 5.2 and Corollary 4.3;
the general bounds hold for a restricted class of randomizers. The p of k-ary response is
that small for k > 2. For any randomizer and p = 1 / (e^eps_0 + 1) the reduction does hold:
that is a result of this library, with a proof of its own (docs/theory/any-randomizer.md).

*Closed form*, for eps_0 <= ln(n / (8 ln(2 / delta)) - 1):

    epsilon = ln(1 + (e^eps_0 - 1)
                     (4 sqrt(2 ln(4 / delta)) / sqrt((e^eps_0 + 1) n) + 4 / n)).

Source: Feldman, McMillan, Talwar (2023), "Stronger Privacy Amplification by Shuffling for
Renyi and Approximate Differential Privacy", arXiv:2208.04591.
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
from shuffledp_papers.bounds.equal_clones import reduced_delta

_TITLE = (
    "Stronger Privacy Amplification by Shuffling for Renyi and Approximate Differential "
    "Privacy"
)
_ERRATA = "The authors' errata restrict the theorems to a class of randomizers"
_DROPPED = (
    "The reduction keeps two counts and drops the others, in which the victim's third "
    "kind of message shows"
)


class Feldman2023Closed(PublishedBound):
    """The closed form."""

    name = "feldman2023-closed"
    title = _TITLE
    source = "Feldman et al. 2023, arXiv:2208.04591, Theorem 3.2"
    applies_to = "any local randomizers, chosen one after the other"
    proven = Status.UNPROVEN
    note = (
        f"{_ERRATA}. It rests on the reduction of feldman2023-numerical, which is proven "
        "here for any; the inequalities after it were not checked. No violation is known. "
        f"{EQUAL_ONLY} Small budgets in small crowds make the value exceed the local "
        "budget."
    )

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the closed form; eps_0 must be <= ln(n / (8 ln(2 / delta)) - 1)."""
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


class Feldman2023Numerical(PublishedBound):
    """The reduction for any randomizer, p = 1 / (e^eps_0 + 1)."""

    name = "feldman2023-numerical"
    title = _TITLE
    source = "Feldman et al. 2023, arXiv:2208.04591, section 3"
    applies_to = "any local randomizers, chosen one after the other"
    proven = Status.PROVEN
    note = (
        f"{_ERRATA}. That it holds for all, also for messages that depend on all earlier "
        "ones, is a result of this library: binary response has the largest privacy "
        "blanket of all randomizers with the same budget (proof: "
        f"docs/theory/any-randomizer.md). {EQUAL_ONLY}"
    )

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts."""
        return _delta(setting, epsilon, categories=2.0)


class Feldman2023Kary(PublishedBound):
    """The reduction for k-ary response, p = 1 / (e^eps_0 + k - 1)."""

    name = "feldman2023-kary"
    title = _TITLE
    source = "Feldman et al. 2023, arXiv:2208.04591, k-ary response"
    applies_to = "k-ary randomized response"
    proven = Status.FALSE
    note = (
        f"Of the original version, which its authors have corrected. {_DROPPED}: with 10 "
        "categories, 60 people and budget 4, this gives a divergence of 1.3e-12 at epsilon "
        "3.6, and 3.48e-5 is reached. The same formula as the variation ratio. "
        f"{EQUAL_ONLY}"
    )

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless all users run k-ary response."""
        check_pure(setting)
        require(
            setting.mechanism_name == "kary-response",
            "k-ary randomized response",
            setting.mechanism_name or "any randomizer",
        )

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts."""
        categories = 2.0
        if setting.mechanism is not None:
            categories = float(setting.mechanism.parameters["categories"])
        return _delta(setting, epsilon, categories=categories)


def _delta(setting: Setting, epsilon: float, *, categories: float) -> float:
    budget = setting.largest_budget
    # Local privacy alone gives delta = 0 here; rounding must not make it positive.
    if epsilon >= budget:
        return 0.0
    # e^eps_0 p = 1 / (1 + (k - 1) e^-eps_0), which does not overflow.
    decay = math.exp(-budget)
    same = 1.0 / (1.0 + (categories - 1.0) * decay)
    return reduced_delta(
        epsilon,
        num_users=setting.num_users,
        clone=2.0 * same * decay,
        same=same,
        other=same * decay,
    )
