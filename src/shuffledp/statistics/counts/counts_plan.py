"""Comparison of noise for counts at equal central targets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.calibration.calibrated_population import level_records
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup
from shuffledp.accounting.counts.rate_statement import check_delta
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.planning.collection_design import CollectionDesign, recommended
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsDesign, CountsSearch
from shuffledp.statistics.counts.hashed_counts import hashed_counts
from shuffledp.statistics.counts.noise_families import USUAL_MESSAGES, noise_families
from shuffledp.statistics.frequency.compared_protocols import compared_protocols
from shuffledp.statistics.questionnaire.hashed.hashed_rows import can_be_hashed

# Buckets up to which single messages are compared: beyond, that takes longer than noise.
# Beside hashed buckets they always are: they may have the smaller error.
_MOST_CATEGORIES = 256


@dataclass(frozen=True, eq=False)
class CountsPlan:
    """Designs in order of error, and the errors that others would reach.

    Attributes:
        wish: The requirements.
        buckets: d.
        most: s.
        share: Of the bucket whose error is predicted.
        designs: At least one, the best first.
        single: The best protocol of one randomized message, at the same targets; its error
            is that of a share. None for several answers, or for many buckets unless they
            are hashed.
        curator: Error of a trusted curator at the same targets, in people.
        shuffler: If the shuffler itself is trusted to add the noise, one message per
            answer; apart from `designs`, which trust no single party. None for one
            bucket, and where nothing is proven.
        left_out: Families without a certificate, with the reason.
    """

    wish: Wish
    buckets: int
    most: int
    share: float
    designs: tuple[CountsDesign, ...]
    single: CollectionDesign | None
    curator: float
    shuffler: CountsDesign | None
    left_out: tuple[str, ...]

    @property
    def best(self) -> CountsDesign:
        """The design of the smallest error."""
        return self.designs[0]

    @property
    def single_error(self) -> float | None:
        """Error of a count from single messages, in people."""
        if self.single is None:
            return None
        return self.single.error * self.wish.num_users

    @property
    def recommended_guarantee(self) -> Guarantee:
        """Of the design of the smallest error, which may be the single message."""
        error = self.single_error
        if self.single is None or error is None or error >= self.best.standard_error:
            return self.best.guarantee
        return self.single.guarantee

    def _record(self, design: CountsDesign) -> dict[str, Any]:
        return {
            "name": design.name,
            "standard_error": design.standard_error,
            "times_curator": design.standard_error / self.curator,
            "messages": design.messages,
            "bits_per_person": design.bits,
            "constant": design.is_constant,
            "standard_error_if_even": design.even_error,
            "protocol": design.protocol.identity.record,
            "guarantee": design.guarantee.to_dict(),
        }

    @property
    def reason(self) -> str:
        """The recommendation, beside the next best and a trusted curator, in a sentence."""
        errors = [(design.standard_error, design.name) for design in self.designs]
        if self.single is not None:
            errors.append((self.single.error * self.wish.num_users, _name(self.single)))
        (error, name), *others = sorted(errors)
        words = (
            f"{name}, {error / self.curator:.3g} times the error of a trusted curator"
        )
        if others:
            next_error, next_name = others[0]
            words += (
                f"; that of the next, {next_name}, is {next_error / error:.3g} times it"
            )
        return f"{words}."

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as plain values, for JSON."""
        return {
            "buckets": self.buckets,
            "most": self.most,
            "share": self.share,
            "delta": self.wish.delta,
            "absent": self.wish.absent,
            "designs": [self._record(design) for design in self.designs],
            "single_message": None
            if self.single is None
            else {
                "name": _name(self.single),
                "standard_error": self.single_error,
                "bits_per_person": self.single.bits,
                "levels": level_records(self.single.people, self.single.targets),
                "guarantee": self.single.guarantee.to_dict(),
            },
            "reason": self.reason,
            "trusted_curator": self.curator,
            "noise_from_shuffler": None
            if self.shuffler is None
            else self._record(self.shuffler),
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
    num_honest = people.num_users - wish.absent
    if num_honest < 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {wish.absent}."
        )
    # Checks both numbers before any search.
    CountGroup(buckets, most, PoissonNoise(1.0))
    check_delta(wish.delta)
    # Answers alone are not hidden.
    check_whole(max_messages, "messages per report", least=most + 1)
    search = CountsSearch(
        people, buckets, most, _share(share, buckets, most), wish.delta, num_honest
    )
    designs, left_out = [], []
    for family in noise_families(
        num_honest=num_honest,
        buckets=buckets,
        most=most,
        # Noise is sized for the smallest target; people of larger ones send more often.
        epsilon=float(people.epsilons[0]),
        max_messages=max_messages,
    ):
        on_step(family.name)
        try:
            design = search.design(family, wish.absent)
        except CertificationError as error:
            left_out.append(f"{family.name}: {error}")
            continue
        # Found sizes are rounded: a limit that is met exactly is not exceeded.
        if design.messages > max_messages + 1e-9:
            left_out.append(
                f"{family.name}: {design.messages:.3g} messages per report."
            )
            continue
        designs.append(design)
    # Noise for buckets without people takes messages that hashed ones do not need.
    is_empty = buckets > people.num_users or not designs
    if most == 1 and is_empty and can_be_hashed(buckets):
        on_step("hashed buckets")
        try:
            designs.append(
                hashed_counts(wish, buckets=buckets, max_messages=max_messages)
            )
        except CertificationError as error:
            left_out.append(f"hashed buckets: {error}")
    if not designs:
        raise CertificationError(
            "No noise keeps the targets in reports of at most "
            f"{max_messages:,} messages. {' '.join(left_out)} More people, larger targets "
            "or larger reports may do."
        )
    # All keep the same targets: the error alone decides.
    designs.sort(key=lambda design: design.standard_error)
    single = None
    is_hashed = any(design.hashed is not None for design in designs)
    if most == 1 and (buckets <= _MOST_CATEGORIES or is_hashed):
        options, reasons = compared_protocols(
            wish,
            # One bucket is the question whether a person is in it.
            num_categories=max(buckets, 2),
            share=search.share,
            modes=("agnostic",),
            on_step=on_step,
        )
        left_out.extend(reasons)
        single = recommended(options) if options else None
    elif most == 1:
        left_out.append(
            f"single messages, which are compared up to {_MOST_CATEGORIES:,} buckets: see "
            "`shuffledp plan frequency`."
        )
    shuffler = None
    on_step("noise from the shuffler")
    if buckets == 1:
        left_out.append(
            "noise from the shuffler: whether a person sends a message into a single "
            "bucket is the answer; ask yes and no as two buckets."
        )
    else:
        try:
            shuffler = search.shuffler(wish.absent)
        except CertificationError as error:
            left_out.append(f"noise from the shuffler: {error}")
    on_step("yardsticks")
    return CountsPlan(
        wish=wish,
        buckets=buckets,
        most=most,
        share=search.share,
        designs=tuple(designs),
        single=single,
        curator=search.curator(),
        shuffler=shuffler,
        left_out=tuple(left_out),
    )


def _name(single: CollectionDesign) -> str:
    return f"one message: {single.name}"


def _share(share: float | None, buckets: int, most: int) -> float:
    if share is None:
        # Equally common answers; of a single bucket, the share with the largest
        # variance.
        return most / buckets if buckets > 1 else 0.5
    if not 0.0 <= share <= 1.0:
        raise InvalidInputError(f"Expected a share from 0 to 1, got {share:g}.")
    return share
