"""What a batch is worth: the accountant's numbers, against what the task promises."""

from functools import cache

import pytest
from service_parties import LEVELS, parties

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.population import Population
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp.statistics.verify_certificate import verify
from shuffledp.tally import Tally
from shuffledp_services.collection.batch_verdict import assess_batch
from shuffledp_services.collection.planning import best_plan
from shuffledp_services.wire.step import Step

NOTHING = (0.0, 0.0, 0.0)
CROWD = (1000, 2000, 1500)


def of_accountant(people: tuple[int, ...], absent: int) -> list[float]:
    crowd = Population.from_counts(dict(zip(LEVELS, people, strict=True)))
    certified = account(Frequency(4), crowd, delta=1e-3, absent=absent, quantiles=False)
    return [entry.epsilon_central for entry in certified.levels]


def test_a_batch_is_worth_what_the_accountant_says() -> None:
    task = parties("frequency", absent=7).task

    verdict = assess_batch(Step(task, 1), CROWD, spent_before=NOTHING)

    assert verdict.failures == ()
    assert verdict.spent is not None
    assert list(verdict.spent) == of_accountant(CROWD, 7)
    assert isinstance(verdict.certificate, Guarantee)
    assert verdict.certificate.protocol == Frequency(4).identity
    assert verdict.certificate.absent == 7


def test_messages_that_hide_nobody_are_counted_as_absent_people() -> None:
    task = parties("frequency", absent=7).task

    verdict = assess_batch(Step(task, 1), CROWD, spoiled=40, spent_before=NOTHING)

    assert verdict.spent is not None
    assert list(verdict.spent) == of_accountant(CROWD, 47)


def test_promises_and_allowances_that_are_used_up_exactly_are_kept() -> None:
    spent = tuple(of_accountant(CROWD, 7))
    task = parties("frequency", absent=7, promise=spent, allowance=spent).task

    kept = assess_batch(Step(task, 1), CROWD, spent_before=NOTHING)
    broken = assess_batch(Step(task, 1), CROWD, spent_before=(0.0, 1e-9, 0.0))

    assert kept.spent == spent
    assert kept.failures == ()
    assert len(broken.failures) == 1


def test_every_promise_that_is_not_kept_is_named() -> None:
    task = parties("frequency", promise=(0.001, 0.5, 1.0)).task

    verdict = assess_batch(Step(task, 1), CROWD, spent_before=(0.0, 4.999, 0.0))

    promise, budget = verdict.failures
    assert promise.startswith("level 0.5: certified epsilon 0.0")
    assert promise.endswith("promised 0.001")
    assert budget.startswith("level 1: 5.0")
    assert budget.endswith("spent in all, of 5")


def test_a_level_with_too_few_people_is_named_with_its_numbers() -> None:
    task = parties("frequency", minimum=(100, 2001, 100)).task

    verdict = assess_batch(Step(task, 1), CROWD, spent_before=NOTHING)

    assert verdict.failures == ("level 1: 2,000 of 2,001 people",)


def test_a_level_that_nobody_chose_spends_nothing() -> None:
    verdict = assess_batch(
        Step(parties().task, 1), (1000, 0, 1500), spent_before=NOTHING
    )

    assert verdict.spent is not None
    assert verdict.spent[1] == 0.0
    assert verdict.failures == ("level 1: 0 of 100 people",)


@pytest.mark.parametrize("people", [(0, 0, 0), (1, 0, 0)], ids=["nobody", "one person"])
def test_nothing_is_certified_where_nobody_hides_anybody(
    people: tuple[int, ...],
) -> None:
    verdict = assess_batch(Step(parties().task, 1), people, spent_before=NOTHING)

    assert (verdict.certificate, verdict.spent) == (None, None)
    assert verdict.failures[-1].startswith("Nothing can be certified")


def test_nothing_is_certified_if_all_messages_are_spoiled() -> None:
    verdict = assess_batch(
        Step(parties().task, 1), CROWD, spoiled=sum(CROWD), spent_before=NOTHING
    )

    assert verdict.certificate is None
    assert verdict.failures[-1].startswith("Nothing can be certified")


@cache
def planned(people: tuple[int, int, int]) -> tuple[Step, Tally]:
    task = parties("items").task
    choosing = Step(task, 1, EpochStage.CHOICE).choice_run
    chosen = choosing.exact(people)
    return Step(task, 1, EpochStage.ANSWER, best_plan(task, chosen)), chosen


@pytest.mark.slow
def test_items_are_certified_for_those_who_sent_items() -> None:
    step, chosen = planned((400, 300, 300))
    people = Population.from_counts({0.5: 400, 1.0: 300, 2.0: 300})
    assert step.plan is not None
    items = Items.from_record(step.plan.record)

    verdict = assess_batch(step, (990,), chosen=chosen, spent_before=NOTHING)

    # 10 who only reported a target are absent, and 2 more as the task assumes.
    certified = account(items, people, delta=step.task.delta, absent=12)
    assert verdict.certificate == certified
    assert verdict.spent is not None
    assert list(verdict.spent) == [e.epsilon_central for e in certified.levels]


@pytest.mark.slow
def test_items_promise_what_the_plan_was_made_for_and_less_if_people_stay_away() -> (
    None
):
    step, chosen = planned((400, 300, 300))

    kept = assess_batch(step, (1000,), chosen=chosen, spent_before=NOTHING)
    missed = assess_batch(step, (500,), chosen=chosen, spent_before=NOTHING)

    assert kept.failures == ()
    assert missed.failures
    assert all("certified" in failure for failure in missed.failures)


def test_items_without_a_plan_or_without_targets_are_not_certified() -> None:
    step, _ = planned((400, 300, 300))
    task = parties("items").task

    for unknown in (step, Step(task, 1)):
        verdict = assess_batch(unknown, (1000,), spent_before=NOTHING)
        assert verdict.spent is None


@pytest.mark.slow
def test_certificates_of_every_statistic_are_recomputed_from_what_they_say() -> None:
    step, chosen = planned((400, 300, 300))
    verdicts = [
        assess_batch(Step(parties(name).task, 1), CROWD, spent_before=NOTHING)
        for name in ("frequency", "mean", "sum")
    ]
    verdicts.append(assess_batch(step, (1000,), chosen=chosen, spent_before=NOTHING))

    for verdict in verdicts:
        assert verdict.certificate is not None
        assert verify(verdict.certificate.to_dict()).holds
