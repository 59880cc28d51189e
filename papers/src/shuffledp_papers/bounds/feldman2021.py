"""Hiding among the clones: each other user is a clone with probability e^-eps_0.

*Closed form* (Theorem 3.1): for eps_0 <= ln(n / (16 ln(2 / delta))),

    epsilon = ln(1 + (e^eps_0 - 1) / (e^eps_0 + 1)
                     (8 sqrt(e^eps_0 ln(4 / delta)) / sqrt(n) + 8 e^eps_0 / n)).

*Numerical*, from the reduction behind it: with C ~ Binomial(n - 1, e^-eps_0),
A ~ Binomial(C, 1/2) and D ~ Bernoulli(e^eps_0 / (e^eps_0 + 1)), the shuffled messages are
told apart no better than (A + D, C - A + 1 - D) and (A + 1 - D, C - A + D).

The authors' program (apple/ml-shuffling-amplification) evaluates another closed form: the
bracket u as above, but with the factor (1 - e^-eps_0) / (1 + e^-eps_0 / (1 + u)), which is
larger, for eps_0 <= ln(n / (16 ln(4 / delta))).

Source: Feldman, McMillan, Talwar (2021), "Hiding Among the Clones: A Simple and Nearly
Optimal Analysis of Privacy Amplification by Shuffling", arXiv:2012.12803.
"""

import math
from dataclasses import dataclass

from shuffledp_papers.bounds.bound import PublishedBound, Setting, require
from shuffledp_papers.bounds.equal_clones import reduced_delta


@dataclass(frozen=True)
class Feldman2021Closed(PublishedBound, row="feldman2021-closed"):
    """The closed form.

    Attributes:
        as_printed: The theorem; otherwise the formula of the authors' program.
    """

    as_printed: bool = True

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the closed form; eps_0 must be at most ln(n / (16 ln(2 / delta)))."""
        budget, num_users = setting.largest_budget, setting.num_users
        # The program requires ln(4 / delta) where Theorem 3.1 has ln(2 / delta).
        top = 2.0 if self.as_printed else 4.0
        room = num_users / (16.0 * math.log(top / delta))
        require(
            budget <= math.log(room),
            f"a local budget up to ln(n / (16 ln({top:g} / delta))) = "
            f"{math.log(room):.6g}",
            f"{budget:g}",
        )
        clones = num_users * math.exp(-budget)
        bracket = 8.0 * math.sqrt(math.log(4.0 / delta) / clones) + 8.0 / clones
        if self.as_printed:
            # (e^eps_0 - 1) / (e^eps_0 + 1).
            factor = math.tanh(budget / 2.0)
        else:
            factor = -math.expm1(-budget) / (1.0 + math.exp(-budget) / (1.0 + bracket))
        return math.log1p(factor * bracket)


class Feldman2021Numerical(PublishedBound, row="feldman2021-numerical"):
    """The reduction, evaluated exactly."""

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts."""
        budget = setting.largest_budget
        # Local privacy alone gives delta = 0 here; rounding must not make it positive.
        if epsilon >= budget:
            return 0.0
        return reduced_delta(
            epsilon,
            num_users=setting.num_users,
            clone=math.exp(-budget),
            same=1.0 / (1.0 + math.exp(-budget)),
            other=math.exp(-budget) / (1.0 + math.exp(-budget)),
        )
