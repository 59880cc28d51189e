"""Answers are certified once more, of slightly smaller budgets where these just miss."""

import math
from dataclasses import replace
from typing import Any

import pytest

from shuffledp import Frequency, Guarantee, Population, account, largest_budgets
from shuffledp.accounting.calibration import promise as promise_module
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import CertificationError, InvalidInputError

PROMISE = Promise(Frequency(17), delta=1e-6)


def account_that_exceeds(
    monkeypatch: pytest.MonkeyPatch, factors: list[float]
) -> list[Population]:
    """Multiplies certified epsilons by these factors, one account after the other.

    Central epsilons fall about twice as fast as budgets here.
    """
    certified: list[Population] = []

    def larger(protocol: Any, people: Population, **options: Any) -> Guarantee:
        guarantee = account(protocol, people, **options)
        factor = factors[len(certified)] if len(certified) < len(factors) else 1.0
        certified.append(people)
        levels = [
            replace(level, epsilon_central=factor * level.epsilon_central)
            for level in guarantee.levels
        ]
        return replace(guarantee, levels=tuple(levels))

    monkeypatch.setattr(promise_module, "account", larger)
    return certified


def test_budgets_that_just_miss_a_target_are_made_a_little_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    targets = {0.05: 5_000, 0.1: 5_000}
    before = largest_budgets(PROMISE, targets)
    certified = account_that_exceeds(monkeypatch, [1.01])

    answer = largest_budgets(PROMISE, targets)

    assert len(certified) == 2
    shares = answer.people.epsilons / before.people.epsilons
    assert all(1.0 / 1.0103 < share < 1.0 / 1.01 for share in shares.tolist())
    for level, target in zip(answer.guarantee.levels, targets, strict=True):
        assert level.epsilon_central <= target


@pytest.mark.parametrize("factors", [[1.05], [1.015, 1.05, 1.085]])
def test_budgets_that_miss_a_target_by_more_or_again_are_refused(
    factors: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    people = largest_budgets(PROMISE, {0.05: 5_000, 0.1: 5_000}).people
    certified = account_that_exceeds(monkeypatch, factors)

    with pytest.raises(CertificationError, match=r"keep 0\.\d+ at delta 1e-06"):
        PROMISE.answer(people, [0.05, 0.1], may_shrink=True)

    assert len(certified) == len(factors)


def test_budgets_are_not_made_smaller_unless_that_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = largest_budgets(PROMISE, {0.05: 5_000, 0.1: 5_000}).people
    certified = account_that_exceeds(monkeypatch, [1.001])

    with pytest.raises(CertificationError):
        PROMISE.answer(people, [0.05, 0.1])

    assert certified == [people]


def test_budgets_that_would_be_one_when_rounded_are_refused() -> None:
    people = Population.from_counts({1.5: 5_000, 1.50000001: 5_000})
    central = PROMISE.answer(people, [9.0, 9.0]).guarantee.levels
    targets = [level.epsilon_central / 1.01 for level in central]

    with pytest.raises(CertificationError, match="No budgets found"):
        PROMISE.answer(people, targets, may_shrink=True)


@pytest.mark.parametrize(
    "targets", [[0.1], [0.1, 0.2, 0.3], [0.1, math.inf], [0.1, math.nan], [0.1, -1.0]]
)
def test_a_promise_is_asked_for_one_target_in_range_per_level(
    targets: list[float],
) -> None:
    people = Population.from_counts({0.5: 50, 1.0: 50})

    assert PROMISE.kept(people, [0.1, 0.3])
    with pytest.raises(InvalidInputError, match="targets"):
        PROMISE.kept(people, targets)
