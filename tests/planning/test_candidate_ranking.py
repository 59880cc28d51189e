import math
from collections.abc import Callable

import pytest

from shuffledp import verify
from shuffledp.errors import CertificationError
from shuffledp.planning.candidate_ranking import (
    Candidate,
    left_out_reasons,
    people_estimate,
)
from shuffledp.planning.wish import Wish
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.mean.mean_plan import plan_mean

WISH = Wish(targets={0.5: 100, 1.0: 200, 2.0: 300})


def estimated(name: str, error: float, *, unbiased: bool = True) -> Candidate:
    return Candidate.for_targets(name, WISH, lambda _wish: error, unbiased=unbiased)


def of_one_target(error_at: Callable[[float], float]) -> Callable[[Wish], float]:
    """Returns an estimate that fails for people of several targets."""

    def estimate(wish: Wish) -> float:
        if len(wish.asked) > 1:
            raise CertificationError("No estimate.")
        return error_at(min(wish.asked))

    return estimate


def test_the_best_and_the_next_are_never_left_out_if_it_is_near() -> None:
    candidates = [estimated("a", 3.0), estimated("b", 1.0), estimated("c", 2.0)]

    reasons = left_out_reasons(candidates, "agnostic", least=math.inf)

    assert list(reasons) == [0]
    assert "a (agnostic): its error is about 3, and that of b about 1" in reasons[0]


def test_a_next_candidate_that_is_far_from_the_best_is_not_certified() -> None:
    candidates = [estimated("a", 3.0), estimated("b", 1.0)]

    assert list(left_out_reasons(candidates, "agnostic", least=math.inf)) == [0]


def test_only_the_best_is_certified_where_another_mode_is_better() -> None:
    candidates = [estimated("a", 3.0), estimated("b", 2.0)]

    assert list(left_out_reasons(candidates, "stratified", least=1.0)) == [0]
    # An estimate may be off: this mode may be the better one.
    assert not left_out_reasons(candidates, "stratified", least=1.9)


def test_estimates_that_are_near_are_certified_and_known_errors_are_told_apart() -> (
    None
):
    near = [estimated("a", 1.15), estimated("b", 1.0)]
    known = [Candidate.certain("a", 1.15), estimated("b", 1.0)]

    assert not left_out_reasons(near, "stratified", least=0.95)
    assert list(left_out_reasons(known, "stratified", least=0.5)) == [0]


def test_two_of_several_estimates_that_are_near_are_certified() -> None:
    candidates = [estimated("a", 1.08), estimated("b", 1.0), estimated("c", 1.05)]

    reasons = left_out_reasons(candidates, "stratified", least=0.95)

    assert list(reasons) == [0]
    # Errors that are known are no estimates, and those that are only enclosed do not matter
    # beside two of these.
    others = [Candidate.certain("d", 1.01), Candidate("e", math.nan, 0.5, 3.0)]
    reasons = left_out_reasons([*candidates, *others], "stratified", least=0.95)
    assert list(reasons) == [0, 4]
    assert "e (stratified): its error is about 0.5 to 3" in reasons[4]
    # Unless they are the best for certain, or beside one.
    best = Candidate("f", math.nan, 0.5, 0.95)
    assert 3 not in left_out_reasons([*candidates, best], "stratified", least=0.95)
    few = [*candidates[1:2], *others]
    assert not left_out_reasons(few, "stratified", least=0.95)


def test_one_of_several_estimates_is_certified_where_another_mode_is_better() -> None:
    candidates = [estimated("a", 1.08), estimated("b", 1.0), estimated("c", 1.05)]
    enclosed = Candidate("d", math.nan, 0.6, 3.0)

    reasons = left_out_reasons([*candidates, enclosed], "stratified", least=0.5)

    assert list(reasons) == [0, 2, 3]
    # It may be the best of all modes, and so may another one then.
    reasons = left_out_reasons([*candidates, enclosed], "stratified", least=0.7)
    assert list(reasons) == [0, 3]


