"""One level that misses its target tells that all together do; they are asked in turn."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.calibration_search import excess_of
from shuffledp.accounting.calibration.largest_excess import (
    LargestExcess,
    largest_for_all,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.population import Population

TARGETS = [0.1, 0.2, 0.08]
PEOPLE = Population.from_counts({1.0: 5_000, 1.5: 5_000, 2.0: 5_000})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The levels whose deltas are asked for, from now on."""
    levels: list[int] = []
    one_by_one = Promise.one_by_one

    def noted(
        self: Promise,
        people: Population,
        targets: Sequence[float],
        order: Sequence[int],
        **options: Any,
    ) -> Iterator[float]:
        deltas = one_by_one(self, people, targets, order, **options)
        for index, delta in zip(order, deltas, strict=True):
            levels.append(index)
            yield delta

    monkeypatch.setattr(Promise, "one_by_one", noted)
    return levels


def test_levels_near_their_targets_are_asked_first_and_one_beyond_ends_it(
    asked: list[int],
) -> None:
    promise = Promise(sdp.Frequency(4), 1e-6)
    few = Population.from_counts({1.0: 50, 1.5: 50, 2.0: 50})
    excess = LargestExcess(promise, TARGETS)

    kept = excess.at(PEOPLE)
    broken = excess.at(few)

    deltas = list(promise.one_by_one(PEOPLE, TARGETS, range(3)))
    expected = [excess_of(delta, 1e-6) for delta in deltas]
    nearest = expected.index(max(expected))
    assert nearest > 0
    assert kept == max(expected) < 0.0
    assert asked[:4] == [0, 1, 2, nearest]
    # The first that is beyond its target is all that was asked.
    assert len(asked) == 4 + 3
    assert broken > 0.0


@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
def test_deltas_do_not_depend_on_the_order_in_which_they_are_asked_for(
    mode: Literal["agnostic", "stratified"],
) -> None:
    promise = Promise(sdp.Frequency(4, mode=mode), 1e-6)

    first = list(promise.one_by_one(PEOPLE, TARGETS, [0, 1, 2]))
    second = list(promise.one_by_one(PEOPLE, TARGETS, [2, 0, 1]))

    assert second == [first[2], first[0], first[1]]


def test_levels_far_from_their_targets_are_left_to_the_answer(asked: list[int]) -> None:
    promise = Promise(sdp.Frequency(4), 1e-6)
    # The target of the last level is used up first; the others keep theirs by far.
    excess = LargestExcess(promise, [0.5, 0.5, 0.08])

    first = excess.at(PEOPLE)
    second = excess.at(Population.from_counts({1.1: 5_000, 1.6: 5_000, 2.1: 5_000}))

    assert first < second < 0.0
    assert asked == [0, 1, 2, 2]
    assert not excess.others_miss(PEOPLE)
    assert asked[4:] == [0, 1]


def test_a_level_that_was_left_out_by_mistake_decides_in_the_end(
    asked: list[int],
) -> None:
    promise = Promise(sdp.Frequency(4), 1e-6)
    excess = LargestExcess(promise, [0.02, 5.0, 0.5])

    def people_at(factor: float) -> tuple[Population, None]:
        return Population(factor * PEOPLE.epsilons, PEOPLE.counts), None

    # Of these people the first level is nearest to its target, of those another one.
    excess._order, excess._left_out = [2], [0, 1]
    factor = largest_for_all(excess, people_at, 1.0, 4.0)

    people, _ = people_at(factor)
    assert promise.kept(people, [0.02, 5.0, 0.5])
    assert not promise.kept(people_at(1.001 * factor)[0], [0.02, 5.0, 0.5])
    assert set(asked) == {0, 1, 2}


def test_normal_losses_tell_which_level_is_asked_first(asked: list[int]) -> None:
    promise = Promise(sdp.Frequency(4), 1e-6)
    excess = LargestExcess(promise, [0.5, 0.5, 0.08])

    usual = excess.usual(PEOPLE)

    # Both are below 0, and of one size, about.
    assert 2.0 * usual < excess.at(PEOPLE) < 0.5 * usual
    assert asked == [2]


def test_estimates_begin_where_composed_noise_uses_its_target_up(
    asked: list[int],
) -> None:
    promise = Promise(sdp.Gaussian(), 1e-9, rounds=12)
    people = Population.from_counts({3.852: 1_000})

    _, answer = sdp.largest_scale(promise, people, [1.1556])

    (level,) = answer.guarantee.levels
    assert level.epsilon_central is not None
    assert 0.999 * 1.1556 < level.epsilon_central <= 1.1556
    # From where a normal loss would use it up it takes thirteen.
    assert len(asked) <= 8


class SteepExcess(LargestExcess):
    """A level far below its target that misses it from a budget of 5 on."""

    num_asked = 0

    def _excesses(
        self, people: Population, order: Sequence[int], absent: int | None
    ) -> dict[int, float]:
        sizes: dict[int, float] = {}
        for index in order:
            self.num_asked += 1
            is_beyond = people.epsilons[0] >= 5.0
            sizes[index] = -0.1 if index == 0 else 1.0 if is_beyond else -10.0
            if sizes[index] > 0.0:
                break
        return sizes


def test_a_level_that_missed_its_target_is_not_left_out_again() -> None:
    excess = SteepExcess(Promise(sdp.Frequency(4), 1e-6), [0.1, 0.2])

    found = largest_for_all(
        excess,
        lambda number: (
            Population.from_counts({number: 10, 2.0 * number: 10}),
            None,
        ),
        1.0,
        7.0,
    )

    assert 5.0 * (1.0 - 1e-6) < found < 5.0
    assert excess.num_asked < 200
