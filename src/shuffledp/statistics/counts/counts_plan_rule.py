"""The rule for plans of several questions: rates below a certified table of noise."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup, CountsParameters
from shuffledp.accounting.counts.poisson_table import PoissonTable, make_poisson_table
from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.statistics.choices import Choices
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.counts.row_plans import (
    best_plan,
    honest_senders,
    prove_once,
    report_size,
)
from shuffledp.statistics.stated_rows import StatedRows, plain_rows
from shuffledp.tally import Tally


@dataclass(frozen=True)
class CountsTerms:
    """The public terms of a collection, known before its plan.

    Attributes:
        groups: Buckets, and the answers of a person, of each question.
        targets: Central epsilons that people may choose from, strictly increasing.
        delta: At which they are kept, in (0, 1).
        absent: How many of those who take part may collude or send nothing.
    """

    groups: tuple[tuple[int, int], ...]
    targets: tuple[float, ...]
    delta: float
    absent: int

    @property
    def choices(self) -> Choices:
        """The protocol that collects targets."""
        return Choices(self.targets)


@dataclass(frozen=True)
class CountsPlanRule:
    """See `PlanRule`.

    Attributes:
        terms: Of the collection.
        table: For the same questions, targets and delta.
    """

    terms: CountsTerms
    table: PoissonTable

    @classmethod
    def of(cls, terms: CountsTerms) -> "CountsPlanRule":
        """Computes the rule.

        Raises:
            CertificationError: If nothing is found that can be proven.
        """
        return cls(terms, _computed_table(terms.groups, terms.targets, terms.delta))

    @classmethod
    def from_dict(cls, terms: CountsTerms, value: object) -> "CountsPlanRule":
        """Reads the output of `to_dict`.

        Raises:
            InvalidInputError: If a member is missing, unknown or out of range.
        """
        rows = StatedRows.from_dict(value)
        table = PoissonTable(
            groups=terms.groups,
            targets=terms.targets,
            delta=terms.delta,
            cut=rows.cut,
            coin_error=rows.coin_error,
            noise=rows.noise,
            rates=rows.rates,
        )
        return cls(terms, table)

    def to_dict(self) -> dict[str, Any]:
        """See `PlanRule`."""
        return plain_rows(self.table)

    def prove(self) -> None:
        """See `PlanRule`."""
        prove_once(self.table)

    def check(self, plan: Identity, minimum: int) -> None:
        """See `PlanRule`."""
        # H of docs/theory/plans.md: people who really send their noise.
        self.table.check(_plan_parameters(plan), minimum - self.terms.absent)

    def plan(self, chosen: Tally, minimum: int, *, spare: int) -> Identity:
        """See `PlanRule`."""
        people = self.terms.choices.estimate(chosen).people()
        num_honest = honest_senders(minimum, absent=self.terms.absent, spare=spare)
        # Equally common answers have the largest mean variance.
        shares = [np.array([most / buckets]) for buckets, most in self.terms.groups]

        def plan_of(
            noise: float, rates: tuple[float, ...]
        ) -> tuple[float, Identity] | None:
            counts = self._counts(noise, rates, num_honest, spare)
            if counts is None:
                return None
            errors = np.concatenate(counts.predicted_errors(people, shares))
            # The mean over all answers: no question is preferred.
            return float(np.mean(errors**2)), counts.identity

        return best_plan(self.table, minimum, plan_of)

    def _counts(
        self, noise: float, rates: tuple[float, ...], num_honest: int, spare: int
    ) -> Counts | None:
        """Returns the protocol with a row's noise; None if reports were too large."""
        groups, means = self.terms.groups, self.table.means(noise)
        answers = sum(most for _, most in groups)
        messages = self.table.messages(means, num_honest - spare)
        size = report_size(self.table, messages, answers, num_honest)
        if size is None:
            return None
        return Counts(
            tuple(
                CountGroup(buckets, most, PoissonNoise(mean))
                for (buckets, most), mean in zip(groups, means, strict=True)
            ),
            self.terms.targets,
            rates,
            # Noise is made for fewer people than have to send it, so that some may drop
            # out.
            num_honest - spare,
            size,
        )


def _plan_parameters(plan: Identity) -> CountsParameters:
    """Returns the parameters of a plan; raises InvalidInputError if it is none."""
    try:
        counts = Counts.from_record(plan.record)
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise InvalidInputError("Expected a plan for several questions.") from error
    return counts.parameters


# A table depends on these three terms alone, and takes seconds to compute.
@lru_cache(maxsize=64)
def _computed_table(
    groups: tuple[tuple[int, int], ...], targets: tuple[float, ...], delta: float
) -> PoissonTable:
    return make_poisson_table(groups, targets, delta)
