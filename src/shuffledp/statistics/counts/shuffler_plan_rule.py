"""The rule for plans in which the shuffler adds the noise: one plan, known beforehand.

The noise does not depend on people: the smallest target sets it, and all people send their
answers. So the task states the noise, and every epoch has the same plan.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.counts_parameters import CountGroup
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_plan_rule import CountsTerms
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.tally import Tally

# The search aims below the smallest target, as certified numbers are rounded upward.
_AIM = 1.0 - 1e-4
_NAME = "shuffler"


@dataclass(frozen=True)
class ShufflerPlanRule:
    """See `PlanRule`.

    Attributes:
        terms: Of the collection.
        noise: Of each bucket of every group.
    """

    terms: CountsTerms
    noise: ShufflerNoise

    @classmethod
    def of(cls, terms: CountsTerms) -> "ShufflerPlanRule":
        """Computes the rule.

        Raises:
            CertificationError: If nothing is found that can be proven.
        """
        rule = cls(terms, _shuffler_noise(terms.groups, terms.targets[0], terms.delta))
        rule.prove()
        return rule

    @classmethod
    def from_dict(cls, terms: CountsTerms, value: object) -> "ShufflerPlanRule":
        """Reads the output of `to_dict`.

        Raises:
            InvalidInputError: If a member is missing, unknown or out of range.
        """
        noise = value.get(_NAME) if isinstance(value, dict) else None
        if not isinstance(value, dict) or set(value) != {_NAME}:
            raise InvalidInputError("Expected a rule for noise of the shuffler.")
        if not isinstance(noise, dict) or set(noise) != {"decay", "dummies"}:
            raise InvalidInputError("Expected the decay and the dummies of a bucket.")
        decay, dummies = noise["decay"], noise["dummies"]
        # Of one type each: the digest of a task depends on the text.
        if type(decay) is not float or type(dummies) is not int:
            raise InvalidInputError("Expected a float and a whole number.")
        return cls(terms, ShufflerNoise(decay, dummies))

    def to_dict(self) -> dict[str, Any]:
        """See `PlanRule`."""
        return {
            _NAME: {"decay": self.noise.decay, "dummies": self.noise.dummies},
        }

    def prove(self) -> None:
        """See `PlanRule`."""
        _prove_once(self)

    def check(self, plan: Identity, minimum: int) -> None:
        """See `PlanRule`."""
        if minimum - self.terms.absent < 1:
            raise InvalidInputError(
                f"Expected more people than {self.terms.absent:,} absent ones."
            )
        if plan != self._protocol.identity:
            raise InvalidInputError(
                "Expected the plan that the task states: the shuffler's noise, and all "
                "answers sent."
            )

    def plan(self, chosen: Tally, minimum: int, *, spare: int) -> Identity:
        """See `PlanRule`."""
        # Read for its errors only: the plan does not depend on choices.
        self.terms.choices.estimate(chosen)
        del spare
        plan = self._protocol.identity
        self.check(plan, minimum)
        return plan

    @property
    def _protocol(self) -> Counts:
        return Counts(
            tuple(
                CountGroup(buckets, most, self.noise)
                for buckets, most in self.terms.groups
            ),
            self.terms.targets,
            (1.0,) * len(self.terms.targets),
            honest=1,
        )


@lru_cache(maxsize=64)
def _shuffler_noise(
    groups: tuple[tuple[int, int], ...], target: float, delta: float
) -> ShufflerNoise:
    # Groups of equal noise compose like one group with all their answers.
    search = CountsSearch(
        people=Population.from_counts({target * _AIM: 2}),
        buckets=sum(buckets for buckets, _ in groups),
        most=sum(most for _, most in groups),
        share=0.5,
        delta=delta,
        honest=1,
    )
    noise = search.shuffler(absent=0).protocol.groups[0].noise
    assert isinstance(noise, ShufflerNoise)
    return noise


# A proof is remembered by the content of its rule. A failure raises, and is not.
@lru_cache(maxsize=64)
def _prove_once(rule: ShufflerPlanRule) -> None:
    terms = rule.terms
    # Any number of people: they add no noise, and the noise does not depend on them.
    people = Population.from_counts(dict.fromkeys(terms.targets, 2))
    guarantee = account(rule._protocol, people, delta=terms.delta, quantiles=False)
    for level in guarantee.levels:
        # Written this way round, it refuses NaN, too.
        if not level.epsilon_central <= (level.target or -math.inf):
            raise CertificationError(
                f"Expected noise that keeps target {level.target:g} at delta "
                f"{terms.delta:g}, got {level.epsilon_central:g}."
            )
