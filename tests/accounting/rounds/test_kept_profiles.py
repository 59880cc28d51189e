"""Composed profiles are kept for the same question, and for no other one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.rounds import kept_profiles
from shuffledp.accounting.rounds.composed_profile import composed_profile
from shuffledp.accounting.rounds.kept_profiles import keeping_profiles, kept_profile
from shuffledp.accounting.upper_profile import Profile, UpperProfile
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.cover import LocalRandomizer

PEOPLE = sdp.Population.from_counts({0.5: 500, 1.0: 700})
DEVICE = sdp.Laplace()


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[UpperProfile]]:
    """What was composed for one question."""
    asked: list[UpperProfile] = []

    def counted(upper: UpperProfile, times: int, delta: float) -> Profile:
        asked.append(upper)
        return composed_profile(upper, times, delta)

    monkeypatch.setattr(kept_profiles, "composed_profile", counted)
    with keeping_profiles():
        yield asked


def profile_of(
    device: LocalRandomizer = DEVICE,
    people: sdp.Population = PEOPLE,
    *,
    target: int = 0,
    absent: int = 0,
    times: int = 3,
    delta: float = 1e-6,
    evaluations: int = 60,
) -> Profile:
    (upper,) = upper_profiles(
        device, people, [target], delta=delta / 3, absent=absent, is_composed=True
    )
    upper = replace(upper, evaluations=evaluations)
    return kept_profile(upper, people, target, absent, times, delta)


def test_the_same_question_is_composed_once(composed: list[UpperProfile]) -> None:
    first, second = profile_of(), profile_of()

    assert len(composed) == 1
    assert first(0.2) == second(0.2) == composed_profile(composed[0], 3, 1e-6)(0.2)


@pytest.mark.parametrize(
    "other",
    [
        {"target": 1},
        {"absent": 100},
        {"times": 4},
        {"delta": 2e-6},
        {"evaluations": 30},
        # Equal randomizers of others may differ in what they do.
        {"device": sdp.Laplace()},
        {"people": sdp.Population.from_counts({0.5: 500, 1.0: 701})},
        {"people": sdp.Population.from_counts({0.5: 500, 1.1: 700})},
    ],
    ids=str,
)
def test_any_other_question_is_composed_anew(
    other: dict[str, Any], composed: list[UpperProfile]
) -> None:
    profile_of()

    profile_of(**other)

    assert len(composed) == 2


def test_searches_and_single_shuffles_and_many_levels_are_not_kept(
    composed: list[UpperProfile],
) -> None:
    levels = np.linspace(0.5, 1.0, 65)
    many = sdp.Population(levels, np.full(levels.size, 10))

    for _ in range(2):
        profile_of(sdp.OneBit())
        profile_of(times=1)
        profile_of(people=many)

    assert len(composed) == 6
    assert not kept_profiles._known.get()


def test_few_profiles_are_kept(composed: list[UpperProfile]) -> None:
    for count in range(1, 67):
        profile_of(people=sdp.Population.from_counts({0.5: 50 + count}), evaluations=5)

    assert len(kept_profiles._known.get() or {}) == 64
    profile_of(people=sdp.Population.from_counts({0.5: 51}), evaluations=5)
    assert len(composed) == 67


def test_nothing_is_kept_from_one_question_to_the_next(
    composed: list[UpperProfile],
) -> None:
    profile_of()

    with keeping_profiles():
        profile_of()

    assert len(composed) == 2
    profile_of()
    assert len(composed) == 2


def test_a_mechanism_that_changes_is_accounted_anew() -> None:
    class Louder(sdp.Laplace):
        factor = 1.0

        def covers(self, target_users: Any, population: Any, *, delta: float) -> Any:
            louder = sdp.Population(
                population.epsilons * self.factor, population.counts
            )
            levels = [level * self.factor for level in target_users]
            return super().covers(levels, louder, delta=delta)

    device = Louder()
    promise = sdp.Promise(device, delta=1e-6, rounds=3)
    before = promise.delta_of(PEOPLE, 0, 0.2)
    sdp.largest_scale(promise, PEOPLE, [0.4, 0.8])

    type(device).factor = 1.5

    assert promise.delta_of(PEOPLE, 0, 0.2) > before
