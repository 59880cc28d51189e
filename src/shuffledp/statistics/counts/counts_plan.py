"""Comparison of noise for counts at equal central targets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup
from shuffledp.accounting.items.items_calibration import check_delta
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.planning.protocol_plan import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsDesign, CountsSearch
from shuffledp.statistics.counts.noise_families import noise_families

USUAL_MESSAGES = 16


@dataclass(frozen=True, eq=False)
class CountsPlan:
    """Designs in order of error, and what others would reach.

    Attributes:
        wish: The requirements.
        buckets: d.
        most: s.
        share: Of the bucket whose error is predicted.
        designs: At least one, the best first.
        curator: Error of a trusted curator at the same targets, in people.
        shuffler: Error if the shuffler itself adds the noise, one message per answer; None
            where that is not proven.
        left_out: Families without a certificate, with the reason.
    """

    wish: Wish
    buckets: int
    most: int
    share: float
    designs: tuple[CountsDesign, ...]
    curator: float
    shuffler: float | None
    left_out: tuple[str, ...]

    @property
    def best(self) -> CountsDesign:
        """The design of the smallest error."""
        return self.designs[0]

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as plain values, for JSON."""
        return {
            "buckets": self.buckets,
            "most": self.most,
            "share": self.share,
            "delta": self.wish.delta,
            "absent": self.wish.absent,
            "designs": [
                {
                    "name": design.name,
                    "standard_error": design.standard_error,
                    "times_curator": design.standard_error / self.curator,
                    "messages": design.messages,
                    "constant": design.is_constant,
                    "protocol": design.protocol.identity.record,
                    "guarantee": design.guarantee.to_dict(),
                }
                for design in self.designs
            ],
            "trusted_curator": self.curator,
            "noise_from_shuffler": self.shuffler,
            "left_out": list(self.left_out),
        }


def plan_counts(
    wish: Wish,
    *,
    buckets: int,
    most: int = 1,
    share: float | None = None,
    max_messages: int = USUAL_MESSAGES,
    on_step: Callable[[str], None] = lambda _step: None,
) -> CountsPlan:
    """Compares noise for the counts of one question, at equal central targets.

    >>> plan = plan_counts(Wish(targets={1.0: 10_000}), buckets=8, max_messages=5)
    >>> plan.best.name, round(plan.best.standard_error / plan.curator, 2)
    ('geometric noise', 1.01)

    Args:
        wish: Targets, people, delta, absent people.
        buckets: d, at least 1.
        most: s, the most buckets that a person is in.
        share: Of people in the bucket whose error is predicted; by default most / buckets.
        max_messages: Messages of a report, dummies included: in the mean where sizes vary.
        on_step: Called with the name of each family before it is computed.

    Raises:
        InvalidInputError: If a parameter is out of range.
        PopulationError: If more people may be absent than there are others.
        CertificationError: If nothing is found that can be proven.
    """
    if wish.targets is None:
        raise InvalidInputError("Expected central targets, got privacy levels.")
    people = Population.from_counts(dict(wish.targets))
    if people.epsilons[0] <= 0.0:
        raise InvalidInputError("Expected targets above 0.")
    honest = people.num_users - wish.absent
    if honest < 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {wish.absent}."
        )
    # Checks both numbers before any search.
    CountGroup(buckets, most, PoissonNoise(1.0))
    check_delta(wish.delta)
    check_whole(max_messages, "messages per report", least=1)
    if max_messages <= most:
        raise InvalidInputError(
            f"Expected more than {most} messages per report, got {max_messages}."
        )
    search = CountsSearch(
        people, buckets, most, _share(share, buckets, most), wish.delta, honest
    )
    designs, left_out = [], []
    for family in noise_families(
        honest=honest,
        buckets=buckets,
        most=most,
        epsilon=float(people.epsilons[0]),
        max_messages=max_messages,
    ):
        on_step(family.name)
        try:
            design = search.design(family, wish.absent)
        except CertificationError as error:
            left_out.append(f"{family.name}: {error}")
            continue
        if design.messages > max_messages + 1e-9:
            left_out.append(
                f"{family.name}: {design.messages:.3g} messages per report."
            )
            continue
        designs.append(design)
    if not designs:
        raise CertificationError(f"No noise will do. {' '.join(left_out[-1:])}")
    designs.sort(key=lambda design: design.standard_error)
    on_step("yardsticks")
    return CountsPlan(
        wish=wish,
        buckets=buckets,
        most=most,
        share=search.share,
        designs=tuple(designs),
        curator=search.curator(),
        shuffler=search.shuffler(),
        left_out=tuple(left_out),
    )


def _share(share: float | None, buckets: int, most: int) -> float:
    if share is None:
        return most / buckets if buckets > 1 else 0.5
    if not 0.0 <= share <= 1.0:
        raise InvalidInputError(f"Expected a share from 0 to 1, got {share:g}.")
    return share
