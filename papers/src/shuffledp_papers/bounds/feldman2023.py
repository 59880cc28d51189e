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

from shuffledp_papers.bounds.bound import PublishedBound, Setting, check_pure, require
from shuffledp_papers.bounds.equal_clones import reduced_delta


class Feldman2023Closed(PublishedBound, row="feldman2023-closed"):
    """The closed form."""

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


class Feldman2023Numerical(PublishedBound, row="feldman2023-numerical"):
    """The reduction for any randomizer, p = 1 / (e^eps_0 + 1)."""

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts."""
        return _delta(setting, epsilon, categories=2.0)


class Feldman2023Kary(PublishedBound, row="feldman2023-kary"):
    """The reduction for k-ary response, p = 1 / (e^eps_0 + k - 1)."""

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