def test_the_best_unbiased_candidate_is_certified_beside_two_biased_ones() -> None:
    biased = [estimated(name, 0.9, unbiased=False) for name in "ab"]

    reasons = left_out_reasons(
        [*biased, estimated("c", 1.0), estimated("d", 1.01)], "agnostic", least=0.95
    )

    assert list(reasons) == [3]


def test_errors_lie_between_those_of_the_smallest_and_the_largest_target() -> None:
    candidate = Candidate.for_targets(
        "a", WISH, of_one_target(lambda target: 6.0 / target)
    )

    assert math.isnan(candidate.error)
    assert candidate.least < 6.0 / 2.0 < 6.0 / 0.5 < candidate.most
    others = [estimated("b", 0.5), candidate]
    (reason,) = left_out_reasons(others, "agnostic", least=math.inf).values()
    assert "a (agnostic): its error is about 1.5 to 18" in reason


def test_a_candidate_is_at_least_as_good_as_with_its_targets_as_levels() -> None:
    def estimate(wish: Wish) -> float:
        if wish.targets is None:
            return 0.02
        if len(wish.asked) > 1:
            raise CertificationError("No estimate.")
        return 6.0 / min(wish.asked)

    candidate = Candidate.for_targets("a", WISH, estimate)

    assert 0.02 <= candidate.most < 0.03
    assert candidate.least <= candidate.most
    others = [estimated("b", 0.5), estimated("c", 0.51)]
    # It is the best for certain, though nothing is estimated of its own levels.
    reasons = left_out_reasons([*others, candidate], "agnostic", least=math.inf)
    assert list(reasons) == [0, 1]


def test_a_candidate_that_may_be_the_best_is_certified() -> None:
    wide = Candidate.for_targets("a", WISH, of_one_target(lambda target: 1.0 / target))

    assert not left_out_reasons([wide, estimated("b", 1.0)], "agnostic", least=math.inf)


def test_the_largest_target_alone_may_say_that_a_candidate_is_worse() -> None:
    def error_at(target: float) -> float:
        if target < 2.0:
            raise CertificationError("No estimate.")
        return 40.0

    candidates = [
        Candidate.for_targets("a", WISH, of_one_target(error_at)),
        estimated("b", 1.0),
    ]

    (reason,) = left_out_reasons(candidates, "agnostic", least=math.inf).values()
    assert "its error is at least about 20" in reason


@pytest.mark.parametrize("error", [math.nan, math.inf])
def test_a_candidate_without_a_known_error_is_certified(error: float) -> None:
    candidates = [estimated("a", error), estimated("b", 2.0), estimated("c", 1.0)]

    assert not left_out_reasons(candidates, "agnostic", least=math.inf)


def test_all_are_certified_if_no_error_is_known() -> None:
    candidates = [estimated("a", math.nan), estimated("b", math.nan)]

    assert not left_out_reasons(candidates, "agnostic", least=math.inf)


def test_a_biased_candidate_does_not_stand_for_the_best() -> None:
    candidates = [estimated("biased", 0.1, unbiased=False), estimated("a", 2.0)]

    assert not left_out_reasons(candidates, "stratified", least=0.05)


def test_estimated_levels_are_near_those_that_are_certified() -> None:
    wish = Wish(targets={0.1: 4_000, 0.2: 6_000}, delta=1e-6)
    protocol = Frequency(17)

    about, people = people_estimate(wish, protocol), wish.fit(protocol).people

    # The estimate of delta is right to a twentieth, that of a level to far less.
    assert about.epsilons == pytest.approx(people.epsilons, rel=0.01)
    assert about.counts.tolist() == people.counts.tolist()


@pytest.mark.slow
def test_plans_state_what_verification_recomputes_and_what_was_left_out() -> None:
    wish = Wish(targets={0.3: 4_000, 0.6: 6_000}, delta=1e-6)

    plan = plan_mean(wish, low=0.0, high=1.0)

    for option in plan.options:
        assert verify(option.guarantee).holds
    stated = [option.error for option in plan.options if option.mode == "agnostic"]
    assert stated
    assert any("was not certified" in line for line in plan.left_out)
