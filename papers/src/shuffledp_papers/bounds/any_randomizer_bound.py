"""Published bound for any randomizer, used also where the randomizer is known.

Some bounds are stated for any randomizer, and tighter for some. Papers that compare with
them often take the first; readers who know the randomizer would take the second.
"""

from dataclasses import dataclass, replace

from shuffledp_papers.bounds.bound import PublishedBound, Setting


@dataclass(frozen=True)
class AnyRandomizer(PublishedBound, row="any-randomizer"):
    """A bound that is evaluated with the budgets only.

    Attributes:
        bound: The bound to evaluate.
    """

    bound: PublishedBound

    def check(self, setting: Setting) -> None:
        """Raises OutsidePreconditions unless the bound speaks of such budgets."""
        self.bound.check(_without_mechanism(setting))

    def stated_epsilon(self, setting: Setting, delta: float) -> float:
        """Returns the epsilon that the bound states for any randomizer."""
        return self.bound.epsilon(_without_mechanism(setting), delta)

    def stated_delta(self, setting: Setting, epsilon: float) -> float:
        """Returns the delta that the bound states for any randomizer."""
        return self.bound.delta(_without_mechanism(setting), epsilon)


def _without_mechanism(setting: Setting) -> Setting:
    # The mechanism's own delta_local stays a condition of the bound.
    return replace(setting, mechanism=None, delta_local=setting.failure)
