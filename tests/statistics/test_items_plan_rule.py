"""Rules for plans of sets: read as written, and the plan of least error that is proven."""

from typing import Any

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.items.expected_error import items_mean_squared_error
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.items_plan_rule import ItemsPlanRule
from shuffledp.statistics.items.protocol import Items
from shuffledp.tally import Tally

D, S, TARGETS, DELTA, ABSENT = 6, 2, (0.5, 2.0), 1e-5, 10
FRAMEWORK = ItemsFramework(D, S, TARGETS, DELTA, absent=ABSENT)
PEOPLE = Population.from_counts({0.5: 300, 2.0: 700})


@pytest.fixture(scope="module")
def rule() -> ItemsPlanRule:
    return ItemsPlanRule.of(FRAMEWORK)


@pytest.fixture(scope="module")
def chosen() -> Tally:
    rng = np.random.default_rng(1)
    reports = FRAMEWORK.report_choices(PEOPLE.budgets(), rng=rng)
    return FRAMEWORK.choices.tally(shuffle(reports, rng=rng))


@pytest.mark.slow
def test_a_rule_is_read_as_it_was_written(rule: ItemsPlanRule) -> None:
    record = rule.to_dict()

    assert ItemsPlanRule.from_dict(FRAMEWORK, record) == rule
    broken: list[Any] = [
        [record],
        {name: record[name] for name in ("noise", "rates", "cut")},
        record | {"more": 1},
        record | {"noise": 1.0},
        record | {"rates": 1.0},
        record | {"rates": [*record["rates"][:-1], 1.0]},
    ]
    for value in broken:
        with pytest.raises(InvalidInputError, match="Expected a rule for plans"):
            ItemsPlanRule.from_dict(FRAMEWORK, value)


def test_a_plan_is_the_row_of_least_error_and_keeps_the_targets(
    rule: ItemsPlanRule, chosen: Tally
) -> None:
    plan = rule.plan(chosen, PEOPLE.num_users, spare=0)

    rule.check(plan, PEOPLE.num_users)
    found = Items.from_record(plan.record)
    honest = PEOPLE.num_users - ABSENT
    errors = {
        rates: items_mean_squared_error(
            PEOPLE, rates, num_items=D, set_size=S, blanket=noise / honest
        )
        for noise, rates in zip(rule.table.noise, rule.table.rates, strict=True)
    }
    assert found.rates == min(errors, key=errors.__getitem__)
    guarantee = account(found, PEOPLE, delta=DELTA, absent=ABSENT)
    for level, target in zip(guarantee.levels, TARGETS, strict=True):
        assert level.epsilon_central <= target


def test_plans_need_people_who_really_send(rule: ItemsPlanRule, chosen: Tally) -> None:
    with pytest.raises(InvalidInputError, match="more than 990 people, got 990"):
        rule.plan(chosen, 990, spare=980)


def test_plans_keep_targets_if_spare_people_stay_away(
    rule: ItemsPlanRule, chosen: Tally
) -> None:
    plan = rule.plan(chosen, PEOPLE.num_users, spare=100)

    rule.check(plan, PEOPLE.num_users - 100)
    with pytest.raises(InvalidInputError, match="blanket messages from 790"):
        rule.check(plan, PEOPLE.num_users - 200)
