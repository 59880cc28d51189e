"""Variation-ratio reduction of shuffled messages to two counts.

p bounds the ratio of a message's probabilities under the target user's two values, beta
their total variation, q the ratio of these to any other user's. With
alpha = beta / (p - 1), r = alpha p / q, C ~ Binomial(n - 1, 2 r) and A ~ Binomial(C, 1/2),
the claim is that shuffled messages are told apart no better than (A + D1, C - A + D2) and
(A + D2, C - A + D1), where (D1, D2) is (1, 0) with probability p alpha, (0, 1) with
probability alpha, and (0, 0) otherwise.

| randomizer            | p       | beta                              | q       |
|-----------------------|---------|-----------------------------------|---------|
| any with budget eps_0 | e^eps_0 | (e^eps_0 - 1) / (e^eps_0 + 1)     | e^eps_0 |
| k-ary response        | e^eps_0 | (e^eps_0 - 1) / (e^eps_0 + k - 1) | e^eps_0 |
| Laplace noise         | e^eps_0 | 1 - e^(-eps_0 / 2)                | e^eps_0 |

Source: Wang, Peng, Li, Wen, Li, Yu, Wang, Yang (2024), "Privacy Amplification via
Shuffling: Unified, Simplified, and Tightened", arXiv:2304.05007, and the authors' program
(wangsw/PrivacyAmplification).
"""

import math

from shuffledp_papers.bounds.bound import (
    PublishedBound,
    Setting,
    check_epsilon,
    require,
)
from shuffledp_papers.bounds.equal_clones import reduced_delta

# Beyond this the total variation of a pair would exceed what p allows.
_ROUNDING = 1e-12


def variation_ratio_delta(
    epsilon: float, *, p: float, beta: float, q: float, num_users: int
) -> float:
    """Returns the divergence that the variation-ratio reduction states.

    Args:
        epsilon: In nats, >= 0.
        p: Largest ratio of the target user's two densities, above 1.
        beta: Their total variation, above 0 and at most (p - 1) / (p + 1).
        q: Largest ratio of their density to another user's, at least 1.
        num_users: The target user included.

    Raises:
        OutsidePreconditions: If p, beta and q are not as above, or leave more clones than
            users.
    """
    epsilon = check_epsilon(epsilon)
    require(1.0 < p < math.inf, "a finite p > 1", f"{p:g}")
    # No randomizer has a larger total variation; rounding may show one.
    largest = (p - 1.0) / (p + 1.0)
    require(
        0.0 < beta <= largest * (1.0 + _ROUNDING),
        "0 < beta <= (p - 1) / (p + 1)",
        f"beta = {beta:g} and p = {p:g}",
    )
    require(q >= 1.0, "q >= 1", f"{q:g}")
    require(num_users >= 1, "at least 1 person", f"{num_users}")
    # alpha = beta / (p - 1), and 2 r = 2 alpha p / q.
    other = min(beta, largest) / (p - 1.0)
    clone = 2.0 * other * p / q
    require(
        clone <= 1.0 + _ROUNDING,
        "2 beta p <= (p - 1) q",
        f"beta = {beta:g}, p = {p:g}, q = {q:g}",
    )
    return reduced_delta(
        epsilon,
        num_users=num_users,
        clone=min(clone, 1.0),
        same=p * other,
        other=other,
    )


class Wang2024(PublishedBound, row="wang2024-variation-ratio"):
    """The reduction for equal budgets, with the parameters of the paper's table."""

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts."""
        budget = setting.largest_budget
        ratio = math.exp(budget)
        # From e^eps_0 = 1 on up to rounding, messages say nothing.
        if ratio <= 1.0 or epsilon >= budget:
            return 0.0
        return variation_ratio_delta(
            epsilon,
            p=ratio,
            beta=total_variation(setting),
            q=ratio,
            num_users=setting.num_users,
        )


def total_variation(setting: Setting) -> float:
    """Returns beta of the paper's table, at the largest budget."""
    budget = setting.largest_budget
    if setting.mechanism is None:
        return math.tanh(budget / 2.0)
    if setting.mechanism_name == "kary-response":
        categories = float(setting.mechanism.parameters["categories"])
        decay = math.exp(-budget)
        return -math.expm1(-budget) / (1.0 + (categories - 1.0) * decay)
    if setting.mechanism_name == "laplace":
        return -math.expm1(-budget / 2.0)
    return math.tanh(budget / 2.0)
