"""The mechanism of a mean that a plan sizes, and that a rehearsal takes without a name."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.planning.wish import Wish
from shuffledp.statistics.mean.mechanism_choice import (
    fit_size,
    plan_name,
    predicted_errors,
    usual_at_levels,
)
from shuffledp.types import Mode

ERRORS = predicted_errors(None, 0.0)
MODES: tuple[Mode, ...] = ("agnostic", "stratified")


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("targets", [{1.0: 3_000}, {0.2: 2_000, 0.5: 1_000}])
def test_the_size_is_nearly_the_best_of_all_that_were_certified(
    targets: dict[float, int], mode: Mode
) -> None:
    wish = Wish(targets=targets, delta=1e-6)
    unsized = sdp.Mean(0.0, 1.0, mode, sdp.GridResponse(0.0, 1.0))

    protocol, fitted = fit_size(unsized, wish, ERRORS)

    every = []
    for size in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 30):
        other = replace(unsized, randomizer=sdp.GridResponse(num_values=size))
        every.append(ERRORS(other, wish.fit(other).people))
    # Errors are flat around the best size.
    assert ERRORS(protocol, fitted.people) <= 1.02 * min(every)
    for level, target in zip(fitted.guarantee.levels, targets, strict=True):
        # Certified numbers are rounded upward, in the sixth digit.
        assert level.epsilon_central <= target * (1.0 + 1.1e-5)


@pytest.mark.slow
def test_a_grid_has_a_thousandth_of_the_variance_of_a_bit_at_equal_guarantees() -> None:
    plan = sdp.plan_mean(Wish(targets={1.0: 1_000_000}), low=0.0, high=1.0)

    errors = {o.name: o.error for o in plan.options if o.mode == "agnostic"}

    best = plan.recommended
    assert best.name.startswith("grid-response(values=")
    assert (1_000_000 * best.error) ** 2 < 300.0
    assert errors["one-bit"] ** 2 > 800.0 * best.error**2
    assert errors["laplace"] ** 2 > 60.0 * best.error**2


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    counts=st.dictionaries(st.floats(0.05, 12.0), st.integers(1, 10_000), min_size=1),
    mode=st.sampled_from(MODES),
)
def test_what_is_usual_is_much_better_than_a_bit_or_is_one(
    counts: dict[float, int], mode: Mode
) -> None:
    people = sdp.Population.from_counts(counts)

    chosen = sdp.Mean(0, 10, mode, usual_at_levels(0, 10, mode, people))

    bit = sdp.Mean(0, 10, mode)
    assert chosen == bit or ERRORS(chosen, people) < 0.75 * ERRORS(bit, people)


def test_people_at_level_zero_send_bits() -> None:
    people = sdp.Population.from_counts({0.0: 10})

    assert usual_at_levels(0, 10, "agnostic", people) == sdp.OneBit(0, 10)


def test_values_at_the_ends_of_the_range_are_sent_as_bits() -> None:
    people = sdp.Population.from_counts({4.0: 1_000})

    ends = usual_at_levels(0.0, 1.0, "agnostic", people, spread=0.5)

    assert ends == sdp.OneBit(0.0, 1.0)
    assert usual_at_levels(0.0, 1.0, "agnostic", people) != ends


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("mode", MODES)
def test_a_level_of_their_own_for_everybody_takes_no_time(mode: Mode) -> None:
    levels = np.random.default_rng(3).uniform(3.0, 6.0, 100_000)
    people = sdp.Population.from_budgets(levels)
    same = sdp.Population.from_counts({4.5: 100_000})

    begun = time.perf_counter()
    many = usual_at_levels(0, 10, mode, people)

    # It takes 0.3 s; a scan of all levels in all sizes takes minutes.
    assert time.perf_counter() - begun < 20.0
    assert isinstance(many, sdp.GridResponse)
    few = usual_at_levels(0, 10, "agnostic", same)
    assert isinstance(few, sdp.GridResponse)
    assert few.num_values / 2 <= many.num_values <= 2 * few.num_values


def rehearsed(level: float, **more: Any) -> sdp.Rehearsed:
    hours = np.random.default_rng(4).uniform(2.0, 6.0, 2_000)
    people = pl.DataFrame({"hours": hours, "epsilon": level})
    return sdp.rehearse(
        people,
        value="hours",
        level="epsilon",
        statistic="mean",
        low=0,
        high=10,
        seed=5,
        **more,
    )


def test_a_rehearsal_without_a_name_takes_what_is_usual_at_its_levels() -> None:
    people = sdp.Population.from_counts({4.0: 2_000})
    best = sdp.Mean(0, 10, "agnostic", usual_at_levels(0, 10, "agnostic", people))

    unnamed, named = rehearsed(4.0), rehearsed(4.0, mechanism=plan_name(best))

    assert unnamed.to_frame().equals(named.to_frame())
    assert plan_name(best).startswith("grid-response(values=")
    assert any(plan_name(best) in line for line in unnamed.summary.caveats)
    assert not any("No mechanism" in line for line in named.summary.caveats)


def test_small_levels_and_explicit_names_keep_one_bit() -> None:
    small, bits = rehearsed(0.5), rehearsed(4.0, mechanism="one-bit")

    for result in (small, bits):
        assert not any("No mechanism" in line for line in result.summary.caveats)
    named = rehearsed(0.5, mechanism="one-bit")
    assert small.to_frame().equals(named.to_frame())
    # Errors of the best mechanism are a fraction.
    usual, bit = (r.summary.rows[0].standard_error for r in (rehearsed(4.0), bits))
    assert usual < 0.75 * bit
