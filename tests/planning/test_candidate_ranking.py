import math

import pytest

from shuffledp import verify
from shuffledp.planning.candidate_ranking import (
    Candidate,
    left_out_reasons,
    people_estimate,
)
from shuffledp.planning.protocol_plan import Wish
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean.mean_plan import plan_mean


def test_the_best_and_the_next_are_never_left_out() -> None:
    candidates = [Candidate("a", 3.0), Candidate("b", 1.0), Candidate("c", 2.0)]

    reasons = left_out_reasons(candidates, "agnostic", least=math.inf)

    assert list(reasons) == [0]
    assert "a (agnostic): its error is about 3, and that of c about 2" in reasons[0]


def test_only_the_best_is_certified_where_another_mode_is_better() -> None:
    candidates = [Candidate("a", 3.0), Candidate("b", 2.0)]

    assert list(left_out_reasons(candidates, "stratified", least=1.0)) == [0]
    # An estimate may be off: this mode may be the better one.
    assert not left_out_reasons(candidates, "stratified", least=1.9)


def test_estimates_that_are_near_are_certified_and_known_errors_are_told_apart() -> (
    None
):
    near = [Candidate("a", 1.05), Candidate("b", 1.0)]
    known = [Candidate("a", 1.05, estimated=False), Candidate("b", 1.0)]

    assert not left_out_reasons(near, "stratified", least=0.5)
    assert list(left_out_reasons(known, "stratified", least=0.5)) == [0]


@pytest.mark.parametrize("error", [math.nan, math.inf])
def test_a_candidate_without_a_known_error_is_certified(error: float) -> None:
    candidates = [Candidate("a", error), Candidate("b", 2.0), Candidate("c", 1.0)]

    assert not left_out_reasons(candidates, "agnostic", least=math.inf)


def test_a_biased_candidate_does_not_stand_for_the_best() -> None:
    candidates = [Candidate("biased", 0.1, unbiased=False), Candidate("a", 2.0)]

    assert not left_out_reasons(candidates, "stratified", least=0.05)


def test_estimated_levels_are_near_those_that_are_certified() -> None:
    wish = Wish(targets={0.1: 4_000, 0.2: 6_000}, delta=1e-6)
    protocol = Frequency(17)

    estimated, (people, _) = people_estimate(wish, protocol), wish.fit(protocol)

    # The estimate of delta is right to a twentieth, that of a level to far less.
    assert estimated.epsilons == pytest.approx(people.epsilons, rel=0.01)
    assert estimated.counts.tolist() == people.counts.tolist()


@pytest.mark.slow
def test_plans_state_what_verification_recomputes_and_what_was_left_out() -> None:
    wish = Wish(targets={0.3: 4_000, 0.6: 6_000}, delta=1e-6)

    plan = plan_mean(wish, low=0.0, high=1.0)

    for option in plan.options:
        assert verify(option.guarantee).holds
    stated = [option.error for option in plan.options if option.mode == "agnostic"]
    assert len(stated) >= 2
    assert any("was not certified" in line for line in plan.left_out)
