"""Published bound of several collections: its profile of one, composed exactly.

Papers state bounds of one shuffle. A bound at every epsilon is a profile, and what it says
of T collections is the composition of the pair of distributions that dominates it, as for
certificates (docs/theory/theorem.md). No paper claims less of several collections, and
where a bound is not proven, its composition is not, either.
"""

import math
from dataclasses import dataclass

from shuffledp.accounting.rounds.composed_profile import ComposedProfile
from shuffledp.accounting.rounds.node_choice import Aim, loss_distribution
from shuffledp.accounting.rounds.total_budget import divergence_of_budget
from shuffledp_papers.bounds.bound import PublishedBound, Setting, Status
from shuffledp_papers.bounds.invert import epsilon_at
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# Of delta, in all rounds: the smallest divergence that is resolved.
_NEGLIGIBLE = 1e-3


@dataclass(frozen=True)
class ComposedBound(PublishedBound):
    """A bound of one collection, composed over several with the same people.

    Attributes:
        bound: The bound of one collection.
        rounds: Number of collections, above 1.
    """

    bound: PublishedBound
    rounds: int

    name = "composed"
    title = "A published bound of several collections"
    source = "that of the bound"
    applies_to = "what the bound applies to"
    proven = Status.UNPROVEN
    note = "The composition is as certain as the bound."

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless the bound speaks of one such collection."""
        self.bound.check(setting)

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the smallest epsilon of the composed profile with at most this delta.

        Raises:
            OutsidePreconditions: If the bound states nothing of one collection.
        """
        # Raises before the profile hides, below, that nothing is stated.
        self.bound.epsilon(setting, delta)
        budget = setting.largest_budget if setting.failure == 0.0 else math.inf

        def profile(epsilon: float) -> float:
            try:
                return min(self.bound.delta(setting, epsilon), 1.0)
            except OutsidePreconditions:
                # What the devices keep is there without any theorem.
                return divergence_of_budget(budget, epsilon)

        losses = loss_distribution(
            profile,
            ceiling=budget,
            negligible=_NEGLIGIBLE * delta / self.rounds,
            aim=Aim(self.rounds, delta),
        )
        composed = ComposedProfile(losses, self.rounds, math.inf)
        return epsilon_at(composed.delta, delta, ceiling=self.rounds * budget)
