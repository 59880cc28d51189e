"""Estimates of composed bounds are near these, and never stand for them."""

import math
from dataclasses import dataclass
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.estimated_profile import EstimatedBound
from shuffledp.errors import CertificationError

PEOPLE = sdp.Population.from_counts({1.0: 2_000, 4.0: 2_000})


@pytest.mark.parametrize("variant", ["symmetric", "optimized"])
def test_estimates_of_reports_in_parts_are_near_their_bounds(variant: str) -> None:
    protocol = sdp.Frequency(4, randomizer=sdp.UnaryEncoding(4, variant))
    promise = sdp.Promise(protocol, delta=1e-6)
    targets = [0.1, 0.5]

    estimates = promise.estimates_of(PEOPLE, targets)

    bounds = promise.deltas_of(PEOPLE, targets)
    assert estimates == pytest.approx(bounds, rel=0.1)
    assert 1e-12 < min(bounds) < max(bounds) < 1e-2


def test_estimates_of_the_first_levels_are_those_of_all() -> None:
    promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)

    (first,) = promise.estimates_of(PEOPLE, [0.1])

    assert first == pytest.approx(promise.estimates_of(PEOPLE, [0.1, 0.5])[0], rel=1e-6)


@pytest.mark.parametrize(
    "device", [sdp.KRandomizedResponse(17), sdp.Laplace(), sdp.OneBit()]
)
def test_estimates_of_several_rounds_are_near_their_bounds(
    device: Any,
) -> None:
    promise = sdp.Promise(device, delta=1e-6, rounds=10)
    targets = [0.3, 1.5]

    estimates = promise.estimates_of(PEOPLE, targets)

    # Estimates of the smallest losses are twice as large at most.
    bounds = promise.deltas_of(PEOPLE, targets)
    assert estimates == pytest.approx(bounds, rel=0.5)
    assert 1e-12 < min(bounds) < max(bounds) < 1e-2


@dataclass(frozen=True)
class FixedBound:
    """A bound of 0.5, with an estimate that is given."""

    size: float

    def delta(self, epsilon: float) -> float:
        return 0.5

    def estimate(self, epsilon: float) -> float:
        return self.size

    def slack(self, epsilon: float) -> float:
        return 0.25


def test_an_estimate_is_at_most_one_and_refused_where_nothing_is_known() -> None:
    assert EstimatedBound(FixedBound(0.375)).delta(1.0) == 0.375
    assert EstimatedBound(FixedBound(3.0)).delta(1.0) == 1.0
    with pytest.raises(CertificationError, match="Nothing is estimated"):
        EstimatedBound(FixedBound(math.nan)).delta(1.0)


def test_an_estimate_has_no_margin_and_is_evaluated_beside_any_other() -> None:
    bound = EstimatedBound(FixedBound(0.375))

    assert bound.estimate(1.0) == bound.slack(1.0) == 0.0


def test_estimates_with_blankets_in_steps_are_nearer_to_what_is_certified() -> None:
    promise = sdp.Promise(sdp.Gaussian(), delta=1e-12, rounds=12)
    people = sdp.Population.from_counts({0.02: 500, 0.2: 500, 1.0: 500})
    targets = [0.02, 0.2, 0.5]

    certified = promise.deltas_of(people, targets)
    plain = promise.estimates_of(people, targets)
    in_steps = promise.estimates_of(people, targets, in_steps=True)

    for bound, without, estimate in zip(certified, plain, in_steps, strict=True):
        assert abs(math.log(estimate / bound)) <= abs(math.log(without / bound)) + 0.02
    assert in_steps != plain
