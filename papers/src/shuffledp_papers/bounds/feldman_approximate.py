"""Stronger clones for randomizers that may exceed their budget with small probability.

A randomizer that is (eps_0, delta_0)-private differs by at most
(1 + e^-eps_0 / 2) delta_0, in total variation, from one that is eps_0-private. Exchanging
all n of them in both worlds costs

    (e^epsilon + 1) (1 + e^-eps_0 / 2) n delta_0

on top of the delta of the pure reduction (feldman2023.py).

Source: Feldman, McMillan, Talwar (2021), arXiv:2012.12803, Theorem 3.8, whose term it is;
with the reduction of Feldman, McMillan, Talwar (2023), arXiv:2208.04591, section 3.
"""

import math

from shuffledp_papers.bounds.bound import PublishedBound, Setting, require
from shuffledp_papers.bounds.feldman2023 import Feldman2023Numerical

_PURE = Feldman2023Numerical()


class FeldmanApproximate(PublishedBound, row="feldman2023-approximate"):
    """The reduction of 2023, with the failures of all n randomizers added."""

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless randomizers may fail."""
        require(setting.failure > 0.0, "delta_local > 0", f"{setting.failure:g}")

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the divergence of the two pairs of counts, and the failures."""
        # The pure bound is evaluated without the mechanism, whose delta_local it refuses.
        pure = _PURE.delta(Setting(setting.people), epsilon)
        return min(pure + failures(setting, epsilon), 1.0)


def failures(setting: Setting, epsilon: float) -> float:
    """Returns (e^epsilon + 1) (1 + e^-eps_0 / 2) n delta_0."""
    each = (1.0 + 0.5 * math.exp(-setting.largest_budget)) * setting.failure
    # exp overflows past 709; the caller caps delta at 1 anyway.
    return (math.exp(min(epsilon, 700.0)) + 1.0) * each * setting.num_users
