"""Guarantees of sets: both bounds, sizes of reports, refusals."""

import json
import math

import pytest
from scipy import stats

from shuffledp.accounting.items.account import (
    account_items,
    cut_chance,
    smallest_report,
)
from shuffledp.accounting.items.guarantee import ItemsGuarantee
from shuffledp.accounting.items.profile import ItemsProfile
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.population import Population

PEOPLE = Population.from_counts({0.5: 1000, 1.0: 1500, 2.0: 2500})
CHANCES = [0.2877, 0.545, 1.0]


def account(**changed: object) -> ItemsGuarantee:
    arguments: dict[str, object] = {
        "send_chances": CHANCES,
        "num_items": 128,
        "set_size": 4,
        "blanket": 1.0167,
        "delta": 2e-6,
    }
    arguments |= changed
    people = arguments.pop("people", PEOPLE)
    return account_items(people, **arguments)  # type: ignore[arg-type]


def test_every_level_gets_about_what_it_asked_for() -> None:
    guarantee = account()

    for level, asked in zip(guarantee.levels, [0.5, 1.0, 2.0], strict=True):
        assert level.level == asked
        assert 0.998 * asked <= level.epsilon_central_lower
        assert level.epsilon_central_lower <= level.epsilon_central <= asked
    assert guarantee.kept
    assert guarantee.certified
    assert guarantee.worst is guarantee.level(2.0)
    assert guarantee.send_chances == tuple(CHANCES)


def test_guarantee_is_plain_values() -> None:
    record = account().to_dict()

    assert json.loads(json.dumps(record)) == record
    assert record["levels"][0]["count"] == 1000
    assert record["report_size"] > 4


def test_certified_epsilon_keeps_delta_with_the_cut() -> None:
    guarantee = account()

    for level in guarantee.levels:
        profile = ItemsProfile(5000 * 1.0167 / 128, level.send_chance, 4, 128, 2e-6)
        paid = (1.0 + math.exp(level.epsilon_central)) * cut_chance(
            1.0167, guarantee.report_size - 4, 5000
        )
        assert profile.upper(level.epsilon_central) + paid <= 2e-6
        assert paid <= guarantee.delta_cut <= 2e-9


def test_smaller_reports_cost_epsilon_until_nothing_is_left() -> None:
    guarantee = account()
    size = guarantee.report_size

    smaller = [account(report_size=size - less) for less in (0, 1, 2)]

    ends = [found.level(0.5).epsilon_central for found in smaller]
    assert ends == sorted(ends)
    assert ends[0] <= guarantee.level(0.5).epsilon_central < ends[2]
    assert [f.delta_cut for f in smaller] == sorted(f.delta_cut for f in smaller)
    with pytest.raises(InvalidInputError, match="larger reports"):
        account(report_size=size - 8)


@pytest.mark.parametrize("blanket", [1e-3, 0.1, 1.0, 12.39, 300.0])
@pytest.mark.parametrize("honest", [1, 5000, 10**9])
def test_report_is_the_smallest_that_costs_little(blanket: float, honest: int) -> None:
    size = smallest_report(blanket, 4, honest=honest, epsilon=1.0, delta=1e-7)

    def paid(cap: int) -> float:
        return (1.0 + math.e) * honest * float(stats.poisson.sf(cap, blanket))

    assert paid(size - 4) < 1e-10
    # The geometric bound of the tail is off by a few parts in ten.
    assert size == 4 or paid(size - 5) > 0.5e-10


@pytest.mark.parametrize("blanket", [0.01, 1.0, 50.0, 1e4])
def test_cut_chance_is_above_the_tail(blanket: float) -> None:
    for deviations in (0.0, 1.0, 4.0, 8.0):
        cap = math.ceil(blanket + deviations * math.sqrt(blanket))
        tail = 7.0 * float(stats.poisson.sf(cap, blanket))
        assert min(tail, 1.0) <= cut_chance(blanket, cap, 7) * (1.0 + 1e-9)


def test_absent_people_hide_nobody() -> None:
    with_all, fewer = account(), account(absent=2500)
    half = Population.from_counts({0.5: 500, 1.0: 750, 2.0: 1250})

    # Their noise is that of half the people.
    among_half = account(people=half)
    assert [x.epsilon_central for x in fewer.levels] == [
        x.epsilon_central for x in among_half.levels
    ]
    assert fewer.worst.epsilon_central > with_all.worst.epsilon_central
    assert "2,500 of the others" in fewer.assumptions[0]


def test_who_sends_nothing_loses_nothing() -> None:
    level = account(send_chances=[0.0, 0.5, 1.0]).level(0.5)

    assert level.epsilon_central == level.epsilon_central_lower == 0.0


@pytest.mark.parametrize(
    "changed",
    [
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": math.nan},
        {"delta": 1e-31},
        {"set_size": 0},
        {"set_size": 129},
        {"num_items": 1},
        {"num_items": 128.0},
        {"blanket": 0.0},
        {"blanket": -1.0},
        {"blanket": math.inf},
        {"send_chances": [0.5, 0.5]},
        {"send_chances": [0.5, 0.5, 1.5]},
        {"send_chances": [-0.1, 0.5, 1.0]},
        {"send_chances": [math.nan, 0.5, 1.0]},
        {"report_size": 3},
        {"absent": -1},
        {"people": {0.5: 3}},
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        account(**changed)


def test_more_absent_than_others_are_refused() -> None:
    with pytest.raises(PopulationError):
        account(absent=5000)


def test_no_finite_epsilon_is_an_error() -> None:
    with pytest.raises(CertificationError, match="too few blanket"):
        account(blanket=1e-4)


@pytest.mark.parametrize("set_size", [65, 127, 128])
def test_sets_of_more_than_half_of_all_items(set_size: int) -> None:
    level = account(set_size=set_size, blanket=20.0).level(0.5)

    # Only d - s items of a full set can change; certified for smaller sets, too.
    assert 0.0 <= level.epsilon_central_lower < level.epsilon_central < 5.0
