"""What a batch is worth: the accountant's numbers, against what the task promises."""

import numpy as np
import pytest
from oracles.service_parties import LEVELS, parties

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.account import account_items
from shuffledp.analyzer.level_counts import LevelCounts
from shuffledp.population import Population
from shuffledp.service.collection.certificate import judge
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.items_framework import ItemsFramework

NOTHING = (0.0, 0.0, 0.0)
CROWD = (1000, 2000, 1500)


def of_accountant(people: tuple[int, ...], absent: int) -> list[float]:
    crowd = Population.from_counts(dict(zip(LEVELS, people, strict=True)))
    certified = account(Frequency(4), crowd, delta=1e-3, absent=absent, quantiles=False)
    return [entry.epsilon_central for entry in certified.levels]


def test_a_batch_is_worth_what_the_accountant_says() -> None:
    task = parties("frequency", absent=7).task

    verdict = judge(task, CROWD, spent_before=NOTHING)

    assert verdict.failures == ()
    assert verdict.spent is not None
    assert list(verdict.spent) == of_accountant(CROWD, 7)
    assert isinstance(verdict.certificate, Guarantee)
    assert verdict.certificate.absent == 7


def test_messages_that_hide_nobody_are_counted_as_absent_people() -> None:
    task = parties("frequency", absent=7).task

    verdict = judge(task, CROWD, spoiled=40, spent_before=NOTHING)

    assert verdict.spent is not None
    assert list(verdict.spent) == of_accountant(CROWD, 47)


def test_every_promise_that_is_not_kept_is_named() -> None:
    task = parties("frequency", promise=(0.001, 0.5, 1.0)).task

    verdict = judge(task, CROWD, spent_before=(0.0, 4.999, 0.0))

    promise, budget = verdict.failures
    assert promise.startswith("level 0.5: certified epsilon 0.0")
    assert promise.endswith("promised 0.001")
    assert budget.startswith("level 1: 5.0")
    assert budget.endswith("spent in all, of 5")


def test_a_level_with_too_few_people_is_named_with_its_numbers() -> None:
    task = parties("frequency", minimum=(100, 2001, 100)).task

    verdict = judge(task, CROWD, spent_before=NOTHING)

    assert verdict.failures == ("level 1: 2,000 of 2,001 people",)


def test_a_level_that_nobody_chose_spends_nothing() -> None:
    verdict = judge(parties().task, (1000, 0, 1500), spent_before=NOTHING)

    assert verdict.spent is not None
    assert verdict.spent[1] == 0.0
    assert verdict.failures == ("level 1: 0 of 100 people",)


@pytest.mark.parametrize("people", [(0, 0, 0), (1, 0, 0)], ids=["nobody", "one person"])
def test_nothing_is_certified_where_nobody_hides_anybody(
    people: tuple[int, ...],
) -> None:
    verdict = judge(parties().task, people, spent_before=NOTHING)

    assert (verdict.certificate, verdict.spent) == (None, None)
    assert verdict.failures[-1].startswith("Nothing can be certified")


def test_nothing_is_certified_if_all_messages_are_spoiled() -> None:
    verdict = judge(parties().task, CROWD, spoiled=sum(CROWD), spent_before=NOTHING)

    assert verdict.certificate is None
    assert verdict.failures[-1].startswith("Nothing can be certified")


def planned(people: tuple[int, int, int]) -> tuple[LevelCounts, PublishedPlan]:
    task = parties("items").task
    levels = LevelCounts(np.array(LEVELS), np.array(people, float), None, sum(people))
    framework = task.question.protocol(LEVELS, task.delta, task.absent)
    assert isinstance(framework, ItemsFramework)
    protocol = framework.plan(levels).protocol
    size = protocol.randomizer.report_size
    return levels, PublishedPlan(protocol.rates, protocol.blanket, size)


def test_items_are_certified_for_those_who_sent_items() -> None:
    task = parties("items").task
    levels, plan = planned((400, 300, 300))

    verdict = judge(task, (990,), plan=plan, levels=levels, spent_before=NOTHING)

    # 10 who only reported a level are absent, and 2 more as the task assumes.
    certified = account_items(
        levels.people(),
        plan.rates,
        num_items=4,
        set_size=2,
        blanket=plan.blanket,
        delta=task.delta,
        absent=12,
        report_size=plan.report_size,
    )
    assert verdict.spent is not None
    assert list(verdict.spent) == [e.epsilon_central for e in certified.levels]


def test_items_promise_what_the_plan_was_made_for_and_less_if_people_stay_away() -> (
    None
):
    task = parties("items").task
    levels, plan = planned((400, 300, 300))

    kept = judge(task, (1000,), plan=plan, levels=levels, spent_before=NOTHING)
    missed = judge(task, (500,), plan=plan, levels=levels, spent_before=NOTHING)

    assert kept.failures == ()
    assert missed.failures
    assert all("certified" in failure for failure in missed.failures)


def test_items_without_a_plan_are_not_certified() -> None:
    verdict = judge(parties("items").task, (1000,), spent_before=NOTHING)

    assert verdict.spent is None
